package quote

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
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
		price, size := r.Price.Sub(d.Price).Abs(), r.Size.Sub(d.Size).Abs()
		if taken[i] || r.Side != d.Side || !price.IsZero() && price.Cmp(least.Price) >= 0 || !size.IsZero() && size.Cmp(least.Size) >= 0 {
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
