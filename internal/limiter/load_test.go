package limiter

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/ratelimit"
)

// meter counts requests in every window that ends with one. A service may begin its
// windows at any of them.
type meter struct {
	mu       sync.Mutex
	arrivals map[string][]time.Time
	most     map[string]int
}

func newMeter() *meter { return &meter{arrivals: map[string][]time.Time{}, most: map[string]int{}} }

// request takes a slot, arrives somewhere between its slot and its answer, and returns
// the slot.
func (m *meter) request(ctx context.Context, l *Limiter, a *Ask) error {
	slot, err := l.Take(ctx, a)
	if err != nil {
		return err
	}
	takes := 80 * time.Millisecond
	before := time.Duration(rand.Int64N(int64(takes)))
	time.Sleep(before)
	m.arrive(a.Key)
	if a.Class != "" {
		m.arrive(a.Class)
	}
	time.Sleep(takes - before)
	l.Return(slot, true)
	return nil
}

func (m *meter) arrive(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := append(m.arrivals[name], time.Now())
	for time.Since(seen[0]) >= Window {
		seen = seen[1:]
	}
	m.arrivals[name], m.most[name] = seen, max(m.most[name], len(seen))
}

// every does something again and again until ctx ends, each time interval after the
// last.
func every(ctx context.Context, interval time.Duration, do func()) {
	for ctx.Err() == nil {
		do()
		select {
		case <-time.After(interval):
		case <-ctx.Done():
		}
	}
}

// Ten times what the service takes, of every priority: no window of the service sees
// more than its limit, nearly all of that is used, and an exit never waits.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, m := newLimiter(t), newMeter()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var work sync.WaitGroup
		for _, load := range []struct {
			callers int
			request *Ask
		}{{60, asking(ratelimit.Read, "")}, {20, asking(ratelimit.Entry, "market-orders")}, {20, asking(ratelimit.Recovery, "market-orders")}} {
			for range load.callers {
				work.Go(func() { every(ctx, time.Second, func() { _ = m.request(ctx, l, load.request) }) })
			}
		}
		longest, exits := time.Duration(0), 0
		work.Go(func() {
			every(ctx, 6*time.Second, func() {
				began := time.Now()
				if m.request(ctx, l, asking(ratelimit.Exit, "closes")) == nil {
					longest, exits = max(longest, time.Since(began)), exits+1
				}
			})
		})
		work.Wait()
		assert.LessOrEqual(t, m.most[testKey], 600)
		assert.GreaterOrEqual(t, m.most[testKey], 540, "all but the reserve is used")
		assert.LessOrEqual(t, m.most["market-orders"], 150)
		assert.Equal(t, 80*time.Millisecond, longest, "an exit waits for nobody")
		assert.Greater(t, exits, 90)
	})
}
