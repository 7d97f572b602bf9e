package trading_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// losses are the ways in which an order's answer does not come to its caller.
var losses = map[string]tradingsim.Fault{
	"lost before":           tradingsim.DropRequest(),
	"lost after":            tradingsim.DropResponse(),
	"cut short":             tradingsim.TruncateResponse(),
	"a page before":         tradingsim.GatewayError(503),
	"a page after":          tradingsim.GatewayErrorAfter(200),
	"a 5xx before":          tradingsim.Fail(500, "internal_error"),
	"a 5xx after":           tradingsim.FailAfter(500, "internal_error"),
	"a lost 5xx after":      tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()),
	"a hidden 5xx after":    tradingsim.Together(tradingsim.FailAfter(503, "unavailable"), tradingsim.GatewayErrorAfter(502)),
	"a crash before":        tradingsim.Crash(),
	"a crash after":         tradingsim.CrashAfter(),
	"worked on for 20s":     tradingsim.Delay(20 * time.Second),
	"worked on for 14m":     tradingsim.Delay(14 * time.Minute),
	"late by 3s":            tradingsim.ArriveLate(3 * time.Second),
	"late by 7s":            tradingsim.ArriveLate(7 * time.Second),
	"late by 5m":            tradingsim.ArriveLate(5 * time.Minute),
	"a late copy, lost":     tradingsim.Together(tradingsim.LateCopy(30*time.Second), tradingsim.DropResponse()),
	"repeated, lost":        tradingsim.Together(tradingsim.Repeat(), tradingsim.DropResponse()),
	"a refusal, lost":       tradingsim.Together(tradingsim.Fail(400, "NO_EQUITY"), tradingsim.DropResponse()),
	"a late 5xx after work": tradingsim.Together(tradingsim.ArriveLate(20*time.Second), tradingsim.FailAfter(500, "internal_error")),
}

// world is what a lost order is recovered in.
type world struct {
	reading int // 0 is the project's own
	lag     time.Duration
	sole    bool
	other   bool // somebody else trades the account meanwhile
	restart bool
	change  bool // a stop of the position fires meanwhile
}

// lose has one order lost in a world, and asks what became of it. It returns the
// verdict, and how often the order has been executed half an hour later.
func (w world) lose(t *testing.T, fault tradingsim.Fault) (verdict trading.Verdict, ran int, err error) {
	t.Helper()
	ctx := context.Background()
	options := []tradingsim.Option{tradingsim.WithLag(w.lag)}
	if w.reading > 0 {
		options = append(options, tradingsim.WithInterpretation(w.reading))
	}
	sim := tradingsim.New(options...)
	intents := newSharedJournal()
	opts := []trading.Option{trading.WithJournal(intents)}
	if w.sole {
		opts = append(opts, sole)
	}
	r := join(t, sim, opts...)
	if w.change {
		sim.Trade("acc_1", "long", "0.05", "BTC")
		time.Sleep(w.lag + time.Second)
		_, err := r.account().SetTriggers(ctx, "BTC", trading.Triggers{TakeProfit: trading.Clear, StopLoss: at("63000")})
		require.NoError(t, err)
	}
	r.readAll()
	err = r.doubtful(fault, buy("0.05"))
	if w.other {
		sim.Trade("acc_1", "long", "0.05", "BTC")
	}
	if w.change {
		sim.SetMark("BTC", "62000")
	}
	before := r.sent(trading.OpOrder)
	if w.restart {
		require.NoError(t, r.Close())
		r = join(t, sim, opts...)
		verdicts, recoverErr := r.Recover(ctx)
		require.Len(t, verdicts, 1)
		verdict, err = verdicts[0], recoverErr
	} else {
		found, resolveErr := r.verdict(err)
		verdict, err = *found, resolveErr
	}
	assert.Equal(t, verdict.Outcome == trading.Unknown, err != nil, "the error is nil exactly if nothing is open")
	assert.Equal(t, before, r.sent(trading.OpOrder), "finding out places nothing")
	if verdict.Outcome == trading.Unknown {
		require.ErrorIs(t, err, trading.ErrUndetermined)
		require.ErrorIs(t, verdict.Err, trading.ErrUndetermined)
		assert.Equal(t, trading.BasisNone, verdict.Basis)
		_, err := r.account().PlaceOrder(ctx, buy("0.01"))
		require.ErrorIs(t, err, trading.ErrUnsettled, "what is open keeps its symbol closed")
	} else {
		assert.NotEqual(t, trading.BasisNone, verdict.Basis)
	}
	time.Sleep(30 * time.Minute)
	_, err2 := r.account().State(ctx) // whatever was late is done by now
	require.NoError(t, err2)
	return verdict, r.ran(trading.OpOrder), err
}

// lies reports whether a verdict contradicts what was executed.
func lies(v trading.Verdict, ran int) bool {
	return v.Outcome == trading.Applied && ran == 0 || v.Outcome == trading.NotApplied && ran > 0
}

// In every reading of the contract but one, with reads that lag, with others who
// trade, with triggers that fire, in the same process and after a restart: no
// verdict is false, whatever was lost and however late it comes.
func TestNoVerdictIsFalse(t *testing.T) {
	decided := map[trading.Outcome]int{}
	for _, reading := range []int{0, 6, 9, 10, 11, 12, 13, 14, 37, 42, 43, 50, 51} {
		for _, w := range []world{
			{}, {sole: true}, {other: true}, {change: true}, {change: true, sole: true},
			{sole: true, restart: true}, {restart: true, other: true},
			{sole: true, lag: 5 * time.Second}, {restart: true, lag: 5 * time.Second},
		} {
			w.reading = reading
			for name, fault := range losses {
				synctest.Test(t, func(t *testing.T) {
					verdict, ran, err := w.lose(t, fault)
					if lies(verdict, ran) {
						t.Errorf("%s, %+v: %s by %s, executed %d times (%v)", name, w, verdict.Outcome, verdict.Basis, ran, err)
					}
					decided[verdict.Outcome]++
				})
			}
		}
	}
	t.Logf("%v", decided)
	assert.Greater(t, decided[trading.Applied], 100, "and it finds out")
	assert.Greater(t, decided[trading.NotApplied], 300)
}

// Reading 49: keys per route. A fence then always answers 404, beside an order that
// can still run. What protects: a trace in the readings, and time. What is not
// protected, and is said here: a copy that comes after the readings.
func TestReading49KeysPerRoute(t *testing.T) {
	unprotected := map[string]bool{
		"worked on for 14m": true, "worked on for 20s": true, "late by 5m": true, "a late 5xx after work": true,
	}
	for _, w := range []world{{}, {sole: true}, {other: true}, {restart: true}} {
		w.reading = 49
		for name, fault := range losses {
			synctest.Test(t, func(t *testing.T) {
				verdict, ran, _ := w.lose(t, fault)
				if lies(verdict, ran) {
					assert.True(t, unprotected[name], "%s, %+v: %s, executed %d times", name, w, verdict.Outcome, ran)
					assert.Equal(t, trading.NotApplied, verdict.Outcome, "what has run is never denied once it shows")
				}
			})
		}
	}

	// One check with a real key settles which reading holds: a fence on the key of a
	// settled order answers 422, or 404 where keys are per route.
	for reading, code := range map[int]trading.Code{0: "idempotency_key_reused", 49: "order_not_found"} {
		var options []tradingsim.Option
		if reading > 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		liveTest(t, options, nil, func(r rig) {
			r.open(buy("0.05"), trading.WithIdempotencyKey("k"))
			_, err := r.account().CancelOrder(r.t.Context(), "nothing", trading.WithIdempotencyKey("k"))
			require.ErrorIs(r.t, err, code)
		})
	}
}
