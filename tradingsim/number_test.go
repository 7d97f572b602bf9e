package tradingsim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A number of any length and exponent is judged by its value.
func TestNumbersOutOfAllBoundsAreJudged(t *testing.T) {
	zeros := strings.Repeat("0", 70)
	for _, c := range []struct {
		name, body string
		status     int
		code       string // "" is success
	}{
		{name: "a leverage that is clamped", body: instead(smallBTC, `"leverage":5`, `"leverage":1e31`), status: 200},
		{name: "a leverage beyond exponents", body: instead(smallBTC, `"leverage":5`, `"leverage":1e99999999999999999999`), status: 200},
		{name: "a leverage of many digits", body: instead(smallBTC, `"leverage":5`, `"leverage":5.`+zeros+`1`), status: 200},
		{name: "a size of next to nothing", body: instead(smallBTC, "0.01", "0."+zeros+"1"), status: 400, code: "MIN_NOTIONAL"},
		{name: "a size of next to nothing by its exponent", body: instead(smallBTC, "0.01", "1e-99999999999999999999"), status: 400, code: "MIN_NOTIONAL"},
		{name: "a size of nothing", body: instead(smallBTC, "0.01", "0."+zeros+"0e999"), status: 400, code: "bad_size"},
		{name: "a size below nothing", body: instead(smallBTC, "0.01", "-0."+zeros+"1"), status: 400, code: "bad_size"},
		{name: "a size above all caps", body: instead(smallBTC, "0.01", "1e400"), status: 403, code: "GLOBAL_DRAWDOWN_BREACH"},
		{name: "a size written with many zeros", body: instead(smallBTC, "0.01", "0.01"+zeros), status: 200},
		{name: "a size written the long way", body: instead(smallBTC, "0.01", "1"+zeros+"E-72"), status: 200},
		{name: "a slippage just above the most", body: with(smallBTC, `"maxSlippagePct":30.`+zeros+`1`), status: 400, code: "BAD_MAX_SLIPPAGE"},
		{name: "a slippage of too many decimals", body: with(smallBTC, `"maxSlippagePct":8.`+zeros+`1`), status: 400, code: "BAD_MAX_SLIPPAGE"},
		{name: "a slippage written with many zeros", body: with(smallBTC, `"maxSlippagePct":8.`+zeros), status: 200},
		{name: "a level beyond all prices", body: with(smallBTC, `"takeProfitPrice":1e500`), status: 200},
		{name: "a stop just above the mark", body: with(smallBTC, `"stopLossPrice":64000.`+zeros+`1`), status: 400, code: "invalid_tpsl"},
		{name: "no UTF-8", body: with(smallBTC, "\"note\":\"\xff\""), status: 400, code: "invalid_json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, b := liveSim(t)
			if c.code != "" {
				b.post("/orders", c.body).refused(c.status, c.code)
				return
			}
			g := b.post("/orders", c.body).ok()
			require.Equal(t, "0.01", g.text("position.size"))
			require.Equal(t, "5", g.text("position.leverage"))
		})
	}
}

// What is left of a position keeps its entry price, however little it is.
func TestPartialClosesLeaveTheEntryPrice(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", instead(liveBTC, `"size":1`, `"size":0.3`)).ok()
	sim.SetMark("BTC", "64011.7")
	b.post("/orders", instead(liveBTC, `"size":1`, `"size":0.4`)).ok()
	entry := b.get("/positions?accountId=acc_1").ok().text("positions.0.entryPrice")
	for range 8 {
		b.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":98.7}`).ok()
		g := b.get("/positions?accountId=acc_1").ok()
		require.Equal(t, entry, g.text("positions.0.entryPrice"), "of %s BTC", g.text("positions.0.size"))
	}
	dust := `{"accountId":"acc_1","symbol":"BTC","side":"short","size":1e-45,"leverage":5,"reduceOnly":true}`
	b.post("/orders", dust).ok()
	require.Equal(t, entry, b.get("/positions?accountId=acc_1").ok().text("positions.0.entryPrice"))
	require.Equal(t, entry, b.get("/trades?accountId=acc_1").ok().text("trades.0.entryPrice"))
}
