package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// newBotModule makes the present folder a module with bots, as a user has it, and returns
// a rig with an environment that builds them.
func newBotModule(t *testing.T) *rig {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/bots")))
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	write("go.mod", strings.Replace(string(mod), "module "+clientModule, "module example.org/mine", 1)+
		"\nrequire "+clientModule+" v0.0.0\n\nreplace "+clientModule+" => "+root+"\n")
	write("go.sum", string(sum))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "broken"), 0o700))
	write("broken/bot.go", "package broken\n\nfunc Bot( {}\n")
	write("walk.csv", minutes(0))
	write("planted.csv", minutes(0.0025))
	r := newRig(t)
	r.env = append(r.env, os.Environ()...)
	r.env = append(r.env, "GOWORK=off")
	t.Chdir(dir)
	return r
}

// minutes are flat candles of a walk of 3 basis points a minute, each other one higher by an edge.
func minutes(edge float64) string {
	dice := rand.New(rand.NewPCG(4, 5))
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	price := 60_000.0
	for i := range 121 {
		price *= 1 + 0.0003*dice.NormFloat64()
		shown := price * (1 + edge*float64(i%2))
		fmt.Fprintf(&text, "%d,%[2]f,%[2]f,%[2]f,%[2]f\n", 1767225600+60*i, shown)
	}
	return text.String()
}

// A bot that knows nothing of backtests is run, and its folder is left as it was.
func TestBacktest(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	r := newBotModule(t)
	page := filepath.Join(t.TempDir(), "report.html")
	code, out, errs := r.run("backtest", "./internal/bot", "--days", "1", "--seed", "7", "--report", page)
	require.Equal(t, cli.Done, code, errs)
	assert.True(t, strings.HasPrefix(out, "prices        random walk of BTC, seed 7 (SYNTHETIC), 2000-01-01 to 2000-01-02\n"), out)
	assert.NotContains(t, out, "it finds the way")
	assert.Contains(t, out, "Positions were open at the end: BTC")
	assert.Contains(t, errs, "the bot prints", "on standard error")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "synthetic prices")
	assert.Contains(t, string(text), "example.org/mine/internal/bot.Bot")
	files, err := os.ReadDir("internal/bot")
	require.NoError(t, err)
	assert.Len(t, files, 1)

	out = r.done("backtest", "example.org/mine/internal/bot", "--func", "Live", "--prices", "candles.csv", "--candles", "open",
		"--account", "acc_7", "--balance", "50000", "--to", "2026-03-01T00:02:00Z", "-o", "json")
	var v struct {
		Name, Prices, Path, Verdict, Opening, Fees, Stopped string

		Synthetic bool
		To        time.Time
		Sharpe    *string
		Service   string
		Profile   any
	}
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	assert.Equal(t, "example.org/mine/internal/bot.Live", v.Name)
	assert.Equal(t, "candles.csv", v.Prices)
	assert.False(t, v.Synthetic)
	assert.Contains(t, []string{"random, seed 1", "random, seed 2"}, v.Path)
	assert.Equal(t, "open", v.Verdict)
	assert.Equal(t, "50000", v.Opening)
	assert.NotEqual(t, "0", v.Fees)
	assert.Empty(t, v.Stopped)
	assert.Nil(t, v.Sharpe)
	assert.Equal(t, "by the document alone", v.Service)
	assert.Nil(t, v.Profile)
	assert.Equal(t, time.Date(2026, 3, 1, 0, 2, 0, 0, time.UTC), v.To)

	out = r.done("backtest", "./internal/bot", "--prices", "candles.csv", "--candles", "open", "--half-spread", "2", "--slippage", "1",
		"--slippage-law", "square-root", "--funding", "funding.csv", "--latency", "10ms", "--lag", "1s", "--max-age", "30s", "--candle-paths", "jumps", "--profile", "seen.json")
	assert.Contains(t, out, "half-spread 2 bp, slippage 1 bp of $100000, in proportion to the root of its value, funding of funding.csv, latency 10ms, lag 1s")
	assert.Contains(t, out, "funding $-0.06")
	assert.Contains(t, out, "random with jumps, seed ")
	assert.Contains(t, out, "service       by the profile of https://api.example.com/v1 of 2026-11-23: ")

	out = r.done("backtest", "./internal/bot", "--prices", "broker.csv", "--zone", "Europe/Athens")
	assert.Contains(t, out, "broker.csv: read as bars of metatrader")

	out = r.done("backtest", "./internal/bot", "--prices", "bare.csv", "--heading", "low,high,open,close,time", "--newest-first",
		"--interval", "1m", "--candles", "close", "--columns", "low=low", "-o", "json")
	assert.Contains(t, out, `"from": "2025-12-31T23:59:00Z"`)

	out = r.done("backtest", "./internal/bot", "--func", "Live", "--prices", "candles.csv", "--candles", "open",
		"--account", "acc_7", "--account", "acc_8", "--protect", "--warm-up", "1m", "-o", "json")
	var two struct {
		Account           string
		From              time.Time
		WithoutProtection struct{ Verdict string }
		Protection        struct{ Ended string }
		Others            []struct{ Account, Equity string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &two))
	assert.Equal(t, "acc_7", two.Account)
	assert.Equal(t, time.Date(2026, 3, 1, 0, 1, 0, 0, time.UTC), two.From)
	assert.Equal(t, "open", two.WithoutProtection.Verdict)
	assert.Equal(t, "ok", two.Protection.Ended)
	require.Len(t, two.Others, 1)
	assert.Equal(t, "acc_8", two.Others[0].Account)
	assert.Equal(t, "100000", two.Others[0].Equity)

	for file, want := range map[string]string{"walk.csv": "No edge was found: it loses its costs, at 99 %.", "planted.csv": "An edge was found, and it pays its costs."} {
		out = r.done("backtest", "./internal/bot", "--func", "Cycle", "--prices", file, "--candles", "open", "--report", page)
		assert.Contains(t, out, "finding       "+want)
		text, err = os.ReadFile(page)
		require.NoError(t, err)
		assert.True(t, strings.Contains(string(text), want))
	}

	out = r.done("backtest", "./internal/bot", "--func", "Fails", "--days", "1")
	assert.Contains(t, out, "it will not")
	assert.Empty(t, r.sim.Requests(), "the service is not asked")
}

func TestBacktestRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	r := newBotModule(t)
	r.refuses("backtest", []refusal{
		{cli.Usage, "not a package of the module", "fmt"},
		{cli.Usage, "is a program", "./program"},
		{cli.Usage, "directory not found", "./nowhere"},
		{cli.NotApplied, "syntax error", "./broken"},
		{cli.Usage, "want one package", "./..."},
		{cli.NotApplied, "as in percent", "./internal/bot --days 1 --funding percent.csv"},
		{cli.NotApplied, "does not build as a bot", "./internal/bot --func Wrong"},
		{cli.NotApplied, "undefined: bot.None", "./internal/bot --func None"},
		{cli.NotApplied, "want --candles open or --candles close", "./internal/bot --prices candles.csv"},
		{cli.NotApplied, "which --columns names for the close", "./internal/bot --prices candles.csv --columns close=Last,time=time"},
		{cli.NotApplied, "no such file", "./internal/bot --prices none.csv"},
		{cli.NotApplied, "nowhere/r.html", "./internal/bot --days 1 --report nowhere/r.html"},
	})

	t.Setenv("PATH", t.TempDir())
	r.ends(cli.Usage, "there is no Go toolchain on the PATH", "backtest", "./internal/bot")
}

// An interruption ends the bot, wherever it is.
func TestBacktestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	r := newBotModule(t)
	ctx, interrupt := context.WithCancel(t.Context())
	var out strings.Builder
	app := &cli.App{In: strings.NewReader(""), Out: &out, Environ: r.env, Err: writerFunc(func(p []byte) {
		if strings.Contains(string(p), "busy") {
			interrupt()
		}
	})}
	assert.Equal(t, cli.Interrupted, app.Run(ctx, newRoot(app), []string{"backtest", "./internal/bot", "--func", "Busy"}))
	assert.Equal(t, cli.Interrupted, app.Run(ctx, newRoot(app), []string{"backtest", "./internal/bot"}), "before anything runs")
	assert.Empty(t, out.String())
}
