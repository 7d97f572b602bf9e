package trading

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func digestedTrade() Trade {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	return Trade{
		Symbol: "BTC", Side: Long, Cause: CauseMarket, Size: Some(Dec("0.5")), EntryPrice: Some(Dec("64000")),
		ExitPrice: Dec("64100"), GrossPnL: Dec("50"), RoundTripFee: Dec("28.8"), OpenedAt: at, ClosedAt: at.Add(time.Hour),
		Extra: Extra{"note": json.RawMessage(`"x"`), "leverage": json.RawMessage(`2`)},
	}
}

// Two trades have the same digest exactly if nothing differs, whichever way their
// numbers were written.
func TestTradeDigests(t *testing.T) {
	one := digestedTrade()
	want := digestOfTrade(&one)
	again := digestedTrade()
	again.ExitPrice = Dec("64100.00")
	again.OpenedAt = again.OpenedAt.In(time.FixedZone("", 3600))
	assert.Equal(t, want, digestOfTrade(&again))
	again.ExitPrice, again.GrossPnL = decimal.New(641, 2), decimal.RequireFromString("50.00000000000000000000")
	assert.Equal(t, want, digestOfTrade(&again))
	assert.Equal(t, uint64(0x8483cb618d8bfc82), want, "a journal outlives the process that wrote it")

	seen := map[uint64]string{want: "unchanged"}
	for name, change := range map[string]func(*Trade){
		"Symbol":       func(t *Trade) { t.Symbol = "ETH" },
		"Side":         func(t *Trade) { t.Side = Short },
		"Cause":        func(t *Trade) { t.Cause = CauseStopLoss },
		"Size":         func(t *Trade) { t.Size = Some(Dec("0.6")) },
		"EntryPrice":   func(t *Trade) { t.EntryPrice = Some(Dec("1")) },
		"ExitPrice":    func(t *Trade) { t.ExitPrice = Dec("1") },
		"GrossPnL":     func(t *Trade) { t.GrossPnL = Dec("-50") },
		"RoundTripFee": func(t *Trade) { t.RoundTripFee = Dec("1") },
		"OpenedAt":     func(t *Trade) { t.OpenedAt = t.OpenedAt.Add(1) },
		"ClosedAt":     func(t *Trade) { t.ClosedAt = time.Time{} },
		"Extra":        func(t *Trade) { t.Extra = Extra{"note": json.RawMessage(`"x"`)} },
	} {
		changed := digestedTrade()
		change(&changed)
		digest := digestOfTrade(&changed)
		require.Empty(t, seen[digest], name)
		seen[digest] = name
	}
	none := digestedTrade()
	none.Size, none.EntryPrice = none.EntryPrice, Opt[decimal.Decimal]{}
	assert.NotContains(t, seen, digestOfTrade(&none))
	assert.Len(t, seen, reflect.TypeFor[Trade]().NumField()+1, "each field counts")
}
