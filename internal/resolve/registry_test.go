package resolve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/pending"
)

var (
	noPlace      = pending.Place{}
	accountPlace = pending.Place{Environment: "live", Account: "acc_1"}
	btcPlace     = pending.Place{Environment: "live", Account: "acc_1", Symbol: "BTC"}
	ethPlace     = pending.Place{Environment: "live", Account: "acc_1", Symbol: "ETH"}
	anyPlace     = pending.Place{Environment: "live", Account: "acc_1", Symbol: pending.AnyMarket}
	otherPlace   = pending.Place{Environment: "live", Account: "acc_2", Symbol: "BTC"}
	paperPlace   = pending.Place{Environment: "sandbox", Account: "acc_1", Symbol: "BTC"}
)

func placed(id string, places ...pending.Place) *OpenWrite {
	e := &OpenWrite{Intent: pending.Intent{ID: pending.IntentID(id)}}
	copy(e.Places[:], places)
	return e
}

// ids are those of items, in order.
func idsOfWrites(items []*OpenWrite) []string {
	found := make([]string, len(items))
	for i, e := range items {
		found[i] = string(e.Intent.ID)
	}
	return found
}

func TestEntriesThatShowInOnePlace(t *testing.T) {
	for name, row := range map[string]struct {
		of     [2]pending.Place
		there  []*OpenWrite
		beside []string
	}{
		"alone":                           {of: [2]pending.Place{btcPlace}},
		"in one market":                   {of: [2]pending.Place{btcPlace}, there: []*OpenWrite{placed("a", btcPlace)}, beside: []string{"a"}},
		"in otherPlace markets":           {of: [2]pending.Place{btcPlace}, there: []*OpenWrite{placed("a", ethPlace), placed("b", otherPlace), placed("c", paperPlace)}},
		"two that rest in one market":     {of: [2]pending.Place{btcPlace, accountPlace}, there: []*OpenWrite{placed("a", btcPlace, accountPlace)}, beside: []string{"a"}},
		"two that rest in two markets":    {of: [2]pending.Place{btcPlace, accountPlace}, there: []*OpenWrite{placed("a", ethPlace, accountPlace)}, beside: []string{"a"}},
		"one that rests beside an order":  {of: [2]pending.Place{btcPlace, accountPlace}, there: []*OpenWrite{placed("a", btcPlace), placed("b", ethPlace)}, beside: []string{"a"}},
		"an order beside one that rests":  {of: [2]pending.Place{btcPlace}, there: []*OpenWrite{placed("a", btcPlace, accountPlace), placed("b", ethPlace, accountPlace)}, beside: []string{"a"}},
		"one that rests without a market": {of: [2]pending.Place{accountPlace, accountPlace}, there: []*OpenWrite{placed("a", accountPlace, accountPlace), placed("b", btcPlace, accountPlace)}, beside: []string{"a", "b"}},
		"the accountPlace comes first":    {of: [2]pending.Place{accountPlace, btcPlace}, there: []*OpenWrite{placed("a", btcPlace, accountPlace)}, beside: []string{"a"}},
		"only the second place counts":    {of: [2]pending.Place{noPlace, btcPlace}, there: []*OpenWrite{placed("a", btcPlace), placed("b", noPlace, btcPlace)}, beside: []string{"a", "b"}},
		"in a market that is not known":   {of: [2]pending.Place{anyPlace, accountPlace}, there: []*OpenWrite{placed("a", btcPlace), placed("b", ethPlace, accountPlace), placed("c", otherPlace), placed("d", paperPlace)}, beside: []string{"a", "b"}},
		"beside one of any market":        {of: [2]pending.Place{btcPlace}, there: []*OpenWrite{placed("a", anyPlace, accountPlace), placed("b", ethPlace)}, beside: []string{"a"}},
		"noPlace":                         {there: []*OpenWrite{placed("a"), placed("b", btcPlace)}},
	} {
		t.Run(name, func(t *testing.T) {
			var r registry
			e := placed("it", row.of[:]...)
			for _, there := range row.there {
				require.True(t, r.add(there))
				r.doubt(there)
			}
			for _, when := range []string{"before Add", "after it"} {
				assert.ElementsMatch(t, row.beside, idsOfWrites(r.doubtedBeside(e)), when)
				assert.Equal(t, len(row.beside) > 0, r.beside(e, mayHide), when)
				r.add(e)
				r.doubt(e)
			}
			for _, there := range row.there {
				assert.Equal(t, slices.Contains(row.beside, string(there.Intent.ID)), slices.Contains(idsOfWrites(r.doubtedBeside(there)), string(e.Intent.ID)), "%s has it beside", there.Intent.ID)
				r.remove(there)
			}
			assert.Empty(t, r.doubtedBeside(e))
			assert.False(t, r.beside(e, mayHide))
		})
	}
}

func TestEntriesInDoubtAreOldestFirst(t *testing.T) {
	var r registry
	assert.Nil(t, r.doubtedIn(btcPlace))
	var added []*OpenWrite
	for i := range 12 {
		e := placed(fmt.Sprint("write ", i), []pending.Place{btcPlace, ethPlace}[i%2], accountPlace)
		added = append(added, e)
		require.True(t, r.add(e))
	}
	assert.Empty(t, r.doubted())
	assert.Nil(t, r.doubtedIn(btcPlace))
	for _, i := range []int{9, 4, 2, 7} {
		r.doubt(added[i])
		r.doubt(added[i]) // again
	}
	assert.Equal(t, []string{"write 2", "write 4", "write 7", "write 9"}, idsOfWrites(r.doubted()))
	assert.Equal(t, []pending.IntentID{"write 2", "write 4"}, r.doubtedIn(btcPlace))
	assert.Equal(t, []pending.IntentID{"write 7", "write 9"}, r.doubtedIn(ethPlace))
	assert.Equal(t, []pending.IntentID{"write 2", "write 4", "write 7", "write 9"}, r.doubtedIn(accountPlace))
	assert.Nil(t, r.doubtedIn(paperPlace))

	r.clear(added[4])
	r.remove(added[7])
	assert.Equal(t, []string{"write 2", "write 9"}, idsOfWrites(r.doubted()))
	assert.Equal(t, []pending.IntentID{"write 2"}, r.doubtedIn(btcPlace))
	assert.Equal(t, []pending.IntentID{"write 9"}, r.doubtedIn(ethPlace))
}

func TestFindingEntries(t *testing.T) {
	var r registry
	assert.Nil(t, r.find("a"))
	first, second, plain := placed("a", btcPlace), placed("b", ethPlace), placed("c", btcPlace)
	first.Name, second.Name = "order 7", "order 7"
	assert.Nil(t, r.take(second))
	assert.Same(t, second, r.take(first), "a name has one taker")
	for _, e := range []*OpenWrite{second, first, plain} {
		require.True(t, r.add(e))
	}
	assert.Same(t, first, r.find("a"))

	r.remove(second)
	assert.Nil(t, r.find("b"))
	next := placed("d", btcPlace)
	next.Name = "order 7"
	assert.Same(t, first, r.take(next), "which came by Add behind the otherPlace")
	r.remove(first)
	assert.Nil(t, r.take(next))
	r.remove(next) // before Add
	assert.Nil(t, r.take(first))
}

func TestAnIdIsTakenUntilItsEntryIsRemoved(t *testing.T) {
	var r registry
	first, again := placed("a", btcPlace), placed("a", ethPlace)
	require.True(t, r.add(first))
	assert.False(t, r.add(first), "the same item")
	assert.False(t, r.add(again), "another one under its id")
	r.doubt(first)
	assert.Equal(t, []string{"a"}, idsOfWrites(r.doubtedBeside(placed("it", btcPlace))), "once")
	assert.Empty(t, r.doubtedBeside(placed("it", ethPlace)))

	r.doubt(again)
	r.remove(again) // which is not there
	assert.Len(t, r.doubted(), 1)
	assert.Same(t, first, r.find("a"))
	assert.True(t, r.beside(placed("it", btcPlace), mayHide))

	r.remove(first)
	r.remove(first) // again
	assert.Empty(t, r.doubtedBeside(placed("it", btcPlace)))
	assert.Nil(t, r.find("a"))
	assert.False(t, r.beside(placed("it", btcPlace), mayHide))
	assert.True(t, r.add(again))
	assert.Same(t, again, r.find("a"))
	assert.Empty(t, r.doubted(), "what was said of it before counts for nothing")
}

// What comes and goes beside each otherPlace leaves nothing.
func TestTheRegistryIsSharedByGoroutines(t *testing.T) {
	var r registry
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 50 {
				e := placed(fmt.Sprint(g, " ", i), btcPlace, accountPlace)
				assert.True(t, r.add(e))
				r.doubt(e)
				assert.Contains(t, r.doubtedIn(btcPlace), e.Intent.ID)
				assert.NotContains(t, idsOfWrites(r.doubtedBeside(e)), e.Intent.ID)
				r.remove(e)
			}
		})
	}
	group.Wait()
	assert.Empty(t, r.doubted())
	assert.Nil(t, r.doubtedIn(btcPlace))
	assert.False(t, r.beside(placed("it", btcPlace, accountPlace), mayHide))
}

// A program that leaves the market says so by its context.
func TestExiting(t *testing.T) {
	assert.False(t, IsExiting(t.Context()))
	ctx, cancel := context.WithCancel(Exiting(t.Context()))
	defer cancel()
	assert.True(t, IsExiting(ctx))
}

// What is open is told apart by whether it is in doubt, oldest first.
func TestOpen(t *testing.T) {
	var r registry
	for _, e := range []*OpenWrite{placed("a", btcPlace), placed("b", btcPlace), placed("c", ethPlace), placed("d", ethPlace)} {
		require.True(t, r.add(e))
		if e.Intent.ID == "b" || e.Intent.ID == "d" {
			r.doubt(e)
		}
	}
	doubted, sent := r.open()
	assert.Equal(t, []string{"b", "d"}, idsOfWrites(doubted))
	assert.Equal(t, []string{"a", "c"}, idsOfWrites(sent))
}
