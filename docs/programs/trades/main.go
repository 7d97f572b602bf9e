// Trades writes each trade that closes as a line of CSV, until it is interrupted.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/export"
	"github.com/tradingapi/trading-go/watch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := trading.FromEnv() // TRADING_BASE_URL, TRADING_LIVE_KEY
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	follow(ctx, client.Live.Account("acc_1"), export.CSV(os.Stdout))
}

// follow writes the trades that close until its context ends.
func follow(ctx context.Context, account *trading.Account, trades *export.Trades) {
	for ev, err := range watch.Events(ctx, watch.Account(account).WithSnapshot()) {
		if err != nil {
			log.Print("it goes on by itself: ", err)
			continue
		}
		switch ev := ev.(type) {
		case watch.TradeClosed:
			if err := trades.Write(ev.Account, ev.Trade); err != nil {
				log.Print(err)
				return
			}
		case watch.Gap:
			log.Print("a trade may be missing: ", ev.Reason)
		}
	}
}
