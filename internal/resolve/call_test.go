package resolve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

// What a call does with its write: what the journal has of it, and how it ends.
func TestCalls(t *testing.T) {
	limited := ledger.Answer{Class: ledger.Refusal, Status: 429, Says: ledger.NotApplied, Advice: ledger.WaitFirst, InFront: true, RetryAfter: time.Second}
	stale := ledger.Answer{Class: ledger.Refusal, Status: 409, Code: "STALE_PRICE", Says: ledger.NotApplied, Advice: ledger.NewKey, Price: true}
	badKey := ledger.Answer{Class: ledger.Refusal, Status: 401, Code: "unauthorized", Says: ledger.NotApplied, InFront: true}
	failed := ledger.Answer{Class: ledger.Refusal, Status: 500, Code: "internal_error", Says: ledger.NotApplied}
	for _, row := range []struct {
		name    string
		answers []ledger.Answer
		plain   bool // without a client order id
		records string
		end     Final // nothing of it is known if its outcome is Unknown
		key     string
	}{
		{
			name: "a success", answers: []ledger.Answer{success}, records: "begin!, end",
			end: Final{Outcome: ledger.Applied, Evidence: ByAnswer, Dead: true},
		},
		{
			name: "a success without a name", answers: []ledger.Answer{success}, plain: true, records: "begin!, end",
			end: Final{Outcome: ledger.Applied, Evidence: ByAnswer, Dead: true},
		},
		{
			name: "a stored success", answers: []ledger.Answer{replayed(success)}, records: "begin!, end",
			end: Final{Outcome: ledger.Applied, Evidence: ByReplay, Dead: true},
		},
		{
			name: "a refusal", answers: []ledger.Answer{tooSmall}, records: "begin!, end",
			end: Final{Outcome: ledger.NotApplied, Evidence: ByAnswer, Code: "MIN_NOTIONAL", Dead: true},
		},
		{
			name: "a refusal before its key was looked at", answers: []ledger.Answer{badKey}, records: "begin!, end",
			end: Final{Outcome: ledger.NotApplied, Evidence: ByAnswer, Code: "unauthorized"},
		},
		{
			name: "the same, stored", answers: []ledger.Answer{replayed(badKey)}, records: "begin!, end",
			end: Final{Outcome: ledger.NotApplied, Evidence: ByReplay, Code: "unauthorized", Dead: true},
		},
		{
			name: "a failure that did nothing", answers: []ledger.Answer{failed}, records: "begin!, end",
			end: Final{Outcome: ledger.NotApplied, Evidence: ByAnswer, Code: "internal_error"},
		},
		{
			name: "nothing left", answers: []ledger.Answer{unsent}, records: "begin!, end",
			end: Final{Outcome: ledger.NotApplied, Evidence: ByUnsent},
		},
		{
			name: "a rate limit, and then a success", answers: []ledger.Answer{limited, success}, records: "begin!, send!, end",
			end: Final{Outcome: ledger.Applied, Evidence: ByAnswer, Dead: true},
		},
		{
			name: "a refusal that is stored, and another key", answers: []ledger.Answer{stale, success}, records: "begin!, key!, end",
			end: Final{Outcome: ledger.Applied, Evidence: ByAnswer, Dead: true, Try: 1}, key: "key of w_1'",
		},
		{
			name: "its doubt is over", answers: []ledger.Answer{silence, replayed(success)}, records: "begin!, beside, answer, send!, end",
			end: Final{Outcome: ledger.Applied, Evidence: ByReplay, Dead: true},
		},
		{
			name: "a refusal of the send in doubt", answers: []ledger.Answer{silence, replayed(tooSmall)}, records: "begin!, beside, answer, send!, end",
			end: Final{Outcome: ledger.NotApplied, Evidence: ByReplay, Code: "MIN_NOTIONAL", Dead: true},
		},
		{
			name: "its doubt stays", answers: []ledger.Answer{silence}, records: "begin!, beside, answer, over",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDisk()
				d := client(t, &service{}, on(k), foreground)
				w := newWrite(d, "w_1", order, named("entry 7"))
				if row.plain {
					w.Intent.ClientOrderID = ""
				}
				concluded, err := send(t, d, w, row.answers...)
				require.NoError(t, err)
				assert.Equal(t, row.records, k.of("w_1"))
				assert.Equal(t, row.end.Outcome != ledger.Unknown, concluded)
				assert.Equal(t, !concluded, d.IsOpen(w))
				open, err := d.DoubtedIn(t.Context(), w.Places[0])
				require.NoError(t, err)
				assert.Equal(t, !concluded, len(open) == 1)
				assert.True(t, w.Tracked())
				if !row.plain {
					<-w.Handed()
				}
				if !concluded {
					assert.Same(t, w, d.taker("entry 7"))
					return
				}
				end := k.end(t, "w_1")
				assert.Equal(t, time.Now(), end.At.In(time.Local))
				want := row.end
				want.At, want.Key, want.FirstUseKnown = end.At, "key of w_1", true
				if row.key != "" {
					want.Key = pending.Key(row.key)
				}
				if !row.plain {
					want.Digest, want.Of = w.Digest(), end.Of
					assert.True(t, end.DecidedAt().Equal(w.Intent.Decided))
				}
				assert.Equal(t, want, *end)
				last, err := d.store.last(t.Context(), "entry 7")
				require.NoError(t, err)
				if row.plain {
					assert.Nil(t, last)
				} else {
					assert.Equal(t, end, last)
				}
				assert.Nil(t, d.taker("entry 7"))
			})
		})
	}
}

// foreground is a driver that asks for nobody who does not wait.
func foreground(c *Config) { c.Background = false }

// The answer to a named write is kept with its end; of others it is not needed.
// An entry that may be sent no more is not written down: the journal is not to blame.
func TestAnEntryThatIsTooOldIsNotWrittenDown(t *testing.T) {
	k := newDisk()
	d := client(t, &service{}, on(k))
	w := newWrite(d, "w_1", order, func(w *OpenWrite) { w.Intent.Decided = time.Now().Add(-2 * time.Minute) })
	d.Own(w, "")
	require.EqualError(t, d.Before(t.Context(), w, false), "it was decided too long ago")
	assert.Empty(t, k.records)
	d.LetGo(w)
}

func TestTheAnswerOfANamedWriteIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"entry 7", ""} {
			k := newDisk()
			d := client(t, &service{}, on(k))
			w := newWrite(d, "w_1", order, named(name))
			d.Own(w, name)
			require.NoError(t, d.Before(t.Context(), w, false))
			d.SendBegins(w)
			d.Heard(w, time.Now(), success, false)
			require.True(t, d.Conclude(w, &Response{Answer: success, Body: []byte(`{"ok":true}`)}))
			assert.Equal(t, name != "", string(k.end(t, "w_1").Answer) == `{"ok":true}`)

			refused := newWrite(d, "w_2", order, named(name))
			d.Own(refused, name)
			require.NoError(t, d.Before(t.Context(), refused, false))
			d.SendBegins(refused)
			d.Heard(refused, time.Now(), tooSmall, false)
			require.True(t, d.Conclude(refused, &Response{Answer: tooSmall, Key: refused.Try().Key, Body: []byte(`{"error":"MIN_NOTIONAL"}`)}))
			assert.True(t, k.end(t, "w_2").Dead)
			assert.Equal(t, name != "", k.end(t, "w_2").Refused != nil)

			found := client(t, &service{answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {replayed(tooSmall)}}, refusal: `{"error":"MIN_NOTIONAL"}`}, on(newDisk()))
			_, known := found.Wait(t.Context(), lost(t, found, "w_3", order, named(name)))
			assert.True(t, known)
			kept := found.store.journal.(*disk).end(t, "w_3")
			assert.True(t, kept.Dead)
			assert.Equal(t, name != "", kept.Refused != nil, "nor where the driver has found it")
		}
	})
}

// taker is who has a name; nil if nobody has.
func (d *Driver) taker(name string) *OpenWrite {
	e := OpenWrite{Intent: pending.Intent{ID: "nobody"}, Name: name}
	if taker := d.pending.take(&e); taker != nil {
		return taker
	}
	d.pending.remove(&e)
	return nil
}

// Two calls take a client order id at once: the second joins the first, and may take it
// once that is over.
func TestAnIdThatIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{})
		first, second := newWrite(d, "w_1", order, named("entry 7")), newWrite(d, "w_2", order, named("entry 7"))
		d.Own(first, "entry 7")
		d.Own(second, "entry 7")
		for range 2 {
			taker, _, err := d.Take(t.Context(), first)
			require.NoError(t, err)
			require.Nil(t, taker)
			taker, _, err = d.Take(t.Context(), second)
			require.NoError(t, err)
			require.Same(t, first, taker)
			d.LetGo(first)
			<-first.Handed()
			assert.False(t, d.IsOpen(first))
			assert.False(t, first.Tracked())
			first = newWrite(d, "w_1", order, named("entry 7"))
			d.Own(first, "entry 7")
		}
		_, _, err := d.Take(t.Context(), first)
		require.NoError(t, err)
		require.NoError(t, d.Before(t.Context(), first, false))
		again := newWrite(d, "w_1", order)
		d.Own(again, "")
		require.ErrorContains(t, d.Before(t.Context(), again, false), "write w_1 is registered already")
		d.SendBegins(first)
		d.Heard(first, time.Now(), success, false)
		require.True(t, d.Conclude(first, &Response{Answer: success}))
		concluded, err := send(t, d, newWrite(d, "w_3", order, named("entry 7")), tooSmall)
		require.NoError(t, err)
		assert.True(t, concluded)
		last, err := d.store.last(t.Context(), "entry 7")
		require.NoError(t, err)
		assert.Equal(t, ledger.Applied, last.Outcome, "without a journal too")
	})
}

// What the journal does not take before a byte holds an entry back. An exit goes out, and
// the journal notes that it lacks it.
func TestAJournalThatFailsBeforeAByte(t *testing.T) {
	stale := ledger.Answer{Class: ledger.Refusal, Status: 409, Code: "STALE_PRICE", Says: ledger.NotApplied, Advice: ledger.NewKey, Price: true}
	for _, row := range []struct {
		name, operation, at string
		answers             []ledger.Answer
		records             string
		gap                 bool
		outcome             ledger.Outcome
	}{
		{name: "an entry", operation: order, at: "begin", answers: []ledger.Answer{success}, outcome: ledger.NotApplied},
		{name: "an exit", operation: exit, at: "begin", answers: []ledger.Answer{success}, gap: true, outcome: ledger.Applied},
		{name: "a setting of levels", operation: levels, at: "begin", answers: []ledger.Answer{success}, outcome: ledger.Applied},
		{
			name: "the second send of an entry", operation: order, at: "send", answers: []ledger.Answer{silence, success},
			records: "begin!, beside, answer, over", outcome: ledger.Unknown,
		},
		{
			name: "the second send of an exit", operation: exit, at: "send", answers: []ledger.Answer{silence, success},
			records: "begin!, beside, answer, end", gap: true, outcome: ledger.Applied,
		},
		{
			name: "the next key of an entry", operation: order, at: "key", answers: []ledger.Answer{stale, success},
			records: "begin!, end", outcome: ledger.NotApplied,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDisk()
				k.failsAt(row.at)
				d := client(t, &service{}, on(k), foreground)
				w := newWrite(d, "w_1", row.operation)
				concluded, err := send(t, d, w, row.answers...)
				if w.Intent.Entry {
					require.ErrorIs(t, err, errDisk)
					require.NoError(t, w.Unjournaled)
				} else {
					require.NoError(t, err)
					require.ErrorIs(t, w.Unjournaled, errDisk)
				}
				assert.Equal(t, row.outcome, w.Ledger.Outcome())
				assert.Equal(t, row.outcome != ledger.Unknown, concluded)
				assert.Equal(t, row.records, k.of("w_1"))
				assert.Equal(t, row.gap, k.gap)
			})
		})
	}
}

// An entry waits for the disk while it may be sent, and an exit for a quarter of a second.
func TestHowLongTheDiskIsWaitedFor(t *testing.T) {
	for _, row := range []struct {
		operation    string
		slow, waited time.Duration
		want         error
	}{
		{order, 30 * time.Second, 30 * time.Second, nil},
		{order, time.Hour, 40 * time.Second, errHangs},
		{exit, exitWaits - 1, exitWaits - 1, nil},
		{exit, time.Hour, exitWaits, errHangs},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			k.slow = row.slow
			d := client(t, &service{}, on(k), foreground)
			date(d)
			w := newWrite(d, "w_1", row.operation)
			d.Own(w, "")
			w.Intent.Decided = w.Intent.Decided.Add(-20 * time.Second) // it has waited for its turn
			began := time.Now()
			assert.ErrorIs(t, d.Before(t.Context(), w, false), row.want)
			assert.Equal(t, row.waited, time.Since(began), row.operation)
			k.slow = 0
			d.LetGo(w)
		})
	}
}

// A journal that is another's by now says so, also where its answer comes behind the wait: beside it no exit goes out.
func TestAJournalThatIsAnothersBehindTheWait(t *testing.T) {
	for said, want := range map[error]error{journal.ErrFenced: journal.ErrFenced, journal.ErrLostHistory: journal.ErrLostHistory, errDisk: errHangs} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			k.fail = func(string) error {
				time.Sleep(time.Second)
				return said
			}
			d := client(t, &service{}, on(k), foreground, func(c *Config) { c.Unwritten = func(*pending.Intent, error) {} })
			w := newWrite(d, "w_1", exit)
			d.Own(w, "")
			require.ErrorIs(t, d.Before(t.Context(), w, false), want)
			d.LetGo(w)
		})
	}
}

// That it lacks an exit cannot be noted either: the error says both.
func TestAGapThatCannotBeNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		k.failsAt("begin")
		k.noGap = context.DeadlineExceeded
		d := client(t, &service{}, on(k))
		w := newWrite(d, "w_1", exit)
		_, err := send(t, d, w, success)
		require.NoError(t, err)
		require.ErrorIs(t, w.Unjournaled, errDisk)
		require.ErrorIs(t, w.Unjournaled, context.DeadlineExceeded)
	})
}

// A context that ends while the disk is waited for leaves open whether the write is there.
// Its end is written: the next run need not ask about it.
func TestAContextThatEndsAtTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		ctx, cancel := context.WithCancel(t.Context())
		k.fail = func(string) error { cancel(); return nil }
		unwritten := 0
		d := client(t, &service{}, on(k), func(c *Config) { c.Unwritten = func(*pending.Intent, error) { unwritten++ } })
		w := newWrite(d, "w_1", order)
		d.Own(w, "")
		require.ErrorIs(t, d.Before(ctx, w, false), context.Canceled)
		d.SendingOver(context.Background(), w, 0)
		assert.True(t, d.Conclude(w, &Response{Answer: unsent}))
		assert.Equal(t, "end", k.of("w_1"))
		assert.Zero(t, unwritten)
	})
}

// An end that the journal does not take is said; the write has ended all the same.
func TestAnEndThatIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		k.failsAt("end")
		var unwritten []string
		d := client(t, &service{}, on(k), func(c *Config) {
			c.Unwritten = func(in *pending.Intent, err error) { unwritten = append(unwritten, string(in.ID)+" "+err.Error()) }
		})
		w := newWrite(d, "w_1", order)
		concluded, err := send(t, d, w, success)
		require.NoError(t, err)
		assert.True(t, concluded)
		assert.Equal(t, []string{"w_1 " + errDisk.Error()}, unwritten)
		assert.False(t, d.IsOpen(w))
	})
}

// An entry has the account read before it where the books have no baseline, in a journal
// that outlives the process.
func TestABaselineIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		k := newDisk()
		d := client(t, s, on(k))
		time.Sleep(ledger.Lag) // an earlier run may have written
		_, err := send(t, d, newWrite(d, "w_1", order), success)
		require.NoError(t, err)
		assert.Equal(t, "baseline", s.asks())
		date(d) // as its answers do
		_, err = send(t, d, newWrite(d, "w_2", exit), success)
		require.NoError(t, err)
		_, err = send(t, client(t, s), newWrite(d, "w_3", order), success)
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, "baseline", s.asks(), "neither for an exit, nor without a journal")
	})
}

// The first exit has one list read, once, while no answer has said the service's time, and does not
// wait for it. Nothing is read for what is never asked for its answer, or in no journal.
func TestTheFirstExitHasTheTimeRead(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*OpenWrite)
		undone bool // no journal
		dated  bool
		asks   string
	}{
		{name: "an exit", asks: "trades"},
		{name: "the time is known", dated: true},
		{name: "no journal", undone: true},
		{name: "a paper exit", change: func(w *OpenWrite) { w.Ledger.Keyed = false }},
		{name: "a cancel", change: func(w *OpenWrite) { w.Ledger.Resolves = false }},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{trades: func() { time.Sleep(time.Minute) }}
				var with []func(*Config)
				if !row.undone {
					with = append(with, on(newDisk()))
				}
				d := client(t, s, with...)
				if row.dated {
					date(d)
				}
				began := time.Now()
				for _, id := range []string{"w_1", "w_2"} {
					w := newWrite(d, id, exit, func(w *OpenWrite) {
						if row.change != nil {
							row.change(w)
						}
					})
					_, err := send(t, d, w, success)
					require.NoError(t, err)
				}
				assert.Zero(t, time.Since(began), "it waits for nothing")
				time.Sleep(time.Hour)
				assert.Equal(t, row.asks, s.asks())
			})
		})
	}
}

// Of the drivers of a journal that has nothing one says so, and their books begin without an
// earlier run.
func TestANewJournal(t *testing.T) {
	for _, isNew := range []bool{false, true} {
		k := newDisk()
		k.isNew = isNew
		said := 0
		counted := func(c *Config) { c.NewJournal = func() { said++ } }
		d := client(t, &service{}, on(k), counted)
		client(t, &service{}, on(k), counted)
		assert.Equal(t, map[bool]int{true: 1}[isNew], said)
		assert.True(t, d.Durable())
		w := newWrite(d, "w_1", order)
		d.Own(w, "")
		w.booked = d.bookWrite(w)
		assert.Equal(t, isNew, d.Books.WantsRead(&w.booked, time.Now()))
	}
}
