package sidecar

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What a call costs: to a service on a socket directly, and through a sidecar, with its file and
// a journal on this disk, or with TMPDIR=/dev/shm without one:
//
//	TMPDIR=/dev/shm go test ./sidecar -run '^$' -bench . -benchtime 500x
func BenchmarkRead(b *testing.B) {
	costs(b, http.MethodGet, "/positions?accountId=acc_1", func() string { return "" })
}

func BenchmarkOrder(b *testing.B) {
	sides := []string{"long", "short"}
	n := 0
	costs(b, http.MethodPost, "/orders", func() string {
		n++
		return strings.Replace(buy, "long", sides[n%len(sides)], 1)
	})
}

func costs(b *testing.B, method, path string, body func() string) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithKeyLimit(1<<30), tradingsim.WithUserLimits(1<<30, 1<<30))
	defer sim.Close()
	service := httptest.NewServer(sim)
	defer service.Close()
	dir := b.TempDir()
	writes, err := journal.Open(filepath.Join(dir, "journal"))
	require.NoError(b, err)
	defer writes.Close()
	key, err := localkey.Add(filepath.Join(dir, "keys"), localkey.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade}, time.Now())
	require.NoError(b, err)
	server, err := New(Config{
		BaseURL: service.URL + "/v1", Dir: dir, Locks: filepath.Join(dir, "locks"), Journal: writes,
		Options: []trading.Option{trading.WithLiveKey(sim.LiveKey()), trading.WithRateLimits(trading.RateLimits{Off: true})},
	})
	require.NoError(b, err)
	defer server.Close()
	server.shares.store = unlimited{}
	socket := filepath.Join(dir, "bots", "s")
	l, err := Listen(socket, false)
	require.NoError(b, err)
	go func() { _ = server.Serve(l) }()
	run := func(client *http.Client, root, key string) func(*testing.B) {
		return func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			for b.Loop() {
				request, err := http.NewRequestWithContext(b.Context(), method, root+path, strings.NewReader(body()))
				require.NoError(b, err)
				request.Header.Set("X-API-Key", key)
				began := time.Now()
				response, err := client.Do(request)
				require.NoError(b, err)
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				took = append(took, time.Since(began))
				require.Equal(b, http.StatusOK, response.StatusCode)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-median")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		}
	}
	b.Run("direct", run(service.Client(), service.URL+"/v1", sim.LiveKey()))
	bot := socketBot(socket)
	defer bot.CloseIdleConnections()
	b.Run("sidecar", run(bot, "http://localhost/v1", key))
}

// unlimited is a store without a limit.
type unlimited struct{ ratelimit.Store }

func (unlimited) Take(context.Context, string, []ratelimit.Need, time.Duration) (ratelimit.Grant, error) {
	return ratelimit.Grant{}, nil
}

func (unlimited) Return(context.Context, string, []ratelimit.Need, bool) error { return nil }
