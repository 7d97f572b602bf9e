package quote

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func at(side trading.Side, price, size int64) Quote {
	return Quote{side, decimal.NewFromInt(price), decimal.NewFromInt(size)}
}

func resting(quotes ...Quote) (list []Resting) {
	for i, q := range quotes {
		list = append(list, Resting{trading.OrderID(fmt.Sprintf("ord_%d", i)), q})
	}
	return list
}

func TestDiff(t *testing.T) {
	const buy, sell = trading.Long, trading.Short
	ten := Change{Price: decimal.NewFromInt(10), Size: decimal.NewFromInt(2)}
	for name, row := range map[string]struct {
		desired       []Quote
		resting       []Resting
		least         Change
		cancel, place int
	}{
		"nothing":                    {},
		"all new":                    {desired: []Quote{at(buy, 90, 1), at(sell, 110, 1)}, place: 2},
		"all gone":                   {resting: resting(at(buy, 90, 1), at(sell, 110, 1)), cancel: 2},
		"it rests":                   {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(buy, 90, 1))},
		"the other side":             {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(sell, 90, 1)), cancel: 1, place: 1},
		"another price":              {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(buy, 91, 1)), cancel: 1, place: 1},
		"nearly the price":           {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(buy, 99, 1)), least: ten},
		"as much as has to change":   {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(buy, 100, 1)), least: ten, cancel: 1, place: 1},
		"another size":               {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(buy, 90, 3)), least: ten, cancel: 1, place: 1},
		"nearly the size":            {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(buy, 90, 2)), least: ten},
		"two equal quotes":           {desired: []Quote{at(buy, 90, 1), at(buy, 90, 1)}, resting: resting(at(buy, 90, 1)), place: 1},
		"two equal orders":           {desired: []Quote{at(buy, 90, 1)}, resting: resting(at(buy, 90, 1), at(buy, 90, 1)), cancel: 1},
		"one order for either quote": {desired: []Quote{at(buy, 90, 1), at(buy, 99, 1)}, resting: resting(at(buy, 94, 1), at(buy, 82, 1)), least: ten},
	} {
		t.Run(name, func(t *testing.T) {
			p := Diff(row.desired, row.resting, row.least)
			assert.Len(t, p.Cancel, row.cancel)
			assert.Len(t, p.Place, row.place)
			assert.Len(t, p.Keep, len(row.resting)-row.cancel)
		})
	}
}

// drawn is a difference by chance, with few prices and sizes, so that much is alike.
func drawn(dice *rand.Rand, most int) (desired []Quote, rests []Resting, least Change) {
	side := func() trading.Side {
		if dice.IntN(2) == 0 {
			return trading.Long
		}
		return trading.Short
	}
	quote := func() Quote { return at(side(), 100+dice.Int64N(6), 1+dice.Int64N(3)) }
	for range dice.IntN(most + 1) {
		desired = append(desired, quote())
	}
	var quotes []Quote
	for range dice.IntN(most + 1) {
		quotes = append(quotes, quote())
	}
	return desired, resting(quotes...), Change{Price: decimal.NewFromInt(dice.Int64N(4)), Size: decimal.NewFromInt(dice.Int64N(3))}
}

// most is the largest number of quotes that orders can serve, by trying all.
func most(desired []Quote, rests []Resting, taken []bool, least Change) int {
	if len(desired) == 0 {
		return 0
	}
	best := most(desired[1:], rests, taken, least)
	for i, r := range rests {
		d := desired[0]
		if taken[i] || r.Side != d.Side || !near(r.Price, d.Price, least.Price) || !near(r.Size, d.Size, least.Size) {
			continue
		}
		taken[i] = true
		best = max(best, 1+most(desired[1:], rests, taken, least))
		taken[i] = false
	}
	return best
}

// No difference needs fewer writes, and once it is carried out there is none.
func TestDiffIsTheFewestAndIdempotent(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	writes := 0
	for range 4_000 {
		desired, rests, least := drawn(dice, 5)
		p := Diff(desired, rests, least)
		served := most(desired, rests, make([]bool, len(rests)), least)
		require.Len(t, p.Place, len(desired)-served, "%v %v %v", desired, rests, least)
		require.Len(t, p.Cancel, len(rests)-served, "%v %v %v", desired, rests, least)
		ids := map[trading.OrderID]bool{}
		for _, r := range slices.Concat(p.Cancel, p.Keep) {
			ids[r.ID] = true
		}
		require.Len(t, ids, len(rests), "each is kept or cancelled, and once")
		writes += len(p.Place) + len(p.Cancel)

		after := append([]Resting(nil), p.Keep...)
		for i, q := range p.Place {
			after = append(after, Resting{trading.OrderID(fmt.Sprintf("new_%d", i)), q})
		}
		again := Diff(desired, after, least)
		require.Empty(t, again.Cancel, "%v %v", desired, after)
		require.Empty(t, again.Place, "%v %v", desired, after)
		require.Len(t, again.Keep, len(desired))
	}
	require.Positive(t, writes)
}

func BenchmarkDiff(b *testing.B) {
	dice := rand.New(rand.NewPCG(5, 6))
	desired, rests, least := drawn(dice, 200)
	for b.Loop() {
		Diff(desired, rests, least)
	}
}
