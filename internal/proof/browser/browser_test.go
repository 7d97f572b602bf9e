package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingsim/control"
)

// patience bounds what a test waits for. It is no measure of anything: a browser on a busy
// machine takes its time.
const patience = 2 * time.Minute

// browser starts one without a window and listens to it. Where there is none the test is skipped,
// but not where CI is set.
func browser(t *testing.T) (context.Context, *complaints) {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		const missing = "NOT TESTED: there is no chromium on this machine"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	profile, err := os.MkdirTemp("", "browser")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(profile) }) // its processes may write for a moment yet
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(profile), chromedp.Env("TZ=UTC"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), flags...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	ctx, late := context.WithTimeout(ctx, 4*patience)
	t.Cleanup(late)
	return ctx, listen(ctx, t)
}

// complaints are what a browser says against a page.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, text)
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

// listen notes exceptions, errors on the console, and reports of the content security
// policy.
func listen(ctx context.Context, t *testing.T) *complaints {
	t.Helper()
	c := &complaints{}
	require.NoError(t, chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			c.add("exception: " + e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				c.add("log: " + e.Entry.Text + " " + e.Entry.URL)
			}
		case *audits.EventIssueAdded:
			if e.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
				c.add("content security policy: " + e.Issue.Details.ContentSecurityPolicyIssueDetails.ViolatedDirective)
			}
		}
	}))
	for _, enable := range []cdp.Command[cdp.Empty, cdp.Empty]{log.Enable, runtime.Enable, audits.Enable} {
		_, err := chromedp.Call(ctx, enable, cdp.Empty{})
		require.NoError(t, err)
	}
	return c
}

// console serves the control of a simulation until the test ends.
func console(t *testing.T, sim *tradingsim.Sim, bot func(context.Context, func(control.Write)) error) control.Endpoint {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan control.Endpoint, 1), make(chan error, 1)
	go func() {
		done <- control.Serve(ctx, sim, control.Options{Bot: bot, Ready: func(at control.Endpoint) { ready <- at }})
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	select {
	case at := <-ready:
		return at
	case err := <-done:
		t.Fatal(err)
		return control.Endpoint{}
	}
}

// until waits for a condition in the page, of elements that may not be there yet.
func until(condition string) chromedp.Action[chromedp.Void] {
	condition = "(() => { try { return " + condition + " } catch { return false } })()"
	return chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(50*time.Millisecond))
}

// scrolling are the parts of the page that are wider than their place.
func scrolling(ctx context.Context, t *testing.T) []string {
	t.Helper()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('body *')]
		.filter((e) => !e.closest('svg') && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'hidden')
		.map((e) => e.tagName + ' ' + e.className + ': ' + e.textContent.slice(0, 60))`))
	require.NoError(t, err)
	return found
}

// fits asks at each width that nothing sticks out of the page and that no part of it scrolls
// sideways, and keeps a picture of each, light and dark.
func fits(ctx context.Context, t *testing.T, name string, widths ...int64) {
	t.Helper()
	for _, width := range widths {
		require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 844)))
		wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		require.NoError(t, err)
		assert.LessOrEqual(t, wide, width, "nothing sticks out")
		assert.Empty(t, scrolling(ctx, t), "at %d", width)
		for _, scheme := range []string{"light", "dark"} {
			prefer(ctx, t, scheme)
			screenshot(ctx, t, fmt.Sprintf("%s-%d-%s", name, width, scheme), width, 844)
		}
	}
}

// prefer sets the colours that the person at the browser prefers.
func prefer(ctx context.Context, t *testing.T, scheme string) {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(t, err)
}

// nameless are the parts of the page that a person can use, or that show something, and that
// have no name for who does not see them.
func nameless(ctx context.Context, t *testing.T) (found []string) {
	t.Helper()
	tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	require.NoError(t, err)
	roles := []string{"image", "button", "combobox", "textbox", "checkbox", "table", "region", "group"}
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil || !slices.Contains(roles, strings.Trim(string(n.Role.Value), `"`)) {
			continue
		}
		if n.Name == nil || strings.Trim(string(n.Name.Value), `" `) == "" {
			found = append(found, string(n.Role.Value))
		}
	}
	return found
}

// screenshot is kept in the folder that SCREENSHOTS names, for a person who looks at it. The
// folder is made if there is none.
func screenshot(ctx context.Context, t *testing.T, name string, width, height int64) {
	t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	require.NoError(t, os.MkdirAll(folder, 0o700))
	// The charts follow the width a moment later.
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Sleep(time.Second)))
	image, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), image, 0o600))
}
