package resolve

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/journal"
)

// A write that may be another program's, and of which nothing can run, is not left: it is
// written down as ended, unknown.
func TestAWriteThatIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		k.fail = func(what string) error {
			if what == "end" {
				return errDisk
			}
			return nil
		}
		before := client(t, &service{}, on(k), foreground, func(c *Config) { c.Unwritten = func(*pending.Intent, error) {} })
		w := newWrite(before, "w_1", order, func(w *OpenWrite) { w.Ledger.Source, w.Ledger.FirstUseKnown = ledger.Derived, false })
		_, err := send(t, before, w, tooSmall)
		require.NoError(t, err)
		k = k.restart()
		s := &service{}
		d := client(t, s, on(k))
		k.failsAt("end")
		_, err = d.Recover(t.Context())
		require.ErrorIs(t, err, errDisk)
		found, err := d.Recover(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found)
		assert.Equal(t, ledger.Unknown, k.end(t, "w_1").Outcome)
		assert.Empty(t, s.asks())
	})
}

// A journal that cannot be read holds entries back, and fails whoever asks. Exits go, and
// so does everything once it can be read.
func TestAJournalThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		lost(t, client(t, &service{}, on(k), foreground), "w_1", order)
		k = k.restart()
		k.noRead = errDisk
		d := client(t, &service{answers: answered()}, on(k), foreground, notDeclared) // a trail wants to know of each write
		_, err := send(t, d, newWrite(d, "w_2", order), success)
		require.ErrorIs(t, err, errDisk)
		concluded, err := send(t, d, newWrite(d, "w_3", exit), success)
		require.NoError(t, err)
		assert.True(t, concluded)
		_, _, err = d.Resolve(t.Context(), "w_1")
		require.ErrorIs(t, err, errDisk)
		_, err = d.Recover(t.Context())
		require.ErrorIs(t, err, errDisk)
		_, err = d.Pending(t.Context())
		require.ErrorIs(t, err, errDisk)
		_, err = d.PendingOn(t.Context(), "live", "acc_1")
		require.ErrorIs(t, err, errDisk)
		require.ErrorIs(t, d.Acknowledge(t.Context(), "w_1", ledger.Applied, ""), errDisk)
		_, err = d.DoubtedIn(t.Context(), TraitsOf(spec.Find(order)).places(&pending.Intent{})[0])
		require.ErrorIs(t, err, errDisk)

		k.noRead = nil
		w := newWrite(d, "w_4", order)
		_, err = send(t, d, w, success)
		require.NoError(t, err)
		open, err := d.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, open, 1)
		_, err = d.Recover(t.Context())
		require.NoError(t, err)
		assert.False(t, d.Books.Wants(&w.booked), "nothing of the reads that failed is open in the books")
		open, err = d.Pending(t.Context())
		require.NoError(t, err)
		assert.Empty(t, open, "the reads that failed left nothing")
	})
}

// While one call reads the journal the others wait no longer than their contexts.
func TestWhoWaitsForTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		w := lost(t, client(t, &service{}, on(k), foreground), "w_1", order)
		k = k.restart()
		reads, goOn := 0, make(chan struct{})
		k.onRead = func() { reads++; <-goOn }
		d := client(t, &service{answers: answered()}, on(k))
		first := make(chan error)
		go func() { first <- d.Load(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := d.Pending(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		_ = client(t, &service{}, on(k), foreground) // nor does a new client wait
		assert.False(t, d.IsOpen(w))
		close(goOn)
		require.NoError(t, <-first)
		_, err = d.Recover(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, reads)
	})
}

// An exit that goes out although the journal could not be read is beside writes that do
// not know of it: what the account shows of it is not taken for theirs.
func TestAnExitBesideAJournalThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, half := decimal.NewFromInt(1), decimal.New(5, -1)
		k := newDisk()
		before := client(t, &service{}, on(k), foreground)
		readTwice(before, books.Held{Symbol: "BTC", Holding: accounting.Holding{Size: one, EntryPrice: one}})
		closeHalf := func(w *OpenWrite) { w.Intent.Body = []byte(`{"symbol":"BTC","closePercent":50}`) }
		lost(t, before, "w_1", exit, closeHalf)
		time.Sleep(time.Minute)

		s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
		row := accounting.Row{
			Digest: 1, Symbol: "BTC", Side: accounting.Long, Cause: accounting.Market, ClosedAt: servicetime.Shown(time.Now()),
			Size: decimal.NewNullDecimal(half), EntryPrice: decimal.NewNullDecimal(one), ExitPrice: decimal.NewNullDecimal(one),
		}
		s.look = func() (AccountLook, error) {
			return AccountLook{
				Status: "ACTIVE", Orders: []string{"ord_0"}, Rows: []accounting.Row{row},
				Positions: map[string]accounting.Holding{"BTC": {Size: half, EntryPrice: one}},
			}, nil
		}
		k = k.restart()
		k.noRead = errDisk
		d := client(t, s, on(k))
		w := newWrite(d, "w_2", exit, closeHalf)
		_, err := send(t, d, w, success)
		require.NoError(t, err)
		require.ErrorIs(t, w.Unjournaled, errDisk)
		k.noRead = nil
		found, _ := d.Recover(t.Context())
		require.Len(t, found, 1)
		assert.Equal(t, ledger.NotApplied, found[0].Outcome, "the only trade is the exit's")
	})
}

// Nor does the next run take its place in what was sent, and what its baseline has, for those of what others left.
func TestAnExitAheadHasNoPlace(t *testing.T) {
	for name, c := range map[string]struct {
		noRead error
		placed bool
	}{"the journal is read": {nil, true}, "it cannot be read": {errDisk, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDisk()
				k.noRead = c.noRead
				d := client(t, &service{}, on(k), foreground)
				readTwice(d, books.Held{Symbol: "BTC", Holding: accounting.Holding{Size: decimal.NewFromInt(1)}})
				lost(t, d, "w_1", exit)
				left, err := client(t, &service{}, on(k.restart()), foreground).readLeft(t.Context())
				require.NoError(t, err)
				require.Len(t, left, 1)
				assert.Equal(t, c.placed, left[0].beside.Sent > 0)
			})
		})
	}
}

// Another order begins, runs and ends while the beginning of one is on its way to the disk. Killed before it hears that it
// is there, the next run does not take what the other bought for the one that was never sent. Where the
// beginning fails, its end follows what was noted with it.
func TestAnOrderThatRunsWhileTheBeginningOfOneIsOnItsWay(t *testing.T) {
	for _, fails := range []error{nil, errDisk} {
		synctest.Test(t, func(t *testing.T) {
			one := decimal.NewFromInt(1)
			k := newDisk()
			before := client(t, &service{}, on(k), foreground)
			readTwice(before)
			first := newWrite(before, "w_1", order, named("an entry"))
			before.Own(first, first.Intent.ClientOrderID)
			k.fail = func(string) error {
				k.fail = nil
				k.mu.Unlock()
				defer k.mu.Lock()
				concluded, err := send(t, before, newWrite(before, "w_2", order), success)
				require.NoError(t, err)
				require.True(t, concluded)
				return fails
			}
			require.Equal(t, fails, before.Before(t.Context(), first, false))
			if fails != nil {
				killed := newDisk()
				for i, r := range k.records {
					require.NoError(t, killed.Append(t.Context(), k.durable[i], r))
				}
				before.LetGo(first)
				assert.Equal(t, "beside, end", k.of("w_1"))

				killed = killed.restart() // before that end: it is the next run's
				found, err := client(t, &service{}, on(killed), foreground).Recover(t.Context())
				require.NoError(t, err)
				assert.Empty(t, found)
				for h, err := range killed.Pending(t.Context()) {
					require.NoError(t, err)
					assert.Fail(t, "pending without its beginning", h.Intent)
				}
				require.NoError(t, killed.Forget(t.Context(), "an entry"))
				return
			}
			assert.Equal(t, "beside, begin!", k.of("w_1"))
			time.Sleep(time.Minute)

			s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
			s.look = func() (AccountLook, error) {
				return AccountLook{Status: "ACTIVE", Orders: []string{"ord_0"}, Positions: map[string]accounting.Holding{"BTC": {Size: one, EntryPrice: one}}}, nil
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			found, _ := client(t, s, on(k.restart())).Recover(ctx)
			require.Len(t, found, 1)
			assert.NotEqual(t, ledger.Applied, found[0].Outcome, "it was never sent")
		})
	}
}

// A write of this process that ends while its journal is read was not left.
func TestAWriteThatEndsWhileTheJournalIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		k.noRead = errDisk
		s := &service{}
		d := client(t, s, on(k), foreground)
		w := newWrite(d, "w_1", exit)
		d.Own(w, "")
		require.NoError(t, d.Before(t.Context(), w, false))
		d.SendBegins(w)
		k.noRead = nil
		k.afterRead = func() {
			d.Heard(w, time.Now(), success, false)
			assert.True(t, d.Conclude(w, &Response{Answer: success}))
		}
		found, err := d.Recover(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found)
	})
}

// An exit goes out after the journal could not be read, and while another call reads it:
// it was not left, and what was left knows nothing of it.
func TestAnExitThatBeginsWhileTheJournalIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		lost(t, client(t, &service{}, on(k), foreground), "w_1", exit)
		k = k.restart()
		k.noRead = errDisk
		d := client(t, &service{}, on(k), foreground)
		read, goOn := make(chan error, 1), make(chan struct{})
		k.onGap = func() {
			k.noRead = nil
			k.onRead = func() { <-goOn }
			go func() { read <- d.Load(context.Background()) }()
			synctest.Wait()
		}
		w := newWrite(d, "w_2", exit)
		d.Own(w, "")
		require.NoError(t, d.Before(t.Context(), w, false))
		close(goOn)
		require.NoError(t, <-read)
		open, err := d.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, open, 1)
		assert.Equal(t, pending.IntentID("w_1"), open[0].Intent.ID)
		assert.True(t, d.pending.find("w_1").gap)
		d.SendBegins(w)
		d.Heard(w, time.Now(), success, false)
		assert.True(t, d.Conclude(w, &Response{Answer: success}))
	})
}

// A client that has closed reads the journal: what is left is for the next one.
func TestAClosedClientReadsTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		lost(t, client(t, &service{}, on(k), foreground), "w_1", order)
		k = k.restart()
		closed := client(t, &service{}, on(k))
		shut(closed)
		open, err := closed.Pending(t.Context())
		require.NoError(t, err)
		assert.Len(t, open, 1)
		d := client(t, &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}, on(k))
		_, err = d.Recover(t.Context())
		require.NoError(t, err)
	})
}

// A database that goes away while the beginning of an entry is on its way may have it. The entry is refused,
// and its end is written all the same, so that the next holder finds nothing open.
func TestABeginningWithoutAnAnswer(t *testing.T) {
	for want, err := range map[string]error{"end": journal.ErrUnanswered, "": errDisk} {
		k := newDisk()
		d := client(t, &service{}, on(k), foreground)
		w := newWrite(d, "w_1", order)
		d.Own(w, "")
		k.fail = func(what string) error {
			if what == "begin" {
				return err
			}
			return nil
		}
		require.ErrorIs(t, d.Before(t.Context(), w, false), err)
		d.LetGo(w)
		assert.Equal(t, want, k.of("w_1"), "%v", err)
		assert.False(t, d.IsOpen(w))
	}
}

// The reason of a write that was left is the last thing that its journal has of it, but for the end
// of its sending.
func TestTheReasonOfWhatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		before := client(t, &service{}, on(k), foreground)
		w := newWrite(before, "w_1", order)
		before.Own(w, "")
		require.NoError(t, before.Before(t.Context(), w, false))
		before.SendBegins(w)
		before.Heard(w, time.Now(), silence, false)
		before.SendingOver(t.Context(), w, 0)
		require.False(t, before.Conclude(w, &Response{Answer: silence}))
		require.Equal(t, "begin!, beside, answer, over", k.of("w_1"))
		pending, err := client(t, &service{}, on(k.restart()), foreground).Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, pending, 1)
		assert.Equal(t, factText(&ledger.Fact{Kind: ledger.SendEnded, Answer: silence}, code), pending[0].Reason)
	})
}

// A run that ends between a late answer and the end of its write leaves the answer: the next one goes by it.
func TestALateAnswerThatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		before := client(t, &service{}, on(k), foreground)
		lost(t, before, "w_1", order)
		data, err := json.Marshal(record{Fact: &ledger.Fact{Kind: ledger.SendHeard, At: before.Clocks.Now(), Answer: success, Send: 1}})
		require.NoError(t, err)
		require.NoError(t, k.Append(t.Context(), true, journal.Record{Intent: "w_1", Data: data}))
		s := &service{}
		found, err := client(t, s, on(k.restart())).Recover(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found, "it needs nobody to find out")
		require.Len(t, s.resolved, 1)
		assert.Equal(t, ledger.Applied, s.resolved[0].Outcome)
		assert.Equal(t, ByAnswer, s.resolved[0].Evidence)
		assert.Empty(t, s.asks())
	})
}

// Of an id that this run has carried out the journal need not be readable. Of any other it must.
func TestAnIdWhoseJournalCannotBeRead(t *testing.T) {
	for outcome, want := range map[ledger.Outcome]error{ledger.Applied: nil, ledger.NotApplied: errDisk} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			k.noRead = errDisk
			d := client(t, &service{}, on(k))
			d.pending.kept.keep("entry 7", Final{Outcome: outcome})
			w := newWrite(d, "w_1", order, named("entry 7"))
			d.Own(w, "entry 7")
			_, last, err := d.Take(t.Context(), w)
			assert.ErrorIs(t, err, want)
			assert.Equal(t, outcome, last.Outcome)
			d.LetGo(w)
		})
	}
}

// The books look for others only where the journal has every write of this program.
func TestWhoIsLookedFor(t *testing.T) {
	for _, gap := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			k.gap = gap
			lost(t, client(t, &service{}, on(k), foreground), "w_1", exit)
			k = k.restart()
			k.gap = gap
			d := client(t, &service{}, on(k), foreground)
			require.NoError(t, d.Load(t.Context()))
			readTwice(d)
			for range 3 {
				time.Sleep(ledger.Lag)
				d.Books.SawStatus(liveBook("acc_1"), time.Now(), "ACTIVE")
				d.Books.SawOrders(liveBook("acc_1"), atOnce(time.Now()), []accounting.Waiting{{ID: "ord_0", Symbol: "DOGE"}, {ID: "ord_1", Symbol: "DOGE"}}, nil)
			}
			assert.Equal(t, gap, d.Exclusive("acc_1"), "what is not in the journal can have placed it")
			assert.Equal(t, gap, d.Books.Others(liveBook("acc_1")) == "")
		})
	}
}
