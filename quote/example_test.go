package quote_test

import (
	"fmt"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/quote"
)

func ExampleDiff() {
	buy := func(price, size string) quote.Quote {
		return quote.Quote{Side: trading.Long, Price: trading.Dec(price), Size: trading.Dec(size)}
	}
	rests := []quote.Resting{{ID: "ord_1", Quote: buy("63990", "0.1")}, {ID: "ord_2", Quote: buy("63500", "0.1")}}
	desired := []quote.Quote{buy("63992", "0.1"), buy("63600", "0.1")}

	plan := quote.Diff(desired, rests, quote.Change{Price: trading.Dec("5")})
	fmt.Println("keep", plan.Keep[0].ID, "cancel", plan.Cancel[0].ID, "place at", plan.Place[0].Price)
	// Output: keep ord_1 cancel ord_2 place at 63600
}
