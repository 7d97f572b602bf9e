package backtest

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

func TestExtremesAreInOrder(t *testing.T) {
	for _, c := range []struct {
		seen, want []int64
	}{
		{[]int64{100}, nil},
		{[]int64{100, 100, 100}, nil},
		{[]int64{100, 99, 98, 101}, []int64{98, 101}},
		{[]int64{100, 101, 99, 103, 102, 98, 104}, []int64{101, 99, 103, 98, 104}},
		{[]int64{100, 105, 95, 100, 96, 104}, []int64{105, 95}},
	} {
		var e extremes
		for _, v := range c.seen {
			e.see(decimal.NewFromInt(v))
		}
		var got []int64
		for _, d := range e.list {
			got = append(got, d.IntPart())
		}
		require.Equal(t, c.want, got, "%v", c.seen)
	}
}

// A day's lows and highs are those of its room, begin with the day before's end, and are known of
// every day, traded or not.
func TestDaysHaveTheirExtremes(t *testing.T) {
	skipUnderRace(t)
	data, err := Walk(WalkOptions{Symbol: "BTC", Seed: 5, Length: 4 * day, StepBps: 5})
	require.NoError(t, err)
	r := Run(t, trader("", order("long", "0.5"), wait, wait), Config{Data: data, Account: Account{DailyFloor: FixedFloor, DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "10000000"}, To: walkOrigin.Add(3 * day)})
	p := r.Worse()
	require.Len(t, p.Days, 3)
	begin := p.DayOpening.Decimal
	require.True(t, p.DayFlat)
	require.True(t, p.DayBalance.Equal(begin))
	for _, d := range p.Days {
		low, high := begin, begin
		for _, e := range d.Extremes {
			require.False(t, e.GreaterThanOrEqual(low) && e.LessThanOrEqual(high), "%s is neither a low nor a high", e)
			low, high = decimal.Min(low, e), decimal.Max(high, e)
		}
		require.True(t, low.Sub(d.Floor).Equal(d.LowestRoom), "the lowest is %s, and the room above %s was %s", low, d.Floor, d.LowestRoom)
		require.True(t, d.Equity.Decimal.GreaterThanOrEqual(low) && d.Equity.Decimal.LessThanOrEqual(high))
		require.NotEmpty(t, d.Extremes)
		require.True(t, d.Traded)
		require.False(t, d.Flat)
		require.True(t, d.Largest.IsPositive())
		begin = d.Equity.Decimal
	}
	idle := Run(t, trader("", wait), Config{Data: data, To: walkOrigin.Add(2 * day)}).Worse()
	for _, d := range idle.Days {
		require.Equal(t, [2]bool{true, false}, [2]bool{d.Flat, d.Traded})
		require.Empty(t, d.Extremes)
		require.True(t, d.Largest.IsZero())
		require.True(t, d.Balance.Equal(decimal.NewFromInt(100_000)))
	}
}
