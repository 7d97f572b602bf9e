package live

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
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

// What happens between two sends of a call: what it waits for, what it holds meanwhile, and what comes then.

// page is how something in front says that it cannot.
func page(w http.ResponseWriter, status int, header ...string) {
	for i := 0; i < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<html>not now</html>")
}

var halfOfIt = trading.Percent(rig.Dec("50"))

// The caller leaves as an attempt ends: no wait begins, and no hook hears of one.
func TestWhoHasLeftWaitsForNothing(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, a *trading.Account) error{
		"a read": func(ctx context.Context, a *trading.Account) error { return rig.Only(a.Trades(ctx)) },
		"a write": func(ctx context.Context, a *trading.Account) error {
			return rig.Only(a.ClosePosition(ctx, "BTC", halfOfIt))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				waits := 0
				r := rig.Join(t, rig.NewSim(), trading.WithResolveTimeout(0), trading.WithHooks(trading.Hooks{
					AttemptDone: func(context.Context, trading.Call, trading.Attempt) { leave() },
					Waiting:     func(context.Context, trading.Call, trading.Wait) { waits++ },
				}))
				r.Sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.GatewayError(502) })
				began := time.Now()
				require.ErrorIs(t, call(ctx, r.Account()), context.Canceled)
				assert.Zero(t, waits)
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

// An exit is asked for a second time after four times as long as the service usually takes for a write, also for
// one whose answer came late.
func TestASlowServiceIsAskedTwiceLater(t *testing.T) {
	for name, row := range map[string]struct {
		usual, works time.Duration
		sent         int
	}{
		"quick":                      {0, 1500 * time.Millisecond, 2},
		"slow":                       {600 * time.Millisecond, 2 * time.Second, 1},
		"slow, and slower than that": {600 * time.Millisecond, 3 * time.Second, 2},
		"slower than an attempt":     {6 * time.Second, 4 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
				r.Sim.Fault(string(trading.OpOrder), tradingsim.Delay(row.usual))
				r.Open(rig.Buy("0.05"), trading.WithRetry(trading.Retry{Attempts: 2, MinWait: 4 * time.Second, MaxWait: 4 * time.Second}))
				_, sent := closedAt(r, row.works, trading.All)
				assert.Equal(r.T, row.sent, sent)
			})
		})
	}
}

// An attempt that lasts no longer than the first patience of an exit ends by its time, and the next waits for its
// turn as any other.
func TestAnAttemptAsShortAsTheFirstPatience(t *testing.T) {
	overPipes(t, []trading.Option{trading.WithAttemptTimeout(time.Second)}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		began := time.Now()
		closedAt(r, 1800*time.Millisecond, trading.All)
		requests := slices.DeleteFunc(r.Sim.Requests(), func(q tradingsim.Request) bool { return q.Operation != string(trading.OpClose) })
		require.Greater(r.T, len(requests), 1)
		assert.Greater(r.T, requests[1].At.Sub(began), time.Second)
	})
}

// Where a second send is left out the next goes once the time of the first is over.
func TestTheSendAfterOneThatIsLeftOut(t *testing.T) {
	j := &failing{Store: journal.NewMemory()}
	overPipes(t, []trading.Option{trading.WithJournal(j)}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(10*time.Second))
		began := time.Now()
		time.AfterFunc(500*time.Millisecond, func() { j.fails.Store(true) })
		time.AfterFunc(2*time.Second, func() { j.fails.Store(false) })
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
		require.NoError(r.T, err)
		requests := slices.DeleteFunc(r.Sim.Requests(), func(q tradingsim.Request) bool { return q.Operation != string(trading.OpClose) })
		require.Greater(r.T, len(requests), 1)
		assert.InDelta(r.T, 5, requests[1].At.Sub(began).Seconds(), 0.5)
	})
}

// The first answer comes while a guard is asked about the second send: that is left out.
func TestASecondSendThatIsNeededNoMore(t *testing.T) {
	asked := 0
	guard := trading.WithGuard(func(_ context.Context, w trading.Write) error {
		if asked++; !w.Entry && asked == 3 {
			time.Sleep(1500 * time.Millisecond)
		}
		return nil
	})
	overPipes(t, []trading.Option{guard}, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(2*time.Second))
		began := time.Now()
		var meta trading.Meta
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All, trading.ResponseInto(&meta))
		require.NoError(r.T, err)
		assert.Equal(r.T, 2500*time.Millisecond, time.Since(began))
		assert.Equal(r.T, 1, meta.Attempts)
	})
}

// A late answer belongs to its own order: the next one, which is read at the same moment, has its own result.
func TestALateAnswerIsReadIntoNoOtherResult(t *testing.T) {
	for range 3 { // where the room of the first comes back is net/http's and the runtime's
		synctest.Test(t, func(t *testing.T) {
			sim := rig.NewSim()
			var slow atomic.Bool
			r := rig.Join(t, sim, rig.OverPipes(t, sim).Option(), trading.WithRecovery(trading.Recovery{WithoutBackground: true}), trading.WithHooks(trading.Hooks{
				AttemptDone: func(_ context.Context, c trading.Call, _ trading.Attempt) {
					if slow.Load() && c.Write {
						time.Sleep(2 * time.Second)
					}
				},
			}))
			sim.Fault(string(trading.OpOrder), tradingsim.DelayResponse(6*time.Second))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"))
			require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
			time.Sleep(4 * time.Second)
			slow.Store(true) // from before the late answer until behind it
			result := r.Open(rig.Buy("0.02"), trading.AllowPending())
			rig.EqualOpt(t, "0.02", result.Fill.Size)
		})
	}
}

// A late answer of something in front ends no wait: what asked to wait is waited for in full.
func TestALateAnswerThatSaysNothingEndsNoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		var mu sync.Mutex
		var came []time.Duration
		service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
			mu.Lock()
			came = append(came, time.Since(began))
			mu.Unlock()
			switch send {
			case 1:
				_, _ = io.Copy(io.Discard, r.Body)
				time.Sleep(7*time.Second - time.Since(began))
				page(w, http.StatusBadGateway)
			case 2:
				_, _ = io.Copy(io.Discard, r.Body)
				page(w, http.StatusServiceUnavailable, "Retry-After", "5")
			default:
				next.ServeHTTP(w, r)
			}
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option())
		r.Open(rig.Buy("0.05"))
		_, err := r.Account().ClosePosition(t.Context(), "BTC", halfOfIt)
		require.NoError(t, err)
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, came, 3)
		assert.Equal(t, 5*time.Second, came[2]-came[1])
	})
}

// The first send fails late while the second has no connection yet: the call ends with that answer, which says more
// than that nothing of the second has left.
func TestALateFailureBesideASendThatHasNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, _ int, _ http.Handler, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(8*time.Second - time.Since(began))
			failed(w)
		}}
		pipes := rig.OverPipes(t, service)
		dial := pipes.DialContext
		pipes.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if time.Since(began) > time.Second {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return dial(ctx, network, addr)
		}
		r := rig.Join(t, sim, pipes.Option(), trading.WithRetry(trading.Retry{Attempts: 2}))
		_, err := r.Account().ClosePosition(t.Context(), "BTC", halfOfIt, trading.WithResolveTimeout(0))
		require.ErrorIs(t, err, trading.CodeInternalError)
	})
}

// The call ends with the answer that came last: here with the late one, which has ended its sending.
func TestALateFailureBehindThatOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, send int, _ http.Handler, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if send == 1 {
				time.Sleep(7*time.Second - time.Since(began))
				failed(w)
				return
			}
			page(w, http.StatusServiceUnavailable, "Retry-After", "5")
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option())
		_, err := r.Account().ClosePosition(t.Context(), "BTC", halfOfIt, trading.WithResolveTimeout(0))
		require.ErrorIs(t, err, trading.CodeInternalError)
		assert.Equal(t, 7*time.Second, time.Since(began))
		service.mu.Lock()
		defer service.mu.Unlock()
		assert.Equal(t, 2, service.sends)
	})
}

// A late success ends the call while its second send has no answer yet, and nobody waits for that.
func TestALateSuccessBesideASendUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, began := rig.NewSim(), time.Now()
		service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
			if send == 1 {
				time.Sleep(7*time.Second - time.Since(began))
				next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option(), trading.WithHooks(trading.Hooks{
			AttemptDone: func(_ context.Context, _ trading.Call, a trading.Attempt) {
				if a.Number == 2 {
					assert.EqualError(t, a.Err, "an answer to an earlier send has come")
				}
			},
		}))
		r.Open(rig.Buy("0.05"))
		_, err := r.Account().ClosePosition(t.Context(), "BTC", halfOfIt)
		require.NoError(t, err)
		assert.Equal(t, 7*time.Second, time.Since(began))
		service.mu.Lock()
		defer service.mu.Unlock()
		assert.Equal(t, 2, service.sends)
	})
}

// It decides the call also where the second send is refused at the same moment.
func TestALateSuccessBesideARefusal(t *testing.T) {
	for range 20 { // which of the two is taken first is nobody's choice
		synctest.Test(t, func(t *testing.T) {
			sim, began := rig.NewSim(), time.Now()
			service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
				if send == 1 {
					time.Sleep(7*time.Second - time.Since(began))
					next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				time.Sleep(7*time.Second - time.Since(began))
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusConflict)
				_, _ = io.WriteString(w, `{"error":"idempotency_in_flight","message":"it is under way"}`)
			}}
			r := rig.Join(t, sim, rig.OverPipes(t, service).Option())
			r.Open(rig.Buy("0.05"))
			_, err := r.Account().ClosePosition(t.Context(), "BTC", halfOfIt)
			require.NoError(t, err)
			assert.Equal(t, 7*time.Second, time.Since(began))
		})
	}
}

// What a late success says of the position is known to the next order, as what any other says.
func TestALateSuccessLeavesItsPosition(t *testing.T) {
	overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
		r.Excepts(rig.FailedAfterWork)
		r.ReadAll()
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Delay(6*time.Second))
		r.Open(rig.Buy("0.05"))
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()))
		result := r.Open(rig.Buy("0.02"))
		assert.Equal(r.T, trading.Some(true), result.ExecutedTwice)
	})
}

// A late refusal ends an entry's own doubt: from then on a guard holds it back beside another write in doubt.
func TestALateRefusalEndsTheOwnDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		service := &answering{Sim: sim, operation: "/orders", answer: func(w http.ResponseWriter, send int, _ http.Handler, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if send == 2 {
				panic(http.ErrAbortHandler) // the other one's
			}
			time.Sleep(6 * time.Second)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error":"STALE_PRICE","message":"not now"}`)
		}}
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option(), trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
			trading.WithRetry(trading.Retry{Attempts: 3, MinWait: 4 * time.Second, MaxWait: 4 * time.Second}))
		refused := make(chan error, 1)
		go func() {
			refused <- rig.Only(r.Account().PlaceOrder(t.Context(), rig.Buy("0.05"), trading.WithSendTTL(time.Minute)))
		}()
		time.Sleep(time.Second)
		_, other := r.Account().PlaceOrder(t.Context(), rig.Buy("0.02"), rig.InDoubt...)
		require.Equal(t, trading.Unknown, trading.OutcomeOf(other), "%v", other)
		err := <-refused
		require.ErrorIs(t, err, trading.ErrPendingWrite)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		service.mu.Lock()
		defer service.mu.Unlock()
		assert.Equal(t, 2, service.sends)
	})
}

// What a send took that did not leave is free at once: for a close of another market, and for good.
func TestASendThatIsLeftOutHoldsNoPlace(t *testing.T) {
	t.Run("a second one without its journal", func(t *testing.T) {
		j := &failing{Store: journal.NewMemory()}
		overPipes(t, []trading.Option{trading.WithJournal(j), trading.WithRateLimits(trading.RateLimits{PerClass: 2, ReservePct: -1})}, func(r rig.Rig, _ *rig.Pipes) {
			r.Open(rig.Buy("0.05"))
			time.AfterFunc(500*time.Millisecond, func() { j.fails.Store(true) })
			beside := make(chan error, 1)
			time.AfterFunc(1500*time.Millisecond, func() {
				beside <- rig.Only(r.Account().ClosePosition(r.T.Context(), "ETH", trading.All, trading.FailFast()))
			})
			_, sent := closedAt(r, 3*time.Second, trading.All)
			require.ErrorIs(r.T, <-beside, trading.CodeNoPosition, "it was sent")
			assert.Equal(r.T, 2, sent, "and nothing a second time")
		})
	})
	t.Run("one that a guard refuses", func(t *testing.T) {
		refuses := true
		rig.LiveTest(t, nil, []trading.Option{
			trading.WithRateLimits(trading.RateLimits{PerClass: 1, ReservePct: -1}),
			trading.WithGuard(func(context.Context, trading.Write) error {
				if refuses {
					return errors.New("not today")
				}
				return nil
			}),
		}, func(r rig.Rig) {
			require.ErrorIs(r.T, rig.EntryCall(r), trading.ErrGuard)
			refuses = false
			require.NoError(r.T, rig.EntryCall(r, trading.FailFast()))
		})
	})
	t.Run("one that a late answer has ended before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sim, began := rig.NewSim(), time.Now()
			service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
				if send > 1 {
					next.ServeHTTP(w, r)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				time.Sleep(8*time.Second - time.Since(began))
				page(w, http.StatusBadGateway)
			}}
			asked := 0
			r := rig.Join(t, sim, rig.OverPipes(t, service).Option(), trading.WithGuard(func(ctx context.Context, w trading.Write) error {
				if w.Entry {
					return nil
				}
				if asked++; asked == 2 { // which the late answer ends
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}))
			r.Open(rig.Buy("0.05"))
			_, err := r.Account().ClosePosition(t.Context(), "BTC", halfOfIt)
			require.NoError(t, err)
			require.Equal(t, 3, asked)
			usages, err := r.RateLimitUsage(t.Context())
			require.NoError(t, err)
			for _, u := range usages {
				assert.LessOrEqual(t, u.Used, 3, u.Bucket.Name) // an order, and a close that went twice
			}
		})
	})
}

// What the client sends to find out about a write is heard of as what it came to: one without an answer may have run.
func TestAQuestionWithoutAnAnswerMayHaveRun(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		var outcomes []trading.Outcome
		r = rig.Join(r.T, r.Sim, trading.WithHooks(trading.Hooks{AttemptDone: func(_ context.Context, c trading.Call, a trading.Attempt) {
			if c.Operation == trading.OpOrder {
				outcomes = append(outcomes, a.Outcome)
			}
		}}))
		r.Sim.Fault("POST /orders", tradingsim.DropResponse(), tradingsim.DropResponse())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once)
		require.NoError(r.T, err)
		assert.Equal(r.T, []trading.Outcome{trading.Unknown, trading.Unknown, trading.Applied}, outcomes)
	})
}

// The times of an answer are those of its attempt, and not of its call.
func TestTheTimesOfAnAnswer(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault(string(trading.OpTrades), tradingsim.RateLimit(2*time.Second), tradingsim.DelayResponse(time.Second))
		began := time.Now()
		var meta trading.Meta
		_, err := r.Account().Trades(r.T.Context(), trading.ResponseInto(&meta))
		require.NoError(r.T, err)
		assert.Equal(r.T, 2*time.Second, meta.Sent.Sub(began))
		assert.Equal(r.T, 3*time.Second, meta.Received.Sub(began))
	})
}

// A refusal names the wait that the service asked for, and not the longer one of a program that backs off.
func TestTheWaitOfARefusalIsTheServices(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault(string(trading.OpTrades), tradingsim.RateLimit(2*time.Second))
		ctx, cancel := context.WithTimeout(r.T.Context(), 5*time.Second)
		defer cancel()
		_, err := r.Account().Trades(ctx, trading.WithRetry(trading.Retry{Attempts: 2, MinWait: time.Minute, MaxWait: time.Minute}))
		require.ErrorIs(r.T, err, trading.CodeRateLimited)
		wait, asked := trading.RetryAfter(err)
		assert.True(r.T, asked)
		assert.Equal(r.T, 2*time.Second, wait)
	})
}
