package exchange_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// testCase is one exchange: how it comes about, and the call that makes it.
type testCase struct {
	op     *operation
	name   string
	shows  string
	source exchange.Source
	status int
	code   string // of a refusal

	options  []tradingsim.Option         // of the simulation
	before   func(*world)                // what comes before the call
	change   func(*world, *http.Request) // what happens to the request on its way
	changed  string                      // what change is, for the file
	mistyped bool                        // the call is made with keys that are none
	key      trading.Key                 // of the call; generated unless set
	call     call                        // the operation's own unless set
	elapse   time.Duration               // until whatever else runs has ended
	anywhere bool                        // comes about at any service, without a hand inside it
	filed    bool                        // its exchange is a file; another is made anew whenever it is wanted
}

func (c testCase) path() string { return c.op.id + "/" + c.name + ".json" }

// givenKey is the idempotency key of the cases that use one twice.
const givenKey = trading.Key("exchange-1")

// caseOf makes a case of an operation's own call.
func caseOf(o *operation, status int, name, shows string, set ...func(*testCase)) testCase {
	c := testCase{
		op: o, name: strconv.Itoa(status) + "-" + name, shows: shows, status: status,
		source: exchange.Simulated, call: o.call,
	}
	for _, s := range set {
		s(&c)
	}
	return c
}

// What cases are made of.

func ready(c *testCase) { c.before = c.op.ready }

func anywhere(c *testCase) { c.anywhere = true }

func before(f func(*world)) func(*testCase) { return func(c *testCase) { c.before = f } }

// then adds to what the operation needs.
func then(f func(*world)) func(*testCase) {
	return func(c *testCase) {
		c.before = func(w *world) {
			if c.op.ready != nil {
				c.op.ready(w)
			}
			f(w)
		}
	}
}

func calling(f call) func(*testCase) { return func(c *testCase) { c.call = f } }

func closing(part trading.Part) func(*testCase) {
	return func(c *testCase) {
		c.call = func(ctx context.Context, w *world, client *trading.Client, opts ...trading.CallOption) (any, error) {
			return result(w.trader(c.op, client).ClosePosition(ctx, "BTC", part, opts...))
		}
	}
}

func levels(change trading.TPSL) func(*testCase) {
	return func(c *testCase) {
		c.call = func(ctx context.Context, w *world, client *trading.Client, opts ...trading.CallOption) (any, error) {
			return result(w.trader(c.op, client).SetTPSL(ctx, "BTC", change, opts...))
		}
	}
}

func ordering(change ...func(*trading.Order)) func(*testCase) {
	return func(c *testCase) { c.call = c.op.place(anOrder(change...)) }
}

func options(opts ...tradingsim.Option) func(*testCase) {
	return func(c *testCase) { c.options = append(c.options, opts...) }
}

func spoiled(what string, change func(*world, *http.Request)) func(*testCase) {
	return func(c *testCase) { c.changed, c.change = what, change }
}

func body(change func(*world, *http.Request)) func(*testCase) { return spoiled("body", change) }

// again makes the call twice under one key: the second is the exchange.
func again(c *testCase) {
	c.key = givenKey
	prepare := c.before
	c.before = func(w *world) {
		if prepare != nil {
			prepare(w)
		}
		_, _ = w.call(c, w.base) // it may be a refusal that is to be repeated
	}
}

// successes are the answers that are no refusals: each operation's, in each shape.
func successes(ops map[string]*operation) []testCase {
	var cases []testCase
	add := func(id, name, shows string, set ...func(*testCase)) {
		cases = append(cases, caseOf(ops[id], 200, name, shows, set...))
	}
	for _, o := range operations() {
		o := ops[o.id]
		set := []func(*testCase){ready}
		if !o.liveWrite() && o.id != "listFunding" {
			set = append(set, anywhere)
		}
		add(o.id, o.shows, "A plain success.", set...)
		if o.liveWrite() {
			add(o.id, o.shows+"-replayed", "The same key and bytes again: the stored answer, marked as a replay. Nothing was done twice.", ready, again)
		}
		if o.place != nil {
			add(o.id, o.shows+"-everything", "An order that names whatever it can.", everything(o))
		}
	}

	unpriced := func(w *world) { w.sim.SetMark("BTC", "") }
	health := func(status, feed string) func(*testCase) {
		return before(func(w *world) { w.sim.SetHealth(status, feed) })
	}
	for _, row := range []struct{ status, feed, shows string }{
		{"degraded", "stale", "503 with an assessment is an answer: reachable, and not safe to trade."},
		{"unavailable", "unknown", "503 with an assessment is an answer: do not trade."},
	} {
		cases = append(cases, caseOf(ops["getHealth"], 503, row.status, row.shows, health(row.status, row.feed)))
	}
	add("getHealth", "feed_unknown", "A feed of unknown freshness is not a live one.", health("healthy", "unknown"))
	add("getMe", "live_key", "The live key's owner.", anywhere,
		calling(func(ctx context.Context, _ *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
			return result(c.Me(ctx, trading.EnvLive, opts...))
		}))

	// The paper account.
	add("getSandboxAccount", "locked", "Locked by the breach of a floor, which this very read found.",
		before(func(w *world) { w.buy("1"); w.sim.SetMark("BTC", "32000") }))
	add("getSandboxAccount", "passed", "Passed by this very read: the book is closed.",
		before(func(w *world) { w.buy("1"); w.sim.SetMark("BTC", "75000") }))
	add("listSandboxPositions", "unpriced", "Without a mark, markPrice and unrealizedPnL are null; without triggers, both levels.",
		before(func(w *world) { w.buy("0.05"); unpriced(w) }))
	add("listSandboxPositions", "none", "A flat account has an empty list.", anywhere)
	add("listSandboxTrades", "triggered", "A stop and a target that fired on a read, each at the mark and not at its level.",
		before(func(w *world) {
			w.buy("0.1")
			w.protect()
			w.sim.SetMark("BTC", "59000")
			w.look()
			w.sim.SetMark("BTC", "64000")
			w.buy("0.1")
			w.protect()
			w.sim.SetMark("BTC", "71000")
			w.look()
		}))
	add("listSandboxTrades", "none", "An empty list.", anywhere)
	add("listMarkets", "unpriced", "A market without a mark has null.", before(unpriced))
	all := calling(func(ctx context.Context, _ *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
		return result(c.Sandbox.Prices(ctx, opts...))
	})
	add("getPrices", "all", "Every mark.", all, anywhere)
	add("getPrices", "all-unpriced", "A market without a mark is not in the map.", all, before(unpriced))
	cases = append(cases, caseOf(ops["getPrices"], 404, "no_price", "A real market without a mark: no error to a reader, but no price.",
		before(unpriced), func(c *testCase) { c.code = "no_price" }))
	add("placeSandboxOrder", "limit", "A marketable limit.", ordering(limited("64000")))
	add("placeSandboxOrder", "repriced", "The fill's fresh mark is not the one that reads still show.", options(tradingsim.WithLag(2*time.Second)),
		before(func(w *world) {
			time.Sleep(time.Minute)
			w.sim.SetMark("BTC", "64100")
			time.Sleep(1500 * time.Millisecond)
		}))
	add("placeSandboxOrder", "flat", "An opposite order of the same size: position is null.", before(func(w *world) { w.buy("0.05") }),
		ordering(func(o *trading.Order) { o.Side = trading.Short }), anywhere)
	add("placeSandboxOrder", "unpriced_position", "The position in another market has no mark; what was ordered has.",
		before(func(w *world) { w.buy("0.05"); unpriced(w) }), ordering(func(o *trading.Order) { o.Symbol = "ETH" }))
	add("closeSandboxPosition", "part", "A part: position is what is left.", ready, anywhere, closing(trading.Percent(dec("12.5"))))
	add("setSandboxTPSL", "cleared", "null clears a level, and one that is left out stays.", anywhere,
		before(func(w *world) { w.buy("0.05"); w.protect() }), levels(trading.TPSL{TakeProfit: trading.Clear, ClosePct: trading.Some(dec("100"))}))
	add("setSandboxTPSL", "stop_cleared", "The stop alone is cleared.", anywhere,
		before(func(w *world) { w.buy("0.05"); w.protect() }), levels(trading.TPSL{StopLoss: trading.Clear}))
	add("setSandboxTPSL", "unpriced", "Without a mark, levels are judged against the entry.", then(unpriced))

	// Live accounts.
	add("listAccounts", "every_kind", "A funded account with the challenge it came from, which is archived; a tournament entry; a trial. Newest first.",
		options(
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Status: "PASSED", Archived: true, Phase: 2, EvalType: "2-step"}),
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_2", Trial: true, EvalType: "gauntlet"}),
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_3", Tournament: true, TournamentName: "Autumn Cup", Status: "EXPIRED", EvalType: "hyper"}),
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_4", Status: "FUNDED", FundedFrom: "acc_1"})))
	add("listAccounts", "times_in_milliseconds", "The other reading of createdAt: milliseconds.", options(tradingsim.WithInterpretation(42)))
	add("listPositions", "protected", "Both levels are set.", then(func(w *world) {
		w.live(func(ctx context.Context, a *trading.Account) error {
			return rig.Only(a.SetTPSL(ctx, "BTC", trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")}))
		})
	}))
	add("listPositions", "unpriced", "Without a mark, markPrice and unrealizedPnL are null.", then(unpriced))
	for id, name := range map[string]string{
		"listPositions": "none", "listTrades": "none", "listAccountOrders": "none", "listAccountRuns": "none", "listFunding": "none",
	} {
		add(id, name, "Nothing is there: empty lists.")
	}
	add("placeOrder", "limit", "A marketable limit.", ordering(limited("64000")))
	add("placeOrder", "increased", "position is the whole of it; fill is this order's own.", before((*world).hold),
		ordering(func(o *trading.Order) { o.Size = dec("0.025") }))
	add("placeOrder", "reduced", "A reduce-only order.", before((*world).hold), ordering(reducing, func(o *trading.Order) { o.Size = dec("0.025") }))
	add("placeOrder", "flat", "A reduce-only order of the whole size: position is null.", before((*world).hold), ordering(reducing))
	add("closePosition", "part", "A part.", ready, closing(trading.Percent(dec("12.5"))))
	add("closePosition", "loss", "pnl is negative.", then(func(w *world) { w.sim.SetMark("BTC", "63000") }))
	moved := func(price string) func(*testCase) {
		return before(func(w *world) {
			w.sim.Trade(string(w.account), "long", "0.5", "BTC")
			w.sim.SetMark("BTC", price)
		})
	}
	add("closePosition", "passed_by", "This close passed the account.", moved("90000"))
	add("closePosition", "failed_by", "This close failed the account.", moved("32000"))
	add("setTPSL", "cleared", "null clears both.", ready, levels(trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.Clear}))
	add("setTPSL", "unpriced", "Without a mark, levels are judged against the entry.", then(unpriced))
	for _, id := range []string{"cancelOrder", "setTPSL", "editRun", "cancelRun"} {
		add(id, "brief", "The other reading of a body that the reference does not show: success alone.", ready, options(tradingsim.WithInterpretation(44)))
	}
	cases = append(cases, caseOf(ops["placeOrder"], 403, "asset_disabled-replayed", "A refusal is stored and replayed too, even after the market has opened.",
		options(disabledBTC), again, then2(func(w *world) { w.sim.SetMarket(tradingsim.Market{Symbol: "BTC", Price: "64000"}) }),
		func(c *testCase) { c.code = "asset_disabled" }))
	return cases
}

// then2 adds to what comes before.
func then2(f func(*world)) func(*testCase) {
	return func(c *testCase) {
		prepare := c.before
		c.before = func(w *world) { prepare(w); f(w) }
	}
}

func reducing(o *trading.Order) { o.Side, o.ReduceOnly = trading.Short, true }

var disabledBTC = tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", Disabled: true})

// everything is an order with all that its operation takes.
func everything(o *operation) func(*testCase) {
	full := func(order *trading.Order) {
		order.TakeProfit, order.StopLoss = at("70000"), at("60000.10")
		order.ExpectedPrice, order.MaxSlippagePct = at("64000"), trading.Some(dec("0.5"))
	}
	switch o.id {
	case "placeSandboxOrder", "placeOrder":
		return ordering(full)
	case "placeLimitOrder":
		return func(c *testCase) {
			c.before = (*world).hold
			c.call = o.place(anOrder(limited("66000"), reducing, func(order *trading.Order) {
				order.ExpectedPrice, order.MaxSlippagePct = at("64000"), trading.Some(dec("0.5"))
				order.TakeProfit, order.StopLoss = at("60000"), at("70000")
			}))
		}
	}
	return calling(func(ctx context.Context, w *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
		a, order := c.Live.Account(w.account), anOrder(full)
		switch strings.TrimPrefix(o.id, "place") {
		case "Conditional":
			limited("62500")(&order)
			return result(a.PlacePro(ctx, order, trading.Conditional{Trigger: dec("62000")}, opts...))
		case "Ladder":
			return result(a.PlacePro(ctx, order, trading.Ladder{From: dec("63000"), To: dec("62000"), Rungs: 2, SizeSkew: trading.Some(dec("1.5"))}, opts...))
		case "Twap":
			return result(a.PlacePro(ctx, order, trading.TWAP{Duration: time.Hour, RandomizeSize: trading.Some(true), RandomizeTime: trading.Some(false)}, opts...))
		case "Chase":
			return result(a.PlacePro(ctx, order, trading.Chase{}, opts...))
		case "ChaseTwap":
			return result(a.PlacePro(ctx, order, trading.ChaseTWAP{Duration: time.Hour}, opts...))
		default:
			return result(a.PlacePro(ctx, order, trading.Swarm{Orders: 5, Aggression: trading.Some(json.RawMessage(`"high"`)), SlippageBps: trading.Some(dec("25")), Irregular: trading.Some(true)}, opts...))
		}
	})
}
