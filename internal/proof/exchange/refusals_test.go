package exchange_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
	"github.com/tradingapi/trading-go/tradingsim"
)

// documented is an element of x-error-codes.
type documented struct {
	Code   string
	Status int
}

// sameBut names the codes that another differs from by case alone: on many
// disks, and in a Go module, two files cannot.
var sameBut = map[string]string{
	"ACCOUNT_LOCKED": "ACCOUNT_LOCKED-by_equity_check",
	"NO_PRICE":       "NO_PRICE-at_fill",
}

// refusals are the documented codes of an operation: by the rule that gives each
// where the simulation has one for the operation, else as planned.
func refusals(o *operation, codes []documented) []testCase {
	var cases []testCase
	for _, d := range codes {
		if o.id == "getPrices" && d.Code == "no_price" {
			continue // no error to a reader: among the successes
		}
		set, shows := comesAbout(o, d)
		c := caseOf(o, d.Status, caseName(d), shows, set...)
		if set == nil {
			c.shows, c.source = "No rule of the simulation leads to this code here: it was set to answer it.", exchange.Planned
			c.before = func(w *world) { w.sim.Fault(o.name(), tradingsim.Fail(d.Status, d.Code)) }
			if text, ok := handWritten[d.Code]; ok {
				c.shows, c.source = "Written by hand: the simulation judges this when the parts of the order are filled, not when it is placed.", exchange.Written
				c.before = func(w *world) {
					w.sim.Fault(o.name(), tradingsim.Raw(d.Status, http.Header{"Content-Type": {"application/json"}}, text))
				}
			}
		}
		c.code = d.Code
		cases = append(cases, c)
		if status, ok := otherStatus[d.Code]; ok && c.source == exchange.Simulated {
			c.status, c.name = status, strconv.Itoa(status)+"-"+d.Code
			c.shows += " The reference leaves the status open: this is another that may be met."
			c.options = append(slices.Clone(c.options), tradingsim.WithInterpretation(45))
			cases = append(cases, c)
		}
	}
	if o.liveWrite() {
		c := caseOf(o, 429, "rate_limited-user", "The limit that all keys and the terminal share: Retry-After and no more.",
			options(tradingsim.WithUserLimits(1, 1)), before(func(w *world) { w.send(o, `{}`) }))
		c.code = "rate_limited"
		cases = append(cases, c)
	}
	if o.id == "getMe" {
		c := caseOf(o, 429, "rate_limited-throttle", "Too many failed authentications from an address: a good key is turned away too.",
			options(tradingsim.WithAuthLimit(1)), before(func(w *world) {
				missing := *w
				missing.sandboxKey = ""
				missing.send(&operation{method: http.MethodGet, path: "/me", env: trading.EnvSandbox}, "")
			}))
		c.code = "rate_limited"
		cases = append(cases, c)
	}
	return cases
}

// otherStatus is that of the codes of which the reference says only 4xx.
var otherStatus = map[string]int{
	"BAD_DURATION": 422, "BAD_ORDER_COUNT": 422, "BAD_PRICE": 422, "BAD_TRIGGER": 422, "TOO_MANY_RUNS": 400, "CHASE_EXISTS": 400,
}

// handWritten are the refusals with members that a planned one would lack.
var handWritten = map[string]string{
	"MAX_SLIPPAGE": `{"error":"MAX_SLIPPAGE","message":"The estimated slippage of 1% is above your maximum of 0.5%.",` +
		`"estSlippagePct":1,"maxSlippagePct":0.5}`,
	"INSUFFICIENT_LIQUIDITY": `{"error":"INSUFFICIENT_LIQUIDITY","message":"The order book cannot fill this size.",` +
		`"estSlippagePct":null,"maxSlippagePct":8}`,
}

// comesAbout is what leads to a code on an operation, and the sentence that says
// so. Nothing if the simulation has no rule for it.
func comesAbout(o *operation, d documented) (set []func(*testCase), shows string) {
	for _, find := range []func(*operation, documented) ([]func(*testCase), string){
		inFront, underAKey, asSent, ofTheAccount, ofTheCaps, ofTheMarket, ofTheFill, ofWhatIsThere, ofProFields,
	} {
		if set, shows := find(o, d); set != nil {
			return set, shows
		}
	}
	return nil, ""
}

type setters = []func(*testCase)

// inFront is what is judged before the route.
func inFront(o *operation, d documented) (setters, string) {
	if o.id == "getHealth" {
		return nil, ""
	}
	header := func(change func(*world, http.Header)) func(*testCase) {
		return spoiled("header", func(w *world, r *http.Request) { change(w, r.Header) })
	}
	// Failed authentications are throttled, so elsewhere than at a simulation one
	// operation shows them for all.
	only := func(c *testCase) { c.anywhere = o.id == "getMe" }
	switch d.Code {
	case "missing_api_key":
		return setters{header(func(_ *world, h http.Header) { h.Del("X-API-Key") }), only}, "The header is missing."
	case "invalid_api_key":
		return setters{func(c *testCase) { c.mistyped = true }, only}, "A key that is none."
	case "revoked_api_key":
		return setters{before(func(w *world) { w.sim.RevokeKey(w.sandboxKey); w.sim.RevokeKey(w.liveKey) })}, "The key was revoked."
	case "wrong_environment":
		return setters{header(func(w *world, h http.Header) {
			other := w.sandboxKey
			if o.env == trading.EnvSandbox {
				other = w.liveKey
			}
			h.Set("X-API-Key", other)
		}), func(c *testCase) { c.anywhere = !o.write }}, "A real key of the other environment."
	case "api_access_denied":
		return setters{before(func(w *world) { w.sim.SetAccess(false) })}, "The owner has lost access: every key is refused."
	case "rate_limited":
		return setters{options(tradingsim.WithKeyLimit(1)), before(func(w *world) {
			w.send(&operation{method: http.MethodGet, path: "/me", env: trading.EnvSandbox}, "")
			w.send(&operation{method: http.MethodGet, path: "/me", env: trading.EnvLive}, "")
		})}, "The key's own limit: Retry-After and the X-RateLimit headers."
	}
	return nil, ""
}

// underAKey is what concerns the idempotency key of a live write.
func underAKey(o *operation, d documented) (setters, string) {
	given := func(c *testCase) { c.key = givenKey }
	switch d.Code {
	case "invalid_idempotency_key":
		return setters{spoiled("header", func(_ *world, r *http.Request) {
			r.Header["idempotency-key"] = []string{"a key"}
		})}, "A key with a space in it."
	case "idempotency_key_reused":
		return setters{given, then(func(w *world) { w.send(o, `{}`, "Idempotency-Key", string(givenKey)) })},
			"The key was used for other bytes before."
	case "idempotency_in_flight":
		return setters{given, func(c *testCase) {
			c.elapse = 2 * time.Minute
			then(func(w *world) {
				w.sim.Fault(o.name(), tradingsim.Delay(time.Minute))
				go func() { _, _ = w.call(c, w.base) }()
				synctest.Wait()
			})(c)
		}}, "The first request under the key is still running."
	case "idempotency_result_unknown":
		return setters{given, func(c *testCase) {
			then(func(w *world) {
				w.sim.Fault(o.name(), tradingsim.Crash())
				_, _ = w.call(c, w.base)
			})(c)
		}}, "The first request under the key failed part-way."
	}
	return nil, ""
}

// asSent is what is wrong with the request itself.
func asSent(o *operation, d documented) (setters, string) {
	switch d.Code {
	case "invalid_json":
		return setters{body(text(`{"symbol":`)), anywhereIf(o.write)}, "The body is cut off."
	case "missing_fields":
		if !o.write {
			return setters{spoiled("query", func(_ *world, r *http.Request) { r.URL.RawQuery = "" }), anywhereIf(true)}, "accountId is missing."
		}
		return setters{body(member("accountId", "")), anywhereIf(true)}, "accountId is missing."
	case "bad_symbol":
		if o.id == "getPrices" {
			return setters{calling(func(ctx context.Context, _ *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
				return result(c.Sandbox.Price(ctx, "NOPE", opts...))
			}), anywhereIf(true)}, "No market has the symbol."
		}
		return setters{body(member("symbol", `"NOPE"`)), anywhereIf(true)}, "No market has the symbol."
	case "bad_side":
		return setters{body(member("side", `"buy"`))}, "buy is no side."
	case "bad_size":
		if o.id == "editRun" {
			return setters{body(member("totalSize", "0"))}, "The size is 0."
		}
		return setters{body(member("size", "0"))}, "The size is 0."
	case "bad_limit_price":
		switch o.id {
		case "placeSandboxOrder", "placeOrder":
			return setters{body(member("orderType", `"limit"`))}, "A limit without limitPrice."
		case "placeLimitOrder":
			return setters{body(member("limitPrice", "0"))}, "limitPrice is 0."
		}
	case "bad_pct":
		name := "pct"
		if o.id == "setSandboxTPSL" {
			name = "closePct"
		}
		return setters{body(member(name, "0.5")), ready}, "Less than 1 percent."
	case "BAD_MAX_SLIPPAGE":
		return setters{body(member("maxSlippagePct", "0.25"))}, "More than one decimal place."
	case "bad_request":
		switch {
		case o.id == "closePosition":
			return setters{body(member("closePercent", "101")), ready}, "More than 100 percent."
		case o.place != nil && o.live():
			return setters{body(member("orderType", `"stop"`))}, "No order type has the name."
		case o.place != nil:
			return setters{body(member("leverage", `"2"`))}, "The leverage is a string."
		case o.id == "setTPSL", o.id == "setSandboxTPSL":
			return setters{body(member("stopLossPrice", `"60000"`)), ready}, "The level is a string."
		}
	case "invalid_tpsl":
		switch {
		case o.place != nil:
			return setters{ordering(func(order *trading.Order) { order.StopLoss = at("70000") })}, "The stop of a long above the price."
		case o.live():
			return setters{ready, levels(trading.TPSL{TakeProfit: trading.Clear, StopLoss: at("70000")})}, "The stop of a long above the price."
		default:
			return setters{ready, levels(trading.TPSL{StopLoss: at("70000")})}, "The stop of a long above the price."
		}
	}
	return nil, ""
}

func anywhereIf(so bool) func(*testCase) { return func(c *testCase) { c.anywhere = so } }

// account is a live account whose levels are chosen.
func account(a tradingsim.Account) func(*testCase) {
	a.ID = "acc_1"
	return options(tradingsim.WithAccount(a))
}

// opens tells an operation that can add exposure.
func opens(o *operation) bool { return o.place != nil }

// ofTheAccount is what its state refuses.
func ofTheAccount(o *operation, d documented) (setters, string) {
	switch d.Code {
	case "account_not_found":
		return setters{func(c *testCase) {
			own := c.call
			c.anywhere = true
			c.call = func(ctx context.Context, w *world, client *trading.Client, opts ...trading.CallOption) (any, error) {
				other := *w
				if w.account != "account_1" {
					other.account = "acc_of_somebody_else"
				}
				return own(ctx, &other, client, opts...)
			}
		}}, "An account that is not the caller's, or none: the same answer."
	case "account_locked":
		if !o.live() {
			return setters{before(func(w *world) {
				w.buy("1")
				w.sim.SetMark("BTC", "32000")
				w.look()
			})}, "A floor was breached: only a reset helps."
		}
		return setters{then(func(w *world) { w.sim.SetStatus(string(w.account), "FAILED") })}, "The account has failed: nothing is accepted."
	}
	if !opens(o) || !o.live() {
		return nil, ""
	}
	switch d.Code {
	case "ACCOUNT_LOCKED":
		return setters{before(func(w *world) {
			w.sim.Trade(string(w.account), "long", "1", "BTC")
			w.sim.SetMark("BTC", "50000")
		})}, "The equity is below a floor already."
	case "DAILY_DRAWDOWN_BREACH":
		return setters{account(tradingsim.Account{DailyLossFloor: "99999.9", GlobalLossFloor: "90000"})}, "The order's fee would reach the daily floor."
	case "GLOBAL_DRAWDOWN_BREACH":
		return setters{account(tradingsim.Account{DailyLossFloor: "90000", GlobalLossFloor: "99999.9"})}, "The order's fee would reach the global floor."
	case "PRICE_UNAVAILABLE":
		return setters{before(func(w *world) {
			w.sim.Trade(string(w.account), "long", "1", "ETH")
			w.sim.SetMark("ETH", "")
		})}, "Another position has no mark, so the equity cannot be verified."
	}
	return nil, ""
}

// ofTheCaps is what would be too much, or too little.
func ofTheCaps(o *operation, d documented) (setters, string) {
	if !opens(o) {
		return nil, ""
	}
	sized := func(size, leverage string) func(*testCase) {
		return ordering(func(order *trading.Order) { order.Size, order.Leverage = dec(size), dec(leverage) })
	}
	switch d.Code {
	case "MIN_NOTIONAL":
		if o.id == "placeLadder" {
			return setters{body(member("size", "0.0001"))}, "Each rung is below the minimum order value; the message names what would work."
		}
		return setters{sized("0.0001", "2")}, "Below the minimum order value."
	case "PER_POSITION_CAP":
		return setters{sized("10", "5")}, "The position would be too large."
	case "TOTAL_MARGIN_CAP":
		return setters{sized("2", "1")}, "The margin of all positions would be too large."
	case "ASSET_NOTIONAL_CAP":
		return setters{options(tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", NotionalCap: "1000"}))}, "The market's own cap."
	case "NO_EQUITY":
		if !o.live() {
			return setters{options(tradingsim.WithSandbox(tradingsim.Sandbox{
				Balance: "0", DailyLossFloor: "-100", GlobalLossFloor: "-100", ProfitTarget: "1",
			}))}, "There is no equity to trade with."
		}
		return setters{account(tradingsim.Account{Balance: "0", DailyLossFloor: "-100", GlobalLossFloor: "-100", ProfitTarget: "1"})},
			"There is no equity to trade with."
	case "cap_exceeded":
		return setters{before(func(w *world) { w.sim.SetFillError("BTC", "cap_exceeded") })}, "A cap without a code of its own."
	}
	return nil, ""
}

// ofTheMarket is what the market does not allow.
func ofTheMarket(o *operation, d documented) (setters, string) {
	if !opens(o) {
		return nil, ""
	}
	switch d.Code {
	case "asset_disabled":
		return setters{options(disabledBTC)}, "The market is not tradeable."
	case "market_paused":
		return setters{options(tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", Paused: true}))}, "No new positions; closing still works."
	case "order_not_marketable", "NOT_MARKETABLE":
		return setters{ordering(limited("63000"))}, "The market has not reached the limit."
	case "order_rejected", "fill_rejected":
		return setters{before(func(w *world) { w.sim.SetFillError("BTC", d.Code) })}, "A refusal without a code of its own."
	case "GUARD_BAND":
		if o.id != "placeOrder" && o.id != "placeSandboxOrder" {
			return nil, ""
		}
		return setters{ordering(func(order *trading.Order) { order.ExpectedPrice = at("60000") })}, "The price is too far from the expected one."
	}
	if o.id != "placeOrder" && o.id != "placeSandboxOrder" {
		return nil, ""
	}
	thin := tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", Book: tradingsim.Book{
		Levels: []tradingsim.BookLevel{{Bps: "100", Size: "1"}, {Bps: "1000", Size: "1"}},
	}})
	switch d.Code {
	case "MAX_SLIPPAGE":
		return setters{options(thin), ordering(func(order *trading.Order) { order.MaxSlippagePct = trading.Some(dec("0.5")) })},
			"The estimate is above the maximum; both are told."
	case "INSUFFICIENT_LIQUIDITY":
		return setters{options(thin), ordering(func(order *trading.Order) { order.Size, order.Leverage = dec("2.5"), dec("5") })},
			"The book cannot fill the size: the estimate is null, which is not 0."
	}
	return nil, ""
}

// ofTheFill is a price that is missing or too old.
func ofTheFill(o *operation, d documented) (setters, string) {
	closing := o.id == "closePosition" || o.id == "closeSandboxPosition"
	if !closing && !opens(o) || o.id == "placeLimitOrder" {
		return nil, ""
	}
	unpriced := then(func(w *world) { w.sim.SetMark("BTC", "") })
	switch {
	case d.Code == "STALE_PRICE", d.Code == "NO_PRICE":
		return setters{then(func(w *world) { w.sim.SetFillError("BTC", d.Code) })}, "No good reference price at the moment of the fill."
	case d.Code == "no_price" && d.Status == http.StatusServiceUnavailable:
		return setters{unpriced}, "The feed did not price the market on this read."
	case d.Code == "no_price" && d.Status == http.StatusBadRequest:
		return setters{unpriced, options(tradingsim.WithInterpretation(35))}, "The feed did not price the market: the other status of the code."
	}
	return nil, ""
}

// ofWhatIsThere is what is missing, or in the way.
func ofWhatIsThere(o *operation, d documented) (setters, string) {
	switch d.Code {
	case "no_position":
		var set setters
		if opens(o) {
			set = setters{ordering(reducing)}
			if d.Status == http.StatusNotFound {
				set = append(set, options(tradingsim.WithInterpretation(35)))
			}
			return set, "Nothing is there to reduce."
		}
		set = setters{anywhereIf(!o.live())}
		if d.Status == http.StatusBadRequest {
			set = append(set, options(tradingsim.WithInterpretation(35)))
		}
		return set, "Nothing is open in the symbol."
	case "order_not_found", "run_not_found":
		return setters{anywhereIf(true)}, "There is none of that id."
	case "concurrent_request":
		return setters{func(c *testCase) {
			c.elapse = 2 * time.Minute
			c.before = func(w *world) {
				w.sim.Fault("POST /sandbox/orders", tradingsim.Delay(time.Minute))
				go w.buy("0.05")
				synctest.Wait()
			}
		}}, "Another write to the sandbox is in flight."
	case "size_below_executed":
		return setters{then(func(*world) { time.Sleep(30 * time.Minute) }),
			calling(func(ctx context.Context, w *world, c *trading.Client, opts ...trading.CallOption) (any, error) {
				return result(c.Live.Account(w.account).EditRun(ctx, w.run, dec("0.01"), opts...))
			})}, "More than that is filled."
	}
	return nil, ""
}

// ofProFields is what refuses a Pro order.
func ofProFields(o *operation, d documented) (setters, string) {
	switch d.Code {
	case "BAD_DURATION":
		return setters{body(member("durationMs", "1"))}, "A millisecond is too short."
	case "BAD_ORDER_COUNT":
		return setters{body(member("totalOrders", "1"))}, "One is too few."
	case "BAD_TRIGGER":
		return setters{body(member("triggerPrice", "64000"))}, "The trigger is the current price."
	case "BAD_PRICE":
		switch o.id {
		case "placeConditional":
			return setters{body(member("execKind", `"stop-limit"`))}, "A stop-limit without limitPrice."
		case "placeLadder":
			return setters{body(member("startPrice", "0"))}, "startPrice is 0."
		default:
			return setters{body(member("chaseTo", "0"))}, "chaseTo is 0."
		}
	case "TOO_MANY_RUNS":
		return setters{options(tradingsim.WithProLimits(tradingsim.ProLimits{MaxRuns: 1})), before((*world).start)}, "Another run is all that may run."
	case "CHASE_EXISTS":
		if o.id == "placeChase" {
			return setters{func(c *testCase) {
				c.before = func(w *world) { _, _ = w.call(c, w.base) }
			}}, "A chase is running in the market."
		}
	}
	return nil, ""
}
