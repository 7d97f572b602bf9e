package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/commandline"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/tradingsim"
)

// audited makes an audit of an order that went well and a close that did not.
func audited(t *testing.T, o record.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bot.audit.jsonl")
	audit, err := record.OpenAudit(path, o)
	require.NoError(t, err)
	sim := tradingsim.New()
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithHooks(audit.Hooks()), trading.WithGuard(audit.Guard()))
	require.NoError(t, err)
	account := client.Live.Account("acc_1")
	_, err = account.PlaceOrder(context.Background(), trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithTag("red \x1b[31m"))
	require.NoError(t, err)
	_, err = account.ClosePosition(context.Background(), "ETH", trading.All)
	require.Error(t, err)
	require.NoError(t, client.Close())
	require.NoError(t, audit.Close())
	return path
}

func TestVerify(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, []string{audited(t, record.Options{})}))
	assert.Contains(t, out.String(), "11 lines in 1 files, number 1 to 11")
	assert.NotContains(t, out.String(), "not closed")
	assert.Equal(t, 1, strings.Count(out.String(), "\n"))
}

func TestShow(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, []string{"-show", audited(t, record.Options{MaxFile: 1500})}))
	text := out.String()
	assert.Contains(t, text, "POST /orders")
	assert.Contains(t, text, "attempt 1, 200, applied")
	assert.Contains(t, text, "not applied")
	assert.NotContains(t, text, "\x1b", "a tag moves nothing on a terminal")
	assert.Greater(t, strings.Count(text, "segment"), 1, "all files")
}

func TestShowOneCall(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, []string{"-call", "2.2", audited(t, record.Options{})}))
	text := out.String()
	assert.Contains(t, text, `"symbol":"ETH"`)
	assert.NotContains(t, text, `"symbol":"BTC"`)
}

func TestWhatIsWrong(t *testing.T) {
	path := audited(t, record.Options{})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "ETH", "BTC", 1)), 0o600))
	var out strings.Builder
	err = run(&out, []string{"-show", path})
	tampered := (*record.TamperedError)(nil)
	require.ErrorAs(t, err, &tampered)
	assert.Contains(t, err.Error(), path+", line 7")
	assert.Contains(t, out.String(), "6 lines in 1 files", "what is right is said all the same")
	assert.Contains(t, out.String(), "not closed")
}

func TestUsage(t *testing.T) {
	var out strings.Builder
	require.ErrorIs(t, run(io.Discard, []string{"-h"}), flag.ErrHelp)
	for _, args := range [][]string{nil, {"-no-such-flag", "x"}, {"x", "y"}} {
		assert.Equal(t, commandline.Usage, commandline.Status("tradingaudit", run(&out, args), io.Discard), "%q", args)
	}
	for _, args := range [][]string{{filepath.Join(t.TempDir(), "missing")}, {"-show", filepath.Join(t.TempDir(), "missing")}} {
		err := run(&out, args)
		assert.True(t, errors.Is(err, fs.ErrNotExist), "%v", err)
	}
	assert.Empty(t, out.String())
}
