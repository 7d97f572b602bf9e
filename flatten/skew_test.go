package flatten_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
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

// skewed is a service that reads positions from a cache of their own, which lags
// more than that of the orders: it shows what was held a time ago.
func skewed(next http.RoundTripper, sim *tradingsim.Sim, lag time.Duration) http.RoundTripper {
	return reworded{next, "/positions", func(body []byte) []byte {
		if !bytes.HasPrefix(body, []byte(`{"positions"`)) && !bytes.HasPrefix(body, []byte(`[`)) {
			return body
		}
		rows := []map[string]any{}
		for symbol, size := range held(sim.Ledger(), time.Now().Add(-lag)) {
			side := "long"
			if size.IsNegative() {
				side = "short"
			}
			rows = append(rows, map[string]any{"symbol": symbol, "side": side, "size": json.Number(size.Abs().String()), "entryPrice": 1})
		}
		body, _ = json.Marshal(map[string]any{"positions": rows})
		return body
	}}
}

// A limit that fills just before the first look is gone from the orders, and not
// yet among the positions: that look shows nothing, and so would another at once.
func TestAFillThatTheFirstLookCannotSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		r := join(t, sim, trading.WithTransport(skewed(sim.Transport(), sim, 4*time.Second)))
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
