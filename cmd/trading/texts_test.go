package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What a person gets wrong is answered by what is wrong, and by what to do.
func TestFound30_ASentenceThatHelps(t *testing.T) {
	at := func(url string) func(*rig) {
		return func(r *rig) { r.env = append(r.env[1:len(r.env):len(r.env)], "TRADING_BASE_URL="+url) }
	}
	for name, c := range map[string]struct {
		prepare func(*rig)
		args    []string
		code    int
		says    string
	}{
		"a market in small letters":   {nil, place("--symbol", "btc"), cli.Refused, "btc is not listed, but BTC is: --symbol BTC: trading markets lists them"},
		"a market as others call it":  {nil, place("--symbol", "ETH/USDT"), cli.Refused, "but ETH is: --symbol ETH"},
		"a market as others write it": {nil, place("--symbol", "ETHUSDT"), cli.Refused, "but ETH is: --symbol ETH"},
		"a market that nobody has":    {nil, place("--symbol", "NOPE"), cli.Refused, "NOPE is not listed: trading markets lists them"},
		"leverage above the cap":      {nil, place("--leverage", "1000"), cli.Done, " of the 1000 asked for: the market's cap"},
		"no scheme":                   {at("api.example.test/v1"), []string{"status"}, cli.Usage, "has no scheme: write https://api.example.test/v1"},
		"no scheme, on this machine":  {at("localhost:8080/v1"), []string{"status"}, cli.Usage, "has no scheme: write https://localhost:8080/v1"},
		"http to another host":        {at("http://api.example.test/v1"), []string{"status"}, cli.Usage, "https is required, except for this machine itself"},
		"a refused key":               {func(r *rig) { r.sim.RevokeKey(r.sim.LiveKey()) }, []string{"positions", "--env", "live", "--account", "acc_1"}, cli.NotApplied, "revoked_api_key"},
		"help for no command":         {nil, []string{"export", "--help"}, cli.Usage, `unknown command "export"`},
		"help for no command, nearly": {nil, []string{"position", "-h"}, cli.Usage, "did you mean positions?"},
		"help for no command, below":  {nil, []string{"pending", "lst", "--help"}, cli.Usage, `unknown command "lst"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				if c.prepare != nil {
					c.prepare(r)
				}
				time.Sleep(6 * time.Second) // until health shows
				out := r.ends(c.code, c.says, c.args...)
				if c.code != cli.Done {
					assert.Empty(t, out, "no table that would say that there is nothing")
				}
			})
		})
	}
	t.Run("https to an http port", func(t *testing.T) {
		plain := httptest.NewServer(http.NotFoundHandler())
		defer plain.Close()
		plain.Config.ErrorLog = log.New(io.Discard, "", 0)
		r := &rig{t: t, sim: tradingsim.New(), ctx: t.Context(), network: true, env: []string{
			"TRADING_BASE_URL=" + strings.Replace(plain.URL, "http://", "https://", 1) + "/v1", "TRADING_SANDBOX_KEY=pk_test_1", "HOME=" + t.TempDir(),
		}}
		r.ends(cli.NotApplied, "what listens there speaks http", "positions", "--timeout", "5s")
	})
	t.Run("a run that takes long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var errs bytes.Buffer
			failure := errors.New("at the end")
			b := &backtester{app: &cli.App{Err: &errs}}
			require.ErrorIs(t, b.await(func() error { time.Sleep(25 * time.Second); return failure }), failure)
			assert.Equal(t, "running for 10s\nrunning for 20s\n", errs.String())
		})
	})
	t.Run("a key for an account that nobody knows", func(t *testing.T) {
		r, dir := newRig(t), t.TempDir()
		require.NoError(t, os.Chmod(dir, 0o700))
		r.ends(cli.Done, "account_not_found means that its real key does not reach it", "sidecar", "keys", "add", "grid", "--account", "acc_404", "--state-dir", dir)
	})
	t.Run("the chances of what the service lists", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.sim.Trade("acc_1", "long", "0.1", "BTC")
			r.done("close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--yes")
			file := filepath.Join(t.TempDir(), "trades.csv")
			require.NoError(t, os.WriteFile(file, []byte(r.done("trades", "--env", "live", "--account", "acc_1", "-o", "csv")), 0o600))
			r.ends(cli.NotApplied, "take what trading backtest --trades wrote, or a --result", "odds", "--csv", file, "--opening", "100000", "--balance", "100000", "--target", "110000")
		})
	})
	t.Run("the markets", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			assert.Contains(t, newRig(t).done("markets"), "\nBTC ")
		})
	})
}
