package books

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// The first entry on a declared account waits until a look shows what was written before.
func TestFirstLook(t *testing.T) {
	undeclared := newBook(t)
	assert.Zero(t, undeclared.firstLook(), "nobody declared it")
	b := restartedBook(t, Earlier{})
	assert.Equal(t, ledger.Lag, b.firstLook())
	b.pass(ledger.Lag / 2)
	assert.Equal(t, ledger.Lag/2, b.firstLook())
	b.pass(ledger.Lag)
	assert.Negative(t, b.firstLook(), "what an earlier run left may trade as the look reads")
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	assert.Equal(t, ledger.Lag, b.firstLook())
	b.atOnce(nil)
	assert.Equal(t, ledger.Lag, b.firstLook(), "a look shows too little yet")
	b.pass(ledger.Lag)
	assert.Zero(t, b.firstLook())

	read := newBook(t)
	read.Declare(declared)
	read.look("ACTIVE")
	assert.Zero(t, read.firstLook(), "it was read")
	assert.Equal(t, "ACTIVE", read.Status(mine))
	assert.Empty(t, read.Status(AccountKey{"live", "acc_2"}))
	assert.True(t, read.ReadSince(mine, origin))
	assert.False(t, read.ReadSince(mine, read.now))
}

// firstLook is FirstLook, and -1 where what waits is to be read first.
func (b *book) firstLook() time.Duration {
	wait, orders := b.FirstLook(mine, "BTC", b.now)
	if orders {
		return -1
	}
	return wait
}

// A list of closed trades is wanted after so many own writes, and what rests and runs once.
func TestWantsList(t *testing.T) {
	b := restartedBook(t, Earlier{})
	b.pass(ledger.Lag)
	list, all := b.WantsList(mine)
	assert.False(t, list)
	assert.True(t, all)
	b.look("ACTIVE")
	b.of[mine].trails.since = listEvery
	list, all = b.WantsList(mine)
	assert.True(t, list)
	assert.False(t, all)
}

// A course is of a look while nothing newer is known, and ends with its baseline.
func TestStillAndLost(t *testing.T) {
	b := newBook(t)
	b.Declare(declared)
	b.look("ACTIVE")
	w := b.lost("lost")
	c, ok := b.Course(w, true, true, "ACTIVE")
	require.True(t, ok)
	one := decimal.NewFromInt(1)
	assert.False(t, c.still(b.now, one, []accounting.Row{{Digest: 7}}), "a row that is not known")
	require.True(t, c.still(b.now.Add(time.Minute), one, nil))
	assert.True(t, c.To.Valid && c.To.Decimal.Equal(one))

	b.Lost(w)
	_, ok = b.Course(w, true, true, "ACTIVE")
	assert.False(t, ok)
}

// What a write left to wait is one entry, under the id that its answer or a read gives it,
// until it has been out of the lists for as long as a baseline may still be of before.
func TestWhatWaitsInATrail(t *testing.T) {
	b := newBook(t)
	of := &trails{of: map[string]*trail{}}
	w := b.order("BTC")
	w.ID = "w1"
	size := decimal.NewNullDecimal(decimal.NewFromInt(2))
	of.waits(accounting.Waiting{ID: "w1", Symbol: "BTC", Side: accounting.Long})
	of.waits(accounting.Waiting{ID: "w1", Symbol: "BTC", Side: accounting.Long, Size: size})
	require.Len(t, of.waited, 1)
	assert.Equal(t, size, of.waited[0].Size, "the first that says a size")

	of.waitedFor(w, &Did{Own: accounting.Own{Unsure: true}})
	require.Len(t, of.waited, 1, "what waits shows whether a refusal is true")
	of.waitedFor(w, &Did{Own: accounting.Own{Act: accounting.Act{Kind: accounting.Limit, Side: accounting.Long, Size: size.Decimal}, WaitID: "ord_1"}})
	require.Len(t, of.waited, 1)
	assert.Equal(t, "ord_1", of.waited[0].ID)

	of.sawWaiting([]accounting.Waiting{{ID: "ord_1", Symbol: "BTC"}}, b.now, true, true)
	require.Len(t, of.waiting("BTC", b.now), 1)
	b.pass(time.Second)
	of.sawWaiting(nil, b.now, true, true)
	assert.Empty(t, of.waiting("BTC", b.now), "it was gone before")
	assert.Len(t, of.waiting("BTC", origin), 1)
	of.forgetGone(b.now)
	assert.Empty(t, of.waited)

	for i := range maxWaited + 5 {
		of.waits(accounting.Waiting{ID: string(rune('a' + i)), Symbol: "ETH"})
	}
	assert.LessOrEqual(t, len(of.waited), maxWaited)
	assert.Equal(t, accounting.Waiting{}, of.waited[0], "one stands for any")
}

// What a journal shows of earlier runs spares the first entry the wait, where the service's clock
// says that the last of it is a lag ago. The wall clock says only that it is worth a look.
func TestFirstLookAfterAnEarlierRun(t *testing.T) {
	for name, row := range map[string]struct {
		wall   time.Duration // since the last write, by the wall clock
		passed time.Duration // by the service's
		known  bool          // the service's time is, before the look
		wait   time.Duration // until the look
		counts bool          // the look, by which the service's time is known
	}{
		"an hour ago":                           {time.Hour, time.Hour, true, 0, true},
		"an hour ago, before the first answer":  {time.Hour, time.Hour, false, 0, true},
		"a lag ago":                             {time.Hour, ledger.Lag, true, 0, true},
		"just now":                              {time.Second, ledger.Lag - 1, true, ledger.Lag, false},
		"just now, before the first answer":     {time.Second, time.Second, false, ledger.Lag, false},
		"a while, before the first answer":      {mustBe - 1, time.Hour, false, ledger.Lag, true},
		"long enough, before the first answer":  {mustBe, ledger.Lag, false, 0, true},
		"just now, and the wall clock was set":  {time.Hour, time.Second, true, ledger.Lag, false},
		"the same, before the first answer":     {time.Hour, time.Second, false, 0, false},
		"an hour ago, and it was set back":      {-time.Hour, time.Hour, true, 0, true},
		"the same, and nothing is answered yet": {-time.Hour, time.Hour, false, ledger.Lag, true},
	} {
		t.Run(name, func(t *testing.T) {
			known := row.known
			b := restartedBook(t, Earlier{
				Wall:  origin.Add(-row.wall),
				Since: func(at time.Time) (time.Duration, bool) { return row.passed + at.Sub(origin), known },
				Still: []pending.AccountID{mine.ID},
			})
			assert.Equal(t, row.wait, b.firstLook())
			known = true
			b.atOnce(nil)
			b.SawOrders(mine, atOnce(b.now), nil, nil)
			assert.Equal(t, row.counts, b.based(b.order("BTC")))

			paper := AccountKey{Environment: "sandbox"}
			b.SawPositions(paper, atOnce(b.now), nil)
			assert.True(t, b.of[paper].posAt.IsZero(), "of the paper account a journal has nothing")
		})
	}
}

const mustBe = ledger.Lag + 4*servicetime.Tolerance

// While a journal takes the note of one write, another that has a journal waits a quarter of a
// second for it, and then ends without its note. One that has none waits for nothing.
func TestWhoWaitsForAJournalThatTakesANote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(t)
		b.read(nil)
		took := map[string]bool{}
		doubted := func(id string, note func()) (waited time.Duration) {
			w := b.order("BTC")
			w.ID = id
			if note != nil {
				w.Note = func(Note) error { note(); took[id] = true; return nil }
			}
			b.enter(w)
			began := time.Now()
			b.Doubt(w)
			return time.Since(began)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			doubted("slow", func() { time.Sleep(time.Minute) })
		}()
		synctest.Wait()
		assert.Equal(t, noteWaits, doubted("waits", func() {}))
		assert.Zero(t, doubted("not journaled", nil))
		<-done
		assert.Zero(t, doubted("later", func() {}))
		assert.Equal(t, map[string]bool{"slow": true, "later": true}, took)
	})
}

// Who declares an account later knows what the program has left to wait there before, although nobody had to
// know then what its orders did.
func TestWhatWaitsIsKnownToWhoDeclaresLater(t *testing.T) {
	b := newBook(t)
	order, limit := b.order("BTC"), b.limit("BTC")
	b.Enter(order)
	assert.False(t, b.Wants(order))
	_ = b.Leave(order, nil)
	b.Enter(limit)
	require.True(t, b.Wants(limit))
	_ = b.Leave(limit, resting("ord_1"))
	b.Declare(declared)
	assert.Equal(t, []string{"ord_1"}, IDsOf(b.of[mine].trails.known("BTC", b.now)))
}

// A limit in doubt knows of an order that came to rest in another market beside it. The next run has it there:
// what that trades is not the program's own trade in the one, nor somebody else's in the other.
func TestWhatWaitsInAnotherMarketAfterARestart(t *testing.T) {
	b := restartedBook(t, Earlier{None: true})
	b.look("ACTIVE")
	lost, beside := b.journaled(b.limit("BTC")), b.journaled(b.limit("ETH"))
	b.enterNoted(lost)
	b.Doubt(lost)
	b.enterNoted(beside)
	b.leave(beside, resting("ord_1"))

	again := restartedBook(t, Earlier{})
	left := again.limit("BTC")
	left.ID = lost.ID
	again.Restore(Left{left, b.fold(lost)})
	again.look("ACTIVE")
	assert.Equal(t, []string{lost.ID}, IDsOf(again.of[mine].trails.known("BTC", again.began)))
	assert.Equal(t, []string{"ord_1"}, IDsOf(again.of[mine].trails.known("ETH", again.began)))
}

// While a journal takes a note of one write for too long, the end of another one may be written where nobody has to
// note it, and only there.
func TestWhoseEndMayBeWrittenWhileAJournalHangs(t *testing.T) {
	for beside, want := range map[string]error{"ETH": nil, "BTC": errNotesHang} {
		synctest.Test(t, func(t *testing.T) {
			b := newBook(t)
			b.read(nil)
			lost, w := b.order("BTC"), b.order(beside)
			hangs := false
			lost.Note = func(Note) error {
				if hangs {
					time.Sleep(time.Minute)
				}
				return nil
			}
			b.enter(lost)
			b.Doubt(lost)
			w.Note = func(Note) error { return nil }
			b.enter(w)
			hangs = true
			other := b.journaled(b.order("BTC"))
			b.enter(other)
			var hanging sync.WaitGroup
			hanging.Go(func() { _ = b.Leave(other, opened(2)) })
			synctest.Wait()
			assert.Equal(t, want, b.Leave(w, opened(1)), beside)
			hanging.Wait()
		})
	}
}
