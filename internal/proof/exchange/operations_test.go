package exchange_test

import (
	"context"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// operation is a row of the contract's index with the public method that calls it.
type operation struct {
	id           string
	method, path string
	env          trading.Environment // "" for both and for none
	write        bool
	// ready is what must be there for the call to go well.
	ready func(*world)
	call  call
	// place is the call with an order of the case's own.
	place func(trading.Order) call
	// shows is what the plain success is called in the name of its case.
	shows string
}

// call is a call of a public method: what it returned.
type call func(context.Context, *world, *trading.Client, ...trading.CallOption) (any, error)

func (o *operation) live() bool      { return o.env == trading.EnvLive }
func (o *operation) liveWrite() bool { return o.live() && o.write }
func (o *operation) name() string    { return o.method + " " + o.path }

// result keeps a method's result away from its error: a nil pointer in an
// interface is not nil.
func result[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// read is an operation without a body.
func read(id, path string, env trading.Environment, shows string, ready func(*world), c call) *operation {
	return &operation{id: id, method: http.MethodGet, path: path, env: env, shows: shows, ready: ready, call: c}
}

func write(id, path string, env trading.Environment, shows string, ready func(*world), c call) *operation {
	return &operation{id: id, method: http.MethodPost, path: path, env: env, shows: shows, ready: ready, call: c, write: true}
}

// orders is an operation that takes an order.
func orders(id, path string, env trading.Environment, shows string, base trading.Order, place func(trading.Order) call) *operation {
	o := write(id, path, env, shows, nil, place(base))
	o.place = func(order trading.Order) call {
		if order.LimitPrice.IsZero() && order.Type == trading.MarketOrder {
			order.Type, order.LimitPrice = base.Type, base.LimitPrice
		}
		return place(order)
	}
	return o
}

// pro is an operation that places a Pro order, by the method for how.
func pro(id, path string, how trading.Pro) *operation {
	return orders(id, path, trading.EnvLive, "placed", anOrder(), func(order trading.Order) call {
		return func(ctx context.Context, w *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
			return result(c.Live.Account(w.account).PlacePro(ctx, order, how, opts...))
		}
	})
}

// onPaper and onAccount are calls of methods that take nothing else.
func onPaper[T any](method func(*trading.Sandbox, context.Context, ...trading.CallOption) (T, error)) call {
	return func(ctx context.Context, _ *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
		return result(method(c.Sandbox, ctx, opts...))
	}
}

func onAccount[T any](method func(*trading.Account, context.Context, ...trading.CallOption) (T, error)) call {
	return func(ctx context.Context, w *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
		return result(method(c.Live.Account(w.account), ctx, opts...))
	}
}

// withoutCommand are the public methods of writes that package cmd/trading does not call, with the reason.
var withoutCommand = map[string]string{"Sandbox.Reset": "a program in Go resets its own paper account"}

// operations are the paths of the contract, in its order.
func operations() []*operation {
	const sandbox, live = trading.EnvSandbox, trading.EnvLive
	type (
		ctxt = context.Context
		opt  = trading.CallOption
	)
	return []*operation{
		read("getHealth", "/health", "", "healthy", nil, func(ctx ctxt, _ *world, c *trading.Client, opts ...opt) (any, error) {
			return result(c.Health(ctx, opts...))
		}),
		read("getMe", "/me", "", "sandbox_key", nil, func(ctx ctxt, _ *world, c *trading.Client, opts ...opt) (any, error) {
			return result(c.Me(ctx, sandbox, opts...))
		}),

		read("getSandboxAccount", "/sandbox/account", sandbox, "active", func(w *world) { w.buy("0.05") }, onPaper((*trading.Sandbox).State)),
		read("listSandboxPositions", "/sandbox/positions", sandbox, "priced", func(w *world) { w.buy("0.05"); w.protect() }, onPaper((*trading.Sandbox).Positions)),
		read("listSandboxTrades", "/sandbox/trades", sandbox, "manual_close", func(w *world) { w.buy("0.05"); w.closes() }, onPaper((*trading.Sandbox).Trades)),
		read("listMarkets", "/sandbox/markets", sandbox, "priced", nil, onPaper((*trading.Sandbox).Markets)),
		read("getPrices", "/sandbox/prices", sandbox, "one", nil,
			func(ctx ctxt, _ *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Sandbox.Price(ctx, "BTC", opts...))
			}),
		orders("placeSandboxOrder", "/sandbox/orders", sandbox, "opened", anOrder(), func(o trading.Order) call {
			return func(ctx ctxt, _ *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Sandbox.PlaceOrder(ctx, o, opts...))
			}
		}),
		write("closeSandboxPosition", "/sandbox/positions/close", sandbox, "all", func(w *world) { w.buy("0.05") },
			func(ctx ctxt, _ *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Sandbox.ClosePosition(ctx, "BTC", trading.All, opts...))
			}),
		write("setSandboxTPSL", "/sandbox/positions/tpsl", sandbox, "set", func(w *world) { w.buy("0.05") },
			func(ctx ctxt, _ *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Sandbox.SetTPSL(ctx, "BTC", trading.TPSL{
					TakeProfit: at("1000000"), StopLoss: at("1000"), ClosePct: trading.Some(dec("50")), // whatever the price is
				}, opts...))
			}),
		write("resetSandbox", "/sandbox/reset", sandbox, "fresh", func(w *world) { w.buy("0.05") }, onPaper((*trading.Sandbox).Reset)),

		read("listAccounts", "/accounts", live, "accounts", nil,
			func(ctx ctxt, _ *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Accounts(ctx, opts...))
			}),
		read("getAccount", "/accounts/{accountId}", live, "active", (*world).hold, onAccount((*trading.Account).State)),
		read("listPositions", "/positions", live, "priced", (*world).hold, onAccount((*trading.Account).Positions)),
		read("listTrades", "/trades", live, "closed", func(w *world) { w.hold(); w.live(closeAll) }, onAccount((*trading.Account).Trades)),
		read("listAccountOrders", "/accounts/{accountId}/orders", live, "working", func(w *world) { w.rest(); w.start() }, onAccount((*trading.Account).OpenOrders)),
		read("listAccountRuns", "/accounts/{accountId}/runs", live, "finished", func(w *world) { w.start(); w.live(cancelRun(w)) }, onAccount((*trading.Account).FinishedRuns)),
		read("listFunding", "/accounts/{accountId}/funding", live, "payments", func(w *world) {
			w.sim.PayFunding(string(w.account), "BTC", "-1.25")
			w.sim.PayFunding(string(w.account), "ETH", "0.5")
		}, onAccount((*trading.Account).Funding)),
		orders("placeOrder", "/orders", live, "opened", anOrder(), func(o trading.Order) call {
			return func(ctx ctxt, w *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Account(w.account).PlaceOrder(ctx, o, opts...))
			}
		}),
		orders("placeLimitOrder", "/orders/limit", live, "resting", anOrder(limited("63000")), func(o trading.Order) call {
			return func(ctx ctxt, w *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Account(w.account).PlaceLimit(ctx, o, opts...))
			}
		}),
		write("cancelOrder", "/orders/cancel", live, "cancelled", (*world).rest,
			func(ctx ctxt, w *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Account(w.account).CancelOrder(ctx, w.order, opts...))
			}),
		write("closePosition", "/positions/close", live, "all", (*world).hold,
			func(ctx ctxt, w *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Account(w.account).ClosePosition(ctx, "BTC", trading.All, opts...))
			}),
		write("setTPSL", "/positions/tpsl", live, "set", (*world).hold,
			func(ctx ctxt, w *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Account(w.account).SetTPSL(ctx, "BTC", trading.TPSL{
					TakeProfit: at("70000"), StopLoss: at("60000"),
				}, opts...))
			}),
		pro("placeConditional", "/orders/conditional", trading.Conditional{Trigger: dec("65000")}),
		pro("placeLadder", "/orders/ladder", trading.Ladder{From: dec("63000"), To: dec("62000"), Rungs: 5}),
		pro("placeTwap", "/orders/twap", trading.TWAP{Duration: time.Hour}),
		pro("placeChase", "/orders/chase", trading.Chase{To: at("64500")}),
		pro("placeChaseTwap", "/orders/chase-twap", trading.ChaseTWAP{Duration: time.Hour, To: at("64500")}),
		pro("placeSwarm", "/orders/swarm", trading.Swarm{Orders: 5}),
		write("editRun", "/runs/edit", live, "edited", (*world).start,
			func(ctx ctxt, w *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Account(w.account).EditRun(ctx, w.run, dec("0.075"), opts...))
			}),
		write("cancelRun", "/runs/cancel", live, "cancelled", (*world).start,
			func(ctx ctxt, w *world, c *trading.Client, opts ...opt) (any, error) {
				return result(c.Live.Account(w.account).CancelRun(ctx, w.run, opts...))
			}),
	}
}

func closeAll(ctx context.Context, a *trading.Account) error {
	return rig.Only(a.ClosePosition(ctx, "BTC", trading.All))
}

func cancelRun(w *world) func(context.Context, *trading.Account) error {
	return func(ctx context.Context, a *trading.Account) error { return rig.Only(a.CancelRun(ctx, w.run)) }
}

func dec(text string) decimal.Decimal { return trading.Dec(text) }

func at(text string) trading.Level { return trading.At(dec(text)) }
