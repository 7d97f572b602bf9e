package odds_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/odds"
)

var result *backtest.Result

func ExampleFromResult() {
	history, err := odds.FromResult(result) // of a backtest.Run
	if err != nil {
		log.Fatal(err)
	}
	forecast, err := odds.Of(history, odds.Options{
		Rules: odds.Rules{
			Opening:     trading.Dec("100000"),
			DailyFloor:  trading.Some(trading.Dec("95000")),
			GlobalFloor: trading.Some(trading.Dec("90000")),
			Target:      trading.Some(trading.Dec("110000")),
		},
		Horizon: 30, // days
	})
	if err != nil {
		log.Fatal(err)
	}
	if forecast.Refused != "" {
		fmt.Println("no chance:", forecast.Refused)
		return
	}
	fmt.Println(forecast.Headline()) // such as "Of 100 such accounts between 4 and at least 61 are lost within 30 days; …"
	pass, _ := forecast.Pass.Get()
	fmt.Println("passes:", pass) // such as "61 % to 84 %"
}

func ExampleOf() {
	file := strings.NewReader(`opened,closed,net,mae,mfe,notional
2026-03-02T08:00:00Z,2026-03-02T09:30:00Z,120.50,-80,190,25000
2026-03-03T08:00:00Z,2026-03-03T08:20:00Z,-95.20,-110,15,25000
`)
	trades, err := odds.ReadTrades(file)
	if err != nil {
		log.Fatal(err)
	}
	history, err := odds.FromTrades(trades, odds.TradesOptions{
		Account: "acc_1", End: "active",
		Opening: trading.Some(trading.Dec("100000")), Balance: trading.Some(trading.Dec("100025.30")),
	})
	if err != nil {
		log.Fatal(err)
	}
	forecast, err := odds.Of(history, odds.Options{Horizon: 30, Rules: odds.Rules{
		Opening:     trading.Dec("100000"),
		DailyFloor:  trading.Some(trading.Dec("95000")),
		GlobalFloor: trading.Some(trading.Dec("90000")),
		Target:      trading.Some(trading.Dec("110000")),
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(forecast.Refused)
	// Output: 2 days are too few days for an interval
}
