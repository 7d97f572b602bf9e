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

	"github.com/tradingapi/trading-go/internal/leak"
)

// TestMain looks for goroutines that the tests have left behind.
func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// serve runs the command until the test ends and returns what it printed.
func serve(t *testing.T, args ...string) map[string]string {
	t.Helper()
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, args, writer) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	printed := map[string]string{}
	lines := bufio.NewScanner(reader)
	want := 3
	if slices.ContainsFunc(args, func(arg string) bool { return arg == "-control" || arg == "-demo" }) {
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
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode, string(text))
	return string(text)
}

func TestServesUntilInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "eth.csv")
	require.NoError(t, os.WriteFile(file, []byte("time,price\n0,1234.5\n"), 0o600))
	env := serve(t, "-balance", "5000", "-csv", "ETH="+file, "-interpretation", "31")
	require.True(t, strings.HasSuffix(env["TRADING_BASE_URL"], "/v1"))
	require.Contains(t, get(t, env, "/sandbox/account"), `"balance":5000`)
	prices := get(t, env, "/sandbox/prices")
	require.Contains(t, prices, `"ETH":1234.5`)
	require.NotContains(t, prices, "NEWCOIN")
	require.NotContains(t, prices, `"ok"`, "the other interpretation")
}

// The control comes with its token, and the demonstration with a bot whose requests the
// log on disk has.
func TestTheDemonstration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.jsonl")
	env := serve(t, "-demo", "-log", file)
	require.True(t, strings.HasSuffix(env["TRADING_SIM_PAGE"], "/#"+env["TRADING_SIM_TOKEN"]))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", env["TRADING_SIM_CONTROL"]+"/events", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+env["TRADING_SIM_TOKEN"])
	res, err := http.DefaultClient.Do(r)
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

func TestListsTheInterpretations(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-interpretations"}, &out))
	require.Contains(t, out.String(), "15  an opposite order closes")
}

// The token of the environment is taken, since one that is made anew is nobody's who starts
// it; an empty one is a mistake.
func TestTheTokenOfTheEnvironment(t *testing.T) {
	t.Setenv("TRADING_SIM_TOKEN", "a token of the environment")
	env := serve(t, "-control", "127.0.0.1:0")
	require.Equal(t, "a token of the environment", env["TRADING_SIM_TOKEN"])
	t.Setenv("TRADING_SIM_TOKEN", "")
	var out, complaints strings.Builder
	require.Equal(t, 2, start(t.Context(), nil, &out, &complaints))
	require.Contains(t, complaints.String(), "TRADING_SIM_TOKEN is set, and empty")
}

// A request for help is no failure, and goes to where it can be piped on.
func TestHelp(t *testing.T) {
	var out, complaints strings.Builder
	require.Equal(t, 0, start(t.Context(), []string{"-h"}, &out, &complaints))
	require.Contains(t, out.String(), "usage: tradingsim")
	require.Contains(t, out.String(), "-interpretation number")
	require.Empty(t, complaints.String())
}

func TestRefusesWhatItCannotServe(t *testing.T) {
	const usage, failure = 2, 1
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"not a loopback address", usage, []string{"-addr", "0.0.0.0:0"}},
		{"not a loopback address", usage, []string{"-addr", ":0"}},
		{"missing port", usage, []string{"-addr", "127.0.0.1"}},
		{"no such interpretation", usage, []string{"-interpretation", "29"}},
		{"want SYMBOL=FILE", usage, []string{"-csv", "marks.csv"}},
		{`"much" for flag -balance: want a plain number`, usage, []string{"-balance", "much"}},
		{`"1e99999" for flag -balance: want a plain number`, usage, []string{"-balance", "1e99999"}},
		{`"-5" for flag -balance: must not be negative`, usage, []string{"-balance", "-5"}},
		{`"-1s" for flag -lag: must not be negative`, usage, []string{"-lag", "-1s"}},
		{`"soon" for flag -lag: time: invalid duration`, usage, []string{"-lag", "soon"}},
		{"not defined: -port", usage, []string{"-port", "80"}},
		{`unexpected argument "extra"`, usage, []string{"-seed", "2", "extra"}},
		{`unexpected argument "help"`, usage, []string{"help"}},
		{"not a loopback address", usage, []string{"-control", "0.0.0.0:0"}},
		{"missing port", usage, []string{"-control", "127.0.0.1"}},
		{"-manual-clock needs -control", usage, []string{"-manual-clock"}},
		{"file exists", failure, []string{"-log", "main.go"}},
		{"no such file", failure, []string{"-csv", "BTC=none.csv"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			var out, complaints strings.Builder
			require.Equal(t, c.code, start(t.Context(), c.args, &out, &complaints))
			require.Contains(t, complaints.String(), c.want)
			require.Equal(t, 1, strings.Count(complaints.String(), "\n"), "told once: %s", complaints.String())
			require.Empty(t, out.String())
		})
	}
	require.NoError(t, checkAddress("0.0.0.0:80", true))
}
