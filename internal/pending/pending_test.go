package pending_test

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

type (
	registry = pending.Registry[string]
	item     = pending.Item[string]
)

var (
	nowhere = pending.Place{}
	account = pending.Place{Environment: "live", Account: "acc_1"}
	btc     = pending.Place{Environment: "live", Account: "acc_1", Symbol: "BTC"}
	eth     = pending.Place{Environment: "live", Account: "acc_1", Symbol: "ETH"}
	some    = pending.Place{Environment: "live", Account: "acc_1", Symbol: pending.AnyMarket}
	other   = pending.Place{Environment: "live", Account: "acc_2", Symbol: "BTC"}
	paper   = pending.Place{Environment: "sandbox", Account: "acc_1", Symbol: "BTC"}
)

func at(id string, places ...pending.Place) *item {
	e := &item{ID: id, Write: "the write " + id}
	copy(e.Places[:], places)
	return e
}

// ids are those of items, in order.
func ids(items []*item) []string {
	found := make([]string, len(items))
	for i, e := range items {
		found[i] = e.ID
	}
	return found
}

func TestEntriesThatShowInOnePlace(t *testing.T) {
	for name, row := range map[string]struct {
		of     [2]pending.Place
		there  []*item
		beside []string
	}{
		"alone":                           {of: [2]pending.Place{btc}},
		"in one market":                   {of: [2]pending.Place{btc}, there: []*item{at("a", btc)}, beside: []string{"a"}},
		"in other markets":                {of: [2]pending.Place{btc}, there: []*item{at("a", eth), at("b", other), at("c", paper)}},
		"two that rest in one market":     {of: [2]pending.Place{btc, account}, there: []*item{at("a", btc, account)}, beside: []string{"a"}},
		"two that rest in two markets":    {of: [2]pending.Place{btc, account}, there: []*item{at("a", eth, account)}, beside: []string{"a"}},
		"one that rests beside an order":  {of: [2]pending.Place{btc, account}, there: []*item{at("a", btc), at("b", eth)}, beside: []string{"a"}},
		"an order beside one that rests":  {of: [2]pending.Place{btc}, there: []*item{at("a", btc, account), at("b", eth, account)}, beside: []string{"a"}},
		"one that rests without a market": {of: [2]pending.Place{account, account}, there: []*item{at("a", account, account), at("b", btc, account)}, beside: []string{"a", "b"}},
		"the account comes first":         {of: [2]pending.Place{account, btc}, there: []*item{at("a", btc, account)}, beside: []string{"a"}},
		"only the second place counts":    {of: [2]pending.Place{nowhere, btc}, there: []*item{at("a", btc), at("b", nowhere, btc)}, beside: []string{"a", "b"}},
		"in a market that is not known":   {of: [2]pending.Place{some, account}, there: []*item{at("a", btc), at("b", eth, account), at("c", other), at("d", paper)}, beside: []string{"a", "b"}},
		"beside one of any market":        {of: [2]pending.Place{btc}, there: []*item{at("a", some, account), at("b", eth)}, beside: []string{"a"}},
		"nowhere":                         {there: []*item{at("a"), at("b", btc)}},
	} {
		t.Run(name, func(t *testing.T) {
			var r registry
			e := at("it", row.of[:]...)
			for _, there := range row.there {
				require.True(t, r.Add(there))
				r.Doubt(there)
			}
			for _, when := range []string{"before Add", "after it"} {
				assert.ElementsMatch(t, row.beside, ids(r.DoubtedBeside(e)), when)
				assert.Equal(t, len(row.beside) > 0, r.Beside(e), when)
				r.Add(e)
				r.Doubt(e)
			}
			for _, there := range row.there {
				assert.Equal(t, slices.Contains(row.beside, there.ID), slices.Contains(ids(r.DoubtedBeside(there)), e.ID), "%s has it beside", there.ID)
				r.Remove(there)
			}
			assert.Empty(t, r.DoubtedBeside(e))
			assert.False(t, r.Beside(e))
		})
	}
}

func TestEntriesInDoubtAreOldestFirst(t *testing.T) {
	var r registry
	assert.Nil(t, r.DoubtedIn(btc))
	var added []*item
	for i := range 12 {
		e := at(fmt.Sprint("write ", i), []pending.Place{btc, eth}[i%2], account)
		added = append(added, e)
		require.True(t, r.Add(e))
	}
	assert.Empty(t, r.Doubted())
	assert.Nil(t, r.DoubtedIn(btc))
	for _, i := range []int{9, 4, 2, 7} {
		r.Doubt(added[i])
		r.Doubt(added[i]) // again
	}
	assert.Equal(t, []string{"write 2", "write 4", "write 7", "write 9"}, ids(r.Doubted()))
	assert.Equal(t, []string{"write 2", "write 4"}, r.DoubtedIn(btc))
	assert.Equal(t, []string{"write 7", "write 9"}, r.DoubtedIn(eth))
	assert.Equal(t, []string{"write 2", "write 4", "write 7", "write 9"}, r.DoubtedIn(account))
	assert.Nil(t, r.DoubtedIn(paper))

	r.Clear(added[4])
	r.Remove(added[7])
	assert.Equal(t, []string{"write 2", "write 9"}, ids(r.Doubted()))
	assert.Equal(t, []string{"write 2"}, r.DoubtedIn(btc))
	assert.Equal(t, []string{"write 9"}, r.DoubtedIn(eth))
}

func TestFindingEntries(t *testing.T) {
	var r registry
	assert.Nil(t, r.Find("a"))
	first, second, plain := at("a", btc), at("b", eth), at("c", btc)
	first.Name, second.Name = "order 7", "order 7"
	assert.Nil(t, r.Take(second))
	assert.Same(t, second, r.Take(first), "a name has one taker")
	for _, e := range []*item{second, first, plain} {
		require.True(t, r.Add(e))
	}
	assert.Same(t, first, r.Find("a"))
	assert.Equal(t, "the write c", r.Find("c").Write)

	r.Remove(second)
	assert.Nil(t, r.Find("b"))
	next := at("d", btc)
	next.Name = "order 7"
	assert.Same(t, first, r.Take(next), "which came by Add behind the other")
	r.Remove(first)
	assert.Nil(t, r.Take(next))
	r.Remove(next) // before Add
	assert.Nil(t, r.Take(first))
}

func TestAnIdIsTakenUntilItsEntryIsRemoved(t *testing.T) {
	var r registry
	first, again := at("a", btc), at("a", eth)
	require.True(t, r.Add(first))
	assert.False(t, r.Add(first), "the same item")
	assert.False(t, r.Add(again), "another one under its id")
	r.Doubt(first)
	assert.Equal(t, []string{"a"}, ids(r.DoubtedBeside(at("it", btc))), "once")
	assert.Empty(t, r.DoubtedBeside(at("it", eth)))

	r.Doubt(again)
	r.Remove(again) // which is not there
	assert.Len(t, r.Doubted(), 1)
	assert.Same(t, first, r.Find("a"))
	assert.True(t, r.Beside(at("it", btc)))

	r.Remove(first)
	r.Remove(first) // again
	assert.Empty(t, r.DoubtedBeside(at("it", btc)))
	assert.Nil(t, r.Find("a"))
	assert.False(t, r.Beside(at("it", btc)))
	assert.True(t, r.Add(again))
	assert.Same(t, again, r.Find("a"))
	assert.Empty(t, r.Doubted(), "what was said of it before counts for nothing")
}

// What comes and goes beside each other leaves nothing.
func TestTheRegistryIsSharedByGoroutines(t *testing.T) {
	var r registry
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 50 {
				e := at(fmt.Sprint(g, " ", i), btc, account)
				assert.True(t, r.Add(e))
				r.Doubt(e)
				assert.Contains(t, r.DoubtedIn(btc), e.ID)
				assert.NotContains(t, ids(r.DoubtedBeside(e)), e.ID)
				r.Remove(e)
			}
		})
	}
	group.Wait()
	assert.Empty(t, r.Doubted())
	assert.Nil(t, r.DoubtedIn(btc))
	assert.False(t, r.Beside(at("it", btc, account)))
}

// A program that leaves the market says so by its context.
func TestExiting(t *testing.T) {
	assert.False(t, pending.IsExiting(t.Context()))
	ctx, cancel := context.WithCancel(pending.Exiting(t.Context()))
	defer cancel()
	assert.True(t, pending.IsExiting(ctx))
}

// What is open is told apart by whether it is in doubt, oldest first.
func TestOpen(t *testing.T) {
	var r registry
	for _, e := range []*item{at("a", btc), at("b", btc), at("c", eth), at("d", eth)} {
		require.True(t, r.Add(e))
		if e.ID == "b" || e.ID == "d" {
			r.Doubt(e)
		}
	}
	doubted, sent := r.Open()
	assert.Equal(t, []string{"b", "d"}, ids(doubted))
	assert.Equal(t, []string{"a", "c"}, ids(sent))
}
