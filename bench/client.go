package main

import (
	"context"
	"time"

	"github.com/tradingapi/trading-go"
)

const (
	sandboxKey = "pk_test_bench0123456789"
	liveKey    = "pk_live_bench0123456789"
	account    = "acc_1"
)

// The client's contenders: an order on a live account with everything on that is
// on by default, which is the one that counts; the same under a context that can
// end, as the handlers of servers have it; the same over the client's own
// connections; and an order on the paper account, which takes one at a time.
func clientContenders() []contender {
	return []contender{
		{name: nameOwn, floor: byHand, order: clientOrders(false)},
		{name: "this client, under a context that can end", floor: byHand, order: clientOrders(true)},
		{name: "this client as it comes", floor: byHand, order: clientOrders(false), own: true},
		{name: "this client, an order on the paper account", floor: bareSandbox, order: clientSandboxOrders, lone: true},
	}
}

// newClient returns a client whose rate limits are counted and out of reach.
func newClient(p place, opts ...trading.Option) (*trading.Client, error) {
	all := []trading.Option{
		trading.WithSandboxKey(sandboxKey),
		trading.WithLiveKey(liveKey),
		trading.WithRateLimits(roomy),
		trading.WithAttemptTimeout(time.Minute), // a thousand at once on a slow machine
	}
	if p.transport != nil {
		all = append(all, trading.WithTransport(p.transport))
	}
	return trading.New(p.base+"/v1", append(all, opts...)...)
}

func clientOrder() trading.Order {
	return trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2"),
		TakeProfit: trading.At(trading.Dec("70000")), StopLoss: trading.At(trading.Dec("60000.1")),
		MaxSlippagePct: trading.Some(trading.Dec("0.5")),
	}
}

// closing is a task that ends with its client.
func closing(client *trading.Client, do func(context.Context) (any, error)) task {
	return task{do: do, close: func() { _ = client.Close() }}
}

func clientOrders(ending bool) func(place) (task, error) {
	return func(p place) (task, error) {
		client, err := newClient(p)
		if err != nil {
			return task{}, err
		}
		acct, order := client.Live.Account(account), clientOrder()
		if !ending {
			return closing(client, func(ctx context.Context) (any, error) { return acct.PlaceOrder(ctx, order) }), nil
		}
		ctx, cancel := context.WithCancel(context.Background())
		return task{
			do:    func(context.Context) (any, error) { return acct.PlaceOrder(ctx, order) },
			close: func() { cancel(); _ = client.Close() },
		}, nil
	}
}

func clientSandboxOrders(p place) (task, error) {
	client, err := newClient(p)
	if err != nil {
		return task{}, err
	}
	order := clientOrder()
	return closing(client, func(ctx context.Context) (any, error) { return client.Sandbox.PlaceOrder(ctx, order) }), nil
}
