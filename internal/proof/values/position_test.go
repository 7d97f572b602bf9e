package values

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
)

func TestTrap_T51_UnknownPnLIsNotSummedAsZero(t *testing.T) {
	known := func(pnl string) trading.Position {
		return trading.Position{UnrealizedPnL: trading.Some(trading.Dec(pnl))}
	}
	unpriced := trading.Position{Size: trading.Dec("100")}

	for _, c := range []struct {
		name string
		ps   trading.Positions
		sum  string // empty if not known
	}{
		{"no positions", nil, "0"},
		{"all known", trading.Positions{known("10.5"), known("-20")}, "-9.5"},
		{"a PnL of 0 is known", trading.Positions{known("0")}, "0"},
		{"one unpriced", trading.Positions{known("10.5"), unpriced, known("-20")}, ""},
		{"the first unpriced", trading.Positions{unpriced, known("1")}, ""},
		{"the last unpriced", trading.Positions{known("1"), unpriced}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sum, ok := c.ps.UnrealizedPnL()
			assert.Equal(t, c.sum != "", ok)
			if ok {
				assert.True(t, sum.Equal(trading.Dec(c.sum)), "sum is %v", sum)
			} else {
				assert.True(t, sum.IsZero(), "no partial sum to be taken for the whole")
			}
		})
	}
}

func TestSigned(t *testing.T) {
	size := trading.Dec("1.5")
	assert.True(t, trading.Position{Side: trading.Long, Size: size}.Signed().Equal(size))
	assert.True(t, trading.Position{Side: trading.Short, Size: size}.Signed().Equal(size.Neg()))
	assert.True(t, trading.Position{}.Signed().Equal(decimal.Zero))
}

func fullPosition() trading.Position {
	return trading.Position{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.5"), Leverage: trading.Some(trading.Dec("2")), EntryPrice: trading.Dec("60000"),
		Mark: trading.MarkAt(trading.Dec("61000")), Notional: trading.Some(trading.Dec("30500")), Margin: trading.Some(trading.Dec("15250")), UnrealizedPnL: trading.Some(trading.Dec("500")),
		TakeProfit: trading.At(trading.Dec("65000")), StopLoss: trading.At(trading.Dec("59000")), OpenedAt: time.UnixMilli(1_780_000_000_000).UTC(),
		Extra: trading.Extra{"a": json.RawMessage("1")},
	}
}

func TestPositionEqual(t *testing.T) { checkEqual(t, fullPosition()) }
