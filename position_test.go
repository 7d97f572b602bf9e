package trading

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
)

func ExamplePositions_In() {
	positions := Positions{{Symbol: "BTC", Side: Short, Size: Dec("0.5")}}

	if p, open := positions.In("BTC"); open {
		fmt.Println(p.Side, p.Size, p.Signed())
	}
	_, open := positions.In("ETH")
	fmt.Println(open)
	// Output:
	// short 0.5 -0.5
	// false
}

func TestTrap_T51_UnknownPnLIsNotSummedAsZero(t *testing.T) {
	known := func(pnl string) Position { return Position{UnrealizedPnL: Some(Dec(pnl))} }
	unpriced := Position{Size: Dec("100")}

	for _, c := range []struct {
		name string
		ps   Positions
		sum  string // empty if not known
	}{
		{"no positions", nil, "0"},
		{"all known", Positions{known("10.5"), known("-20")}, "-9.5"},
		{"a PnL of 0 is known", Positions{known("0")}, "0"},
		{"one unpriced", Positions{known("10.5"), unpriced, known("-20")}, ""},
		{"the first unpriced", Positions{unpriced, known("1")}, ""},
		{"the last unpriced", Positions{known("1"), unpriced}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sum, ok := c.ps.UnrealizedPnL()
			assert.Equal(t, c.sum != "", ok)
			if ok {
				assert.True(t, sum.Equal(Dec(c.sum)), "sum is %v", sum)
			} else {
				assert.True(t, sum.IsZero(), "no partial sum to be taken for the whole")
			}
		})
	}
}

func TestSigned(t *testing.T) {
	size := Dec("1.5")
	assert.True(t, Position{Side: Long, Size: size}.Signed().Equal(size))
	assert.True(t, Position{Side: Short, Size: size}.Signed().Equal(size.Neg()))
	assert.True(t, Position{}.Signed().Equal(decimal.Zero))
}

func fullPosition() Position {
	return Position{
		Symbol: "BTC", Side: Long, Size: Dec("0.5"), Leverage: Some(Dec("2")), EntryPrice: Dec("60000"),
		Mark: MarkAt(Dec("61000")), Notional: Some(Dec("30500")), Margin: Some(Dec("15250")), UnrealizedPnL: Some(Dec("500")),
		TakeProfit: At(Dec("65000")), StopLoss: At(Dec("59000")), OpenedAt: time.UnixMilli(1_780_000_000_000).UTC(),
		Extra: Extra{"a": json.RawMessage("1")},
	}
}

func TestPositionEqual(t *testing.T) { checkEqual(t, fullPosition()) }
