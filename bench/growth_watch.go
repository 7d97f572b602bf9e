package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/watch"
)

// moving is an account whose prices are others at every look.
type moving struct {
	bodies   map[string][2][]byte
	requests atomic.Int64
	looks    atomic.Int64
}

const watchedPositions = 20

func newMoving() *moving {
	positions := func(mark string) []byte {
		return rows(`{"ok":true,"positions":[`, watchedPositions, func(b *strings.Builder, i int) {
			text := strings.Replace(positionJSON, `"BTC"`, fmt.Sprintf(`"M%02d"`, i), 1)
			b.WriteString(strings.Replace(text, "64012.25", mark, 1))
		}, `]}`)
	}
	_, account, _ := strings.Cut(answerSandboxOrder, `"account":`)
	state := []byte(`{"ok":true,"account":` + account)
	trades := tradesJSON(0)
	return &moving{bodies: map[string][2][]byte{
		"/v1/sandbox/account":   {state, state},
		"/v1/sandbox/positions": {positions("64012.25"), positions("64013.5")},
		pathTrades:              {trades, trades},
	}}
}

func (m *moving) RoundTrip(r *http.Request) (*http.Response, error) {
	m.requests.Add(1)
	bodies, ok := m.bodies[r.URL.Path]
	if !ok {
		return nil, fmt.Errorf("no such path: %s", r.URL.Path)
	}
	look := m.looks.Load()
	if strings.HasSuffix(r.URL.Path, "/positions") {
		look = m.looks.Add(1)
	}
	body := bodies[look%2]
	return &http.Response{
		StatusCode:    http.StatusOK,
		Header:        http.Header{"Content-Type": contentJSON},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}, nil
}

// growingWatch measures what an event costs where one loop, or a hundred, live on
// the looks of one watch. A look waits for its time, so what counts is the
// processors' time.
func growingWatch(ctx context.Context, s settings, t *table) error {
	var took []time.Duration
	var requests []string
	counts := []int{1, 100}
	for _, subscribers := range counts {
		each, of, err := watched(ctx, s.calls(300), subscribers)
		if err != nil {
			return err
		}
		took, requests = append(took, each), append(requests, fmt.Sprintf("%.1f", of))
	}
	compare(t, "an event of a shared watch, CPU", "1 loop", "100 loops", took[0], took[1])
	t.row("requests of a look at it", "1 loop", "100 loops", requests[0], requests[1], "")
	return nil
}

// watched returns what an event costs, and how many requests a look has.
func watched(ctx context.Context, looks, subscribers int) (time.Duration, float64, error) {
	account := newMoving()
	client, err := newClient(place{base: "http://127.0.0.1", transport: account})
	if err != nil {
		return 0, 0, err
	}
	defer client.Close()
	shared := watch.Account(client.Sandbox).WithInterval(2 * time.Millisecond).Shared()
	var events atomic.Int64
	var failure atomic.Pointer[error]
	var wg sync.WaitGroup
	before, began := cpuTime(), time.Now()
	for range subscribers {
		wg.Go(func() {
			for ev, err := range watch.Events(ctx, shared) {
				if err != nil {
					failure.CompareAndSwap(nil, &err)
					return
				}
				if _, ok := ev.(watch.PositionMarked); ok {
					events.Add(1)
				}
				if account.looks.Load() > int64(looks) {
					return
				}
			}
		})
	}
	wg.Wait()
	used := cpuTime() - before
	if used == 0 {
		used = time.Since(began)
	}
	if err := failure.Load(); err != nil {
		return 0, 0, *err
	}
	return used / time.Duration(max(events.Load(), 1)), float64(account.requests.Load()) / float64(account.looks.Load()), ctx.Err()
}
