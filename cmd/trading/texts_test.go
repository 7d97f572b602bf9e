package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What a person gets wrong is answered by what is wrong, and by what to do. (The transcript of this name has the rest.)
func TestFound30_ASentenceThatHelps(t *testing.T) {
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
}
