package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
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

// overPipes runs a test on virtual time with a client whose writes are listened to.
func overPipes(t *testing.T, opts []trading.Option, test func(rig.Rig, *rig.Pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		pipes := rig.OverPipes(t, sim)
		test(rig.Join(t, sim, append([]trading.Option{pipes.Option()}, opts...)...), pipes)
	})
}

// A service works on a write for longer than an attempt lasts, and on an exit for longer than its call waits
// for the first answer: the call returns with the answer, the moment that there is one.
func TestNobodyHangsUpOnAWrite(t *testing.T) {
	for _, works := range []time.Duration{3 * time.Second, 6 * time.Second, 8 * time.Second, 12 * time.Second, 20 * time.Second} {
		t.Run(fmt.Sprint("a full close ", works), func(t *testing.T) {
			overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
				r.Open(rig.Buy("0.05"))
				r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(works))
				began := time.Now()
				_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
				require.NoError(r.T, err)
				assert.LessOrEqual(r.T, time.Since(began), works+300*time.Millisecond)
				assert.Equal(r.T, 1, r.Ran(trading.OpClose))
			})
		})
		t.Run(fmt.Sprint("an order ", works), func(t *testing.T) {
			overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
				r.Sim.Fault(string(trading.OpOrder), tradingsim.Delay(works))
				began := time.Now()
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
				require.NoError(r.T, err)
				assert.LessOrEqual(r.T, time.Since(began), works+300*time.Millisecond)
				assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
			})
		})
	}
}

// A connection swallows what is sent, and acknowledges it: a full close is out over another one, however a program
// writes all of a position.
func TestAFullCloseOverAConnectionThatSwallowsAsksTwice(t *testing.T) {
	raw := func(body string) func(rig.Rig) error {
		return func(r rig.Rig) error {
			return rig.Only(r.Client.Do(r.T.Context(), trading.OpClose, trading.Raw{Body: []byte(body)}))
		}
	}
	for name, closes := range map[string]func(rig.Rig) error{
		"a method":                     func(r rig.Rig) error { return rig.Only(r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)) },
		"json.dumps":                   raw(`{"accountId": "` + string(rig.Acc) + `", "symbol": "BTC", "closePercent": 100}`),
		"JSON.stringify, percent last": raw(`{"accountId":"` + string(rig.Acc) + `","symbol":"BTC","closePercent":100}`),
		"a decimal":                    raw(`{"accountId":"` + string(rig.Acc) + `","closePercent":100.0,"symbol":"BTC"}`),
	} {
		t.Run(name, func(t *testing.T) {
			overPipes(t, nil, func(r rig.Rig, pipes *rig.Pipes) {
				r.Open(rig.Buy("0.05"))
				pipes.Swallow()
				began := time.Now()
				require.NoError(r.T, closes(r))
				assert.LessOrEqual(r.T, time.Since(began), 1500*time.Millisecond)
				began = time.Now()
				r.Open(rig.Buy("0.05"))
				assert.LessOrEqual(r.T, time.Since(began), 300*time.Millisecond, "the connection is retired")
			})
		})
	}
}

// The caller leaves, and the service goes on: what it answers after that is the outcome, and no other question
// is asked.
func TestALateAnswerAfterTheCall(t *testing.T) {
	var resolved []trading.Resolution
	hooks := trading.WithHooks(trading.Hooks{Resolved: func(_ context.Context, r trading.Resolution) { resolved = append(resolved, r) }})
	for name, c := range map[string]struct {
		answers []tradingsim.Fault
		outcome trading.Outcome
	}{
		"a success": {[]tradingsim.Fault{tradingsim.Delay(6 * time.Second)}, trading.Applied},
		"a refusal": {[]tradingsim.Fault{tradingsim.Together(tradingsim.Delay(6*time.Second), tradingsim.Fail(400, "TOTAL_MARGIN_CAP"))}, trading.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			resolved = nil
			j := journal.NewMemory()
			overPipes(t, []trading.Option{hooks, trading.WithJournal(j), trading.WithRecovery(trading.Recovery{WithoutBackground: true})}, func(r rig.Rig, _ *rig.Pipes) {
				r.Sim.Fault(string(trading.OpOrder), c.answers...)
				ctx, cancel := context.WithTimeout(r.T.Context(), time.Second)
				defer cancel()
				_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"))
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				time.Sleep(6 * time.Second)
				synctest.Wait()
				require.Len(r.T, resolved, 1)
				assert.Equal(r.T, c.outcome, resolved[0].Outcome)
				assert.Equal(r.T, trading.EvidenceAnswer, resolved[0].Evidence)
				assert.Equal(r.T, 1, r.Sent(trading.OpOrder))
				assert.Zero(r.T, r.Sent(trading.OpCancelOrder), "nobody asks what has been answered")
				left, err := r.Pending(r.T.Context())
				require.NoError(r.T, err)
				assert.Empty(r.T, left)
			})
		})
	}
}

// A full close that the service works on is asked for after 1, 2, 4 and then each 5 s, until 20 s after its
// decision, and listened to after that.
func TestAFullCloseThatRunsIsAskedForSeldom(t *testing.T) {
	overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
		r.Open(rig.Buy("0.05"))
		r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(19*time.Second))
		began := time.Now()
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
		require.NoError(r.T, err)
		var asked []time.Duration
		for _, request := range r.Sim.Requests() {
			if request.Operation == string(trading.OpClose) {
				asked = append(asked, request.At.Sub(began))
			}
		}
		second := time.Second
		assert.Equal(r.T, []time.Duration{0, second, 2 * second, 4 * second, 8 * second, 13 * second, 18 * second}, asked)
		assert.Equal(r.T, 1, r.Ran(trading.OpClose))
	})
}

// Close aborts what is listened to, at once.
func TestCloseAbortsWhatIsListenedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		client := rig.ClientOf(t, sim, rig.OverPipes(t, sim).Option())
		sim.Fault(string(trading.OpOrder), tradingsim.Delay(time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Live.Account(rig.Acc).PlaceOrder(ctx, rig.Buy("0.05"))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		began := time.Now()
		rig.CloseClient(t, client)
		assert.LessOrEqual(t, time.Since(began), 5*time.Second)
	})
}

// answering passes writes of one operation to what a test says, and everything else to the service.
type answering struct {
	*tradingsim.Sim
	operation string
	mu        sync.Mutex
	sends     int
	answer    func(w http.ResponseWriter, send int, next http.Handler, r *http.Request)
}

func (a *answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, a.operation) {
		a.Sim.ServeHTTP(w, r)
		return
	}
	a.mu.Lock()
	a.sends++
	send := a.sends
	a.mu.Unlock()
	a.answer(w, send, a.Sim, r)
}

func failed(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = io.WriteString(w, `{"error":"internal_error","message":"it broke"}`)
}

// A send fails late and may have run, beside another that succeeds: the outcome stays Applied, a person hears of it,
// and the market takes no entry until that person has acknowledged it.
func TestAnswersThatContradictEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		service := &answering{Sim: sim, operation: "/positions/close", answer: func(w http.ResponseWriter, send int, next http.Handler, r *http.Request) {
			if send == 1 {
				time.Sleep(3 * time.Second)
				failed(w)
				return
			}
			time.Sleep(2500 * time.Millisecond)
			next.ServeHTTP(w, r)
		}}
		var said []trading.Resolution
		var logged bytes.Buffer
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option(), trading.WithHooks(trading.Hooks{
			Resolved: func(_ context.Context, r trading.Resolution) { said = append(said, r) },
		}), trading.WithLogger(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))))
		r.Open(rig.Buy("0.05"))
		_, err := r.Account().ClosePosition(t.Context(), "BTC", trading.All)
		require.NoError(t, err)
		require.Len(t, said, 1)
		assert.True(t, said[0].Contradicted)
		assert.Equal(t, trading.Applied, said[0].Outcome)
		assert.Contains(t, logged.String(), "answers to a write contradict each other")
		assert.Contains(t, logged.String(), string(said[0].Intent.ID))
		_, err = r.Account().PlaceOrder(t.Context(), rig.Buy("0.05"))
		require.ErrorIs(t, err, trading.ErrPendingWrite)
		require.NoError(t, r.Acknowledge(t.Context(), said[0].Intent.ID, trading.Applied, "read the account: flat"))
		r.Open(rig.Buy("0.05"))
	})
}

// An order that is over ran after all: whoever had it hears of that, since a key was seen to be spent, and then used.
func TestASuccessAfterItWasFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim()
		service := &answering{Sim: sim, operation: "/orders", answer: func(w http.ResponseWriter, _ int, next http.Handler, r *http.Request) {
			if r.Method == http.MethodPost {
				time.Sleep(time.Minute)
				r = r.Clone(context.WithoutCancel(r.Context()))
				for name := range r.Header {
					if strings.EqualFold(name, "Idempotency-Key") {
						r.Header[name] = []string{"another"}
					}
				}
			}
			next.ServeHTTP(w, r)
		}}
		said := make(chan trading.Resolution, 3)
		r := rig.Join(t, sim, rig.OverPipes(t, service).Option(), trading.WithHooks(trading.Hooks{
			Resolved: func(_ context.Context, r trading.Resolution) { said <- r },
		}))
		_, err := r.Account().PlaceOrder(t.Context(), rig.Buy("0.05"), trading.WithResolveTimeout(40*time.Second))
		require.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
		found, after := <-said, <-said
		time.Sleep(2 * time.Minute) // each send has its answer
		assert.False(t, found.Contradicted)
		assert.True(t, after.Contradicted)
		assert.Equal(t, found.Intent.ID, after.Intent.ID)
		require.ErrorIs(t, rig.EntryCall(r), trading.ErrPendingWrite, "until a person has seen it")
	})
}

// A close goes once while an own order rests, a run goes on or an entry is under way in its market: what these
// fill between two runs of it would be closed.
func TestACloseDoesNotAskTwiceBesideWhatMayFill(t *testing.T) {
	sent := func(t *testing.T, before func(r rig.Rig)) (closes int) {
		overPipes(t, nil, func(r rig.Rig, _ *rig.Pipes) {
			r.Open(rig.Buy("0.05"))
			before(r)
			r.Sim.Fault(string(trading.OpClose), tradingsim.Delay(1500*time.Millisecond))
			_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
			require.NoError(r.T, err)
			closes = r.Sent(trading.OpClose)
		})
		return closes
	}
	limit := rig.Buy("0.05", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("60000") })
	rests := func(r rig.Rig) trading.OrderID {
		result, err := r.Account().PlaceLimit(r.T.Context(), limit)
		require.NoError(r.T, err)
		return result.Order.ID
	}
	assert.Equal(t, 2, sent(t, func(rig.Rig) {}), "alone")
	assert.Equal(t, 1, sent(t, func(r rig.Rig) { rests(r) }), "an order rests")
	assert.Equal(t, 2, sent(t, func(r rig.Rig) {
		_, err := r.Account().CancelOrder(r.T.Context(), rests(r))
		require.NoError(r.T, err)
		time.Sleep(6 * time.Second)
		_, err = r.Account().OpenOrders(r.T.Context())
		require.NoError(r.T, err)
	}), "none rests any more")
	assert.Equal(t, 1, sent(t, func(r rig.Rig) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Delay(3*time.Second))
		go func() { _, _ = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05")) }()
		synctest.Wait()
	}), "an entry is under way")
}
