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

// liveCodes is each refusal that a live route and what stands in front of it can
// answer with, as "code status". Copied from the contract by hand; where it leaves
// the status open ("4xx"), the simulation's two readings stand here.
const liveCodes = `
missing_api_key 401, invalid_api_key 401, revoked_api_key 401, wrong_environment 403, api_access_denied 403, rate_limited 429,
missing_fields 400, bad_side 400, bad_size 400, bad_limit_price 400, invalid_json 400, account_not_found 404, account_locked 403,
ACCOUNT_LOCKED 403, DAILY_DRAWDOWN_BREACH 403, GLOBAL_DRAWDOWN_BREACH 403, asset_disabled 403, market_paused 403, NOT_MARKETABLE 400,
MIN_NOTIONAL 400, PER_POSITION_CAP 400, TOTAL_MARGIN_CAP 400, ASSET_NOTIONAL_CAP 400, NO_EQUITY 400,
GUARD_BAND 409, STALE_PRICE 409, NO_PRICE 409, MAX_SLIPPAGE 409, INSUFFICIENT_LIQUIDITY 409, BAD_MAX_SLIPPAGE 400,
no_price 503, no_price 400, PRICE_UNAVAILABLE 503, equity_unavailable 503, no_position 404, no_position 400, invalid_tpsl 400,
run_not_found 404, order_not_found 404, size_below_executed 400,
BAD_DURATION 400, BAD_ORDER_COUNT 400, BAD_PRICE 400, BAD_TRIGGER 400, TOO_MANY_RUNS 409, CHASE_EXISTS 409,
BAD_DURATION 422, BAD_ORDER_COUNT 422, BAD_PRICE 422, BAD_TRIGGER 422, TOO_MANY_RUNS 400, CHASE_EXISTS 400,
invalid_idempotency_key 400, idempotency_key_reused 422, idempotency_in_flight 409, idempotency_result_unknown 409, idempotency_unavailable 503,
bad_request 400, unauthorized 401, forbidden 403, not_found 404, conflict 409, unprocessable 422,
internal_error 500, unavailable 502, unavailable 503`

// Every refusal of the live routes comes about by the rule that gives it (where the
// simulation has one), and arrives as what it is: code, status, kind, advice and
// outcome. Nothing is executed, or not once more. What the client would not send
// itself is changed on its way, so that the service's own refusal is what is read.
// Among them T32: an unknown symbol, for which live has no bad_symbol; T98: what
// refuses Pro orders and edits.
func TestEveryLiveCode(t *testing.T) {
	type call func(context.Context, rig.Rig) error
	order := func(o trading.Order) call {
		return func(ctx context.Context, r rig.Rig) error {
			result, err := r.Account().PlaceOrder(ctx, o)
			assert.Nil(r.T, result)
			return err
		}
	}
	closing := func(ctx context.Context, r rig.Rig) error {
		result, err := r.Account().ClosePosition(ctx, "BTC", trading.All)
		assert.Nil(r.T, result)
		return err
	}
	reducing := order(rig.Sell("0.5", func(o *trading.Order) { o.ReduceOnly = true }))
	triggers := func(tr trading.TPSL) call {
		return func(ctx context.Context, r rig.Rig) error {
			_, err := r.Account().SetTPSL(ctx, "BTC", tr)
			return err
		}
	}
	twap := func(d time.Duration) call {
		return func(ctx context.Context, r rig.Rig) error {
			_, err := r.Account().PlaceTWAP(ctx, rig.Buy("0.5"), trading.TWAP{Duration: d})
			return err
		}
	}
	chase := func(ctx context.Context, r rig.Rig) error {
		_, err := r.Account().PlaceChase(ctx, rig.Buy("0.5"), trading.Chase{})
		return err
	}
	spoiled := func(body string) func(*tradingsim.Sim) []trading.Option {
		return func(sim *tradingsim.Sim) []trading.Option { return []trading.Option{rig.WithBody(sim, body)} }
	}
	header := func(change func(http.Header)) func(*tradingsim.Sim) []trading.Option {
		return func(sim *tradingsim.Sim) []trading.Option {
			return []trading.Option{trading.WithTransport(rig.InFront{Next: sim.Transport(), Change: func(r *http.Request) { change(r.Header) }})}
		}
	}
	underKey := func(key string) func(*tradingsim.Sim) []trading.Option {
		return header(func(h http.Header) { h["idempotency-key"] = []string{key} })
	}
	fail := func(status int, code string) func(rig.Rig) {
		return func(r rig.Rig) {
			for range 4 { // as often as the client may try
				r.Sim.Fault("POST /orders", tradingsim.Fail(status, code))
			}
		}
	}
	trouble := func(code string) func(rig.Rig) { return func(r rig.Rig) { r.Sim.SetFillError("BTC", code) } }
	status := func(status string) func(rig.Rig) { return func(r rig.Rig) { r.Sim.SetStatus("acc_1", status) } }
	options := func(opts ...tradingsim.Option) []tradingsim.Option { return opts }
	reading := func(n int) []tradingsim.Option { return options(tradingsim.WithInterpretation(n)) }
	btc := func(m tradingsim.Market) []tradingsim.Option {
		m.Symbol, m.Price = "BTC", "64000"
		return options(tradingsim.WithMarket(m))
	}
	account := func(a tradingsim.Account) []tradingsim.Option {
		a.ID = "acc_1"
		return options(tradingsim.WithAccount(a))
	}
	const never, change, newKey, sameKey, wait, read = trading.AdviseNever, trading.AdviseChange,
		trading.AdviseNewKey, trading.AdviseSameKey, trading.AdviseWait, trading.AdviseRead

	shown := map[string]bool{}
	for _, row := range []struct {
		code    trading.Code
		status  int
		kind    trading.Kind
		advice  trading.Advice
		sends   int  // attempts; 1 unless set
		unknown bool // the outcome; NotApplied unless set

		options []tradingsim.Option
		client  func(*tradingsim.Sim) []trading.Option
		prepare func(rig.Rig)
		call    call // an order unless set
		check   func(*testing.T, *trading.Error)
	}{
		// In front of every route.
		{code: "missing_api_key", status: 401, kind: trading.ErrKeyRefused, advice: never,
			client: header(func(h http.Header) { h.Del("X-API-Key") })},
		{code: "invalid_api_key", status: 401, kind: trading.ErrKeyRefused, advice: never,
			client: func(*tradingsim.Sim) []trading.Option {
				return []trading.Option{trading.WithLiveKey("pk_live_mistyped")}
			}},
		{code: "revoked_api_key", status: 401, kind: trading.ErrKeyRefused, advice: never,
			prepare: func(r rig.Rig) { r.Sim.RevokeKey(r.Sim.LiveKey()) }},
		{code: "wrong_environment", status: 403, kind: trading.ErrKeyRefused, advice: never,
			client: func(sim *tradingsim.Sim) []trading.Option {
				test := sim.SandboxKey()
				return header(func(h http.Header) { h.Set("X-API-Key", test) })(sim)
			}},
		{code: "api_access_denied", status: 403, kind: trading.ErrKeyRefused, advice: never,
			prepare: func(r rig.Rig) { r.Sim.SetAccess(false) }},
		{code: "rate_limited", status: 429, advice: wait,
			options: options(tradingsim.WithKeyLimit(1)),
			prepare: func(r rig.Rig) { r.RawLive(trading.OpAccounts, "") },
			check: func(t *testing.T, refusal *trading.Error) {
				assert.Equal(t, time.Minute, refusal.RetryAfter)
				_, ok := refusal.Meta.RateLimit.Get()
				assert.True(t, ok, "the key's own limit tells its headers")
			}},
		{code: "rate_limited", status: 429, advice: wait,
			options: options(tradingsim.WithUserLimits(1, 1)),
			prepare: func(r rig.Rig) { r.Sim.Trade("acc_1", "long", "0.1", "ETH") }, // in the terminal
			check: func(t *testing.T, refusal *trading.Error) {
				assert.Equal(t, time.Minute, refusal.RetryAfter)
				_, ok := refusal.Meta.RateLimit.Get()
				assert.False(t, ok, "T89: the user's limit carries Retry-After only")
			}},

		// What is sent.
		{code: "invalid_json", status: 400, advice: change, client: spoiled(`{"accountId":`)},
		{code: "missing_fields", status: 400, advice: change, client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":1}`)},
		{code: "bad_side", status: 400, advice: change, client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"buy","size":1,"leverage":2}`)},
		{code: "bad_size", status: 400, advice: change, client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0,"leverage":2}`)},
		{code: "bad_limit_price", status: 400, advice: change,
			client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":2,"orderType":"limit"}`)},
		{code: "BAD_MAX_SLIPPAGE", status: 400, advice: change,
			client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":2,"maxSlippagePct":0.25}`)},
		{code: "bad_request", status: 400, advice: change,
			client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":2,"orderType":"stop"}`)},
		{code: "not_found", status: 404, advice: change, client: func(sim *tradingsim.Sim) []trading.Option {
			return []trading.Option{trading.WithTransport(rig.InFront{Next: sim.Transport(), Change: func(r *http.Request) { r.URL.Path = "/v1/order" }})}
		}},

		// The account.
		{code: "account_not_found", status: 404, advice: never, call: func(ctx context.Context, r rig.Rig) error {
			_, err := r.Live.Account("acc_of_somebody_else").PlaceOrder(ctx, rig.Buy("0.5"))
			return err
		}},
		{code: "account_not_found", status: 404, advice: never, call: func(ctx context.Context, r rig.Rig) error {
			positions, err := r.Live.Account("acc_of_somebody_else").Positions(ctx)
			assert.Nil(r.T, positions, "T83: no account is not a flat account")
			return err
		}},
		{code: "account_locked", status: 403, kind: trading.ErrAccountLocked, advice: never, prepare: status("FAILED")},
		{code: "account_locked", status: 403, kind: trading.ErrAccountLocked, advice: never, prepare: status("PASSED")},
		{code: "account_locked", status: 403, kind: trading.ErrAccountLocked, advice: never, prepare: status("EXPIRED"), call: closing},
		{code: "ACCOUNT_LOCKED", status: 403, kind: trading.ErrAccountLocked, advice: never,
			prepare: func(r rig.Rig) { r.Sim.Trade("acc_1", "long", "1", "BTC"); r.Sim.SetMark("BTC", "50000") }},
		{code: "DAILY_DRAWDOWN_BREACH", status: 403, kind: trading.ErrLossLimit, advice: never,
			options: account(tradingsim.Account{DailyLossFloor: "99990", GlobalLossFloor: "90000"})},
		{code: "GLOBAL_DRAWDOWN_BREACH", status: 403, kind: trading.ErrLossLimit, advice: never,
			options: account(tradingsim.Account{DailyLossFloor: "90000", GlobalLossFloor: "99990"})},
		{code: "PRICE_UNAVAILABLE", status: 503, advice: sameKey, sends: 4,
			prepare: func(r rig.Rig) { r.Sim.Trade("acc_1", "long", "1", "ETH"); r.Sim.SetMark("ETH", "") }},
		{code: "equity_unavailable", status: 503, advice: sameKey, sends: 4, prepare: fail(503, "equity_unavailable")},

		// The caps.
		{code: "MIN_NOTIONAL", status: 400, kind: trading.ErrRiskCap, advice: change, call: order(rig.Buy("0.0001"))},
		{code: "MIN_NOTIONAL", status: 400, kind: trading.ErrRiskCap, advice: change, call: func(ctx context.Context, r rig.Rig) error {
			_, err := r.Account().PlaceTWAP(ctx, rig.Buy("0.001"), trading.TWAP{Duration: time.Hour})
			return err
		}},
		{code: "PER_POSITION_CAP", status: 400, kind: trading.ErrRiskCap, advice: change,
			call: order(rig.Buy("10", func(o *trading.Order) { o.Leverage = rig.Dec("5") }))},
		{code: "TOTAL_MARGIN_CAP", status: 400, kind: trading.ErrRiskCap, advice: change,
			call: order(rig.Buy("2", func(o *trading.Order) { o.Leverage = rig.Dec("1") }))},
		{code: "ASSET_NOTIONAL_CAP", status: 400, kind: trading.ErrRiskCap, advice: change, options: btc(tradingsim.Market{NotionalCap: "1000"})},
		{code: "NO_EQUITY", status: 400, kind: trading.ErrRiskCap, advice: change,
			options: account(tradingsim.Account{Balance: "0", DailyLossFloor: "-100", GlobalLossFloor: "-100", ProfitTarget: "1"})},

		// The market, its price, and the fill.
		{code: "asset_disabled", status: 403, advice: change, options: btc(tradingsim.Market{Disabled: true})},
		{code: "asset_disabled", status: 403, advice: change, // T32: live has no bad_symbol
			call: order(rig.Buy("1", func(o *trading.Order) { o.Symbol = "NOPE" }))},
		{code: "market_paused", status: 403, advice: newKey, options: btc(tradingsim.Market{Paused: true})},
		{code: "NOT_MARKETABLE", status: 400, kind: trading.ErrNotMarketable, advice: change,
			call: order(rig.Buy("0.5", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("63999") }))},
		{code: "GUARD_BAND", status: 409, kind: trading.ErrSlippage, advice: change,
			call: order(rig.Buy("0.5", func(o *trading.Order) { o.ExpectedPrice = rig.At("60000") }))},
		{code: "MAX_SLIPPAGE", status: 409, kind: trading.ErrSlippage, advice: change, options: options(thinBook),
			call: order(rig.Buy("1", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0.5")) })),
			check: func(t *testing.T, refusal *trading.Error) {
				rig.EqualOpt(t, "1", refusal.EstSlippagePct)
				rig.EqualOpt(t, "0.5", refusal.MaxSlippagePct)
			}},
		{code: "INSUFFICIENT_LIQUIDITY", status: 409, kind: trading.ErrSlippage, advice: change, options: options(thinBook),
			call: order(rig.Buy("2.5", func(o *trading.Order) { o.Leverage = rig.Dec("5") })),
			check: func(t *testing.T, refusal *trading.Error) {
				rig.EqualOpt(t, "none", refusal.EstSlippagePct)
			}},
		{code: "STALE_PRICE", status: 409, kind: trading.ErrNoPrice, advice: newKey, sends: 3, prepare: trouble("STALE_PRICE")},
		{code: "NO_PRICE", status: 409, kind: trading.ErrNoPrice, advice: newKey, sends: 3, prepare: trouble("NO_PRICE")},
		{code: "NO_PRICE", status: 409, kind: trading.ErrNoPrice, advice: newKey, sends: 3, call: closing,
			prepare: func(r rig.Rig) { r.Sim.Trade("acc_1", "long", "1", "BTC"); r.Sim.SetFillError("BTC", "NO_PRICE") }},
		{code: "no_price", status: 503, kind: trading.ErrNoPrice, advice: sameKey, sends: 3, prepare: func(r rig.Rig) { r.Sim.SetMark("BTC", "") }},
		{code: "no_price", status: 400, kind: trading.ErrNoPrice, advice: newKey, sends: 3, options: reading(35),
			prepare: func(r rig.Rig) { r.Sim.SetMark("BTC", "") }},
		{code: "no_price", status: 503, kind: trading.ErrNoPrice, advice: sameKey, sends: 3, call: closing,
			prepare: func(r rig.Rig) { r.Sim.Trade("acc_1", "long", "1", "BTC"); r.Sim.SetMark("BTC", "") }},
		{code: "no_price", status: 400, kind: trading.ErrNoPrice, advice: newKey, sends: 3, call: closing, options: reading(35),
			prepare: func(r rig.Rig) { r.Sim.Trade("acc_1", "long", "1", "BTC"); r.Sim.SetMark("BTC", "") }},
		{code: "no_position", status: 404, advice: change, call: closing},
		{code: "no_position", status: 400, advice: change, call: closing, options: reading(35)},
		{code: "no_position", status: 404, advice: change, call: triggers(trading.TPSL{TakeProfit: trading.Clear, StopLoss: trading.Clear})},
		{code: "no_position", status: 400, advice: change, call: reducing},
		{code: "no_position", status: 404, advice: change, call: reducing, options: reading(35)},
		{code: "invalid_tpsl", status: 400, advice: change, call: order(rig.Buy("0.5", func(o *trading.Order) { o.StopLoss = rig.At("64000") }))},
		{code: "invalid_tpsl", status: 400, advice: change, call: triggers(trading.TPSL{TakeProfit: rig.At("63000"), StopLoss: trading.Clear}),
			prepare: func(r rig.Rig) { r.Sim.Trade("acc_1", "long", "1", "BTC") }},

		// What waits on the account.
		{code: "order_not_found", status: 404, advice: read, call: func(ctx context.Context, r rig.Rig) error {
			_, err := r.Account().CancelOrder(ctx, "ord_9")
			return err
		}},
		{code: "run_not_found", status: 404, advice: read, call: func(ctx context.Context, r rig.Rig) error {
			_, err := r.Account().CancelRun(ctx, "run_9")
			return err
		}},
		{code: "run_not_found", status: 404, advice: read, call: func(ctx context.Context, r rig.Rig) error {
			_, err := r.Account().EditRun(ctx, "run_9", trading.RunEdit{TotalSize: rig.Dec("1")})
			return err
		}},
		{code: "size_below_executed", status: 400, advice: change, // T98
			prepare: func(r rig.Rig) {
				_, err := r.Account().PlaceTWAP(r.T.Context(), rig.Buy("0.5"), trading.TWAP{Duration: 5 * time.Minute})
				require.NoError(r.T, err)
				time.Sleep(2 * time.Minute)
			},
			call: func(ctx context.Context, r rig.Rig) error {
				_, err := r.Account().EditRun(ctx, "run_1", trading.RunEdit{TotalSize: rig.Dec("0.1")})
				return err
			}},
		{code: "BAD_DURATION", status: 400, advice: change, call: twap(time.Second)},
		{code: "BAD_DURATION", status: 422, advice: change, call: twap(time.Second), options: reading(45)},
		{code: "BAD_ORDER_COUNT", status: 400, advice: change, call: swarmOf(1)},
		{code: "BAD_ORDER_COUNT", status: 422, advice: change, call: swarmOf(51), options: reading(45)},
		{code: "BAD_PRICE", status: 400, advice: change, call: chase,
			client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.5,"leverage":2,"chaseTo":0}`)},
		{code: "BAD_PRICE", status: 422, advice: change, call: chase, options: reading(45),
			client: spoiled(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.5,"leverage":2,"chaseTo":0}`)},
		{code: "BAD_TRIGGER", status: 400, advice: change, call: triggerAt("64000")},
		{code: "BAD_TRIGGER", status: 422, advice: change, call: triggerAt("64000"), options: reading(45)},
		{code: "TOO_MANY_RUNS", status: 409, advice: change, call: twap(time.Hour), prepare: runTWAP,
			options: options(tradingsim.WithProLimits(tradingsim.ProLimits{MaxRuns: 1}))},
		{code: "TOO_MANY_RUNS", status: 400, advice: change, call: twap(time.Hour), prepare: runTWAP,
			options: options(tradingsim.WithProLimits(tradingsim.ProLimits{MaxRuns: 1}), tradingsim.WithInterpretation(45))},
		{code: "CHASE_EXISTS", status: 409, advice: change, call: chase,
			prepare: func(r rig.Rig) { require.NoError(r.T, chase(r.T.Context(), r)) }},
		{code: "CHASE_EXISTS", status: 400, advice: change, call: chase, options: reading(45),
			prepare: func(r rig.Rig) { require.NoError(r.T, chase(r.T.Context(), r)) }},

		// Idempotency.
		{code: "invalid_idempotency_key", status: 400, advice: change, client: underKey("")},
		{code: "invalid_idempotency_key", status: 400, advice: change, client: underKey("a b")},
		{code: "invalid_idempotency_key", status: 400, advice: change, client: underKey(strings.Repeat("k", 256))},
		{code: "idempotency_key_reused", status: 422, advice: read,
			client: func(*tradingsim.Sim) []trading.Option { // to which the key is new
				return []trading.Option{trading.WithJournal(rig.NewDisk().Open())}
			},
			prepare: func(r rig.Rig) { rig.Join(r.T, r.Sim).Open(rig.Buy("0.1"), trading.WithIdempotencyKey("k")) },
			call: func(ctx context.Context, r rig.Rig) error {
				_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.2"), trading.WithIdempotencyKey("k"))
				return err
			}},
		{code: "idempotency_in_flight", status: 409, advice: read, sends: 4, unknown: true,
			prepare: func(r rig.Rig) {
				r.Sim.Fault("POST /orders", tradingsim.Delay(time.Minute))
				other := rig.Join(r.T, r.Sim)
				go func() {
					_, _ = other.Account().PlaceOrder(context.Background(), rig.Buy("0.5"),
						trading.WithIdempotencyKey("k"), trading.WithAttemptTimeout(2*time.Minute))
				}()
				synctest.Wait()
			},
			call: func(ctx context.Context, r rig.Rig) error {
				_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.5"), trading.WithIdempotencyKey("k"))
				return err
			}},
		{code: "idempotency_result_unknown", status: 409, advice: read, sends: 2, unknown: true,
			prepare: func(r rig.Rig) { r.Sim.Fault("POST /orders", tradingsim.Crash()) }},
		{code: "idempotency_unavailable", status: 503, advice: sameKey, sends: 4, prepare: fail(503, "idempotency_unavailable")},

		// Named for their status: nothing in the simulation needs them.
		{code: "unauthorized", status: 401, kind: trading.ErrKeyRefused, advice: never, prepare: fail(401, "unauthorized")},
		{code: "forbidden", status: 403, advice: never, prepare: fail(403, "forbidden")},
		{code: "conflict", status: 409, advice: change, prepare: fail(409, "conflict")},
		{code: "unprocessable", status: 422, advice: change, prepare: fail(422, "unprocessable")},
		{code: "internal_error", status: 500, advice: read, unknown: true, prepare: fail(500, "internal_error")},
		{code: "unavailable", status: 502, advice: read, unknown: true, prepare: fail(502, "unavailable")},
		{code: "unavailable", status: 503, advice: read, unknown: true, prepare: fail(503, "unavailable")},
	} {
		name := string(row.code) + " " + strconv.Itoa(row.status)
		shown[name] = true
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := tradingsim.New(row.options...)
				opts := slices.Clone(rig.SendingOnly)
				if slices.Contains(turnedAway, row.code) { // which is asked about
					opts = nil
				}
				if row.client != nil {
					opts = append(opts, row.client(sim)...)
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
				if row.unknown {
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

	for _, pair := range strings.Split(liveCodes, ",") {
		pair = strings.TrimSpace(pair)
		assert.True(t, shown[pair], "%s is not shown", pair)
		delete(shown, pair)
	}
	assert.Empty(t, shown, "not in the contract's list")
}

// turnedAway are the codes that decide only where a second question confirms them.
var turnedAway = []trading.Code{
	trading.CodeMissingAPIKey, trading.CodeInvalidAPIKey, trading.CodeRevokedAPIKey, trading.CodeWrongEnvironment,
	trading.CodeAPIAccessDenied, trading.CodeAccountNotFound, trading.CodeUnauthorized, trading.CodeForbidden, trading.CodeNotFound,
}

func swarmOf(n int) func(context.Context, rig.Rig) error {
	return func(ctx context.Context, r rig.Rig) error {
		_, err := r.Account().PlaceSwarm(ctx, rig.Buy("0.5"), trading.Swarm{Orders: n})
		return err
	}
}

func triggerAt(price string) func(context.Context, rig.Rig) error {
	return func(ctx context.Context, r rig.Rig) error {
		_, err := r.Account().PlaceConditional(ctx, rig.Buy("0.5"), trading.Conditional{Trigger: rig.Dec(price)})
		return err
	}
}

func runTWAP(r rig.Rig) {
	_, err := r.Account().PlaceTWAP(r.T.Context(), rig.Buy("0.5"), trading.TWAP{Duration: time.Hour})
	require.NoError(r.T, err)
}

// A code of a Pro order that this version does not know survives, and is taken for
// what its status says.
func TestUnknownProCodesSurvive(t *testing.T) {
	for _, row := range []struct {
		status  int
		outcome trading.Outcome
		advice  trading.Advice
	}{
		{400, trading.NotApplied, trading.AdviseChange},
		{403, trading.NotApplied, trading.AdviseNever},
		{409, trading.NotApplied, trading.AdviseChange},
		{422, trading.NotApplied, trading.AdviseChange},
	} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			r.Sim.Fault("POST /orders/swarm", tradingsim.Fail(row.status, "SWARM_TOO_DENSE"))
			err := swarmOf(5)(r.T.Context(), r)
			require.ErrorIs(r.T, err, trading.Code("SWARM_TOO_DENSE"))
			assert.Equal(r.T, row.outcome, trading.OutcomeOf(err))
			assert.Equal(r.T, row.advice, trading.AdviceOf(err))
			assert.Equal(r.T, 1, rig.RefusalOf(r.T, err).Meta.Attempts)
			assert.Empty(r.T, r.Sim.Ledger())
		})
	}
	for _, status := range []int{500, 503} { // it may have run
		rig.LiveTest(t, nil, rig.SendingOnly, func(r rig.Rig) {
			r.Sim.Fault("POST /orders/swarm", tradingsim.Raw(status, nil, `{"error":"SWARM_TOO_DENSE","message":"no"}`))
			_, err := r.Account().PlaceSwarm(r.T.Context(), rig.Buy("0.5"), trading.Swarm{Orders: 5}, trading.WithSendTTL(0))
			require.ErrorIs(r.T, err, trading.Code("SWARM_TOO_DENSE"))
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
			assert.Equal(r.T, trading.AdviseRead, trading.AdviceOf(err))
		})
	}
}
