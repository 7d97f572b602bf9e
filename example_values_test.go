package trading_test

import (
	"encoding/json"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

func ExampleAccountState_LossRoom() {
	state := trading.AccountState{
		Equity:          trading.Dec("9720.50"),
		DailyLossFloor:  trading.Some(trading.Dec("9500")),
		GlobalLossFloor: trading.Some(trading.Dec("9000")),
	}
	room, ok := state.LossRoom()
	fmt.Println(room, ok)
	// Output: 220.5 true
}

func ExampleDec() {
	size := trading.Dec("0.1")
	fmt.Println(size.Add(trading.Dec("0.2")))
	// Output: 0.3
}

func ExampleExtra() {
	// A member that this version has no field for.
	position := trading.Position{Extra: trading.Extra{"liquidationPrice": json.RawMessage("48211.50")}}

	if price, ok := position.Extra.Decimal("liquidationPrice"); ok {
		fmt.Println(price)
	}
	// Output: 48211.5
}

func ExampleRoundTripFee() {
	// In at 10000 dollars, out at 10200.
	fmt.Println(trading.RoundTripFee(trading.Dec("10000"), trading.Dec("10200")))
	// Output: 9.09
}

func ExampleBreakEven() {
	long, _ := trading.BreakEven(trading.Long, trading.Dec("60000"))
	short, _ := trading.BreakEven(trading.Short, trading.Dec("60000"))
	fmt.Println(long, short)
	// Output: 60054.02431094 59946.02428906
}

func ExampleLevel() {
	// Moves the stop, removes the target, leaves ClosePct as it is.
	change := trading.TPSL{
		StopLoss:   trading.At(trading.Dec("59000")),
		TakeProfit: trading.Clear,
	}
	text, _ := json.Marshal(change)
	fmt.Println(string(text))
	// Output: {"TakeProfit":null,"StopLoss":59000}
}

func ExampleLevel_Value() {
	for _, stop := range []trading.Level{trading.At(trading.Dec("59000")), trading.Clear, {}} {
		price, ok := stop.Value()
		fmt.Println(stop, price, ok)
	}
	// Output:
	// 59000 59000 true
	// clear 0 false
	// absent 0 false
}

func ExampleMark() {
	prices := map[string]trading.Mark{"BTC": trading.MarkAt(trading.Dec("60123.50"))}

	for _, symbol := range []string{"BTC", "DOGE"} {
		price, ok := prices[symbol].Price()
		if !ok {
			fmt.Println(symbol, "is unpriced: do not trade it")
			continue
		}
		fmt.Println(symbol, "is at", price)
	}
	// Output:
	// BTC is at 60123.5
	// DOGE is unpriced: do not trade it
}

func ExampleOpt() {
	type row struct{ Fee, PnL trading.Opt[decimal.Decimal] }
	var r row
	_ = json.Unmarshal([]byte(`{"Fee": 1.350, "PnL": null}`), &r)

	fmt.Println(r.Fee, r.PnL)
	fmt.Printf("%.2f\n", r.Fee)
	if _, ok := r.PnL.Get(); !ok {
		fmt.Println("the PnL is not known, which is not 0")
	}
	// Output:
	// 1.35 none
	// 1.35
	// the PnL is not known, which is not 0
}

func ExampleOrder() {
	order := trading.Order{
		Symbol:         "BTC",
		Side:           trading.Long,
		Size:           trading.Dec("0.05"), // bitcoin
		Leverage:       trading.Dec("2"),
		StopLoss:       trading.At(trading.Dec("59000")),
		MaxSlippagePct: trading.Some(trading.Dec("0.5")), // half a percent
	}
	fmt.Printf("%s %s %s %s, stop %s, target %s\n",
		order.Type, order.Side, order.Size, order.Symbol, order.StopLoss, order.TakeProfit)
	// Output: market long 0.05 BTC, stop 59000, target absent
}

func ExamplePart() {
	half := trading.Percent(trading.Dec("50"))
	fmt.Println(half, trading.All)
	// Output: 50% 100%
}

func ExamplePositions_In() {
	positions := trading.Positions{{Symbol: "BTC", Side: trading.Short, Size: trading.Dec("0.5")}}

	if p, open := positions.In("BTC"); open {
		fmt.Println(p.Side, p.Size, p.Signed())
	}
	_, open := positions.In("ETH")
	fmt.Println(open)
	// Output:
	// short 0.5 -0.5
	// false
}
