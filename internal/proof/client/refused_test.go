package client

import (
	"fmt"
	"strings"
	"testing"
)

// The frame of a line of TestRefusedByTheCompiler: what such a line can use.
const refusedFrame = `package snippet

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

func closePart(trading.Part)         {}
func cancelRun(trading.RunID)        {}
func cancelOrder(trading.OrderID)    {}
func setSkew(trading.Opt[decimal.Decimal]) {}
func use(...any)                     {}

func snippet(
	price     decimal.Decimal,
	order     trading.Order,
	position  trading.Position,
	positions trading.Positions,
	trade     trading.Trade,
	orderID   trading.OrderID,
	runID     trading.RunID,
) {
	%s
}
`

// Mistakes that cost money elsewhere and do not compile here. Each has the line
// that is meant beside it, which must compile: so that it is the mistake which is
// refused, and not a typing error in the test.
func TestRefusedByTheCompiler(t *testing.T) {
	for _, c := range []struct {
		mistake string
		refused string
		because string // part of what the compiler says
		meant   string
	}{
		{
			mistake: "a price that can be zero by mistake for a stop",
			refused: `use(trading.Order{StopLoss: price})`,
			because: "cannot use price",
			meant:   `use(trading.Order{StopLoss: trading.At(price)})`,
		},
		{
			mistake: "a pointer for an optional price",
			refused: `use(trading.Order{StopLoss: &price})`,
			because: "cannot use &price",
			meant:   `use(trading.Order{StopLoss: trading.At(price)})`,
		},
		{
			mistake: "nil to remove a level",
			refused: `use(trading.TPSL{StopLoss: nil})`,
			because: "cannot use nil",
			meant:   `use(trading.TPSL{StopLoss: trading.Clear})`,
		},
		{
			mistake: "a float as a level",
			refused: `use(trading.Order{StopLoss: trading.At(60000.5)})`,
			because: "cannot use 60000.5",
			meant:   `use(trading.Order{StopLoss: trading.At(trading.Dec("60000.5"))})`,
		},
		{
			mistake: "a float as a size",
			refused: `use(trading.Order{Size: 0.01})`,
			because: "cannot use 0.01",
			meant:   `use(trading.Order{Size: trading.Dec("0.01")})`,
		},
		{
			mistake: "a float as a percent",
			refused: `use(trading.Order{MaxSlippagePct: 0.5})`,
			because: "cannot use 0.5",
			meant:   `use(trading.Order{MaxSlippagePct: trading.Some(trading.Dec("0.5"))})`,
		},
		{
			mistake: "an order type as text (T56)",
			refused: `use(trading.Order{Type: "Limit"})`,
			because: `cannot use "Limit"`,
			meant:   `use(trading.Order{Type: trading.LimitOrder})`,
		},
		{
			mistake: "an order type for a kind of execution",
			refused: `var kind trading.ExecKind = trading.LimitOrder; use(kind)`,
			because: "cannot use trading.LimitOrder",
			meant:   `var kind trading.ExecKind = trading.StopLimit; use(kind)`,
		},
		{
			mistake: "a bare number for how much to close",
			refused: `closePart(50)`,
			because: "cannot use 50",
			meant:   `closePart(trading.Percent(trading.Dec("50")))`,
		},
		{
			mistake: "leaving out how much to close (T59)",
			refused: `closePart()`,
			because: "not enough arguments",
			meant:   `closePart(trading.All)`,
		},
		{
			mistake: "a kind of execution as text",
			refused: `use(trading.Conditional{Exec: "stop-limit"})`,
			because: `cannot use "stop-limit"`,
			meant:   `use(trading.Conditional{Exec: trading.StopLimit})`,
		},
		{
			mistake: "a bare number where percent and basis points are easily confused (T97)",
			refused: `use(trading.Swarm{SlippageBps: 0.5})`,
			because: "cannot use 0.5",
			meant:   `use(trading.Swarm{SlippageBps: trading.Some(trading.Dec("50"))})`,
		},
		{
			mistake: "a bare number for an optional one",
			refused: `setSkew(1.5)`,
			because: "cannot use 1.5",
			meant:   `setSkew(trading.Some(trading.Dec("1.5")))`,
		},
		{
			mistake: "the id of an order for that of a run",
			refused: `cancelRun(orderID)`,
			because: "cannot use orderID",
			meant:   `cancelRun(runID)`,
		},
		{
			mistake: "the id of a run for that of an order",
			refused: `cancelOrder(runID)`,
			because: "cannot use runID",
			meant:   `cancelOrder(orderID)`,
		},
		{
			mistake: "calculating with a mark that may be absent (T49)",
			refused: `use(position.Mark.Mul(price))`,
			because: "position.Mark.Mul undefined",
			meant:   `if mark, ok := position.Mark.Price(); ok { use(mark.Mul(price)) }`,
		},
		{
			mistake: "taking a mark without asking whether there is one (T49)",
			refused: `mark := position.Mark.Price(); use(mark)`,
			because: "returns 2 values",
			meant:   `mark, ok := position.Mark.Price(); use(mark, ok)`,
		},
		{
			mistake: "making a mark without the rule for prices (T50)",
			refused: `use(trading.Mark{price: price})`,
			because: "unexported field price",
			meant:   `use(trading.MarkAt(price))`,
		},
		{
			mistake: "calculating with a PnL that may be absent (T51)",
			refused: `use(position.UnrealizedPnL.Add(price))`,
			because: "position.UnrealizedPnL.Add undefined",
			meant:   `if pnl, ok := position.UnrealizedPnL.Get(); ok { use(pnl.Add(price)) }`,
		},
		{
			mistake: "summing PnL without asking whether it is known (T51)",
			refused: `sum := positions.UnrealizedPnL(); use(sum)`,
			because: "returns 2 values",
			meant:   `sum, ok := positions.UnrealizedPnL(); use(sum, ok)`,
		},
		{
			mistake: "taking a position without asking whether it is open",
			refused: `p := positions.In("BTC"); use(p)`,
			because: "returns 2 values",
			meant:   `p, open := positions.In("BTC"); use(p, open)`,
		},
		{
			mistake: "a PnL that is gross without saying so (T73)",
			refused: `use(trade.RealizedPnL)`,
			because: "trade.RealizedPnL undefined",
			meant:   `use(trade.GrossPnL, trade.NetPnL())`,
		},
		{
			mistake: "a fee of a trade that is twice what it seems (T73)",
			refused: `use(trade.Fee)`,
			because: "trade.Fee undefined",
			meant:   `use(trade.RoundTripFee)`,
		},
		{
			mistake: "== on levels, which would compare addresses",
			refused: `use(position.StopLoss == order.StopLoss)`,
			because: "cannot be compared",
			meant:   `use(position.StopLoss.Equal(order.StopLoss))`,
		},
		{
			mistake: "== on a level and Clear",
			refused: `use(position.StopLoss == trading.Clear)`,
			because: "cannot be compared",
			meant:   `use(position.StopLoss.IsClear())`,
		},
		{
			mistake: "== on marks",
			refused: `use(position.Mark == trading.MarkAt(price))`,
			because: "cannot be compared",
			meant:   `use(position.Mark.Equal(trading.MarkAt(price)))`,
		},
		{
			mistake: "== on optional values",
			refused: `use(position.UnrealizedPnL == trading.Some(price))`,
			because: "cannot be compared",
			meant:   `use(position.UnrealizedPnL.Equal(trading.Some(price)))`,
		},
		{
			mistake: "== on parts",
			refused: `use(trading.All == trading.Percent(price))`,
			because: "cannot be compared",
			meant:   `use(trading.All.Equal(trading.Percent(price)))`,
		},
		{
			mistake: "== on orders",
			refused: `use(order == trading.Order{})`,
			because: "cannot be compared",
			meant:   `use(order.Symbol == "BTC")`,
		},
		{
			mistake: "a status for a side",
			refused: `use(trading.Order{Side: trading.StatusActive})`,
			because: "cannot use trading.StatusActive",
			meant:   `use(trading.Order{Side: trading.Long})`,
		},
	} {
		t.Run(c.mistake, func(t *testing.T) {
			if _, complaints := compile(t, fmt.Sprintf(refusedFrame, c.meant)); len(complaints) > 0 {
				t.Errorf("what is meant does not compile: %s\n\t%s", c.meant, strings.Join(complaints, "\n\t"))
			}
			_, complaints := compile(t, fmt.Sprintf(refusedFrame, c.refused))
			if len(complaints) == 0 {
				t.Fatalf("compiles: %s", c.refused)
			}
			if !strings.Contains(complaints[0], c.because) {
				t.Errorf("%s\n\tis refused for another reason: %s", c.refused, complaints[0])
			}
		})
	}
}
