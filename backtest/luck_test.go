package backtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// tripsOf are round trips of 10,000 dollars that gross a mean, each other one as much above it as
// the next is below, in basis points.
func tripsOf(n int, mean, spread float64) (list []RoundTrip) {
	for i := range n {
		gross := mean + spread*float64(1-2*(i%2))
		list = append(list, RoundTrip{Cost: decimal.NewFromInt(10_000), Gross: decimal.NewFromFloat(gross)})
	}
	return list
}

// TestFindingBounds: the bound grows with the attempts, and few round trips show nothing.
func TestFindingBounds(t *testing.T) {
	for _, c := range []struct {
		trips    []RoundTrip
		attempts int
		found    bool
	}{
		{tripsOf(400, 3, 20), 1, true}, // t of 3
		{tripsOf(400, 3, 20), 100, false},
		{tripsOf(400, 6, 20), 1_000_000, true},
		{tripsOf(400, 2, 20), 1, false},
		{tripsOf(400, -6, 20), 1, false},
		{tripsOf(28, 50, 1), 1, false},
		{tripsOf(30, 50, 1), 1, true},
	} {
		f := findingOf(c.trips, c.attempts)
		require.Equal(t, c.found, f.Found, "%d trips, %d attempts: %s", len(c.trips), c.attempts, f)
		require.Equal(t, c.found, strings.HasPrefix(f.String(), "an edge was found"))
	}
}

// TestFindingOfASweep takes the deflated Sharpe ratio, the probability of overfitting and the test.
func TestFindingOfASweep(t *testing.T) {
	for _, c := range []struct {
		deflated, overfitting, test float64
		found                       bool
	}{{0.96, 0.1, 0.02, true}, {0.94, 0.1, 0.02, false}, {0.96, 0.5, 0.02, false}, {0.96, 0.1, -0.01, false}} {
		r := &SweepResult{Tried: 200, Overfit: Overfit{Days: 120, DeflatedSharpe: figure(c.deflated), Overfitting: figure(c.overfitting)}, Best: []*Result{{Paths: []Path{{Return: figure(c.test), Continuous: Open}}}}}
		require.Equal(t, c.found, strings.HasPrefix(r.finding(), "an edge was found"), "%+v", c)
	}
}

// TestIntervals are known ones: Lo 2002 for a Sharpe ratio of 0.5 a day on 100 days, and Wilson for 8
// of 10.
func TestIntervals(t *testing.T) {
	in := sharpeInterval(figure(0.5*math.Sqrt(365)), 100)
	low, _ := in.Low.Value()
	high, _ := in.High.Value()
	require.InDelta(t, (0.5-1.959964*math.Sqrt(1.125)/10)*math.Sqrt(365), low, 1e-4)
	require.InDelta(t, (0.5+1.959964*math.Sqrt(1.125)/10)*math.Sqrt(365), high, 1e-4)
	require.Equal(t, "8 of 10 (49 % to 94 %)", wilson(8, 10).String())
	f := byTrip(tripsOf(8, 10, 0), 2)
	require.Equal(t, "0.80 (0.49 to 0.94)", f.winRate.String()+f.winRateIn.String(), "two that are open at a loss have lost")
}

// TestNobodyEarnsWithoutAnEdge is a set of attempts of its own: strategies that look inside candles,
// between marks and at the hours, on markets without an edge.
func TestNobodyEarnsWithoutAnEdge(t *testing.T) {
	skipUnderRace(t)
	markets := []struct {
		name string
		look time.Duration
		data func(seed uint64) *Data
	}{
		{"minutes", 5 * time.Second, func(seed uint64) *Data { return candlesOf(t, "BTC", driftless(seed, 6*3600, 2), 60) }},
		{"quarters", 30 * time.Second, func(seed uint64) *Data { return candlesOf(t, "BTC", driftless(seed, 36*3600, 2), 900) }},
		{"marks", 10 * time.Second, func(seed uint64) *Data { return marksOf(t, "BTC", driftless(seed, 12*3600, 2), 5) }},
	}
	for i, s := range []struct {
		name   string
		decide func() func(float64) int
	}{
		{"a break of the last hundred looks", breaks(100, 1)},
		{"the other way at a break of twenty", breaks(20, -1)},
		{"after a jump", jumps(1)},
		{"against a jump", jumps(-1)},
		{"twice as far from the mean as usual", distance},
	} {
		for k, m := range markets {
			t.Run(s.name+"/"+m.name, func(t *testing.T) {
				bot := func(ctx context.Context, client *trading.Client) error {
					return holder("BTC", m.look, "0.1", s.decide())(ctx, client)
				}
				r := Run(t, bot, Config{Data: m.data(uint64(100 + 3*i + k)), Account: unbounded("100000")})
				bps, tt := grossOf(r.Worse())
				t.Logf("%d trips, gross %.2f bp a trip, t %.1f", len(r.Worse().Trips), bps, tt)
				require.NotEmpty(t, r.Worse().Trips)
				require.False(t, math.Abs(tt) >= 4.8, fmt.Sprint(tt))
				require.False(t, r.Finding.Found, r.Finding.String())
				v, _ := r.Worse().Return.Value()
				require.LessOrEqual(t, v, 0.01)
			})
		}
	}
}

// breaks goes with the side, or against it, on which the last n prices were left.
func breaks(n, way int) func() func(float64) int {
	return func() func(float64) int {
		var seen []float64
		held := 0
		return func(p float64) int {
			if len(seen) == n {
				low, high := seen[0], seen[0]
				for _, v := range seen {
					low, high = min(low, v), max(high, v)
				}
				switch {
				case p > high:
					held = way
				case p < low:
					held = -way
				}
				seen = seen[1:]
			}
			seen = append(seen, p)
			return held
		}
	}
}

// jumps is in for three looks after a move of three usual ones.
func jumps(way int) func() func(float64) int {
	return func() func(float64) int {
		last, usual, left, held := 0.0, 0.0, 0, 0
		return func(p float64) int {
			if last > 0 {
				move := math.Log(p / last)
				if left--; left <= 0 {
					held = 0
				}
				if usual > 0 && math.Abs(move) > 2.5*usual {
					held, left = way, 3
					if move < 0 {
						held = -way
					}
				}
				usual += (math.Abs(move) - usual) / 50
			}
			last = p
			return held
		}
	}
}

// distance comes back to the mean of forty looks.
func distance() func(float64) int {
	m, v, n := 0.0, 0.0, 0
	return func(p float64) int {
		if n++; n == 1 {
			m = p
		}
		d := p - m
		m += d / 40
		v += (d*d - v) / 40
		switch {
		case n < 40:
			return 0
		case d > 2*math.Sqrt(v):
			return -1
		case d < -2*math.Sqrt(v):
			return 1
		}
		return 0
	}
}
