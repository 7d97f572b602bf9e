// Odds runs a bot through months of virtual time, and says how likely an account passes with it.
//
//	go run ./examples/odds                                     # on a random walk
//	go run ./examples/odds -days 400 -horizon 60 -report report.html
//
// The backtest is on an account whose floors and target are far away, so that all days of the bot
// are in the history. The forecast is for the account that one would buy.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/odds"
	"github.com/tradingapi/trading-go/backtest/report"
)

var (
	days    = flag.Int("days", 90, "how many days of a random walk")
	seed    = flag.Uint64("seed", 1, "the `number` that the walk and the paths follow from")
	horizon = flag.Int("horizon", 30, "`days` after which the forecast ends")
	html    = flag.String("report", "", "the `file` for a report; none unless set")
)

func main() {
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "odds: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	backtest.Main(func(r *backtest.Runner) int {
		if err := run(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	})
}

func run(r *backtest.Runner) error {
	data, err := backtest.Walk(backtest.WalkOptions{Symbol: "BTC", Seed: *seed, Length: time.Duration(*days) * 24 * time.Hour}) // or ReadFile
	if err != nil {
		return err
	}
	result, err := r.Run(Mornings, backtest.Config{
		Name: "Mornings", Data: data, Seed: *seed,
		Account: backtest.Account{DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "100000000", DailyFloor: backtest.FixedFloor},
	})
	if err != nil {
		return err
	}
	history, err := odds.FromResult(result)
	if err != nil {
		return err
	}
	forecast, err := odds.Of(history, odds.Options{Horizon: *horizon, Seed: *seed, Rules: odds.Rules{
		Opening:     trading.Dec("100000"),
		DailyFloor:  trading.Some(trading.Dec("95000")),
		GlobalFloor: trading.Some(trading.Dec("90000")),
		Target:      trading.Some(trading.Dec("110000")),
	}})
	if err != nil {
		return err
	}
	fmt.Print(forecast)
	if *html == "" {
		return nil
	}
	return report.WriteFile(*html, result, forecast)
}

// Mornings is the bot: it buys at nine, with a stop, and sells at noon. It is an example of a bot,
// and not of how money is earned.
func Mornings(ctx context.Context, client *trading.Client) error {
	account := client.Sandbox
	for {
		if err := until(ctx, 9); err != nil {
			return err
		}
		mark, err := account.Price(ctx, "BTC")
		if err != nil {
			return err
		}
		price, ok := mark.Price()
		if !ok {
			continue // no price this morning
		}
		if _, err := account.PlaceOrder(ctx, trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1"), StopLoss: trading.At(price.Mul(trading.Dec("0.98")).Round(2)),
		}); err != nil {
			return err
		}
		if err := until(ctx, 12); err != nil {
			return err
		}
		positions, err := account.Positions(ctx)
		if err != nil {
			return err
		}
		if _, open := positions.In("BTC"); !open {
			continue // its stop has closed it
		}
		if _, err := account.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("100"))); err != nil {
			return err
		}
	}
}

// until waits for the next time that it is so many o'clock in UTC.
func until(ctx context.Context, hour int) error {
	now := time.Now().UTC()
	at := time.Date(now.Year(), now.Month(), now.Day(), hour, 0, 0, 0, time.UTC)
	if !at.After(now) {
		at = at.Add(24 * time.Hour)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(at.Sub(now)):
		return nil
	}
}
