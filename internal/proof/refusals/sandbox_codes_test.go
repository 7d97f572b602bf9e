package refusals

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// sandboxCodes is each refusal that the sandbox and what stands in front of it
// can answer with, as "code status". Copied from the contract by hand.
const sandboxCodes = `
missing_api_key 401, invalid_api_key 401, revoked_api_key 401, wrong_environment 403, api_access_denied 403, rate_limited 429,
invalid_json 400, bad_symbol 400, bad_side 400, bad_size 400, bad_limit_price 400, bad_pct 400, BAD_MAX_SLIPPAGE 400,
account_locked 403, asset_disabled 403,
MIN_NOTIONAL 400, PER_POSITION_CAP 400, TOTAL_MARGIN_CAP 400, ASSET_NOTIONAL_CAP 400, NO_EQUITY 400, cap_exceeded 400,
order_rejected 400, invalid_tpsl 400, order_not_marketable 409, GUARD_BAND 409, MAX_SLIPPAGE 409, INSUFFICIENT_LIQUIDITY 409,
STALE_PRICE 409, NO_PRICE 409, fill_rejected 409, concurrent_request 409, no_price 503, no_price 404, no_position 404,
bad_request 400, unauthorized 401, forbidden 403, not_found 404, conflict 409, unprocessable 422,
internal_error 500, unavailable 502, unavailable 503`

// thinBook offers 1 BTC at 1 percent from the mid price and 1 more at 10.
var thinBook = tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", Book: tradingsim.Book{
	Levels: []tradingsim.BookLevel{{Bps: "100", Size: "1"}, {Bps: "1000", Size: "1"}},
}})

var kinds = []trading.Kind{
	trading.ErrNoPrice, trading.ErrNotMarketable, trading.ErrSlippage, trading.ErrRiskCap, trading.ErrAccountLocked,
	trading.ErrLossLimit, trading.ErrKeyRefused, trading.ErrUnhealthy, trading.ErrHalted, trading.ErrExpired, trading.ErrGuard,
}

// Every refusal comes about by the rule that gives it (where the simulation has
// one), and arrives as what it is: code, status, kind, advice and outcome.
// Nothing is executed. What the client would not send itself is changed on its
// way, so that the service's own refusal is the one that is read.
func TestEverySandboxCode(t *testing.T) {
	order := func(o trading.Order) func(context.Context, rig.Rig) error {
		return func(ctx context.Context, r rig.Rig) error {
			result, err := r.Sandbox.PlaceOrder(ctx, o)
			assert.Nil(r.T, result)
			return err
		}
	}
	closing := func(ctx context.Context, r rig.Rig) error {
		_, err := r.Sandbox.ClosePosition(ctx, "BTC", trading.All)
		return err
	}
	// spoiled sends another body than the client's.
	spoiled := func(body string) func(*tradingsim.Sim) []trading.Option {
		return func(sim *tradingsim.Sim) []trading.Option { return []trading.Option{rig.WithBody(sim, body)} }
	}
	header := func(change func(http.Header)) func(*tradingsim.Sim) []trading.Option {
		return func(sim *tradingsim.Sim) []trading.Option {
			return []trading.Option{trading.WithTransport(rig.InFront{Next: sim.Transport(), Change: func(r *http.Request) { change(r.Header) }})}
		}
	}
	fail := func(status int, code string) func(rig.Rig) {
		return func(r rig.Rig) {
			for range 4 { // as often as the client may try
				r.Sim.Fault("POST /sandbox/orders", tradingsim.Fail(status, code))
			}
			if slices.Contains(turnedAway, trading.Code(code)) { // so is the second question
				r.Sim.Fault("GET /sandbox/account", tradingsim.Fail(status, code))
			}
		}
	}
	trouble := func(code string) func(rig.Rig) { return func(r rig.Rig) { r.Sim.SetFillError("BTC", code) } }
	options := func(opts ...tradingsim.Option) []tradingsim.Option { return opts }
	const never, change, newKey, sameKey, wait, read = trading.AdviseNever, trading.AdviseChange,
		trading.AdviseNewKey, trading.AdviseSameKey, trading.AdviseWait, trading.AdviseRead

	shown := map[string]bool{}
	for _, row := range []struct {
		code   trading.Code
		status int
		kind   trading.Kind
		advice trading.Advice
		sends  int // attempts; 1 unless set

		options []tradingsim.Option
		client  func(*tradingsim.Sim) []trading.Option
		prepare func(rig.Rig)
		call    func(context.Context, rig.Rig) error // an order unless set
		check   func(*testing.T, *trading.Error)
	}{
		// In front of every route.
		{code: "missing_api_key", status: 401, kind: trading.ErrKeyRefused, advice: never,
			client: header(func(h http.Header) { h.Del("X-API-Key") })},
		{code: "invalid_api_key", status: 401, kind: trading.ErrKeyRefused, advice: never,
			client: func(*tradingsim.Sim) []trading.Option {
				return []trading.Option{trading.WithSandboxKey("pk_test_mistyped")}
			}},
		{code: "revoked_api_key", status: 401, kind: trading.ErrKeyRefused, advice: never,
			prepare: func(r rig.Rig) { r.Sim.RevokeKey(r.Sim.SandboxKey()) }},
		{code: "wrong_environment", status: 403, kind: trading.ErrKeyRefused, advice: never,
			client: func(sim *tradingsim.Sim) []trading.Option {
				live := sim.LiveKey()
				return header(func(h http.Header) { h.Set("X-API-Key", live) })(sim)
			}},
		{code: "api_access_denied", status: 403, kind: trading.ErrKeyRefused, advice: never,
			prepare: func(r rig.Rig) { r.Sim.SetAccess(false) }},
		{code: "rate_limited", status: 429, advice: wait,
			options: options(tradingsim.WithKeyLimit(1)),
			prepare: func(r rig.Rig) { r.Raw(trading.OpMarkets, "") },
			check: func(t *testing.T, refusal *trading.Error) {
				assert.Equal(t, time.Minute, refusal.RetryAfter)
				limit, ok := refusal.Meta.RateLimit.Get()
				require.True(t, ok)
				assert.Equal(t, 1, limit.Limit)
				assert.Equal(t, 0, limit.Remaining)
				assert.Equal(t, time.Minute, time.Until(limit.Reset).Round(time.Second))
			}},

		// What is sent.
		{code: "invalid_json", status: 400, advice: change, client: spoiled(`{"symbol":`)},
		{code: "bad_symbol", status: 400, advice: change, call: order(rig.Buy("1", func(o *trading.Order) { o.Symbol = "NOPE" }))},
		{code: "bad_symbol", status: 400, advice: change, client: spoiled(`{"side":"long","size":1}`)},
		{code: "bad_side", status: 400, advice: change, client: spoiled(`{"symbol":"BTC","side":"buy","size":1}`)},
		{code: "bad_size", status: 400, advice: change, client: spoiled(`{"symbol":"BTC","side":"long","size":0}`)},
		{code: "bad_limit_price", status: 400, advice: change, client: spoiled(`{"symbol":"BTC","side":"long","size":1,"orderType":"limit"}`)},
		{code: "bad_pct", status: 400, advice: change, client: spoiled(`{"symbol":"BTC","pct":0.5}`), call: closing},
		{code: "BAD_MAX_SLIPPAGE", status: 400, advice: change, client: spoiled(`{"symbol":"BTC","side":"long","size":1,"maxSlippagePct":0.25}`)},
		{code: "bad_request", status: 400, advice: change, client: spoiled(`{"symbol":"BTC","side":"long","size":1,"leverage":"2"}`)},
		{code: "not_found", status: 404, advice: change, client: func(sim *tradingsim.Sim) []trading.Option {
			return []trading.Option{trading.WithTransport(rig.InFront{Next: sim.Transport(), Change: func(r *http.Request) { r.URL.Path = "/v1/sandbox/order" }})}
		}},

		// The account, and the caps.
		{code: "account_locked", status: 403, kind: trading.ErrAccountLocked, advice: never,
			prepare: func(r rig.Rig) {
				r.Place(rig.Buy("1"))
				r.Sim.SetMark("BTC", "32000")
				assert.True(r.T, r.State().Locked)
			}},
		{code: "MIN_NOTIONAL", status: 400, kind: trading.ErrRiskCap, advice: change, call: order(rig.Buy("0.0001"))},
		{code: "PER_POSITION_CAP", status: 400, kind: trading.ErrRiskCap, advice: change,
			call: order(rig.Buy("10", func(o *trading.Order) { o.Leverage = rig.Dec("5") }))},
		{code: "TOTAL_MARGIN_CAP", status: 400, kind: trading.ErrRiskCap, advice: change,
			call: order(rig.Buy("2", func(o *trading.Order) { o.Leverage = rig.Dec("1") }))},
		{code: "ASSET_NOTIONAL_CAP", status: 400, kind: trading.ErrRiskCap, advice: change,
			options: options(tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", NotionalCap: "1000"})),
			call:    order(rig.Buy("0.05")),
			check:   func(t *testing.T, refusal *trading.Error) { assert.Equal(t, "BTC", refusal.Symbol) }},
		{code: "NO_EQUITY", status: 400, kind: trading.ErrRiskCap, advice: change,
			options: options(tradingsim.WithSandbox(tradingsim.Sandbox{
				Balance: "0", DailyLossFloor: "-1", GlobalLossFloor: "-1", ProfitTarget: "1",
			}))},
		{code: "cap_exceeded", status: 400, kind: trading.ErrRiskCap, advice: change, prepare: trouble("cap_exceeded")},

		// The market, its price, and the fill.
		{code: "asset_disabled", status: 403, advice: change,
			options: options(tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", Disabled: true}))},
		{code: "order_not_marketable", status: 409, kind: trading.ErrNotMarketable, advice: change,
			call: order(rig.Buy("1", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("63999") }))},
		{code: "invalid_tpsl", status: 400, advice: change,
			call: order(rig.Buy("1", func(o *trading.Order) { o.StopLoss = rig.At("64000") }))},
		{code: "GUARD_BAND", status: 409, kind: trading.ErrSlippage, advice: change,
			call: order(rig.Buy("1", func(o *trading.Order) { o.ExpectedPrice = rig.At("60000") }))},
		{code: "MAX_SLIPPAGE", status: 409, kind: trading.ErrSlippage, advice: change,
			options: options(thinBook),
			call:    order(rig.Buy("1", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0.5")) })),
			check: func(t *testing.T, refusal *trading.Error) {
				rig.EqualOpt(t, "1", refusal.EstSlippagePct)
				rig.EqualOpt(t, "0.5", refusal.MaxSlippagePct)
			}},
		{code: "INSUFFICIENT_LIQUIDITY", status: 409, kind: trading.ErrSlippage, advice: change,
			options: options(thinBook),
			call:    order(rig.Buy("2.5", func(o *trading.Order) { o.Leverage = rig.Dec("5") })),
			check: func(t *testing.T, refusal *trading.Error) {
				rig.EqualOpt(t, "none", refusal.EstSlippagePct, "T34: null is no estimate, and not one of 0 percent")
				rig.EqualOpt(t, "8", refusal.MaxSlippagePct, "the service's default")
			}},
		{code: "STALE_PRICE", status: 409, kind: trading.ErrNoPrice, advice: newKey, sends: 3, prepare: trouble("STALE_PRICE")},
		{code: "NO_PRICE", status: 409, kind: trading.ErrNoPrice, advice: newKey, sends: 3, prepare: trouble("NO_PRICE")},
		{code: "STALE_PRICE", status: 409, kind: trading.ErrNoPrice, advice: newKey, sends: 3, call: closing,
			prepare: func(r rig.Rig) { r.Place(rig.Buy("1")); r.Sim.SetFillError("BTC", "STALE_PRICE") }},
		{code: "no_price", status: 503, kind: trading.ErrNoPrice, advice: sameKey, sends: 3,
			prepare: func(r rig.Rig) { r.Sim.SetMark("BTC", "") }},
		{code: "no_price", status: 503, kind: trading.ErrNoPrice, advice: sameKey, sends: 3, call: closing,
			prepare: func(r rig.Rig) { r.Place(rig.Buy("1")); r.Sim.SetMark("BTC", "") }},
		{code: "no_price", status: 404, kind: trading.ErrNoPrice, advice: newKey, sends: 3, prepare: fail(404, "no_price")},
		{code: "order_rejected", status: 400, advice: change, prepare: trouble("order_rejected")},
		{code: "fill_rejected", status: 409, advice: change, prepare: trouble("fill_rejected")},
		{code: "no_position", status: 404, advice: change, call: closing},
		{code: "no_position", status: 404, advice: change, call: func(ctx context.Context, r rig.Rig) error {
			_, err := r.Sandbox.SetTPSL(ctx, "BTC", trading.TPSL{StopLoss: trading.Clear})
			return err
		}},
		{code: "concurrent_request", status: 409, advice: sameKey, sends: 4,
			prepare: func(r rig.Rig) {
				r.Sim.Fault("POST /sandbox/positions/close", tradingsim.Delay(time.Minute))
				go r.Raw(trading.OpSandboxClose, `{"symbol":"BTC"}`) // ends without a position
				synctest.Wait()
			}},

		// Named for their status: nothing in the simulation needs them.
		{code: "unauthorized", status: 401, kind: trading.ErrKeyRefused, advice: never, prepare: fail(401, "unauthorized")},
		{code: "forbidden", status: 403, advice: never, prepare: fail(403, "forbidden")},
		{code: "conflict", status: 409, advice: change, prepare: fail(409, "conflict")},
		{code: "unprocessable", status: 422, advice: change, prepare: fail(422, "unprocessable")},
		{code: "internal_error", status: 500, advice: read, prepare: fail(500, "internal_error")},
		{code: "unavailable", status: 502, advice: read, prepare: fail(502, "unavailable")},
		{code: "unavailable", status: 503, advice: read, prepare: fail(503, "unavailable")},
	} {
		name := string(row.code) + " " + strconv.Itoa(row.status)
		shown[name] = true
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := tradingsim.New(row.options...)
				var opts []trading.Option
				if row.client != nil {
					opts = row.client(sim)
				}
				r := rig.Join(t, sim, opts...)
				if row.prepare != nil {
					row.prepare(r)
				}
				if row.call == nil {
					row.call = order(rig.Buy("0.5"))
				}
				executed := len(sim.Ledger())

				err := row.call(t.Context(), r)
				refusal := rig.RefusalOf(t, err)
				assert.Equal(t, row.code, refusal.Code)
				assert.Equal(t, row.status, refusal.Status)
				assert.NotEmpty(t, refusal.Message)
				assert.False(t, refusal.Local)
				require.ErrorIs(t, err, row.code)
				for _, kind := range kinds {
					assert.Equal(t, kind == row.kind, errors.Is(err, kind), "%s", kind)
				}
				assert.Equal(t, row.advice, trading.AdviceOf(err))
				outcome := trading.NotApplied
				if row.advice == read {
					outcome = trading.Unknown
				}
				assert.Equal(t, outcome, trading.OutcomeOf(err))
				assert.Equal(t, max(row.sends, 1), refusal.Meta.Attempts)
				assert.Len(t, sim.Ledger(), executed, "something was executed")
				if row.check != nil {
					row.check(t, refusal)
				}
				time.Sleep(2 * time.Minute) // until another writer is done
			})
		})
	}

	// The one refusal that is no error to a reader: a real market without a mark.
	t.Run("no_price 404 on a read", func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.SetMark("BTC", "")
		var meta trading.Meta
		mark, err := r.Sandbox.Price(t.Context(), "BTC", trading.ResponseInto(&meta))
		require.NoError(t, err)
		assert.True(t, mark.IsZero())
		assert.Equal(t, 404, meta.Status)
		assert.Contains(t, string(meta.Body), `"no_price"`)
		assert.Equal(t, 1, meta.Attempts, "a reader is told at once")
	})

	for _, pair := range strings.Split(sandboxCodes, ",") {
		pair = strings.TrimSpace(pair)
		assert.True(t, shown[pair], "%s is not shown", pair)
		delete(shown, pair)
	}
	assert.Empty(t, shown, "not in the contract's list")
}

// The throttle of failed authentications acts in front of the keys: a good key
// from that address is turned away too, with a Retry-After and no more.
func TestFailedAuthThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		for range 10 {
			require.Equal(t, 401, r.RawAs("pk_test_guess", trading.OpMe, "").Status)
		}
		err := r.Refused(rig.Buy("1"))
		refusal := rig.RefusalOf(t, err)
		assert.Equal(t, trading.CodeRateLimited, refusal.Code)
		assert.Equal(t, time.Minute, refusal.RetryAfter)
		_, told := refusal.Meta.RateLimit.Get()
		assert.False(t, told, "it is no limit of the key")
		assert.Equal(t, trading.AdviseWait, trading.AdviceOf(err))

		// The other reading: no Retry-After. A full window stands for it.
		r = rig.New(t, []tradingsim.Option{tradingsim.WithInterpretation(3)})
		for range 10 {
			r.RawAs("pk_test_guess", trading.OpMe, "")
		}
		wait, ok := trading.RetryAfter(r.Refused(rig.Buy("1")))
		assert.True(t, ok)
		assert.Equal(t, time.Minute, wait)
		_, err = r.Health(t.Context())
		require.NoError(t, err, "keyless endpoints are not throttled")
	})
}

// A limit is the key's own: what one key used up, another still has.
func TestTrap_T92_LimitsAreTheKeysOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithKeyLimit(2))
		first, second := rig.Join(t, sim), rig.Join(t, sim, trading.WithSandboxKey(sim.NewSandboxKey()))
		first.Trades()
		first.Trades()
		_, err := first.Sandbox.Trades(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		second.Trades()
		_, err = first.Me(t.Context(), trading.EnvLive)
		require.NoError(t, err, "the live key's limit is another")

		began := time.Now()
		first.Trades()
		assert.GreaterOrEqual(t, time.Since(began), time.Minute, "it waited for its window")
	})
}
