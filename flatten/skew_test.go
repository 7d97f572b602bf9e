package flatten_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// sampling is how exact a skewed read is.
const sampling = 100 * time.Millisecond

// skewed is a service that reads positions from a cache of their own, which lags
// more than that of the orders: it shows what was held a time ago.
type skewed struct {
	http.RoundTripper
	lag time.Duration

	mu      sync.Mutex
	samples []sample
}

type sample struct {
	at   time.Time
	body []byte
}

// watch samples what the account holds until the context ends.
func (s *skewed) watch(ctx context.Context, sim *tradingsim.Sim) {
	for ctx.Err() == nil {
		rows := []map[string]any{}
		for _, m := range stormMarkets {
			held := sim.Position("acc_1", m.symbol)
			if held.IsZero() {
				continue
			}
			side := "long"
			if held.IsNegative() {
				side = "short"
			}
			rows = append(rows, map[string]any{"symbol": m.symbol, "side": side, "size": json.Number(held.Abs().String()), "entryPrice": 1})
		}
		body, _ := json.Marshal(map[string]any{"positions": rows})
		s.mu.Lock()
		s.samples = append(s.samples, sample{time.Now(), body})
		for len(s.samples) > 1 && s.samples[1].at.Before(time.Now().Add(-s.lag)) {
			s.samples = s.samples[1:]
		}
		s.mu.Unlock()
		time.Sleep(sampling)
	}
}

func (s *skewed) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/positions") || response.StatusCode != http.StatusOK {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(body, []byte(`{"positions"`)) || bytes.HasPrefix(body, []byte(`[`)) {
		s.mu.Lock()
		body = s.samples[0].body
		s.mu.Unlock()
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Del("Content-Length")
	return response, nil
}

// A limit that fills just before the first look is gone from the orders, and not
// yet among the positions: that look shows nothing, and so would another at once.
func TestAFillThatTheFirstLookCannotSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		service := &skewed{RoundTripper: sim.Transport(), lag: 4 * time.Second}
		ctx, cancel := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		defer watching.Wait()
		defer cancel()
		watching.Go(func() { service.watch(ctx, sim) })
		time.Sleep(sampling)
		r := join(t, sim, trading.WithTransport(service))
		r.rest(trading.Long, "0.1", "BTC", "63000")
		time.Sleep(5 * time.Second)
		sim.SetMark("BTC", "62000")
		report, err := r.flatten(time.Minute, flatten.Options{})
		require.NoError(t, err)
		r.holdsNothing("acc_1", "BTC")
		assert.True(t, report.Looks[0].Empty())
		assert.False(t, report.Looks[1].Empty())
	})
}
