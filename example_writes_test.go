package trading_test

import (
	"fmt"
	"log"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// account returns the live account of a simulated service with BTC at 64000.
func account() (*trading.Account, *tradingsim.Sim) {
	client, sim := simulated(tradingsim.WithManualClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)))
	return client.Live.Account("acc_1"), sim
}

func ExampleAccount_PlaceLimit() {
	account, sim := account()
	resting, err := account.PlaceLimit(ctx, trading.Order{
		Symbol:     "BTC",
		Side:       trading.Long,
		Size:       trading.Dec("0.05"),
		Leverage:   trading.Dec("2"),
		LimitPrice: trading.At(trading.Dec("63000")),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resting.Order.ID, "rests")
	sim.SetMark("BTC", "62900")
	fmt.Println("the account holds", sim.Position("acc_1", "BTC"))
	// Output:
	// ord_1 rests
	// the account holds 0.05
}

func ExampleAccount_CancelOrder() {
	account, _ := account()
	limit := order
	limit.LimitPrice = trading.At(trading.Dec("63000"))
	resting, err := account.PlaceLimit(ctx, limit)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := account.CancelOrder(ctx, resting.Order.ID); err != nil {
		log.Fatal(err) // CodeOrderNotFound can mean that it has filled
	}
	open, err := account.OpenOrders(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(open.Limits), "rest")
	// Output: 0 rest
}

func ExampleAccount_ClosePosition() {
	account, sim := account()
	if _, err := account.PlaceOrder(ctx, order); err != nil {
		log.Fatal(err)
	}
	sim.SetMark("BTC", "65000")
	closed, err := account.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("40")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pnl", closed.PnL, "status", closed.Status, "left", sim.Position("acc_1", "BTC"))
	// Output: pnl 20 status ACTIVE left 0.03
}

func ExampleAccount_SetTPSL() {
	account, _ := account()
	if _, err := account.PlaceOrder(ctx, order); err != nil {
		log.Fatal(err)
	}
	set, err := account.SetTPSL(ctx, "BTC", trading.TPSL{
		TakeProfit: trading.At(trading.Dec("66000")),
		StopLoss:   trading.At(trading.Dec("63500")),
	})
	if err != nil {
		log.Fatal(err)
	}
	position, _ := set.Position.Get()
	fmt.Println("target", position.TakeProfit, "stop", position.StopLoss)
	// Output: target 66000 stop 63500
}

func ExampleConditional() {
	account, sim := account()
	run, err := account.PlacePro(ctx, order, trading.Conditional{Trigger: trading.Dec("65000")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.ID, "waits; the account holds", sim.Position("acc_1", "BTC"))
	sim.SetMark("BTC", "65010")
	fmt.Println("triggered; the account holds", sim.Position("acc_1", "BTC"))
	// Output:
	// run_1 waits; the account holds 0
	// triggered; the account holds 0.05
}

func ExampleLadder() {
	account, sim := account()
	_, err := account.PlacePro(ctx, order, trading.Ladder{
		From:  trading.Dec("63900"),
		To:    trading.Dec("63500"),
		Rungs: 5,
	})
	if err != nil {
		log.Fatal(err)
	}
	sim.SetMark("BTC", "63700") // three of the five rungs
	fmt.Println("the account holds", sim.Position("acc_1", "BTC"))
	// Output: the account holds 0.03
}

func ExampleTWAP() {
	account, sim := account()
	large := order
	large.Size = trading.Dec("1.2")
	_, err := account.PlacePro(ctx, large, trading.TWAP{Duration: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	sim.Advance(30 * time.Minute)
	fmt.Println("after half the time the account holds", sim.Position("acc_1", "BTC"))
	// Output: after half the time the account holds 0.6
}

func ExampleChase() {
	account, sim := account()
	run, err := account.PlacePro(ctx, order, trading.Chase{To: trading.At(trading.Dec("64500"))})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.ID, "follows the market up to 64500")
	sim.Advance(time.Minute)
	fmt.Println("the account holds", sim.Position("acc_1", "BTC"))
	// Output:
	// run_1 follows the market up to 64500
	// the account holds 0.05
}

func ExampleChaseTWAP() {
	account, sim := account()
	_, err := account.PlacePro(ctx, order, trading.ChaseTWAP{Duration: time.Hour, To: trading.At(trading.Dec("64500"))})
	if err != nil {
		log.Fatal(err)
	}
	sim.Advance(time.Hour)
	fmt.Println("after its time the account holds", sim.Position("acc_1", "BTC"))
	// Output: after its time the account holds 0.05
}

func ExampleSwarm() {
	account, sim := account()
	_, err := account.PlacePro(ctx, order, trading.Swarm{Orders: 5, SlippageBps: trading.Some(trading.Dec("50"))}) // half a percent
	if err != nil {
		log.Fatal(err)
	}
	sim.Advance(time.Minute)
	fmt.Println("the account holds", sim.Position("acc_1", "BTC"))
	// Output: the account holds 0.05
}

func ExampleAccount_EditRun() {
	account, sim := account()
	run, err := account.PlacePro(ctx, order, trading.TWAP{Duration: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	sim.Advance(30 * time.Minute) // half of 0.05 is filled
	for _, size := range []string{"0.01", "0.03"} {
		if _, err := account.EditRun(ctx, run.ID, trading.Dec(size)); err != nil {
			fmt.Println(size, "refused:", trading.AdviceOf(err))
		} else {
			fmt.Println(size, "is the new size")
		}
	}
	// Output:
	// 0.01 refused: change it or drop it
	// 0.03 is the new size
}

func ExampleAccount_CancelRun() {
	account, sim := account()
	large := order
	large.Size = trading.Dec("1.2")
	run, err := account.PlacePro(ctx, large, trading.TWAP{Duration: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	sim.Advance(30 * time.Minute)
	if _, err := account.CancelRun(ctx, run.ID); err != nil {
		log.Fatal(err) // CodeRunNotFound can mean that it has finished
	}
	sim.Advance(30 * time.Minute)
	fmt.Println("what was filled stays:", sim.Position("acc_1", "BTC"))
	// Output: what was filled stays: 0.6
}

func ExampleSandbox_ClosePosition() {
	client, sim := simulated()
	if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
		log.Fatal(err)
	}
	sim.SetMark("BTC", "65000")
	closed, err := client.Sandbox.ClosePosition(ctx, "BTC", trading.All)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("closed at", closed.ExitPrice, "gross", closed.PnL)
	// Output: closed at 65000 gross 50
}

func ExampleSandbox_Reset() {
	client, sim := simulated()
	if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
		log.Fatal(err)
	}
	state, err := client.Sandbox.Reset(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("balance", state.Balance, "position", sim.Position("", "BTC"))
	// Output: balance 100000 position 0
}

func ExampleClient_Do() {
	client, sim := simulated()
	received := []byte(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0500,"leverage":2}`) // of another program
	meta, err := client.Do(ctx, trading.OpOrder, trading.Raw{Body: received, Age: 40 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(meta.Status, meta.Settled, len(sim.Ledger()))
	// Output: 200 true 1
}
