package sandbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The sandbox has no idempotency: what may have been executed is not sent again,
// whichever way the answer was lost.
func TestTrap_T1_ALostAnswerDoublesNothing(t *testing.T) {
	for name, fault := range map[string]tradingsim.Fault{
		"the answer lost":         tradingsim.DropResponse(),
		"the answer truncated":    tradingsim.TruncateResponse(),
		"the answer late":         tradingsim.DelayResponse(time.Minute),
		"a page over the answer":  tradingsim.GatewayErrorAfter(502),
		"T5 a 500 over it":        tradingsim.FailAfter(500, "internal_error"),
		"T5 a 503 over it":        tradingsim.FailAfter(503, "unavailable"),
		"a redirect over it":      tradingsim.RawAfter(307, map[string][]string{"Location": {"/v2"}}, ""),
		"T23 an ok that is false": tradingsim.RawAfter(200, nil, `{"ok":false}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, nil)
				r.Sim.Fault("POST /sandbox/orders", fault)
				err := r.Refused(rig.Buy("1"))
				assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				assert.Equal(t, trading.AdviseResolve, trading.AdviceOf(err))
				assert.Equal(t, 1, r.Sent(trading.OpSandboxOrder))
				position, open := r.Positions().In("BTC")
				require.True(t, open, "a look at the account tells")
				rig.EqualDec(t, "1", position.Size)
				time.Sleep(time.Hour)
				assert.Len(t, r.Fills(), 1)
			})
		})
	}
}

// What became of it, two looks at the account tell: against what it held before,
// and if nobody else trades it. T20: one look, which lags, tells nothing.
func TestTrap_T1_LooksAtTheAccountTell(t *testing.T) {
	for name, row := range map[string]struct {
		fault   tradingsim.Fault
		outcome trading.Outcome
	}{
		"executed, the answer lost": {tradingsim.DropResponse(), trading.Applied},
		"executed, then a 500":      {tradingsim.FailAfter(500, "internal_error"), trading.Applied},
		"never arrived":             {tradingsim.DropRequest(), trading.NotApplied},
		"a 500 before":              {tradingsim.Fail(500, "internal_error"), trading.NotApplied},
		"stopped in front":          {tradingsim.GatewayError(502), trading.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, []tradingsim.Option{tradingsim.WithLag(3 * time.Second)}, trading.WithExclusiveAccounts())
				r.Place(rig.Buy("0.1"))
				for range 2 { // behind the lag, and again
					r.ReadPaper()
				}
				r.Sim.Fault("POST /sandbox/orders", row.fault)
				_, err := r.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.5"), trading.WithResolveTimeout(0))
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				resolution, err := r.Sandbox.Resolve(t.Context(), err)
				require.NoError(t, err)
				assert.Equal(t, row.outcome, resolution.Outcome)
				assert.Equal(t, row.outcome == trading.Applied, len(r.Fills()) == 2)
			})
		})
	}
}

// And what was certainly not executed is sent again, until it is, once.
func TestTrap_T1_ALostRequestIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("POST /sandbox/orders", tradingsim.RefuseConnection(), tradingsim.Fail(409, "concurrent_request"), tradingsim.Fail(503, "no_price"))
		bought := r.Place(rig.Buy("1"))
		assert.Equal(t, 4, bought.Meta.Attempts)
		assert.Len(t, r.Fills(), 1)
	})
}

// Success has three shapes, and only its own is a write's.
func TestTrap_T22_EachSuccessHasItsShape(t *testing.T) {
	r := rig.New(t, nil)
	trades := func(body string) error {
		r.Sim.Fault("GET /sandbox/trades", tradingsim.Raw(200, nil, body))
		_, err := r.Sandbox.Trades(t.Context())
		return err
	}
	require.NoError(t, trades(`{"ok":true,"trades":[]}`))
	require.NoError(t, trades(`{"trades":[]}`))
	require.NoError(t, trades(`{"success":true,"trades":[]}`))
	require.ErrorIs(t, trades(`{"error":"bad_request","message":"no","trades":[]}`), trading.CodeBadRequest)

	r.Sim.Fault("POST /sandbox/reset", tradingsim.Raw(200, nil, `{"success":true,"account":{}}`))
	_, err := r.Sandbox.Reset(t.Context())
	var edge *trading.GatewayError
	require.ErrorAs(t, err, &edge, "a live success, on the sandbox")
}

// A rejection is told by error, never by an ok that is false; false is what
// health says when it is not safe to trade.
func TestTrap_T23_ARejectionIsToldByError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("POST /sandbox/orders", tradingsim.Raw(400, nil, `{"error":"bad_size","message":"no"}`))
		err := r.Refused(rig.Buy("1"))
		require.ErrorIs(t, err, trading.CodeBadSize)
		assert.NotContains(t, string(rig.RefusalOf(t, err).Meta.Body), "ok")

		time.Sleep(time.Minute)
		r.Sim.SetHealth("degraded", "stale")
		health, err := r.Health(t.Context())
		require.NoError(t, err)
		assert.False(t, health.OK)
		assert.False(t, health.Safe())
	})
}

func TestTrap_T31_NoPriceIsNotBadSymbol(t *testing.T) {
	r := rig.New(t, []tradingsim.Option{tradingsim.WithMark("NEW", "")})
	mark, err := r.Sandbox.Price(t.Context(), "NEW")
	require.NoError(t, err, "it will have a price")
	assert.True(t, mark.IsZero())
	_, err = r.Sandbox.Price(t.Context(), "NOPE")
	require.ErrorIs(t, err, trading.CodeBadSymbol)
	assert.Equal(t, trading.AdviseChange, trading.AdviceOf(err), "no retry mends it")
	assert.Equal(t, 2, r.Sent(trading.OpPrices))
}

func TestTrap_T45_AHealthyServiceCanLackAPrice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.SetMark("BTC", "")
		health, err := r.Health(t.Context())
		require.NoError(t, err)
		assert.True(t, health.Safe())
		require.ErrorIs(t, r.Refused(rig.Buy("1")), trading.ErrNoPrice)
	})
}

// T106: and what one market lacks says nothing about another, or the account.
func TestTrap_T106_APriceMissingIsTheMarketsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.SetFillError("BTC", "STALE_PRICE")
		err := r.Refused(rig.Buy("1"))
		require.ErrorIs(t, err, trading.ErrNoPrice)
		assert.Equal(t, "BTC", rig.RefusalOf(t, err).Symbol)
		assert.NotErrorIs(t, err, trading.ErrAccountLocked)
		r.Place(rig.Buy("1", func(o *trading.Order) { o.Symbol = "ETH" }))
	})
}

// Points in time come in three forms and are all a time.Time.
func TestTrap_T47_EveryTimeIsATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(90 * time.Minute)
		now := time.Now()
		r := rig.New(t, []tradingsim.Option{tradingsim.WithKeyLimit(2)})
		health, err := r.Health(t.Context()) // milliseconds
		require.NoError(t, err)
		assert.True(t, health.AsOf.Equal(now))
		r.Place(rig.Buy("1"))
		position, _ := r.Positions().In("BTC") // ISO 8601
		assert.True(t, position.OpenedAt.Equal(now))
		_, err = r.Sandbox.Trades(t.Context(), trading.FailFast()) // seconds
		_, ends, told := transport.RateLimitOf(rig.RefusalOf(t, err).Meta.Header)
		require.True(t, told)
		assert.True(t, ends.Equal(now.Add(time.Minute)))
		assert.Equal(t, trading.Some(time.Minute), rig.RefusalOf(t, err).RetryAfter)
	})
}

// T53, T54, T55: reading the account fires what its marks have crossed, reading
// the market fires nothing, and while nobody reads no stop fires.
func TestTrap_T53_MarketDataClosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Place(rig.Buy("1", func(o *trading.Order) { o.StopLoss = rig.At("63000") }))
		r.Sim.SetMark("BTC", "62000")
		market := r.Sandbox.MarketData
		for range 10 {
			_, err := market.Markets(t.Context())
			require.NoError(t, err)
			_, err = market.Prices(t.Context())
			require.NoError(t, err)
			_, err = market.Price(t.Context(), "BTC")
			require.NoError(t, err)
			assert.Empty(t, r.Trades())
			time.Sleep(time.Minute)
		}
		assert.Len(t, r.Fills(), 1)
	})
}

func TestTrap_T54_ReadingTheAccountFiresTriggers(t *testing.T) {
	for name, read := range map[string]func(rig.Rig){
		"the account":   func(r rig.Rig) { r.State() },
		"its positions": func(r rig.Rig) { r.Positions() },
	} {
		t.Run(name, func(t *testing.T) {
			r := rig.New(t, nil)
			r.Place(rig.Buy("1", func(o *trading.Order) { o.StopLoss = rig.At("63000") }))
			r.Sim.SetMark("BTC", "62000")
			read(r)
			trades := r.Trades()
			require.Len(t, trades, 1)
			assert.Equal(t, trading.CauseStopLoss, trades[0].Cause)
			rig.EqualDec(t, "62000", trades[0].ExitPrice, "T55: not at the level, where there was no price")
		})
	}
}

// A crossing that comes back before anybody reads is missed for good; one that
// stands is late and not lost.
func TestTrap_T55_WithoutAReaderNoStopFires(t *testing.T) {
	r := rig.New(t, nil)
	r.Place(rig.Buy("1", func(o *trading.Order) { o.StopLoss = rig.At("63000") }))
	r.Sim.SetMark("BTC", "60000")
	r.Sim.SetMark("BTC", "64000")
	assert.Len(t, r.Positions(), 1)
	r.Sim.SetMark("BTC", "62500")
	assert.Empty(t, r.Positions())
	rig.EqualDec(t, "62500", r.Trades()[0].ExitPrice)
}

// The slippage check is not for limits and not for closes, and an order goes
// through where the book cannot be read.
func TestTrap_T65_TheSlippageCheckIsSkipped(t *testing.T) {
	thin := tradingsim.Book{Levels: []tradingsim.BookLevel{{Bps: "2000", Size: "100"}}}
	unreadable := thin
	unreadable.Unreadable = true
	with := func(b tradingsim.Book) rig.Rig {
		return rig.New(t, []tradingsim.Option{tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", Book: b})})
	}
	r := with(thin)
	require.ErrorIs(t, r.Refused(rig.Buy("1")), trading.CodeMaxSlippage)
	r.Place(rig.Buy("1", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("64000") }))
	_, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
	require.NoError(t, err)

	r = with(unreadable)
	r.Place(rig.Buy("0.5", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0.1")) }))
	// What holds all the same is a price to expect.
	err = r.Refused(rig.Buy("0.5", func(o *trading.Order) {
		o.MaxSlippagePct, o.ExpectedPrice = trading.Some(rig.Dec("0.1")), rig.At("60000")
	}))
	require.ErrorIs(t, err, trading.CodeGuardBand)
}

// The refusal stands while the expected price does; a fresh one fills.
func TestTrap_T66_AFreshExpectedPriceGoesThrough(t *testing.T) {
	r := rig.New(t, nil)
	expecting := func(price string) trading.Order {
		return rig.Buy("1", func(o *trading.Order) { o.ExpectedPrice = rig.At(price) })
	}
	r.Sim.SetMark("BTC", "66000")
	err := r.Refused(expecting("64000"))
	require.ErrorIs(t, err, trading.CodeGuardBand)
	assert.Equal(t, trading.AdviseChange, trading.AdviceOf(err))
	assert.Equal(t, 1, r.Sent(trading.OpSandboxOrder), "it is not sent again as it was")
	mark, err := r.Sandbox.Price(t.Context(), "BTC")
	require.NoError(t, err)
	rig.EqualDec(t, "66000", r.Place(expecting(mark.String())).Fill.Price)
}

// A level is judged against the price of now, and against the entry only where
// there is none.
func TestTrap_T69_LevelsAreJudgedByThePresentPrice(t *testing.T) {
	r := rig.New(t, nil)
	r.Place(rig.Buy("1"))
	stop := func(price string) error {
		return rig.Only(r.Sandbox.SetTPSL(t.Context(), "BTC", trading.TPSL{StopLoss: rig.At(price)}))
	}
	require.ErrorIs(t, stop("65000"), trading.CodeInvalidTPSL)
	r.Sim.SetMark("BTC", "66000")
	require.NoError(t, stop("65000"), "a stop in profit")
	require.ErrorIs(t, stop("66000"), trading.CodeInvalidTPSL, "at the price")
	r.Sim.SetMark("BTC", "")
	require.ErrorIs(t, stop("65000"), trading.CodeInvalidTPSL, "by the entry, without a price")
	require.NoError(t, stop("63000"))
}

// An order whose stop is refused opens nothing, and one that opens has its stop.
func TestTrap_T71_NoNakedPosition(t *testing.T) {
	r := rig.New(t, nil)
	err := r.Refused(rig.Buy("1", func(o *trading.Order) { o.StopLoss = rig.At("65000") }))
	require.ErrorIs(t, err, trading.CodeInvalidTPSL)
	assert.Empty(t, r.Positions())
	opened := r.Place(rig.Buy("1", func(o *trading.Order) { o.StopLoss, o.TakeProfit = rig.At("63000"), rig.At("66000") }))
	position := rig.Must(opened.Position.Get())
	assert.True(t, position.StopLoss.Equal(rig.At("63000")), "the result shows the levels in force")
	assert.True(t, position.TakeProfit.Equal(rig.At("66000")))
}

// Whether the fee of a close is the round trip or the leg the contract leaves
// open; of a trade it does not.
func TestTrap_T74_AccountingReadsTheTrades(t *testing.T) {
	for reading, reported := range map[int]string{0: "57.6", 21: "28.8"} {
		var options []tradingsim.Option
		if reading != 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		r := rig.New(t, options)
		r.Place(rig.Buy("1"))
		closed, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
		rig.EqualDec(t, reported, closed.Fee, "as reported")
		rig.EqualDec(t, "57.6", r.Trades()[0].RoundTripFee)
		rig.EqualDec(t, closed.Balance.String(), rig.Dec("100000").Add(r.Trades()[0].NetPnL()))
	}
}

// The contract does not name every member of a trade: what has no field is kept.
func TestTrap_T75_UnknownMembersAreKept(t *testing.T) {
	r := rig.New(t, nil)
	r.Sim.Fault("GET /sandbox/trades", tradingsim.Raw(200, nil,
		`{"trades":[{"orderType":"market","exitPrice":1,"realizedPnL":3,"fee":1,"avgEntry":"64000.5","note":"x"}],"more":false}`))
	trade := r.Trades()[0]
	rig.EqualDec(t, "2", trade.NetPnL())
	rig.EqualOpt(t, "none", trade.EntryPrice)
	entry, ok := trade.Extra.Decimal("avgEntry")
	require.True(t, ok)
	rig.EqualDec(t, "64000.5", entry)
	note, _ := trade.Extra.Text("note")
	assert.Equal(t, "x", note)
}

// Withdrawn access kills every key at once. Reads and entries stop after the first refusal;
// exits try all the same, and work as soon as access is back.
func TestTrap_T86_WithdrawnAccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Place(rig.Buy("1"))
		r.Sim.SetAccess(false)
		for range 10 {
			_, err := r.Sandbox.State(t.Context())
			require.ErrorIs(t, err, trading.CodeAPIAccessDenied)
			require.ErrorIs(t, err, trading.ErrKeyRefused)
			assert.Equal(t, trading.AdviseNever, trading.AdviceOf(err))
		}
		assert.Equal(t, 1, r.Sent(trading.OpSandboxState))
		before := r.Sent(trading.OpSandboxOrder)
		err := r.Refused(rig.Buy("1"))
		require.ErrorIs(t, err, trading.CodeAPIAccessDenied)
		assert.True(t, rig.RefusalOf(t, err).Local)
		assert.Equal(t, before, r.Sent(trading.OpSandboxOrder))
		_, err = r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		require.ErrorIs(t, err, trading.CodeAPIAccessDenied)

		r.Sim.SetAccess(true)
		_, err = r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
		assert.Empty(t, r.Positions())
	})
}

// An entry is refused rather than sent a minute later at another price; an exit
// is wanted at any price, and waits.
func TestTrap_T93_EntriesDoNotWaitAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Place(rig.Buy("1"))
		r.Sim.Fault("POST /sandbox/orders", tradingsim.RateLimit(time.Minute))
		began := time.Now()
		err := r.Refused(rig.Buy("1"))
		require.ErrorIs(t, err, trading.CodeRateLimited)
		wait, _ := trading.RetryAfter(err)
		assert.Equal(t, time.Minute, wait)
		assert.Zero(t, time.Since(began))

		_, err = r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

// A sandbox that nobody wrote to for thirty days is another one afterwards: its
// id tells. A reset tells by what it returns.
func TestTrap_T102_AReplacedSandboxHasAnotherID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Place(rig.Buy("1"))
		before := r.State()
		time.Sleep(29 * 24 * time.Hour)
		assert.Equal(t, before.ID, r.State().ID)
		time.Sleep(24 * time.Hour)
		after := r.State()
		assert.NotEqual(t, before.ID, after.ID)
		assert.False(t, before.Equal(*after))
		assert.Empty(t, r.Positions())
	})
}

// A caller who leaves is told Unknown at once; the write goes on, and what it
// did is on the account.
func TestTrap_T103_ACallerWhoLeavesHasNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("POST /sandbox/orders", tradingsim.Delay(time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := r.Sandbox.PlaceOrder(ctx, rig.Buy("1"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		var write *trading.WriteError
		require.True(t, errors.As(err, &write))
		assert.Equal(t, "BTC", write.Symbol)
		assert.Empty(t, r.Fills())
		time.Sleep(time.Second)
		assert.Len(t, r.Fills(), 1)
	})
}

// The order of a list is promised for trades alone: a position is asked for by
// its market.
func TestTrap_T108_PositionsAreFoundByMarket(t *testing.T) {
	r := rig.New(t, nil)
	r.Place(rig.Buy("0.1"))
	r.Place(rig.Buy("1", func(o *trading.Order) { o.Symbol = "ETH" }))
	for _, symbol := range []string{"ETH", "BTC"} {
		position, open := r.Positions().In(symbol)
		assert.True(t, open)
		assert.Equal(t, symbol, position.Symbol)
	}
}

// Another program resets the paper account after an order whose answer was lost, and what the order traded is gone. Who
// has not declared the account, and sees no trade of before the order, does not say that it did not run.
func TestAResetAfterALostPaperOrder(t *testing.T) {
	for _, row := range []struct {
		name         string
		fault        tradingsim.Fault
		traded       bool // there are closed trades of before
		reset, alone bool
		want         trading.Outcome
	}{
		{name: "reset after it ran", fault: tradingsim.DropResponse(), reset: true, want: trading.Unknown},
		{name: "reset after it ran, and trades of before are gone", fault: tradingsim.DropResponse(), traded: true, reset: true, want: trading.Unknown},
		{name: "not reset, and it did not run: nobody can tell", fault: tradingsim.DropRequest(), want: trading.Unknown},
		{name: "not reset, and trades of before show it", fault: tradingsim.DropRequest(), traded: true, want: trading.NotApplied},
		{name: "not reset, and it is declared", fault: tradingsim.DropRequest(), alone: true, want: trading.NotApplied},
	} {
		var opts []trading.Option
		if row.alone {
			opts = append(opts, trading.WithExclusiveAccounts())
		}
		rig.LiveTest(t, nil, opts, func(r rig.Rig) {
			if row.traded {
				require.NoError(r.T, rig.Only(r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.01"))), row.name)
				require.NoError(r.T, rig.Only(r.Sandbox.ClosePosition(r.T.Context(), "BTC", trading.All)), row.name)
				time.Sleep(time.Minute)
			}
			r.ReadPaper()
			r.ReadPaper()
			other := rig.Join(r.T, r.Sim)
			r.Sim.Fault("POST /sandbox/orders", row.fault)
			_, err := r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithResolveTimeout(0))
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), row.name)
			if row.reset {
				require.NoError(r.T, rig.Only(other.Sandbox.Reset(r.T.Context())), row.name)
			}
			began := time.Now()
			resolution, why := r.Within(time.Hour, err)
			assert.Equal(r.T, row.want, resolution.Outcome, "%s: %v", row.name, why)
			assert.Less(r.T, time.Since(began), time.Minute, "no later look says more")
		})
	}
}
