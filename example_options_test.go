package trading_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/tradingsim"
)

// open returns a client of a simulation with BTC at 64000.
func open(sim *tradingsim.Sim, opts ...trading.Option) *trading.Client {
	client, err := trading.New(sim.URL(), append(opts, trading.WithTransport(sim.Transport()))...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

func ExampleNew() {
	sim := tradingsim.New()
	client, err := trading.New(sim.URL(), // https://…/v1
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithApplication("mybot", "1.4"), // in the User-Agent
		trading.WithTransport(sim.Transport()),  // left out for a real service
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for _, env := range []trading.Environment{trading.EnvSandbox, trading.EnvLive} {
		me, err := client.Me(ctx, env)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(me.Environment, me.UserID)
	}
	// Output:
	// sandbox user_1
	// live user_1
}

// A key that a secret store rotates is read anew for each attempt.
func ExampleWithKeyFunc() {
	sim := tradingsim.New()
	secret := sim.LiveKey()
	client := open(sim,
		trading.WithKeyFunc(trading.EnvSandbox, func(context.Context) (string, error) { return sim.SandboxKey(), nil }),
		trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) { return secret, nil }),
	)
	defer client.Close()
	sim.RevokeKey(secret)
	secret = sim.NewLiveKey()
	_, err := client.Live.Accounts(ctx)
	fmt.Println(err)
	// Output: <nil>
}

// A key over plain HTTP is an error of New, except to this machine itself.
func ExampleWithPlaintextHTTP() {
	_, err := trading.New("http://10.0.0.7:8080/v1", trading.WithSandboxKey("pk_test_0123456789"))
	fmt.Println(err != nil)
	client, err := trading.New("http://10.0.0.7:8080/v1", trading.WithSandboxKey("pk_test_0123456789"), trading.WithPlaintextHTTP())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Close())
	// Output:
	// true
	// <nil>
}

// What a bot for real money sets.
func ExampleWithJournal() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	writes := journal.NewMemory() // yours: journal.Open("bot.journal")
	client := open(sim, trading.WithLiveKey(sim.LiveKey()),
		trading.WithJournal(writes),
		trading.WithExclusiveAccounts("acc_1"), // nobody else trades it
		trading.WithGuard(trading.OnlyAccounts("acc_1")),
	)
	defer client.Close()
	if _, err := client.Recover(ctx); err != nil { // what an earlier run left
		log.Fatal(err)
	}
	_, err := client.Live.Account("acc_2").PlaceOrder(ctx, order)
	fmt.Println(trading.OutcomeOf(err), errors.Is(err, trading.ErrGuard))
	// Output: not applied true
}

// How long, and how often.
func ExampleWithRetry() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client := open(sim, trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithRetry(trading.Retry{Attempts: 2}),
		trading.WithAttemptTimeout(3*time.Second),
	)
	defer client.Close()
	sim.Fault("GET /sandbox/account", tradingsim.RefuseConnection(), tradingsim.RefuseConnection())
	_, err := client.Sandbox.State(ctx)
	fmt.Println("after two attempts:", err != nil)
	_, err = client.Sandbox.State(ctx)
	fmt.Println("then:", err)
	// Output:
	// after two attempts: true
	// then: <nil>
}

// A call that does not wait for the outcome: the client finds it out in the background.
func ExampleWithResolveTimeout() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client := open(sim, trading.WithLiveKey(sim.LiveKey()))
	defer client.Close()
	account := client.Live.Account("acc_1")
	sim.Fault("POST /orders", tradingsim.DropResponse())
	_, err := account.PlaceOrder(ctx, order, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0))
	fmt.Println(trading.OutcomeOf(err))
	_, again := account.PlaceOrder(ctx, order) // a retry of the bot's own would be a second order
	fmt.Println(errors.Is(again, trading.ErrPendingWrite))
	pending, err := client.Pending(ctx) // Resolve waits for one of them
	fmt.Println(len(pending), "pending", err)
	// Output:
	// unknown
	// true
	// 1 pending <nil>
}

// A person has looked at the account, and says so.
func ExampleClient_Acknowledge() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client := open(sim, trading.WithLiveKey(sim.LiveKey()),
		trading.WithRecovery(trading.Recovery{
			WithoutBackground: true, // nothing is sent that nobody waits for
			WithoutProbe:      true, // and never the write itself
		}),
	)
	defer client.Close()
	account := client.Live.Account("acc_1")
	sim.Fault("POST /orders", tradingsim.DropRequest())
	_, err := account.PlaceOrder(ctx, order, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0))
	fmt.Println(trading.OutcomeOf(err))
	pending, err := client.Pending(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Acknowledge(ctx, pending[0].ID, trading.NotApplied, "not in the terminal's list"); err != nil {
		log.Fatal(err)
	}
	_, err = account.PlaceOrder(ctx, order)
	fmt.Println("entries pass again:", err)
	// Output:
	// unknown
	// entries pass again: <nil>
}

// An entry on top of one whose outcome is not known.
func ExampleAllowPending() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client := open(sim, trading.WithLiveKey(sim.LiveKey()), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	defer client.Close()
	account := client.Live.Account("acc_1")
	sim.Fault("POST /orders", tradingsim.DropResponse())
	_, err := account.PlaceOrder(ctx, order, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0))
	fmt.Println(trading.OutcomeOf(err))
	if _, err := account.PlaceOrder(ctx, order, trading.AllowPending()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the account holds", sim.Position("acc_1", "BTC"))
	// Output:
	// unknown
	// the account holds 0.1
}

func ExampleWithIdempotencyKey() {
	client, sim := simulated()
	account := client.Live.Account("acc_1")
	key := trading.NewKey() // or one of the program's own
	for range 2 {
		bought, err := account.PlaceOrder(ctx, order, trading.WithIdempotencyKey(key))
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

// The program has used the key before it had a journal, or another one has: the first use wins.
func ExampleShared() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	for range 2 {
		client := open(sim, trading.WithLiveKey(sim.LiveKey()), trading.WithJournal(journal.NewMemory()))
		if _, err := client.Live.Account("acc_1").PlaceOrder(ctx, order, trading.WithIdempotencyKey("entry-7", trading.Shared())); err != nil {
			log.Fatal(err)
		}
		_ = client.Close()
	}
	fmt.Println(len(sim.Ledger()), "executed")
	// Output: 1 executed
}

// An id that is done with can be used again.
func ExampleClient_ForgetClientOrderID() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client := open(sim, trading.WithLiveKey(sim.LiveKey()), trading.WithJournal(journal.NewMemory()))
	defer client.Close()
	if _, err := client.Live.Account("acc_1").PlaceOrder(ctx, order, trading.WithClientOrderID("breakout 7")); err != nil {
		log.Fatal(err)
	}
	err := client.ForgetClientOrderID(ctx, "acc_1", trading.OpOrder, "breakout 7")
	fmt.Println(err)
	// Output: <nil>
}

func ExampleWithRateLimits() {
	sim := tradingsim.New()
	client := open(sim, trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithRateLimits(trading.RateLimits{PerKey: 200}), // another program has the rest
	)
	defer client.Close()
	if _, err := client.Sandbox.State(ctx, trading.ForExit()); err != nil {
		log.Fatal(err)
	}
	usage, err := client.RateLimitUsage(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(usage[0].Used, "used,", usage[0].Left, "left")
	// Output: 1 used, 199 left
}

func ExampleWithHooks() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client := open(sim, trading.WithSandboxKey(sim.SandboxKey()), trading.WithHooks(trading.Hooks{
		CallDone: func(_ context.Context, c trading.Call, d trading.Done) {
			if c.Write {
				fmt.Println(c.Operation, c.Tag, d.Outcome, d.Attempts)
			}
		},
	}))
	defer client.Close()
	_, _ = client.Sandbox.PlaceOrder(ctx, order, trading.WithTag("breakout"))
	// Output: POST /sandbox/orders breakout applied 1
}

// Nothing that is logged holds a key or a body.
func ExampleWithLogger() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	text := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "took" || a.Key == "intent" {
				return slog.Attr{}
			}
			return a
		},
	}))
	client := open(sim, trading.WithSandboxKey(sim.SandboxKey()), trading.WithLogger(text))
	defer client.Close()
	_, _ = client.Sandbox.ClosePosition(ctx, "BTC", trading.All)
	// Output: level=INFO msg="call failed" operation="POST /sandbox/positions/close" attempts=1 symbol=BTC status=404 outcome="not applied" err="POST /sandbox/positions/close BTC: not applied: no_position: There is no open position in BTC. (404)" code=no_position
}

// An order without waiting for the health check, where its caller has made one.
func ExampleSkipHealthGate() {
	client, sim := simulated()
	sim.SetHealth("degraded", "stale")
	_, err := client.Sandbox.PlaceOrder(ctx, order)
	fmt.Println(errors.Is(err, trading.ErrUnhealthy))
	_, err = client.Sandbox.PlaceOrder(ctx, order, trading.SkipHealthGate())
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

func ExampleClient_Resume() {
	client, _ := simulated()
	client.Halt("the desk is closed")
	client.Resume()
	_, err := client.Sandbox.PlaceOrder(ctx, order)
	fmt.Println(err)
	// Output: <nil>
}

// The first entry of a bot without a journal else waits for 5 seconds.
func ExampleWithRecovery() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client := open(sim, trading.WithLiveKey(sim.LiveKey()), trading.WithExclusiveAccounts("acc_1"), trading.WithRecovery(trading.Recovery{WithoutBaseline: true}))
	defer client.Close()
	began := time.Now()
	_, err := client.Live.Account("acc_1").PlaceOrder(ctx, order)
	fmt.Println(err, time.Since(began) < 5*time.Second)
	// Output: <nil> true
}

// What the service was seen not to do, the client does without: here it runs an order again that comes
// again under its key, so an entry is sent once.
func ExampleWithRecovery_profile() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	seen := &profile.Profile{ // yours: profile.Load("service.json")
		Version: profile.Version, BaseURL: sim.URL(), MeasuredAt: time.Now(), By: trading.Version,
		Results: []profile.Result{{Experiment: "A1e", Environment: profile.Live, Verdict: profile.Other, N: 8, CountOther: 8}},
	}
	client := open(sim, trading.WithLiveKey(sim.LiveKey()), trading.WithRecovery(trading.Recovery{Profile: seen}))
	defer client.Close()
	sim.Fault("POST /orders", tradingsim.DropRequest())
	var sent trading.Meta
	_, err := client.Live.Account("acc_1").PlaceOrder(ctx, order, trading.WithResolveTimeout(0), trading.ResponseInto(&sent))
	fmt.Println(trading.OutcomeOf(err), "after", sent.Attempts, "attempt")
	// Output: unknown after 1 attempt
}

// Reads of a service behind a slow cache.
func ExampleWithRecovery_readLag() {
	sim := tradingsim.New(tradingsim.WithLag(20 * time.Second))
	client := open(sim, trading.WithLiveKey(sim.LiveKey()), trading.WithRecovery(trading.Recovery{ReadLag: 40 * time.Second}))
	defer client.Close()
	_, err := client.Live.Account("acc_1").State(ctx)
	fmt.Println(err)
	// Output: <nil>
}
