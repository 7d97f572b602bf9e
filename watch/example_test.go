package watch_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

// simulated returns a client of a simulated service with BTC at 64000.
func simulated() (*trading.Client, *tradingsim.Sim) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client, err := trading.New(sim.URL(),
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
	)
	if err != nil {
		log.Fatal(err)
	}
	return client, sim
}

func ExampleEvents() {
	client, sim := simulated()
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	for ev, err := range watch.Events(ctx,
		watch.Marks(client.Sandbox.MarketData, "BTC").WithInterval(20*time.Millisecond).WithSnapshot(),
		watch.Account(client.Sandbox).WithInterval(20*time.Millisecond).WithSnapshot(),
	) {
		if err != nil {
			fmt.Println(err) // it goes on by itself
			continue
		}
		switch ev := ev.(type) {
		case watch.MarkChanged:
			if _, known := ev.Old.Price(); known {
				continue // below the stop, which the next look at the account fires
			}
			fmt.Println("BTC is at", ev.New)
			_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{
				Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2"),
				StopLoss: trading.At(trading.Dec("63500")),
			})
			fmt.Println("bought:", err == nil)
		case watch.PositionOpened:
			fmt.Println("open:", ev.Position.Side, ev.Position.Size)
			sim.SetMark("BTC", "63400")
		case watch.TradeClosed:
			fmt.Println("earned:", ev.Trade.NetPnL())
		case watch.PositionClosed:
			fmt.Println("closed:", ev.Cause)
			return // nothing runs on
		}
	}
	// Output:
	// BTC is at 64000
	// bought: true
	// open: long 0.1
	// earned: -65.733
	// closed: stop_loss
}

// One look feeds every loop, at each one's own speed.
func ExampleWatch_Shared() {
	client, sim := simulated()
	defer client.Close()
	marks := watch.Marks(client.Sandbox.MarketData).WithSnapshot().Shared()

	first := func() (mark trading.Mark) {
		for ev, err := range watch.Events(context.Background(), marks) {
			if err != nil {
				log.Fatal(err)
			}
			return ev.(watch.MarkChanged).New
		}
		return mark
	}
	for ev := range watch.Events(context.Background(), marks) {
		fmt.Println(ev.(watch.MarkChanged).New, first(), first())
		break
	}
	fmt.Println(len(sim.Requests()), "request")
	// Output:
	// 64000 64000 64000
	// 1 request
}

// A View is what the events have told.
func ExampleView() {
	client, _ := simulated()
	defer client.Close()
	ctx := context.Background()
	order := trading.Order{Symbol: "BTC", Side: trading.Short, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}
	if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
		log.Fatal(err)
	}

	var view watch.View
	for ev, err := range watch.Events(ctx, watch.Account(client.Sandbox).WithSnapshot()) {
		if err != nil {
			log.Fatal(err)
		}
		view.Apply(ev)
		if position, open := view.Positions.In("BTC"); open {
			fmt.Println(view.State.Status, position.Side, position.Size)
			break
		}
	}
	// Output: active short 0.1
}

// An error that cannot heal is the last thing that the loop yields.
func ExampleError() {
	client, _ := simulated()
	defer client.Close()
	for _, err := range watch.Events(context.Background(), watch.Account(client.Live.Account("acc_9"))) {
		var failed *watch.Error
		if errors.As(err, &failed) {
			fmt.Println(failed.Watch, "ends:", failed.Ends)
		}
		fmt.Println(errors.Is(err, trading.CodeAccountNotFound))
	}
	// Output:
	// account acc_9 ends: true
	// true
}

func ExampleCandlesAfter() {
	client, _ := simulated()
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	file := strings.NewReader("time,open,high,low,close\n2026-01-01T00:00:00Z,63000,63500,62900,63400\n")

	recorded, err := watch.ReadCandles(file, "BTC", time.Minute) // from where the program has them
	if err != nil {
		log.Fatal(err)
	}
	var closes []decimal.Decimal // what an indicator is computed from
	for ev, err := range watch.Events(ctx, watch.CandlesAfter(client.Sandbox.MarketData, recorded, time.Minute, "BTC")) {
		if err != nil {
			log.Print("it goes on by itself: ", err)
			continue
		}
		switch ev := ev.(type) {
		case watch.CandleClosed:
			closes = append(closes[max(0, len(closes)-99):], ev.Candle.Close) // a hundred at most
			fmt.Println("closed at", ev.Candle.Close, "all of it seen:", ev.Candle.Whole())
		case watch.CandlesMissing: // nothing stands in their place: go on without, or begin anew
			closes = nil
			fmt.Println(ev.Symbol, "has none from", ev.From.Format(time.DateTime), "on:", ev.Reason)
			cancel() // the end of this example
		}
	}
	// Output:
	// closed at 63400 all of it seen: true
	// BTC has none from 2026-01-01 00:01:00 on: no look found a price
}

func ExampleFills() {
	client, sim := simulated()
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	account := client.Live.Account("acc_1")
	bid := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2"), LimitPrice: trading.At(trading.Dec("63000"))}
	if _, err := account.PlaceLimit(ctx, bid); err != nil {
		log.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { sim.SetMark("BTC", "62900") })

	for ev, err := range watch.Events(ctx, watch.Fills(account).WithInterval(50*time.Millisecond)) {
		if err != nil {
			log.Print("it goes on by itself: ", err)
			continue
		}
		switch ev := ev.(type) {
		case watch.LimitFilled:
			fee, known := ev.Fee.Get()
			fmt.Println(ev.Order.ID, "filled", ev.Size, "at", ev.Price, "for", fee, known)
			return // the end of this example
		case watch.LimitNotFilled:
			fmt.Println(ev.Order.ID, "was cancelled or dropped")
		case watch.LimitUnclear:
			fmt.Println(ev.Order.ID, "rests no more, read the position:", ev.Reason)
		}
	}
	// Output: ord_1 filled 0.1 at 63000 for 0.945 true
}
