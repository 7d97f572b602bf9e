package export_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/export"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

func Example() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()), trading.WithHealthGate(trading.HealthGate{Off: true}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	account := client.Live.Account("acc_1")
	buy := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
	if _, err := account.PlaceOrder(ctx, buy); err != nil {
		log.Fatal(err)
	}

	trades := export.CSV(os.Stdout) // or a file; export.CSVRows goes on with one
	for ev, err := range watch.Events(ctx, watch.Account(account).WithInterval(20*time.Millisecond).WithSnapshot()) {
		if err != nil {
			log.Print(err)
			continue
		}
		switch ev := ev.(type) {
		case watch.PositionOpened:
			sim.SetMark("BTC", "65000")
			if _, err := account.ClosePosition(ctx, "BTC", trading.All); err != nil {
				log.Fatal(err)
			}
		case watch.TradeClosed:
			if err := trades.Write(ev.Account, ev.Trade); err != nil {
				log.Fatal(err)
			}
			cancel()
		case watch.Gap:
			fmt.Println("a trade may be missing:", ev.Reason)
		}
	}
	// Output:
	// Date,Amount,Currency,Label,Description,Account,Symbol,Side,Cause,Size,Entry Price,Exit Price,Gross PnL,Fee,Opened At
	// 2026-01-02T03:04:05Z,47.0975,USD,realized gain,long 0.05 BTC closed by market,acc_1,BTC,long,market,0.05,64000,65000,50,2.9025,2026-01-02T03:04:05Z
}
