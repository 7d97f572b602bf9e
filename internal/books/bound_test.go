package books

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

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
			b.SawOrders(mine, atOnce(b.now), nil, []Waiting{{ID: runs[0]}})
			b.SawOrders(mine, atOnce(b.now), nil, nil)
		})
		base, _ := b.Enter(b.pro("BTC"))
		require.NotNil(t, base)
		return allocs, len(base.Finished.IDs)
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
	b.SawOrders(mine, atOnce(b.now), []Waiting{{ID: "ord_1"}}, []Waiting{{ID: "run_1"}})
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{IDs: []string{"run_0"}})
	for _, row := range []struct {
		w                *Write
		orders, run, all []string
	}{
		{w: b.order("BTC")},
		{w: b.limit("BTC"), orders: []string{"ord_1"}},
		{w: b.pro("BTC"), run: []string{"run_1"}, all: []string{"run_0"}},
	} {
		base, _ := b.Enter(row.w)
		require.NotNil(t, base)
		assert.Equal(t, [3][]string{row.orders, row.run, row.all}, [3][]string{base.Orders, base.Runs, base.Finished.IDs})
	}
}

// A million orders, runs among them that end, leave the books as they were.
func TestEdge15_TheHeapIsFlat(t *testing.T) {
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
				did.Own.Run = true
				b.leave(run, did)
				b.pass(ledger.Lag)
				b.SawOrders(mine, atOnce(b.now), nil, []Waiting{{ID: did.Own.ID}})
				b.SawOrders(mine, atOnce(b.now), nil, nil)
			}
			for range 990 {
				id++
				b.sends(b.limit("ETH"), resting(fmt.Sprintf("ord_%d", id)))
			}
		}
	}
	all := 1_000_000
	if raceDetector {
		all /= 20
	}
	orders(all / 10)
	before := heap()
	orders(all - all/10)
	assert.Less(t, heap()-before, int64(1<<20))
	runtime.KeepAlive(b)
}
