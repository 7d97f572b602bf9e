package docs_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/tradingsim"
)

// simulated returns an account of a simulated service with BTC at 64000.
func simulated() (*trading.Account, *tradingsim.Sim) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	if err != nil {
		log.Fatal(err)
	}
	return client.Live.Account("acc_1"), sim
}

var ctx = context.Background()

// It runs until somebody stops it, so it is compiled and not run.
func Example_firstBot() {
	// README
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := trading.FromEnv() // TRADING_BASE_URL, TRADING_SANDBOX_KEY
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.Default()}
	if err := b.run(ctx); err != nil {
		log.Fatal(err)
	}
}

// The first bot on a live account.
func Example_paperToLive() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	if err := sim.Listen("127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	defer sim.Close()
	os.Setenv("TRADING_BASE_URL", sim.URL())
	os.Setenv("TRADING_SANDBOX_KEY", sim.SandboxKey())
	os.Setenv("TRADING_LIVE_KEY", sim.LiveKey())
	os.Setenv("TRADING_ACCOUNT", "acc_1")
	// README
	client, err := trading.FromEnv() // with the options below
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for _, env := range []trading.Environment{trading.EnvSandbox, trading.EnvLive} {
		me, err := client.Me(ctx, env) // the first call with the key: it fails if the key is missing or wrong
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(me.Environment, "key belongs to", me.UserID)
	}
	accounts, err := client.Live.Accounts(ctx) // all that the key reaches, archived ones too
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range accounts {
		fmt.Println(a.ID, a.Status, a.CurrentBalance)
	}

	id := trading.AccountID(os.Getenv("TRADING_ACCOUNT")) // the bot's own variable: one of them
	b := &bot{
		account: client.Live.Account(id),   // was client.Sandbox
		prices:  client.Sandbox.MarketData, // stays: a live key has no prices
		log:     slog.Default(),
	}
	if err := b.decide(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("executed:", len(sim.Ledger()))
	// Output:
	// sandbox key belongs to user_1
	// live key belongs to user_1
	// acc_1 ACTIVE 100000
	// executed: 1
}

func Example_sharedLimits() {
	const baseURL, key = "https://api.example.com/v1", "pk_live_0123456789"
	// README
	limits := trading.RateLimits{Store: ratelimit.NewMemoryStore(), Owner: "desk-1"}
	first, err := trading.New(baseURL, trading.WithLiveKey(key), trading.WithRateLimits(limits))
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	second, err := trading.New(baseURL, trading.WithLiveKey(key), trading.WithRateLimits(limits))
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()
	usage, err := second.RateLimitUsage(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("free of the key's limit:", usage[0].Left)
	// Output: free of the key's limit: 600
}

func Example_fromHTTP() {
	account, _ := simulated()
	var meta trading.Meta
	// README
	bought, err := account.PlaceOrder(ctx, trading.Order{ // POST /orders
		Symbol:         "BTC",
		Side:           trading.Long,
		Size:           trading.Dec("0.05"),
		Leverage:       trading.Dec("2"),
		StopLoss:       trading.At(trading.Dec("63000")), // stopLossPrice
		MaxSlippagePct: trading.Some(trading.Dec("0.5")), // maxSlippagePct
	}, trading.ResponseInto(&meta)) // status, headers and the body as it came
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(meta.Status, bought.Fill.Price)
	// Output: 200 64000
}

func Example_fromAlpaca() {
	account, _ := simulated()
	// README
	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
	bought, err := account.PlaceOrder(ctx, order, trading.WithClientOrderID("breakout 2026-11-20T10:15"))
	if err != nil {
		log.Fatal(trading.OutcomeOf(err), ": ", err)
	}
	fmt.Println("filled", bought.Fill.Size, "at", bought.Fill.Price)
	// Output: filled 0.05 at 64000
}

func Example_fromCCXT() {
	account, _ := simulated()
	// README
	resting, err := account.PlaceLimit(ctx, trading.Order{
		Symbol:     "BTC",
		Side:       trading.Long,
		Size:       trading.Dec("0.05"),
		Leverage:   trading.Dec("2"),
		LimitPrice: trading.At(trading.Dec("60000")),
	})
	if err != nil {
		log.Fatal(trading.OutcomeOf(err), ": ", err)
	}
	fmt.Println("resting as", resting.Order.ID)
	// Output: resting as ord_1
}
