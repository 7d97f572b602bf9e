package live

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A journal that is held under a lease. Once that is over, or another's, nothing leaves.

// lease is a disk under a lease.
type lease struct {
	journal.Store
	disk    *rig.Disk
	until   atomic.Pointer[time.Time]
	account string
	halt    atomic.Pointer[string]
	from    time.Time // from when on it is complete
}

func (l *lease) CompleteFrom() time.Time { return l.from }

func (l *lease) Deadline() time.Time { return *l.until.Load() }

func (l *lease) Kept(ctx context.Context) bool {
	for time.Until(l.Deadline()) <= 0 {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

func (l *lease) lasts(until time.Time) { l.until.Store(&until) }

func (l *lease) Covers(_, account string) bool { return account == l.account }

func (l *lease) Halted() (string, bool) {
	if reason := l.halt.Load(); reason != nil {
		return *reason, true
	}
	return "", false
}

// leaseTest runs in virtual time, with a client whose journal is held for an hour.
func leaseTest(t *testing.T, test func(r rig.Rig, l *lease)) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		l := &lease{Store: d.Open(), disk: d, account: "acc_1"}
		l.lasts(time.Now().Add(time.Hour))
		rig.CloseClient(r.T, r.Client)
		test(rig.Join(r.T, r.Sim, trading.WithJournal(l)), l)
	})
}

// fenced wants that nothing was sent, an exit least of all.
func fenced(r rig.Rig, sent int, err error) {
	r.T.Helper()
	require.ErrorIs(r.T, err, journal.ErrFenced)
	require.ErrorIs(r.T, err, trading.ErrJournal)
	assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
	assert.Equal(r.T, sent, writes(r), "nothing was sent")
}

func writes(r rig.Rig) int {
	return r.Sent(trading.OpOrder) + r.Sent(trading.OpClose) + r.Sent(trading.OpTPSL) + r.Sent(trading.OpCancelOrder)
}

func half(r rig.Rig) error {
	return rig.Only(r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50"))))
}

// What the service says that it executed is executed, whoever has the journal by then.
func TestASuccessBehindTheEndOfALease(t *testing.T) {
	leaseTest(t, func(r rig.Rig, l *lease) {
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Delay(2*time.Second))
		time.AfterFunc(time.Second, func() { l.lasts(time.Now()) })
		r.Open(rig.Buy("0.05"), trading.WithClientOrderID("1"), trading.WithResolveTimeout(time.Second))
	})
}

// A lease that is over lets nothing leave, exits and what is not journaled included; reads go on.
// It is no end: renewed, all goes on.
func TestALeaseThatIsOver(t *testing.T) {
	leaseTest(t, func(r rig.Rig, l *lease) {
		r.Open(rig.Buy("0.1"))
		sent := writes(r)
		l.lasts(time.Now())
		fenced(r, sent, rig.EntryCall(r))
		fenced(r, sent, half(r))
		_, err := r.Account().SetTPSL(r.T.Context(), "BTC", trading.TPSL{StopLoss: trading.At(rig.Dec("60000"))})
		fenced(r, sent, err)
		_, err = r.Account().CancelOrder(r.T.Context(), "ord_1")
		fenced(r, sent, err)
		_, err = r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.1"))
		require.ErrorIs(r.T, err, journal.ErrFenced)
		_, err = r.Account().Positions(r.T.Context())
		require.NoError(r.T, err)

		l.lasts(time.Now().Add(time.Hour))
		require.NoError(r.T, half(r))
	})
}

// It is judged when the journal has the write, whatever that has taken.
func TestALeaseThatEndsWhileTheJournalTakesTheWrite(t *testing.T) {
	leaseTest(t, func(r rig.Rig, l *lease) {
		r.Open(rig.Buy("0.1"))
		sent := writes(r)
		l.lasts(time.Now().Add(2 * time.Second))
		l.disk.Slow = func(journal.Record) { time.Sleep(3 * time.Second) }
		fenced(r, sent, rig.EntryCall(r))
	})
}

// An exit goes out beside a journal that fails, and not beside one that another process has: not
// where it cannot be read, and not where it takes nothing.
func TestAnExitBesideAFencedJournal(t *testing.T) {
	for name, err := range map[string]error{"another has it": journal.ErrFenced, "history is lost": journal.ErrLostHistory} {
		for _, read := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", while it is read: ", read), func(t *testing.T) {
				leaseTest(t, func(r rig.Rig, l *lease) {
					r.Open(rig.Buy("0.1"))
					if read {
						rig.CloseClient(r.T, r.Client)
						l.Store = l.disk.Open()
						r = rig.Join(r.T, r.Sim, trading.WithJournal(l))
						l.disk.FailRead = fmt.Errorf("append: %w", err)
					} else {
						l.disk.FailOn(func(journal.Record) error { return fmt.Errorf("append: %w", err) })
					}
					sent := writes(r)
					failed := half(r)
					require.ErrorIs(r.T, failed, err)
					require.ErrorIs(r.T, failed, trading.ErrJournal)
					assert.Equal(r.T, sent, writes(r))

					l.disk.FailRead = errors.New("no connection")
					l.disk.FailOn(func(journal.Record) error { return errors.New("no connection") })
					require.NoError(r.T, half(r), "which is a journal that fails")
					l.disk.FailRead = nil
				})
			})
		}
	}
}

// An account that the lease is not for is another bot's.
func TestAnAccountThatTheLeaseDoesNotCover(t *testing.T) {
	leaseTest(t, func(r rig.Rig, l *lease) {
		l.account = "acc_2"
		err := rig.EntryCall(r)
		fenced(r, 0, err)
		require.ErrorContains(r.T, err, "acc_1")
		_, err = r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.05"))
		require.NoError(r.T, err, "no lease is for the paper account")
	})
}

// A halt of the lease refuses entries, and lets exits pass.
func TestAHaltOfTheLease(t *testing.T) {
	leaseTest(t, func(r rig.Rig, l *lease) {
		r.Open(rig.Buy("0.1"))
		reason := "maintenance"
		l.halt.Store(&reason)
		require.ErrorIs(r.T, rig.EntryCall(r), trading.ErrHalted)
		got, halted := r.Halted()
		assert.True(r.T, halted)
		assert.Equal(r.T, reason, got)
		require.NoError(r.T, half(r))
		l.halt.Store(nil)
		sent := writes(r)
		l.disk.FailOn(func(journal.Record) error { l.halt.Store(&reason); return nil }) // the append itself learns of it
		require.ErrorIs(r.T, rig.EntryCall(r), trading.ErrHalted)
		assert.Equal(r.T, sent, writes(r))
	})
}

// What becomes of a write in doubt is for who has the journal to find out: no fence leaves, and no
// probe. With the lease back it goes on.
func TestAWriteInDoubtWithoutTheLease(t *testing.T) {
	leaseTest(t, func(r rig.Rig, l *lease) {
		r.ReadAll()
		l.disk.FailOn(func(journal.Record) error { l.lasts(time.Now().Add(100 * time.Millisecond)); return nil })
		err := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		l.disk.FailOn(nil)
		l.lasts(time.Time{})
		sent := writes(r)
		time.Sleep(time.Minute)
		assert.Equal(r.T, sent, writes(r))
		l.lasts(time.Now().Add(time.Hour))
		resolution, err := r.Resolved(err)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
	})
}

// Of a decision with an id a program without the lease does not say NotApplied: who has it may have
// carried the decision out.
func TestADecisionWithoutTheLease(t *testing.T) {
	leaseTest(t, func(r rig.Rig, l *lease) {
		l.lasts(time.Time{})
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithClientOrderID("d-1"))
		require.ErrorIs(r.T, err, journal.ErrFenced)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		failed := (*trading.WriteError)(nil)
		require.ErrorAs(r.T, err, &failed)
		assert.True(r.T, failed.NotSent)
		assert.Zero(r.T, writes(r))
	})
}

// A decision is found out not to have run, and the lease is over by then: another process may have carried it out
// since. The error says both.
func TestADecisionThatIsFoundOutAsTheLeaseEnds(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		l := &lease{Store: journal.NewMemory(), account: "acc_1"}
		l.lasts(time.Now().Add(time.Hour))
		r = rig.Join(r.T, r.Sim, trading.WithJournal(l), trading.WithHooks(trading.Hooks{
			Resolved: func(context.Context, trading.Resolution) { l.lasts(time.Now()) },
		}))
		r.ReadAll()
		r.Sim.Fault("POST /orders", tradingsim.DropRequest())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithClientOrderID("d-1"), rig.Once)
		assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		require.ErrorContains(r.T, err, "who has held the lease of the journal meanwhile may have placed it")
		require.ErrorContains(r.T, err, "not executed")
	})
}

// What a program without the lease did not send is known once it holds the lease again, as nobody else has
// held it meanwhile: the call waits for that, and who has left asks. It does not matter why the order was not
// sent: a database that is away, and a refusal of the program's own, say nothing of another process.
func TestFound11_ADecisionThatWaitsForTheLease(t *testing.T) {
	refuses := func(context.Context, trading.Write) error { return errors.New("not today") }
	for name, row := range map[string]struct {
		patience time.Duration
		guard    trading.Guard
		append   error
		back     bool
		want     trading.Outcome
	}{
		"the lease comes back":                             {patience: time.Minute, back: true, want: trading.NotApplied},
		"the caller leaves before":                         {patience: time.Second, back: true, want: trading.Unknown},
		"the lease does not come back":                     {patience: time.Minute, want: trading.Unknown},
		"the database is away, and the lease comes back":   {patience: time.Minute, append: errors.New("no connection"), back: true, want: trading.NotApplied},
		"the database is away, and the lease with it":      {patience: time.Minute, append: errors.New("no connection"), want: trading.Unknown},
		"a guard refuses, and the lease comes back":        {patience: time.Minute, guard: refuses, back: true, want: trading.NotApplied},
		"a guard refuses, and the lease does not":          {patience: time.Minute, guard: refuses, want: trading.Unknown},
		"a guard refuses, and the caller has left by then": {patience: time.Second, guard: refuses, back: true, want: trading.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			leaseTest(t, func(r rig.Rig, l *lease) {
				if row.guard != nil {
					rig.CloseClient(r.T, r.Client)
					l.Store = l.disk.Open()
					r = rig.Join(r.T, r.Sim, trading.WithJournal(l), trading.WithGuard(row.guard))
				}
				l.disk.FailOn(func(journal.Record) error { return row.append })
				l.lasts(time.Now())
				back := make(chan struct{})
				time.AfterFunc(2*time.Second, func() {
					if row.back {
						l.lasts(time.Now().Add(time.Hour))
					}
					close(back)
				})
				ctx, cancel := context.WithTimeout(r.T.Context(), row.patience)
				defer cancel()
				_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.05"), trading.WithClientOrderID("d-1"))
				assert.Equal(r.T, row.want, trading.OutcomeOf(err), "%v", err)
				assert.Zero(r.T, writes(r))
				<-back
				ctx, cancel = context.WithTimeout(r.T.Context(), time.Second)
				defer cancel()
				resolution, err := r.Resolve(ctx, err)
				if row.back {
					require.NoError(r.T, err)
					assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
				} else {
					require.ErrorIs(r.T, err, trading.ErrUndetermined)
				}
			})
		})
	}
}

// Where the journal may lack what it acknowledged, an id that it does not know may have been used:
// a refusal settles nothing.
func TestAnIDBehindALostHistory(t *testing.T) {
	for _, lost := range []bool{false, true} {
		leaseTest(t, func(r rig.Rig, l *lease) {
			if lost {
				l.from = time.Now()
			}
			r.Sim.Fault("POST /orders", tradingsim.RateLimit(time.Second))
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithClientOrderID("d-1"), rig.Once)
			want := trading.NotApplied
			if lost {
				want = trading.Unknown
			}
			assert.Equal(r.T, want, trading.OutcomeOf(err))
		})
	}
}

// After a failover that may have lost records the journal is complete from the taking on. Each id is
// refused once by a gate that the service's code could have written, and by the service's own 400.
// An id that is younger than the taking, and says so, is no earlier run's: its refusal is its own. Any
// other may have run before.
func TestFound14_ARefusalAfterAFailover(t *testing.T) {
	refusals := map[string]func(r rig.Rig) trading.Order{
		"the service's own 400": func(rig.Rig) trading.Order { return rig.Buy("0.0001") },
		"a rate limit": func(r rig.Rig) trading.Order {
			r.Sim.Fault("POST /orders", tradingsim.RateLimit(time.Second))
			return rig.Buy("0.05")
		},
	}
	for name, refused := range refusals {
		for _, lost := range []bool{false, true} {
			for _, ran := range []bool{false, true} { // by an earlier run, whose record may be lost
				for _, decided := range []time.Duration{-time.Second, 0, time.Second} { // from the taking
					for _, says := range []bool{false, true} { // how old the id is
						t.Run(fmt.Sprintf("%s, records lost %t, ran before %t, decided %s, says so %t", name, lost, ran, decided, says), func(t *testing.T) {
							leaseTest(t, func(r rig.Rig, l *lease) {
								taking := time.Now().Add(time.Minute)
								at := taking.Add(decided)
								id := "bar " + at.UTC().Format(time.RFC3339)
								opts := []trading.CallOption{trading.WithClientOrderID(id), rig.Once, trading.WithResolveTimeout(0)}
								if says {
									opts[0] = trading.WithClientOrderID(id, trading.Since(at))
								}
								earlier := ran && decided < 0 // a younger id did not exist then
								if earlier {
									time.Sleep(time.Until(at))
									r.Open(rig.Buy("0.05"), opts...)
								}
								rig.CloseClient(r.T, r.Client)
								time.Sleep(time.Until(taking))
								l.disk = rig.NewDisk()
								if lost {
									l.from = taking
								}
								l.Store = l.disk.Open()
								if earlier && !lost {
									return // the journal has its answer
								}
								next := rig.Join(r.T, r.Sim, trading.WithJournal(l))
								time.Sleep(2 * time.Second)
								_, err := next.Account().PlaceOrder(r.T.Context(), refused(next), opts...)
								require.Error(r.T, err)
								want := trading.NotApplied
								if lost && (decided < 0 || !says) {
									want = trading.Unknown
								}
								assert.Equal(r.T, want, trading.OutcomeOf(err), "%v", err)
							})
						})
					}
				}
			}
		}
	}
}
