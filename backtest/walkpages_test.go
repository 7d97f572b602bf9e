package backtest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

// A page has the marks that the walk has, whatever is asked for first.
func TestWalkPages(t *testing.T) {
	data, err := Walk(WalkOptions{Seed: 3, StepBps: 5})
	require.NoError(t, err)
	s := data.series[0]
	one, other := s.feed(inside{}, nil), data.mirrored().series[0].feed(inside{}, nil)
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		since := time.Duration(dice.Int64N(int64(20 * 24 * time.Hour)))
		want, _, _ := s.walk.Units(walkOrigin.Add(since))
		got, ok := one.units(s.from.Add(since).UnixNano())
		require.True(t, ok)
		require.Equal(t, want, got)
		turned, _ := other.units(s.from.Add(since).UnixNano())
		require.InEpsilon(t, 6_400_000.0*6_400_000, float64(got)*float64(turned), 1e-3)
	}
	_, ok := one.units(s.from.UnixNano() - 1)
	require.False(t, ok)
}

// TestWithin holds the quick bounds of the mark against the value of what is held, at each second.
func TestWithin(t *testing.T) {
	data, err := Walk(WalkOptions{Seed: 4, StepBps: 5, Length: time.Hour})
	require.NoError(t, err)
	s := data.series[0]
	dice := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		size := decimal.New(dice.Int64N(3_000_000)+1, -6)
		if dice.IntN(2) == 0 {
			size = size.Neg()
		}
		from := s.from.Add(time.Duration(dice.IntN(3000)) * time.Second)
		b := book{markets: map[string]*holding{"BTC": {size: size, cost: size.Mul(decimal.NewFromInt(64_000)), feed: s.feed(inside{}, nil)}}, order: []string{"BTC"}}
		here, _, _ := b.value(from)
		low, high := here.Sub(decimal.New(dice.Int64N(40_000), -2)), here.Add(decimal.New(dice.Int64N(40_000), -2))
		want := time.Duration(0)
		for at := from.Add(time.Second); !at.After(s.to); at = at.Add(time.Second) {
			value, _, _ := b.value(at)
			if !value.GreaterThan(low) || !value.LessThan(high) {
				break
			}
			want += time.Second
		}
		require.Equal(t, want, b.within(low, high, from, s.to))
	}
}
