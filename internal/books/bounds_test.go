package books

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/depth"
)

// An entry has the account read where no read is young enough, or where those that there
// are make no baseline and another one would.
func TestWantsRead(t *testing.T) {
	one := []Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}}
	for name, row := range map[string]struct {
		prepare func(*book)
		want    bool
	}{
		"nothing read":             {func(*book) {}, true},
		"beside a write":           {func(b *book) { b.SendBegan(mine) }, false},
		"read":                     {func(b *book) { b.read(one) }, false},
		"ten minutes ago":          {func(b *book) { b.read(one); b.pass(baselineAge) }, false},
		"longer ago":               {func(b *book) { b.read(one); b.pass(baselineAge + 1) }, true},
		"the positions alone":      {func(b *book) { b.SawPositions(mine, atOnce(b.now), one) }, true},
		"the status longer ago":    {func(b *book) { b.read(one); b.of[mine].statusAt = b.now.Add(-baselineAge - 1) }, true},
		"the status never":         {func(b *book) { b.read(one); b.of[mine].statusAt = time.Time{} }, true},
		"once, a moment ago":       {func(b *book) { b.atOnce(one); b.pass(ledger.Lag - 1) }, false},
		"once, a lag ago":          {func(b *book) { b.atOnce(one); b.pass(ledger.Lag) }, true},
		"right after a write":      {func(b *book) { b.SendBegan(mine); b.SendEnded(mine, b.now); b.pass(ledger.Lag - 1) }, false},
		"a while after that":       {func(b *book) { b.SendBegan(mine); b.SendEnded(mine, b.now); b.pass(ledger.Lag) }, true},
		"a reset since they began": {func(b *book) { b.read(one); b.Reset(mine) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			row.prepare(b)
			assert.Equal(t, row.want, b.WantsRead(b.order("BTC"), b.now))
		})
	}
}

// A position shows every closed trade of the rows if its read began a lag after the first
// that showed them had ended.
func TestAPositionReadBehindItsRows(t *testing.T) {
	one := []Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}}
	for behind, want := range map[time.Duration]bool{ledger.Lag - 1: false, ledger.Lag: true} {
		b := newBook(t)
		b.read(one)
		b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return []accounting.Row{{Digest: 8, Symbol: "BTC"}, {Digest: 7}} })
		b.pass(behind)
		b.SawPositions(mine, atOnce(b.now), one)
		assert.Equal(t, want, b.serves("BTC"), behind)
	}
}

// D 45: two looks are a lag apart if the second begins that long after the first has ended.
func TestEdge45_FromTheEndToTheBegin(t *testing.T) {
	const slow = 4 * time.Second
	held := []Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}}
	for after, want := range map[time.Duration]bool{ledger.Lag - slow: false, ledger.Lag - 1: false, ledger.Lag: true} {
		b := newBook(t)
		b.pass(time.Minute)
		look := func() {
			at := Read{b.now, b.now.Add(slow)}
			b.SawStatus(mine, b.now, "ACTIVE")
			b.SawOrders(mine, at, []accounting.Waiting{{ID: "ord_0", Symbol: "DOGE"}}, nil)
			b.SawPositions(mine, at, held)
			b.SawFinished(mine, at, accounting.Newest{})
			b.SawTrades(mine, at, func(int) []accounting.Row { return []accounting.Row{{Digest: 7}} })
			b.pass(slow)
		}
		look()
		b.pass(after)
		w := b.order("BTC")
		w.Entry = true
		assert.Equal(t, want, b.WantsRead(w, b.now), "another look at %s makes a baseline", after)
		look()
		assert.Equal(t, want, b.serves("BTC"), after)

		b = newBook(t)
		b.pass(time.Minute)
		b.SawOrders(mine, Read{b.now, b.now.Add(slow)}, nil, nil)
		b.pass(slow + after)
		b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
		a := b.of[mine]
		assert.Equal(t, want, a.finAt.Sub(a.runsFrom) >= ledger.Lag, "a run that ended between them is in one")
	}
}

// A position that own writes have changed meanwhile has not stood, though it is the same again.
func TestAPositionThatIsTheSameAgain(t *testing.T) {
	for name, held := range map[string][]Held{"none": nil, "another": {{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &book{Books: New(time.Now(), Earlier{None: true}, nil), t: t, notes: map[*Booked][]Note{}}
				look := func() {
					time.Sleep(ledger.Lag + time.Second)
					b.now = time.Now()
					b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return []accounting.Row{{Digest: 7}} })
					b.SawPositions(mine, atOnce(b.now), held)
				}
				stood := func() bool {
					a := b.of[mine]
					return a.stood("BTC", a.held("BTC"))
				}
				look()
				look()
				assert.True(t, stood())
				b.sends(b.order("BTC"), opened(1))
				b.sends(b.order("BTC"), opened(-1))
				look()
				assert.False(t, stood(), "it may have changed since what was read with it")
				look()
				assert.True(t, stood())
			})
		})
	}
}

// Each write in doubt beside another one is told once what that did.
func TestWritesInDoubtAreTold(t *testing.T) {
	b := newBook(t)
	b.read(nil)
	first, second := b.journaled(b.limit("BTC")), b.journaled(b.limit("BTC"))
	for _, w := range []*Booked{first, second} {
		b.enter(w)
		b.Doubt(w)
		b.notes[w] = nil
	}
	w := b.limit("BTC")
	b.sends(w, opened(1))
	for _, w := range []*Booked{first, second} {
		require.Len(t, b.notes[w], 1)
		assert.Len(t, b.notes[w][0].Own, 1)
	}
}

// finishedRuns are so many, the newest first.
func finishedRuns(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("run_%032d", n-i)
	}
	return ids
}

// manyRuns are how many runs an account has finished.
var manyRuns = []int{100, 10_000, 30_000}

// The same as allocations, of a read and of an entry with its record.
func TestEdge15_FinishedRunsCostTheSame(t *testing.T) {
	cost := func(n int) (allocs float64, kept int) {
		b, runs := newBook(t), finishedRuns(n)
		b.read(nil)
		read := func() {
			b.SawFinished(mine, atOnce(b.now), accounting.NewestOf(len(runs), func(i int) string { return runs[i] }))
		}
		allocs = testing.AllocsPerRun(10, func() {
			read()
			b.SawOrders(mine, atOnce(b.now), nil, []accounting.Waiting{{ID: runs[0]}})
			b.SawOrders(mine, atOnce(b.now), nil, nil)
		})
		run := b.pro("BTC")
		b.Enter(run)
		require.NotNil(t, run.ids)
		return allocs, len(run.ids.Finished.IDs)
	}
	least, _ := cost(manyRuns[0])
	for _, n := range manyRuns {
		allocs, kept := cost(n)
		assert.LessOrEqual(t, allocs, least+5, n)
		assert.LessOrEqual(t, kept, 2*maxOlder, n)
	}
}

// Only what a write needs goes into its record: no order and no run for an order at the
// market, no run for a limit, no order for a run.
func TestEdge15_ARecordHasWhatTheWriteNeeds(t *testing.T) {
	b := newBook(t)
	b.read(nil)
	b.SawOrders(mine, atOnce(b.now), []accounting.Waiting{{ID: "ord_1"}}, []accounting.Waiting{{ID: "run_1"}})
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{IDs: []string{"run_0"}})
	for _, row := range []struct {
		w                *Booked
		orders, run, all []string
	}{
		{w: b.order("BTC")},
		{w: b.limit("BTC"), orders: []string{"ord_1", "ord_0", "run_1"}},
		{w: b.pro("BTC"), run: []string{"run_1"}, all: []string{"run_0"}},
	} {
		base := b.Enter(b.journaled(row.w)).IDs
		if base == nil {
			base = &accounting.IDs{}
		}
		assert.Equal(t, [3][]string{row.orders, row.run, row.all}, [3][]string{base.Orders, base.Runs, base.Finished.IDs})
	}
}

// Many orders, runs among them that end, leave the books as they were.
func TestEdge15_TheHeapIsFlat(t *testing.T) {
	if depth.Race {
		t.Skip("one goroutine, and the detector's own memory")
	}
	b := newBook(t)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	id := 0
	orders := func(n int) {
		for range n / 1000 {
			b.read(nil)
			for range 10 {
				id++
				run := b.pro("BTC")
				b.enter(run)
				did := resting(fmt.Sprintf("run_%d", id))
				did.Own.Kind = accounting.Pro
				b.leave(run, did)
				b.pass(ledger.Lag)
				b.SawOrders(mine, atOnce(b.now), nil, []accounting.Waiting{{ID: did.Own.WaitID}})
				b.SawOrders(mine, atOnce(b.now), nil, nil)
			}
			for range 990 {
				id++
				b.sends(b.limit("ETH"), resting(fmt.Sprintf("ord_%d", id)))
			}
		}
	}
	all := depth.Of(50_000, 300_000)
	orders(all / 10)
	before := heap()
	orders(all - all/10)
	assert.Less(t, heap()-before, int64(1<<20))
	runtime.KeepAlive(b)
}
