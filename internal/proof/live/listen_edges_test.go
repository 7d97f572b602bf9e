package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Nobody finds out about a cancel: its call listens for as long as it would wait for that.
func TestACancelListensToTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		works   time.Duration
		refused tradingsim.Fault
		leaves  time.Duration // its caller
		took    time.Duration
		outcome trading.Outcome
	}{
		"while the call waits":      {22 * time.Second, tradingsim.Pass(), time.Minute, 22 * time.Second, trading.Applied},
		"and is refused":            {22 * time.Second, tradingsim.Fail(404, "order_not_found"), time.Minute, 22 * time.Second, trading.NotApplied},
		"no longer than that":       {30 * time.Second, tradingsim.Pass(), time.Minute, 23 * time.Second, trading.Unknown},
		"no longer than its caller": {30 * time.Second, tradingsim.Pass(), 20 * time.Second, 20 * time.Second, trading.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
				limit, err := r.Account().PlaceLimit(r.T.Context(), rig.Buy("0.05", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("60000") }))
				require.NoError(r.T, err)
				r.Sim.Fault(string(trading.OpCancelOrder), tradingsim.Together(tradingsim.Delay(c.works), c.refused))
				ctx, cancel := context.WithTimeout(r.T.Context(), c.leaves)
				defer cancel()
				began := time.Now()
				_, err = r.Account().CancelOrder(ctx, limit.Order.ID)
				assert.InDelta(r.T, c.took.Seconds(), time.Since(began).Seconds(), 0.3)
				outcome := trading.Applied
				if err != nil {
					outcome = trading.OutcomeOf(err)
				}
				assert.Equal(r.T, c.outcome, outcome, "%v", err)
			})
		})
	}
}

// A success is the end, whatever else has no answer.
func TestACancelIsDecidedByItsFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		service := &answering{Sim: sim, operation: "/orders/cancel", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
			if send > 1 {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return
			}
			time.Sleep(18*time.Second - time.Since(began))
			next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option())
		limit, err := r.Account().PlaceLimit(t.Context(), rig.Buy("0.05", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("60000") }))
		require.NoError(t, err)
		_, err = r.Account().CancelOrder(t.Context(), limit.Order.ID)
		require.NoError(t, err)
		assert.Equal(t, 18*time.Second, time.Since(began))
		service.mu.Lock()
		defer service.mu.Unlock()
		assert.Greater(t, service.sends, 1)
	})
}

// It listens to a connection for no longer than that can bring its answer.
func TestACancelWhoseConnectionBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		service := &answering{Sim: sim, operation: "/orders/cancel", answer: func(http.ResponseWriter, int, http.Handler, *http.Request) {
			time.Sleep(20*time.Second - time.Since(began))
			panic(http.ErrAbortHandler)
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option())
		_, err := r.Account().CancelOrder(t.Context(), "order_1")
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		assert.Equal(t, 20*time.Second, time.Since(began))
	})
}

// What may not run twice is not asked for while it runs.
func TestWhatIsAskedForTwice(t *testing.T) {
	for name, c := range map[string]struct {
		op   trading.Operation
		call func(r rig.Rig) error
		want int
	}{
		"a full close": {trading.OpClose, func(r rig.Rig) error { return rig.ExitCall(r) }, 2},
		"a part": {trading.OpClose, func(r rig.Rig) error {
			return rig.Only(r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50"))))
		}, 1},
		"levels":   {trading.OpTPSL, func(r rig.Rig) error { return r.Levels(rig.Both("90000", "50000")) }, 1},
		"an order": {trading.OpOrder, func(r rig.Rig) error { return rig.EntryCall(r) }, 1},
		"a run's end": {trading.OpCancelRun, func(r rig.Rig) error {
			return rig.Only(r.Account().CancelRun(r.T.Context(), "run_1"))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
				r.Open(rig.Buy("0.05"))
				before := r.Sent(c.op)
				r.Sim.Fault(string(c.op), tradingsim.Delay(1500*time.Millisecond))
				_ = c.call(r)
				assert.Equal(r.T, c.want, r.Sent(c.op)-before)
			})
		})
	}
}

// The first send is listened to beside a second one that has no answer either.
func TestTheFirstSendIsListenedToBesideAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		service := &answering{Sim: sim, operation: "/orders", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
			if send == 1 {
				body, _ := io.ReadAll(r.Body)
				answer := httptest.NewRecorder()
				r = r.Clone(context.WithoutCancel(r.Context()))
				r.Body = io.NopCloser(bytes.NewReader(body))
				next.ServeHTTP(answer, r) // it holds its key, whoever asks for that
				time.Sleep(12*time.Second - time.Since(began))
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(answer.Body.Bytes())
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option())
		r.Open(rig.Buy("0.05"))
		assert.Equal(t, 12*time.Second, time.Since(began))
	})
}

// An attempt of a call that is over is listened to for two minutes.
func TestAnAttemptIsNotListenedToForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		ended := make(chan time.Time, 1)
		service := &answering{Sim: sim, operation: "/orders", answer: func(_ http.ResponseWriter, _ int, _ http.Handler, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			ended <- time.Now()
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option(), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		assert.Equal(t, 121*time.Second, (<-ended).Sub(began))
	})
}

// Its caller leaves while Close waits for it: then it is not listened to at all.
func TestAnAttemptThatIsLeftDuringClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		ended := make(chan time.Time, 1)
		service := &answering{Sim: sim, operation: "/orders", answer: func(_ http.ResponseWriter, _ int, _ http.Handler, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			ended <- time.Now()
		}}
		client := rig.ClientOf(t, sim, rig.OverPipes(t, service).Option())
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began, placed := time.Now(), make(chan error, 1)
		go func() { placed <- rig.Only(client.Live.Account(rig.Acc).PlaceOrder(ctx, rig.Buy("0.05"))) }()
		time.Sleep(time.Second)
		rig.CloseClient(t, client)
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(<-placed))
		assert.Equal(t, 2*time.Second, (<-ended).Sub(began))
	})
}

// The first send is refused for its price, late, while the service still has it under way; the next key's answer
// is the order's all the same.
func TestALateRefusalForItsPriceIsNotTheLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		service := &answering{Sim: sim, operation: "/orders", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
			refuse := func(code string) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusConflict)
				_, _ = io.WriteString(w, `{"error":"`+code+`","message":"not now"}`)
			}
			switch send {
			case 1:
				time.Sleep(5*time.Second + 100*time.Millisecond)
				refuse("STALE_PRICE")
			case 2:
				refuse("idempotency_in_flight")
			default:
				next.ServeHTTP(w, r)
			}
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option())
		r.Open(rig.Buy("0.05"))
		assert.Equal(t, 1, r.Ran(trading.OpOrder))
	})
}

// The caller's time ends while its own hook runs, and not before the answer.
func TestAnAnswerBeforeTheCallersEnd(t *testing.T) {
	slow := trading.WithHooks(trading.Hooks{AttemptDone: func(context.Context, trading.Call, trading.Attempt) { time.Sleep(2 * time.Second) }})
	for name, c := range map[string]struct {
		leaves, answers time.Duration
	}{
		"a hook behind the answer":    {time.Second, 0},
		"a late answer beside a hook": {time.Second, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			overPipes(t, []trading.Option{slow}, func(r rig.Rig, _ *rig.Pipes) {
				r.Open(rig.Buy("0.05"))
				r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(c.answers))
				ctx, cancel := context.WithTimeout(r.T.Context(), c.leaves)
				defer cancel()
				_, err := r.Account().ClosePosition(ctx, "BTC", trading.Percent(rig.Dec("50")))
				require.NoError(r.T, err)
			})
		})
	}
}

// Whoever leaves reads in the error why.
func TestTheCauseOfLeaving(t *testing.T) {
	why := errors.New("the bot stops")
	overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Delay(20*time.Second))
		ctx, cancel := context.WithCancelCause(r.T.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"))
		require.ErrorIs(r.T, err, why)
		require.ErrorIs(r.T, err, context.Canceled)
	})
}

// closedAt closes a position, on which the service works for so long, and returns how long that took and how
// often it was sent by then.
func closedAt(r rig.Rig, works time.Duration, part trading.Part) (took time.Duration, sent int) {
	r.T.Helper()
	r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(works))
	began := time.Now()
	_, err := r.Account().ClosePosition(r.T.Context(), "BTC", part)
	require.NoError(r.T, err)
	return time.Since(began), r.Sent(trading.OpClose)
}

// Over HTTP/2 a close that its second send has decided leaves behind the connection that has swallowed the first,
// which others wait on.
func TestAConnectionThatGaveNoAnswerIsNotUsedAgain(t *testing.T) {
	trusted := httptest.NewTLSServer(nil)
	defer trusted.Close()
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		pipes := rig.OverHTTP2(t, sim, trusted)
		r := rig.Join(t, sim, pipes.Option())
		r.Open(rig.Buy("0.05"))
		require.Equal(t, 1, pipes.Open())
		pipes.Swallow()
		began, read := time.Now(), make(chan error, 1)
		go func() { read <- rig.Only(r.Account().Trades(t.Context())) }()
		synctest.Wait()
		_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
		r.Open(rig.Buy("0.05"))
		assert.Less(t, time.Since(began), 2*time.Second)
		require.NoError(t, <-read)
	})
}

// Without a place in the limits a close is not sent a second time, and waits for its first answer.
func TestASecondCloseHasAPlaceOrIsLeftOut(t *testing.T) {
	overPipes(t, []trading.Option{trading.WithRateLimits(trading.RateLimits{PerClass: 1})}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		took, sent := closedAt(r, 3*time.Second, trading.All)
		assert.Equal(r.T, 3*time.Second, took)
		assert.Equal(r.T, 1, sent)
	})
}

// A send that waits for its place goes no more once an earlier one has its answer.
func TestALateAnswerEndsTheWaitForAPlace(t *testing.T) {
	overPipes(t, []trading.Option{trading.WithRateLimits(trading.RateLimits{PerClass: 1})}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		took, sent := closedAt(r, 8*time.Second, trading.Percent(rig.Dec("50")))
		assert.Equal(r.T, 8*time.Second, took)
		assert.Equal(r.T, 1, sent)
	})
}

// Nor does one that says nothing of the order: the call ends with that answer, and not with why it stopped waiting.
func TestALateFailureEndsTheWaitForAPlace(t *testing.T) {
	overPipes(t, []trading.Option{trading.WithRateLimits(trading.RateLimits{PerClass: 1})}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		r.Sim.Fault(string(trading.OpClose), tradingsim.Together(tradingsim.Delay(8*time.Second), tradingsim.Fail(500, "internal_error")))
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")))
		require.ErrorIs(r.T, err, trading.CodeInternalError)
		require.NotErrorIs(r.T, err, context.Canceled)
		assert.Equal(r.T, 1, r.Sent(trading.OpClose))
	})
}

// A late answer that says nothing of the order is more than the silence of the newer send that it ends.
func TestALateFailureBesideASendWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, send int, _ http.Handler, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if send == 1 {
				time.Sleep(8*time.Second - time.Since(began))
				failed(w)
				return
			}
			<-r.Context().Done()
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option(), trading.WithRetry(trading.Retry{Attempts: 2}))
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")))
		require.ErrorIs(r.T, err, trading.CodeInternalError)
	})
}

// failing takes nothing from some moment on.
type failing struct {
	journal.Store
	fails atomic.Bool
}

func (j *failing) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if j.fails.Load() {
		return errors.New("the disk is full")
	}
	return j.Store.Append(ctx, durable, records...)
}

// What is not noted before its first byte is not sent a second time.
func TestASecondCloseIsDurableOrLeftOut(t *testing.T) {
	j := &failing{Store: journal.NewMemory()}
	overPipes(t, []trading.Option{trading.WithJournal(j)}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		time.AfterFunc(500*time.Millisecond, func() { j.fails.Store(true) })
		took, sent := closedAt(r, 3*time.Second, trading.All)
		assert.Equal(r.T, 3*time.Second, took)
		assert.Equal(r.T, 1, sent)
	})
}

// The caller has gone: nothing is sent a second time.
func TestNobodyAsksTwiceForACallerThatHasGone(t *testing.T) {
	overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(3*time.Second))
		ctx, cancel := context.WithTimeout(r.T.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := r.Account().ClosePosition(ctx, "BTC", trading.All)
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		time.Sleep(4 * time.Second)
		assert.Equal(r.T, 1, r.Sent(trading.OpClose))
		left, err := r.Pending(r.T.Context())
		require.NoError(r.T, err)
		assert.Empty(r.T, left)
	})
}
