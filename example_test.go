package trading_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

// simulated returns a client of a simulated service with BTC at 64000, as the
// examples use it.
func simulated(opts ...tradingsim.Option) (*trading.Client, *tradingsim.Sim) {
	sim := tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000")}, opts...)...)
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

var (
	ctx   = context.Background()
	order = trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
)

// served sets the environment of a configured service, and a folder to work in.
func served() (end func()) {
	sim := tradingsim.New()
	dir, err := os.MkdirTemp("", "example")
	if err == nil {
		err = sim.Listen("127.0.0.1:0")
	}
	before, _ := os.Getwd()
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		log.Fatal(err)
	}
	os.Setenv("TRADING_BASE_URL", sim.URL())
	os.Setenv("TRADING_SANDBOX_KEY", sim.SandboxKey())
	os.Setenv("TRADING_LIVE_KEY", sim.LiveKey())
	return func() {
		_ = sim.Close()
		_ = os.Chdir(before)
		_ = os.RemoveAll(dir)
	}
}

func ExampleFromEnv() {
	defer served()()
	// README
	client, err := trading.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	health, err := client.Health(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("safe to trade:", health.Safe())
	// Output: safe to trade: true
}

func ExampleMarketData_Price() {
	client, _ := simulated()
	// README
	mark, err := client.Sandbox.Price(ctx, "BTC")
	if err != nil {
		log.Fatal(err)
	}
	price, ok := mark.Price()
	if !ok {
		fmt.Println("BTC has no price right now")
		return
	}
	fmt.Println("BTC is at", price)
	// Output: BTC is at 64000
}

func ExampleMarketData_Prices() {
	client, _ := simulated(tradingsim.WithMark("NEWCOIN", ""))
	marks, err := client.Sandbox.Prices(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("BTC", marks["BTC"])
	fmt.Println("NEWCOIN", marks["NEWCOIN"]) // not in the answer: unpriced, never zero
	// Output:
	// BTC 64000
	// NEWCOIN unpriced
}

func ExampleSandbox_PlaceOrder() {
	client, _ := simulated()
	bought, err := client.Sandbox.PlaceOrder(ctx, trading.Order{
		Symbol:   "BTC",
		Side:     trading.Long,
		Size:     trading.Dec("0.05"), // base units
		Leverage: trading.Dec("2"),
		StopLoss: trading.At(trading.Dec("63000")),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("filled at", bought.Fill.Price)
	// Output: filled at 64000
}

func ExampleAccount_PlaceOrder() {
	client, _ := simulated()
	// README
	account := client.Live.Account("acc_1")
	pending, err := account.Pending(ctx) // writes whose outcome is not known
	if err != nil {
		log.Fatal(err)
	}
	positions, err := account.Positions(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, open := positions.In("BTC"); open || len(pending) > 0 {
		return
	}
	bought, err := account.PlaceOrder(ctx, order)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("filled at", bought.Fill.Price, "for a fee of", bought.Fill.Fee)
	// Output: filled at 64000 for a fee of 1.44
}

// The reply is lost, and the call does not wait for the outcome. Resolve takes seconds, so
// TestExampleAccountResolve runs this on virtual time.
func ExampleAccount_Resolve() {
	client, sim := simulated()
	defer client.Close()
	account := client.Live.Account("acc_1", trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0))
	sim.Fault("POST /orders", tradingsim.DropResponse())
	_, err := account.PlaceOrder(ctx, order)
	if trading.OutcomeOf(err) == trading.Unknown {
		resolution, err := account.Resolve(ctx, err) // wait longer than the call did
		if err != nil {
			log.Fatal(err) // not known yet, or a person has to look
		}
		fmt.Println(resolution.Outcome, "by", resolution.Evidence) // applied by its stored answer
	}
}

func ExampleClient_Recover() {
	defer served()()
	writes, err := journal.Open("bot.journal")
	if err != nil {
		log.Fatal(err)
	}
	defer writes.Close()
	client, err := trading.FromEnv(
		trading.WithJournal(writes),
		trading.WithExclusiveAccounts("acc_1"), // nobody else trades it
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	var recovery sync.WaitGroup
	recovery.Go(func() { // beside the trading: it can take half an hour
		if _, err := client.Recover(ctx); err != nil { // what an earlier run left
			log.Print("a person has to look: ", err)
		}
	})
	recovery.Wait()
	fmt.Println("nothing is pending")
	// Output: nothing is pending
}

func ExampleWithClientOrderID() {
	client, sim := simulated()
	account := client.Live.Account("acc_1")
	// README
	for range 2 { // the bot restarts, and decides the same
		bought, err := account.PlaceOrder(ctx, order, trading.WithClientOrderID("breakout 2026-11-20T10:15"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("replayed:", bought.Meta.Replayed)
	}
	fmt.Println(len(sim.Ledger()), "executed")
	// Output:
	// replayed: false
	// replayed: true
	// 1 executed
}

func ExampleOutcomeOf() {
	client, sim := simulated()
	sim.Fault("POST /sandbox/orders", tradingsim.Fail(409, "MAX_SLIPPAGE"))
	// README
	_, err := client.Sandbox.PlaceOrder(ctx, order)
	switch trading.OutcomeOf(err) {
	case trading.Applied:
		fmt.Println("done") // with an err: executed, but late, or its answer is lost
	case trading.Unknown:
		fmt.Println("it may have been placed: do not place it again, the client finds out")
	case trading.NotApplied:
		switch {
		case errors.Is(err, trading.CodeMaxSlippage):
			fmt.Println("the book is too thin:", err)
		default:
			fmt.Println("refused:", err)
		}
	}
	// Output: the book is too thin: POST /sandbox/orders BTC: not applied: MAX_SLIPPAGE: The simulation was set to answer MAX_SLIPPAGE. (409)
}

func ExampleAdviceOf() {
	client, sim := simulated()
	sim.Fault("POST /sandbox/orders", tradingsim.RateLimit(time.Minute))
	_, err := client.Sandbox.PlaceOrder(ctx, order)
	switch trading.AdviceOf(err) {
	case trading.AdviseWait:
		wait, _ := trading.RetryAfter(err)
		fmt.Println("again in", wait)
	case trading.AdviseChange:
		fmt.Println("another order, perhaps:", err)
	case trading.AdviseResolve:
		resolution, err := client.Resolve(ctx, err)
		fmt.Println("find out first:", resolution, err)
	default:
		fmt.Println("a person should look:", err)
	}
	// Output: again in 1m0s
}

func ExampleRules() {
	for rule := range trading.Rules() {
		if rule.Kind == trading.ErrNoPrice {
			fmt.Printf("%d %-11s %s\n", rule.Status, rule.Code, rule.Advice)
		}
	}
	// Output:
	// 503 no_price    wait, send it again
	// 404 no_price    wait, decide anew
	// 400 no_price    wait, decide anew
	// 409 NO_PRICE    wait, decide anew
	// 409 STALE_PRICE wait, decide anew
}

func ExampleTrade_NetPnL() {
	client, sim := simulated()
	if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
		log.Fatal(err)
	}
	sim.SetMark("BTC", "64500")
	// README
	if _, err := client.Sandbox.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("50"))); err != nil {
		log.Fatal(err)
	}
	trades, err := client.Sandbox.Trades(ctx)
	if err != nil {
		log.Fatal(err)
	}
	last := trades[0]
	fmt.Println("gross", last.GrossPnL, "fees", last.RoundTripFee, "net", last.NetPnL())
	// Output: gross 12.5 fees 1.445625 net 11.054375
}

func ExampleSandbox_SetTPSL() {
	client, sim := simulated()
	if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
		log.Fatal(err)
	}
	sim.SetMark("BTC", "65000")
	// README
	_, err := client.Sandbox.SetTPSL(ctx, "BTC", trading.TPSL{
		StopLoss:   trading.At(trading.Dec("64000")), // set
		TakeProfit: trading.Clear,                    // remove
	})
	if err != nil {
		log.Fatal(err)
	}
	positions, err := client.Sandbox.Positions(ctx)
	if err != nil {
		log.Fatal(err)
	}
	position, _ := positions.In("BTC")
	fmt.Println("stop", position.StopLoss, "target", position.TakeProfit)
	// Output: stop 64000 target clear
}

func ExampleWithHealthGate() {
	sim := tradingsim.New()
	baseURL, key := sim.URL(), sim.SandboxKey()
	client, err := trading.New(baseURL,
		trading.WithSandboxKey(key),
		trading.WithHealthGate(trading.HealthGate{KeepWarm: true}), // no entry waits for the check
		trading.WithMaxSlippagePct(trading.Dec("0.5")),             // the service's own default is 8
		trading.WithGuard(func(_ context.Context, w trading.Write) error {
			if w.Entry && w.Symbol == "NEWCOIN" {
				return errors.New("not this one")
			}
			return nil
		}),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	gated, sim := simulated()
	defer gated.Close()
	sim.SetHealth("degraded", "stale")
	_, err = gated.Sandbox.PlaceOrder(ctx, order)
	fmt.Println(err)
	// Output: POST /sandbox/orders BTC: not applied: not safe to trade: status degraded, feed stale
}

func Example_preview() {
	client, _ := simulated()
	state, err := client.Sandbox.State(ctx)
	if err != nil {
		log.Fatal(err)
	}
	mark, err := client.Sandbox.Price(ctx, "BTC")
	if err != nil {
		log.Fatal(err)
	}
	price, _ := mark.Price()
	stop := price.Mul(trading.Dec("0.99"))
	size, err := risk.Size(risk.Plan{
		Side: trading.Long, Entry: price, Stop: stop,
		MaxLoss:  trading.Dec("25"), // dollars at the stop, fees of both ways included
		Decimals: 3,
	})
	if err != nil {
		log.Fatal(err)
	}
	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: size, Leverage: trading.Dec("2"), StopLoss: trading.At(stop)}
	report := risk.Preview(order, risk.Inputs{Mark: mark, State: state})
	fmt.Println(size, "BTC lose", report.LossAtStop, "at the stop; refused:", report.Err())
	// Output: 0.035 BTC lose 24.40592 at the stop; refused: <nil>
}

// This one would wait for the market, so it is compiled and not run: package watch
// has one that is.
func Example_watch() {
	client, _ := simulated()
	for ev, err := range watch.Events(ctx,
		watch.Marks(client.Sandbox.MarketData, "BTC").WithInterval(5*time.Second),
		watch.Account(client.Sandbox).WithSnapshot(), // this read also fires the sandbox's stops
	) {
		if err != nil {
			fmt.Println("it goes on by itself:", err)
			continue
		}
		switch ev := ev.(type) {
		case watch.PositionOpened:
			fmt.Println("open:", ev.Position.Side, ev.Position.Size)
		case watch.TradeClosed:
			fmt.Println("closed by", ev.Trade.Cause, "for", ev.Trade.NetPnL())
		}
	}
}

// This one takes the seconds between two looks: package flatten has one that is run.
func Example_flatten() {
	client, _ := simulated()
	account := client.Live.Account("acc_1")
	// README
	report, err := flatten.Account(ctx, account, flatten.Options{Halt: client})
	if err != nil {
		fmt.Println(report) // what is left, and why
		return
	}
	fmt.Println("proven flat:", report.Flat)
}

func ExampleWithSendTTL() {
	client, sim := simulated()
	ctx := ctx
	sim.Fault("POST /sandbox/orders", tradingsim.RateLimit(time.Minute))
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()

	_, err := client.Sandbox.PlaceOrder(ctx, order,
		trading.WithSendTTL(2*time.Second), // older than this, it is not sent
		trading.FailFast(),                 // and not kept waiting for a rate limit
	)
	fmt.Println(trading.OutcomeOf(err), errors.Is(err, trading.CodeRateLimited))
	// Output: not applied true
}

func ExampleResponseInto() {
	client, _ := simulated()
	var meta trading.Meta
	if _, err := client.Sandbox.State(ctx, trading.ResponseInto(&meta)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(meta.Operation, meta.Status, meta.Attempts, len(meta.Body) > 0)
	// Output: GET /sandbox/account 200 1 true
}

func ExampleClient_Halt() {
	client, _ := simulated()
	client.Halt("the desk is closed")
	_, err := client.Sandbox.PlaceOrder(ctx, order)
	fmt.Println(err)
	// Output: POST /sandbox/orders BTC: not applied: halted: the desk is closed
}

// The promise: an order whose reply is lost is found, and not placed a second time.
func Example_quickstart() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000")) // the whole service, in process
	defer sim.Close()
	client, err := trading.New(sim.URL(), // yours: trading.FromEnv()
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	sim.Fault("POST /orders", tradingsim.DropResponse()) // executed, but the reply is lost
	bought, err := client.Live.Account("acc_1").PlaceOrder(ctx, trading.Order{
		Symbol:   "BTC",
		Side:     trading.Long,
		Size:     trading.Dec("0.05"), // base units
		Leverage: trading.Dec("2"),
		StopLoss: trading.At(trading.Dec("63000")),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the bot knows:", "filled at", bought.Fill.Price)
	fmt.Println("the service executed:", len(sim.Ledger()), "order")
	// Output:
	// the bot knows: filled at 64000
	// the service executed: 1 order
}

// The example of Resolve reaches Unknown, and waits for the outcome.
func TestExampleAccountResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ExampleAccount_Resolve()
		require.GreaterOrEqual(t, time.Since(began), 5*time.Second)
	})
}
