package resolve

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// What holds the driver back, and what lets it go on.

// answered answers an order with its stored success.
func answered() map[string][]ledger.Answer {
	return map[string][]ledger.Answer{cancelOrder: {reused}, order: {replayed(success)}, exit: {replayed(success)}}
}

// resolved waits for a write with patience, and reports whether its outcome is known.
func resolved(t *testing.T, d *Driver, w *OpenWrite, patience time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, known := d.Wait(ctx, w)
	return known
}

// Without a background a write is asked about while somebody waits.
func TestADriverWithoutABackground(t *testing.T) {
	for _, background := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: answered()}
			d := client(t, s, func(c *Config) { c.Background = background })
			w := lost(t, d, "w_1", order)
			time.Sleep(time.Minute)
			assert.Equal(t, background, s.asks() != "")
			assert.True(t, resolved(t, d, w, 6*time.Second))
		})
	}
}

// While entries are halted an entry is not sent again to ask for its answer: it could be
// placed. What leaves the market may ask, and exits are not held.
func TestAHalt(t *testing.T) {
	for _, row := range []struct {
		name, operation string
		exiting         bool
		known           bool
	}{
		{name: "an entry", operation: order},
		{name: "of a program that leaves the market", operation: order, exiting: true, known: true},
		{name: "an exit", operation: exit, known: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				halted := true
				s := &service{answers: answered()}
				s.held = func(exiting bool) string {
					if halted && !exiting {
						return "halted by the program"
					}
					return ""
				}
				d := client(t, s)
				w := lost(t, d, "w_1", row.operation)
				time.Sleep(time.Minute)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if row.exiting {
					ctx = Exiting(ctx)
				}
				r, known := d.Wait(ctx, w)
				assert.Equal(t, row.known, known)
				if !known {
					require.ErrorContains(t, r.Err, "halted by the program")
					require.ErrorIs(t, r.Err, context.DeadlineExceeded)
					s.change(func() { halted = false })
					assert.True(t, resolved(t, d, w, 20*time.Second), "it goes on by itself")
				}
				assert.Empty(t, d.exiting)
			})
		})
	}
}

// D 35: without an API key nothing is asked until somebody asks again. One that cannot be had
// at the moment, or that the service refuses, is tried again, after a minute at the most; who
// waits is told after that.
func TestWithoutAKeyThatWorks(t *testing.T) {
	for _, missing := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: answered()}
			if missing {
				s.keyless = errors.New("no live API key configured")
			} else {
				s.noPlace = errors.New("the key function fails")
			}
			d := client(t, s)
			w := lost(t, d, "w_1", order)
			assert.False(t, resolved(t, d, w, time.Hour))
			assert.Empty(t, s.asks())
			open, err := d.Pending(t.Context())
			require.NoError(t, err)
			require.Len(t, open, 1)
			assert.Equal(t, missing, open[0].Waiting)
			s.change(func() { s.keyless, s.noPlace = nil, nil })
			if missing {
				assert.Equal(t, "nothing can be asked about it without an API key", open[0].Reason)
				time.Sleep(time.Minute)
				assert.Empty(t, s.asks())
				d.Ask(w, d.Requests())
			} else {
				assert.Equal(t, "there is no API key to ask with", open[0].Reason)
				assert.False(t, resolved(t, d, w, time.Millisecond))
				time.Sleep(61 * time.Second)
			}
			assert.True(t, resolved(t, d, w, 11*time.Second))
		})
	}
}

var errNoAccount = errors.New("account_not_found")

// An API key that does not reach the account is another holder's: the write waits for one
// that does. It is asked with again, after a minute at the most, and then who waits is told.
func TestAKeyOfAnotherHolder(t *testing.T) {
	for _, row := range []struct {
		name    string
		answers map[string][]ledger.Answer
		look    error
	}{
		{name: "by a fence", answers: map[string][]ledger.Answer{cancelOrder: {refused(404, "account_not_found")}}},
		{name: "by a look", answers: map[string][]ledger.Answer{cancelOrder: {partWay}}, look: errNoAccount},
	} {
		for _, left := range []bool{false, true} {
			t.Run(row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: map[string][]ledger.Answer{cancelOrder: row.answers[cancelOrder]}}
					s.look = func() (AccountLook, error) { return AccountLook{}, row.look }
					s.judge = func(err error) Judgment {
						return Judgment{Class: ledger.Refusal, Unreachable: err.Error() == errNoAccount.Error()}
					}
					k := newDisk()
					d := client(t, s, on(k), foreground)
					date(d)
					w := lost(t, d, "w_1", order)
					reason := "the API key does not reach account acc_1"
					if left {
						d = client(t, s, on(k.restart()))
						reason += ": the journal may be of another account holder"
						require.NoError(t, d.Load(t.Context()))
						w = d.pending.find("w_1")
					}
					began := time.Now()
					assert.False(t, resolved(t, d, w, 10*time.Minute))
					assert.WithinDuration(t, began.Add(time.Minute), time.Now(), 20*time.Second)
					open, err := d.Pending(t.Context())
					require.NoError(t, err)
					require.Len(t, open, 1)
					assert.Equal(t, reason, open[0].Reason)
					assert.Equal(t, left, open[0].Left)
					assert.False(t, open[0].Waiting)
					assert.LessOrEqual(t, len(s.asked), 8, "%s", s.asks())
				})
			})
		}
	}
}

// A service that does not answer is asked about one write, less and less often, and about
// all once it answers. The client's own limits say nothing of it.
func TestAServiceThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: map[string][]ledger.Answer{}}
		d := client(t, s)
		first, second := lost(t, d, "w_1", order), lost(t, d, "w_2", order)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 31 * time.Second, 63 * time.Second, 95 * time.Second}
		assert.Equal(t, want, s.at)
		s.change(func() { s.answers = answered() })
		assert.True(t, resolved(t, d, first, time.Minute))
		assert.True(t, resolved(t, d, second, time.Minute))
	})
}

func TestTheClientsOwnLimitsSayNothingOfTheService(t *testing.T) {
	d := client(t, &service{judge: func(error) Judgment { return Judgment{Local: true} }})
	d.noteService(ledger.Unsent, errNoAnswer)
	assert.Zero(t, d.downUntil)
	d.noteService(ledger.Silence, nil)
	assert.WithinDuration(t, time.Now(), d.downUntil, time.Second)
	d.noteService(ledger.Refusal, nil)
	assert.Zero(t, d.downUntil)
}

// A journal that does not take a fence or a probe holds them back for as long as it fails.
func TestAJournalThatFailsWhileItIsAsked(t *testing.T) {
	for _, at := range []string{"fence", "probe"} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			var mended atomic.Bool
			k.fail = func(what string) error {
				if !mended.Load() && what == at {
					return errDisk
				}
				return nil
			}
			s := &service{answers: answered()}
			d := client(t, s, on(k))
			w := lost(t, d, "w_1", order)
			r, known := waitFor(t, d, w, 30*time.Second)
			assert.False(t, known)
			require.ErrorIs(t, r.Err, errDisk)
			require.ErrorContains(t, r.Err, "the journal cannot be written")
			assert.NotContains(t, k.of("w_1"), at+"!")
			assert.NotContains(t, s.asked, order, "nothing goes that is not noted")
			mended.Store(true)
			assert.True(t, resolved(t, d, w, 10*time.Second))
		})
	}
}

func waitFor(t *testing.T, d *Driver, w *OpenWrite, patience time.Duration) (Found, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return d.Wait(ctx, w)
}

// A reason that time does not change ends the asking until somebody wants to know. What
// has been asked since they began is not asked again.
func TestWhatTimeDoesNotChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
		s.look = func() (AccountLook, error) {
			return AccountLook{Positions: map[string]accounting.Holding{"BTC": {Size: decimal.NewFromInt(1)}}}, nil
		}
		d := client(t, s)
		w := lost(t, d, "w_1", order)
		r, known := d.Wait(t.Context(), w)
		assert.False(t, known)
		require.ErrorContains(t, r.Err, string(accounting.NoBaseline))
		looks := len(s.asked)
		time.Sleep(time.Hour)
		assert.Len(t, s.asked, looks)
		d.Ask(w, d.Requests()-1)
		time.Sleep(time.Hour)
		assert.Len(t, s.asked, looks, "the last request was the caller's")
		s.change(func() { s.look = nil })
		d.Ask(w, d.Requests())
		assert.True(t, resolved(t, d, w, time.Minute))
	})
}

// A write that may be another's waits for that one, and goes on when it has ended.
func TestAWriteThatWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
		orders := []string{"ord_0"}
		s.look = func() (AccountLook, error) { return AccountLook{Status: "ACTIVE", Orders: orders}, nil }
		d := client(t, s)
		readTwice(d)
		orders = append(orders, "ord_1")
		first, second := lost(t, d, "w_1", limit), lost(t, d, "w_2", limit)
		r, known := d.Wait(t.Context(), first)
		assert.False(t, known)
		require.ErrorContains(t, r.Err, string(accounting.PendingBeside))
		assert.Len(t, s.asked, 2+1+looksBeside, "after so many equal looks, which serve both")
		require.NoError(t, d.Acknowledge(t.Context(), "w_2", ledger.NotApplied, "cancelled by hand"))
		r, known = d.Wait(t.Context(), first)
		assert.True(t, known)
		assert.Equal(t, ledger.Applied, r.Outcome)
		assert.False(t, d.IsOpen(second))
	})
}

// Of two equal lost orders one ran. The key of one is held at once, and its looks are over before the
// other can run no more. Then that is looked at again, so that nobody asks for ever and the market
// opens.
func TestTwoDoubtsOfWhichOneIsLongInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{handle: func(r Request) ledger.Answer {
			switch r.Key {
			case "key of w_1":
				return noOrder
			case "key of w_2":
				return reused
			default:
				return oneNamespace(r)
			}
		}}
		rows := []accounting.Row{{Digest: 3, Symbol: "ETH"}, {Digest: 2, Symbol: "ETH"}, {Digest: 1, Symbol: "ETH"}}
		s.look = func() (AccountLook, error) {
			return AccountLook{Status: "ACTIVE", Rows: rows, Positions: map[string]accounting.Holding{"BTC": {Size: decimal.NewFromInt(1)}}}, nil
		}
		d := client(t, s, func(c *Config) { c.WithoutProbe = true })
		readTwice(d)
		for range 2 { // of an account whose list of trades was never empty
			time.Sleep(ledger.Lag)
			account := books.AccountKey{Environment: "live", ID: "acc_1"}
			d.Books.SawTrades(account, atOnce(time.Now()), func(int) []accounting.Row { return rows })
			d.Books.SawPositions(account, atOnce(time.Now()), nil)
			d.Books.SawOrders(account, atOnce(time.Now()), nil, nil)
		}
		first, second := lost(t, d, "w_1", order), lost(t, d, "w_2", order)
		time.Sleep(2 * time.Hour)
		for _, w := range []*OpenWrite{first, second} {
			r, known := waitFor(t, d, w, time.Hour)
			assert.False(t, known)
			assert.NotErrorIs(t, r.Err, context.DeadlineExceeded, "nothing more is done")
		}
		assert.Empty(t, d.pending.doubtedIn(first.Places[0]))
	})
}

// Once Close has begun nobody waits, and a fence is cut; a probe is not.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: answered()}
		d := client(t, s)
		w := lost(t, d, "w_1", order)
		time.Sleep(time.Second)
		go func() { time.Sleep(time.Second); shut(d) }()
		r, known := d.Wait(t.Context(), w)
		assert.False(t, known)
		require.ErrorIs(t, r.Err, ErrClosed)
		before := len(s.asked)
		time.Sleep(time.Hour)
		assert.Len(t, s.asked, before)
	})
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: answered()}
		d := client(t, s, foreground)
		w := lost(t, d, "w_1", order)
		s.onAsk = func(operation string) {
			if operation == order {
				go shut(d)
				<-d.cfg.Life.Closing.Done()
			}
		}
		_, _ = d.Wait(t.Context(), w)
		synctest.Wait()
		r, known := d.pending.resolved.find("w_1")
		assert.True(t, known, "the probe's answer decides")
		assert.Equal(t, ledger.Applied, r.Outcome)
	})
}
