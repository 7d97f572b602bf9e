package flatten_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// skewed is a service that reads positions from a cache of their own, which lags
// more than that of the orders: it shows what was held a time ago.
type skewed struct {
	http.RoundTripper
	sim *tradingsim.Sim
	lag time.Duration
}

// held is what an account held at a moment, after all that was executed by then.
func held(ledger []tradingsim.Execution, at time.Time) map[string]decimal.Decimal {
	positions := map[string]decimal.Decimal{}
	for _, e := range ledger {
		if e.Filled && !e.At.After(at) {
			positions[e.Symbol] = positions[e.Symbol].Add(signed(e))
		}
	}
	maps.DeleteFunc(positions, func(_ string, size decimal.Decimal) bool { return size.IsZero() })
	return positions
}

func signed(e tradingsim.Execution) decimal.Decimal {
	if e.Side == "short" {
		return e.Size.Neg()
	}
	return e.Size
}

// shown is the answer to a read.
func (s *skewed) shown() []byte {
	rows := []map[string]any{}
	for symbol, size := range held(s.sim.Ledger(), time.Now().Add(-s.lag)) {
		side := "long"
		if size.IsNegative() {
			side = "short"
		}
		rows = append(rows, map[string]any{"symbol": symbol, "side": side, "size": json.Number(size.Abs().String()), "entryPrice": 1})
	}
	body, _ := json.Marshal(map[string]any{"positions": rows})
	return body
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
		body = s.shown()
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
		r := join(t, sim, trading.WithTransport(&skewed{sim.Transport(), sim, 4 * time.Second}))
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

// The storms compare a claim with what was so a lag before the look: so a read has to show
// exactly that, also where somebody trades within milliseconds of it.
func TestASkewedReadShowsAMomentThatTheClaimIsComparedWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lag = 1234567 * time.Microsecond
		sim := tradingsim.New()
		r := join(t, sim, trading.WithTransport(&skewed{sim.Transport(), sim, lag}))
		rng := rand.New(rand.NewPCG(1, 95))
		var shownFlat int
		for i := range 400 {
			time.Sleep(time.Duration(rng.Int64N(int64(150 * time.Millisecond))))
			sim.Trade("acc_1", []string{"long", "short"}[i%2], "1", "BTC")
			sim.Fault("GET /positions", tradingsim.Delay(time.Duration(rng.Int64N(int64(10*time.Millisecond)))))
			began := time.Now()
			positions, err := r.account.Positions(t.Context())
			require.NoError(t, err)
			if len(positions) == 0 {
				shownFlat++
				assert.True(t, wasFlat(sim.Ledger(), began.Add(-lag), time.Now().Add(-lag)), "read at %s", began)
			}
		}
		assert.Greater(t, shownFlat, 100)
	})
}
