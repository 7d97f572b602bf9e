package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
	go func() { done <- run(ctx, args, writer, io.Discard) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	printed := map[string]string{}
	lines := bufio.NewScanner(reader)
	for len(printed) < 3 && lines.Scan() {
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

func TestListsTheInterpretations(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-interpretations"}, &out, io.Discard))
	require.Contains(t, out.String(), "15  an opposite order closes")
	require.NoError(t, run(t.Context(), []string{"-h"}, &out, io.Discard))
}

func TestRefusesWhatItCannotServe(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"not a loopback address", []string{"-addr", "0.0.0.0:0"}},
		{"not a loopback address", []string{"-addr", ":0"}},
		{"missing port", []string{"-addr", "127.0.0.1"}},
		{"no such interpretation", []string{"-interpretation", "29"}},
		{"want SYMBOL=FILE", []string{"-csv", "marks.csv"}},
		{"balance", []string{"-balance", "much"}},
		{"no such file", []string{"-csv", "BTC=none.csv"}},
	} {
		require.ErrorContains(t, run(t.Context(), c.args, io.Discard, io.Discard), c.want)
	}
	require.NoError(t, checkAddress("0.0.0.0:80", true))
}
