package risk_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A market order with a bracket, on an account with 500 dollars above its floor.
func ExamplePreview() {
	order := trading.Order{
		Symbol:     "BTC",
		Side:       trading.Long,
		Size:       trading.Dec("0.1"),
		Leverage:   trading.Dec("10"),
		StopLoss:   trading.At(trading.Dec("63000")),
		TakeProfit: trading.At(trading.Dec("66000")),
	}
	report := risk.Preview(order, risk.Inputs{
		Environment: trading.EnvLive,
		Market:      trading.Some(trading.Market{Symbol: "BTC", MaxLeverage: trading.Dec("5"), Mark: trading.MarkAt(trading.Dec("64000"))}),
		State: &trading.AccountState{
			Status:         trading.StatusActive,
			Balance:        trading.Dec("10000"),
			Equity:         trading.Dec("10000"),
			DailyLossFloor: trading.Some(trading.Dec("9500")),
			ProfitTarget:   trading.Some(trading.Dec("11000")),
		},
		Positions: trading.Some(trading.Positions{}), // known to be flat
	})
	after, _ := report.After.Get()
	fmt.Println("does:      ", report.Effect)
	fmt.Println("notional:  ", report.Notional)
	fmt.Println("leverage:  ", report.Leverage)
	fmt.Println("margin:    ", after.Margin)
	fmt.Println("fee:       ", report.Fee)
	fmt.Println("break-even:", report.BreakEven)
	fmt.Println("at stop:   ", report.LossAtStop, "lost,", report.RoomAfterStop, "above the floor")
	fmt.Println("at target: ", report.GainAtTarget, "gained,", report.GapAtTarget, "below the target")
	for _, problem := range report.Problems {
		fmt.Println("problem:   ", problem, problem.Fatal)
	}
	fmt.Println("error:     ", report.Err())
	// Output:
	// does:       opens
	// notional:   6400
	// leverage:   5
	// margin:     1280
	// fee:        2.88
	// break-even: 64057.62593167
	// at stop:    105.715 lost, 394.285 above the floor
	// at target:  194.15 gained, 805.85 below the target
	// problem:    leverage is clamped: asked for 10, in force will be 5 false
	// error:      <nil>
}

// The error is that of an order that was refused before it was sent.
func ExampleReport_Err() {
	order := trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.0001"), Leverage: trading.Dec("2"),
	}
	err := risk.Preview(order, risk.Inputs{Mark: trading.MarkAt(trading.Dec("64000"))}).Err()
	fmt.Println(err)
	fmt.Println(errors.Is(err, trading.CodeMinNotional), errors.Is(err, trading.ErrRiskCap), trading.OutcomeOf(err))
	// Output:
	// POST /orders BTC: not applied: MIN_NOTIONAL: the order is worth $6.4, below the minimum of $10 (refused before sending)
	// true true not applied
}

// How much to buy so that the stop costs 50 dollars, fees included.
func ExampleSize() {
	size, err := risk.Size(risk.Plan{
		Side:     trading.Long,
		Entry:    trading.Dec("64000"),
		Stop:     trading.Dec("63000"),
		MaxLoss:  trading.Dec("50"),
		Decimals: 4,
	})
	fmt.Println(size, err)
	// Output: 0.0472 <nil>
}

// How much to buy at the most: here the room above the loss floor is what binds.
func ExampleMaxSize() {
	order := trading.Order{
		Symbol: "BTC", Side: trading.Long, Leverage: trading.Dec("5"), StopLoss: trading.At(trading.Dec("63000")),
	}
	size, err := risk.MaxSize(order, risk.Inputs{
		Market: trading.Some(trading.Market{Symbol: "BTC", MaxLeverage: trading.Dec("5"), Mark: trading.MarkAt(trading.Dec("64000"))}),
		State: &trading.AccountState{
			Environment:    trading.EnvLive,
			Status:         trading.StatusActive,
			Balance:        trading.Dec("10000"),
			Equity:         trading.Dec("10000"),
			DailyLossFloor: trading.Some(trading.Dec("9500")),
		},
		Positions: trading.Some(trading.Positions{}),
	}, 3)
	fmt.Println(size, err)
	// Output: 0.472 <nil>
}

// A guard asks before every send. Its inputs may come from the service, as here, or
// from what the program watches anyway.
func ExampleGuard() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()

	var client *trading.Client
	inputs := func(ctx context.Context, w trading.Write) (risk.Inputs, error) {
		mark, err := client.Sandbox.Price(ctx, w.Symbol)
		return risk.Inputs{Mark: mark}, err
	}
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()),
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()),
		trading.WithGuard(risk.Guard(risk.Limits{MaxLoss: trading.Some(trading.Dec("100"))}, inputs)),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}
	_, err = client.Live.Account("acc_1").PlaceOrder(context.Background(), order)
	fmt.Println(errors.Is(err, risk.ErrNotJudged), "without a stop")
	order.StopLoss = trading.At(trading.Dec("63000"))
	_, err = client.Live.Account("acc_1").PlaceOrder(context.Background(), order)
	fmt.Println(errors.Is(err, risk.ErrLimit), "with one that costs $105.71")
	order.Size = trading.Dec("0.09")
	_, err = client.Live.Account("acc_1").PlaceOrder(context.Background(), order)
	fmt.Println(err)
	// Output:
	// true without a stop
	// true with one that costs $105.71
	// <nil>
}

// A loop that does not look at its errors: the third refusal was the last request.
func ExampleBreaker() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	breaker := risk.NewBreaker(3, time.Minute)
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()), trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithHooks(breaker.Hooks()), trading.WithGuard(breaker.Guard()),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for range 5 {
		_, err = client.Sandbox.PlaceOrder(context.Background(), trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.0001"), Leverage: trading.Dec("2"),
		})
		fmt.Println(errors.Is(err, trading.CodeMinNotional), errors.Is(err, risk.ErrRepeated))
	}
	// Output:
	// true false
	// true false
	// true false
	// true true
	// true true
}
