package limits

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
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
	early    []string
	closed   map[string]time.Time
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
		if now.Before(m.closed[name]) {
			m.early = append(m.early, fmt.Sprintf("%s at %s, %s before its end", name, now.Format(time.TimeOnly), m.closed[name].Sub(now)))
		}
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
	m := &meter{rt: s.Transport(), takes: takes, arrivals: map[string][]time.Time{}, most: map[string]int{}, closed: map[string]time.Time{}}
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
	if rig.RaceDetector || testing.Short() {
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

// A 429 closes its limit, and no other, for every caller until its Retry-After.
func TestTrap_T92_NoSendBeforeRetryAfter(t *testing.T) {
	for _, row := range []struct {
		name    string
		op      string
		closed  string
		retry   time.Duration
		otherOK bool
	}{
		{"a class of the user's", "POST /positions/close", "closes", 20 * time.Second, true},
		{"the key", "GET /positions", "pk_live_", 40 * time.Second, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := metered(t, 20*time.Millisecond, nil)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				var work sync.WaitGroup
				other := 0
				for i := range 8 {
					work.Go(func() {
						time.Sleep(time.Duration(i) * 100 * time.Millisecond)
						every(ctx, 5*time.Second, func(ctx context.Context) { _, _ = r.Account().ClosePosition(ctx, "BTC", trading.All) })
					})
					work.Go(func() {
						every(ctx, time.Second, func(ctx context.Context) { _, _ = r.Account().Positions(ctx) })
					})
				}
				for range 4 {
					time.Sleep(45*time.Second + 500*time.Millisecond)
					r.Sim.Fault(row.op, tradingsim.RateLimit(row.retry))
					// Everything that is under way by then may arrive still.
					synctest.Wait()
					for m.seen() == 0 && ctx.Err() == nil {
						time.Sleep(10 * time.Millisecond)
					}
					time.Sleep(50 * time.Millisecond)
					m.close(row.closed, row.retry-100*time.Millisecond)
					before := m.count("pk_live_")
					time.Sleep(row.retry - time.Second)
					other += m.count("pk_live_") - before
				}
				cancel()
				work.Wait()
				assert.Empty(t, m.early, "sent before the end of Retry-After")
				assert.Equal(t, row.otherOK, other > 0, "%d other requests went out meanwhile", other)
			})
		})
	}
}

// seen returns how many 429s there were since the last time.
func (m *meter) seen() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.refused
	m.refused = 0
	return n
}

func (m *meter) close(name string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed[name] = time.Now().Add(d)
}

func (m *meter) count(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.arrivals[name])
}
