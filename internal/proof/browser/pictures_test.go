package browser

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"image/gif"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/proof/house"
)

var pictures = flag.Bool("pictures", false, "make the pictures of the README anew, in two minutes")

const (
	root          = "../../.."
	width, height = 560, 690 // of the console; the report has the same shape, and stands beside it
)

// TestPictures makes the pictures of the README, of the programs that its first lines name.
// Package house says when they are older than the pages that they show.
func TestPictures(t *testing.T) {
	if !*pictures {
		t.Skip("-pictures makes them")
	}
	ctx, said := browser(t)
	takeConsole(ctx, t, root+"/docs/pictures/console.gif")
	takeReport(ctx, t, root+"/docs/pictures/report.png")
	require.Empty(t, said.all())
	var sums strings.Builder
	for _, p := range house.Pictures() {
		line, err := p.Line(root)
		require.NoError(t, err)
		sums.WriteString(line + "\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, house.PictureSums), []byte(sums.String()), 0o644)) //nolint:gosec // a file of the repository
}

// takeConsole films `trading sim --demo`: somebody drops the reply to a sandbox order, and the
// client finds the order. A frame is taken each second and shown for a fifth of one.
func takeConsole(ctx context.Context, t *testing.T, file string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(demonstration(t)),
		until("document.querySelectorAll('#writes tbody tr').length === 4"), // the next order of the sandbox is five seconds away
		chromedp.Evaluate[chromedp.Void](`const choice = document.getElementById('operation');
			choice.value = 'POST /sandbox/orders'; choice.dispatchEvent(new Event('change'))`)))
	var f film
	shoot := func(hundredths int) {
		shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		frame, err := png.Decode(bytes.NewReader(shot))
		require.NoError(t, err)
		f.add(frame, hundredths)
	}
	shoot(100)
	require.NoError(t, chromedp.Do(ctx, chromedp.Click(css("[data-kind=drop_response]")), chromedp.Sleep(300*time.Millisecond)))
	shoot(150)
	found := false
	for range 120 {
		require.NoError(t, chromedp.Do(ctx, chromedp.Sleep(time.Second)))
		shoot(20)
		var err error
		found, err = chromedp.Run(ctx, chromedp.Evaluate[bool]("document.querySelector('#writes tbody').textContent.includes('found applied')"))
		require.NoError(t, err)
		if found {
			break
		}
	}
	require.True(t, found, "the client finds the order")
	require.NoError(t, chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#writes tr')]
		.find((row) => row.textContent.includes('found applied')).scrollIntoView({ block: 'nearest' })`)))
	shoot(500)
	var out bytes.Buffer
	require.NoError(t, gif.EncodeAll(&out, f.gif()))
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644)) //nolint:gosec // a file of the repository
}

// demonstration runs the command until the test ends, and returns the address of its page.
func demonstration(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "trading")
	run(t, root+"/cmd/trading", "go", "build", "-o", program, ".")
	sim := exec.CommandContext(t.Context(), program, "sim", "--demo")
	out, err := sim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, sim.Start())
	t.Cleanup(func() { _ = sim.Wait() }) // the test's context has ended it
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if page, ok := strings.CutPrefix(lines.Text(), "TRADING_SIM_PAGE="); ok {
			return page
		}
	}
	t.Fatal("the command has printed no page")
	return ""
}

// takeReport takes the beginning of the example's report, and without what is between the charts
// that follow.
func takeReport(ctx context.Context, t *testing.T, file string) {
	t.Helper()
	html := filepath.Join(t.TempDir(), "report.html")
	run(t, root, "go", "run", "./examples/backtest", "-days", "30", "-seed", "1", "-report", html)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width*3/2, height*3/2), chromedp.Navigate("file://"+filepath.ToSlash(html)),
		chromedp.Evaluate[chromedp.Void](`(() => {
			const title = document.querySelector('svg .equity').closest('.chart').previousElementSibling;
			for (let e = document.querySelector('.cards').nextElementSibling; e !== title; e = e.nextElementSibling) e.style.display = 'none';
		})()`)))
	shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, shot, 0o644)) //nolint:gosec // a file of the repository
}

func run(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	require.NoError(t, err, fmt.Sprintf("%s %s:\n%s", name, strings.Join(args, " "), out))
}
