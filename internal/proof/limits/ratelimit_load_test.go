package limits

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// meter stands in front of a simulation, lets requests take a while, and counts
// them in every window that ends with one, by key and by class. The simulation's own
// limits are windows that begin with their first request; these are all others.
type meter struct {
	rt    http.RoundTripper
	takes time.Duration

	mu       sync.Mutex
	arrivals map[string][]time.Time
	most     map[string]int
	refused  int // 429s
}

// classOf is the limit of a live write's user, by the contract's words.
var classOf = map[string]string{
	"/v1/orders": "market orders", "/v1/orders/limit": "resting limits", "/v1/orders/cancel": "cancels",
	"/v1/positions/close": "closes", "/v1/positions/tpsl": "TP/SL", "/v1/runs/edit": "runs", "/v1/runs/cancel": "runs",
	"/v1/orders/twap": "twap", "/v1/orders/ladder": "ladder", "/v1/orders/chase": "chase",
}

func (m *meter) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("X-API-Key") == "" {
		return m.rt.RoundTrip(req)
	}
	time.Sleep(m.takes / 2)
	names := []string{req.Header.Get("X-API-Key")[:8]}
	if class := classOf[req.URL.Path]; class != "" && req.Method == http.MethodPost {
		names = append(names, class)
	}
	m.mu.Lock()
	now := time.Now()
	for _, name := range names {
		seen := append(m.arrivals[name], now)
		for now.Sub(seen[0]) >= time.Minute {
			seen = seen[1:]
		}
		m.arrivals[name], m.most[name] = seen, max(m.most[name], len(seen))
	}
	m.mu.Unlock()
	resp, err := m.rt.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		m.mu.Lock()
		m.refused++
		m.mu.Unlock()
	}
	time.Sleep(m.takes / 2)
	return resp, err
}

// metered joins a client to a simulation through a meter.
func metered(t *testing.T, takes time.Duration, sim []tradingsim.Option, opts ...trading.Option) (rig.Rig, *meter) {
	s := tradingsim.New(append([]tradingsim.Option{tradingsim.WithRequestLog(1)}, sim...)...)
	m := &meter{rt: s.Transport(), takes: takes, arrivals: map[string][]time.Time{}, most: map[string]int{}}
	return rig.Join(t, s, append([]trading.Option{trading.WithTransport(m)}, opts...)...), m
}

// every calls do again and again until ctx ends, each time interval after the last.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	for ctx.Err() == nil {
		do(ctx)
		select {
		case <-time.After(interval):
		case <-ctx.Done():
		}
	}
}

// Ten times what the service takes, for an hour: the client's own traffic never
// meets a 429, closes go out although entries and polls starve, and what the
// service allows is used.
func TestTrap_T94_OverloadForAnHour(t *testing.T) {
	span := time.Hour
	if depth.Race || testing.Short() {
		span = 10 * time.Minute
	}
	synctest.Test(t, func(t *testing.T) {
		r, m := metered(t, 80*time.Millisecond, nil, trading.WithRateLimits(trading.RateLimits{}))
		ctx, cancel := context.WithTimeout(t.Context(), span)
		defer cancel()
		account := r.Account()
		var work sync.WaitGroup
		for range 95 { // 5,700 polls a minute
			work.Go(func() {
				every(ctx, time.Second, func(ctx context.Context) { _, _ = account.Positions(ctx) })
			})
		}
		// 1,200 entries a minute, of which the user is allowed 150.
		for range 20 {
			work.Go(func() {
				every(ctx, time.Second, func(ctx context.Context) {
					_, _ = account.PlaceOrder(ctx, rig.Buy("0.001"), trading.WithSendTTL(time.Minute))
				})
			})
		}
		var longest time.Duration
		closes := 0
		work.Go(func() {
			every(ctx, 5*time.Second, func(ctx context.Context) {
				began := time.Now()
				_, err := account.ClosePosition(ctx, "BTC", trading.All)
				if ctx.Err() == nil && !errors.Is(err, trading.CodeNoPosition) {
					assert.NoError(t, err)
				}
				longest, closes = max(longest, time.Since(began)), closes+1
			})
		})
		work.Wait()
		assert.Zero(t, m.refused, "429s")
		assert.LessOrEqual(t, m.most["pk_live_"], 600)
		assert.GreaterOrEqual(t, m.most["pk_live_"], 540, "all but the reserve is used")
		assert.LessOrEqual(t, m.most["market orders"], 150)
		assert.LessOrEqual(t, longest, time.Second, "a close waits for nobody")
		assert.Greater(t, closes, int(span/(6*time.Second)))
		t.Logf("of 600 and 150 a minute: %v at the most; the longest close took %s", m.most, longest)
	})
}
