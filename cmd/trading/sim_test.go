package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// serve runs the simulator until the test ends and returns what it printed.
func serve(t *testing.T, args ...string) map[string]string {
	t.Helper()
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	app := &cli.App{In: strings.NewReader(""), Out: writer, Err: io.Discard, Environ: os.Environ()}
	go func() { done <- app.Run(ctx, newRoot(app), append([]string{"sim"}, args...)) }()
	t.Cleanup(func() {
		cancel()
		require.Equal(t, cli.Done, <-done)
	})
	printed := map[string]string{}
	lines := bufio.NewScanner(reader)
	want := 3
	if slices.Contains(args, "--key-pairs") {
		want = 5
	}
	if slices.Contains(args, "--control") || slices.Contains(args, "--demo") {
		want = 6
	}
	for len(printed) < want && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "=")
		printed[name] = value
	}
	return printed
}

func get(t *testing.T, env map[string]string, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", env["TRADING_BASE_URL"]+path, nil)
	require.NoError(t, err)
	r.Header.Set("X-API-Key", env["TRADING_SANDBOX_KEY"])
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode, string(text))
	return string(text)
}

func TestSimServesUntilInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "eth.csv")
	require.NoError(t, os.WriteFile(file, []byte("time,price\n0,1234.5\n"), 0o600))
	env := serve(t, "--balance", "5000", "--csv", "ETH="+file, "--interpretation", "31")
	require.True(t, strings.HasSuffix(env["TRADING_BASE_URL"], "/v1"))
	require.Contains(t, get(t, env, "/sandbox/account"), `"balance":5000`)
	prices := get(t, env, "/sandbox/prices")
	require.Contains(t, prices, `"ETH":1234.5`)
	require.NotContains(t, prices, "NEWCOIN")
	require.NotContains(t, prices, `"ok"`, "the other interpretation")
}

// The control comes with its token, and the demonstration with a bot whose requests the
// log on disk has.
func TestSimDemonstrates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.jsonl")
	env := serve(t, "--demo", "--log", file)
	require.True(t, strings.HasSuffix(env["TRADING_SIM_PAGE"], "/#"+env["TRADING_SIM_TOKEN"]))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", env["TRADING_SIM_CONTROL"]+"/events", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+env["TRADING_SIM_TOKEN"])
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 200, res.StatusCode)
	events := bufio.NewScanner(res.Body)
	for events.Scan() && !strings.Contains(events.Text(), "demobot/1") {
	}
	require.NoError(t, events.Err(), "the bot sends requests")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "demobot/1")
}

// A test of somebody's own can have its accounts, its markets, and a second pair of keys.
func TestSimServesAWorldOfOnesOwn(t *testing.T) {
	env := serve(t, "--account", "small=5000", "--account", "large=250000", "--trial", "small", "--market", "BTC=50000", "--market", "GAS=", "--key-pairs", "2")
	require.NotEmpty(t, env["TRADING_LIVE_KEY_2"])
	require.NotEqual(t, env["TRADING_LIVE_KEY"], env["TRADING_LIVE_KEY_2"])
	env["TRADING_SANDBOX_KEY"] = env["TRADING_SANDBOX_KEY_2"]
	prices := get(t, env, "/sandbox/prices")
	require.Contains(t, prices, `"BTC":50000`)
	require.NotContains(t, prices, "GAS")
	env["TRADING_SANDBOX_KEY"] = env["TRADING_LIVE_KEY_2"]
	accounts := get(t, env, "/accounts")
	require.Contains(t, accounts, `"startingBalance":5000`)
	require.Contains(t, accounts, `"id":"large"`)
	require.Equal(t, 1, strings.Count(accounts, `"isTrial":true`))
	require.Contains(t, accounts, `"id":"small","status":"ACTIVE","isTrial":true`)
	require.NotContains(t, accounts, "acc_1")
}

// A page that no browser opens is named, and why.
func TestSimSaysThatThereIsNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan int, 1)
	app := &cli.App{In: strings.NewReader(""), Out: io.Discard, Err: writer, Environ: []string{}}
	go func() { done <- app.Run(ctx, newRoot(app), []string{"sim", "--open"}) }()
	said, err := bufio.NewReader(reader).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, said, "no browser could be started")
	require.Contains(t, said, "open TRADING_SIM_PAGE in one")
	cancel()
	require.Equal(t, cli.Done, <-done)
}

// The token of the environment is taken. (TestEmptyVariables gives it an empty one.)
func TestSimTakesTheTokenOfTheEnvironment(t *testing.T) {
	t.Setenv("TRADING_SIM_TOKEN", "a token of the environment")
	env := serve(t, "--control", "127.0.0.1:0")
	require.Equal(t, "a token of the environment", env["TRADING_SIM_TOKEN"])
}

func TestSimServesWhoeverMayAnyAddress(t *testing.T) {
	require.NoError(t, checkAddress("--addr", "0.0.0.0:80", true))
}
