package backtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// days have the given returns, from an equity of 100000.
func days(returns ...float64) (opening decimal.NullDecimal, list []Day) {
	equity := decimal.NewFromInt(100_000)
	opening = decimal.NewNullDecimal(equity)
	for i, r := range returns {
		equity = equity.Mul(decimal.NewFromFloat(1 + r))
		list = append(list, Day{
			Date: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), Equity: decimal.NewNullDecimal(equity), Return: figure(r),
		})
	}
	return opening, list
}

func repeat(n int, returns ...float64) (list []float64) {
	for range n {
		list = append(list, returns...)
	}
	return list
}

func text(f Figure) string {
	if v, ok := f.Value(); ok {
		return fmt.Sprintf("%.6f", v)
	}
	return f.None()
}

// TestFiguresByDay has numbers that were computed by hand.
func TestFiguresByDay(t *testing.T) {
	fall := figure(0.1)
	for _, c := range []struct {
		name                          string
		returns                       []float64
		sharpe, sortino, cagr, calmar string
	}{
		{"29 days", repeat(29, 0.01), "too short to quote: 29 complete days of 30", "too short to quote: 29 complete days of 30", "too short to quote: 29 complete days of 30", "too short to quote: 29 complete days of 30"},
		// mean 0.005, deviation √(30·0.015²/29), downside √(15·0.01²/30).
		{"pairs", repeat(15, 0.02, -0.01), "6.261286", "13.509256", "4.928630", "49.286302"},
		{"every day the same", repeat(30, 0.01), "no two days differ", "no day lost", "36.783434", "367.834343"},
		{"nothing", repeat(30, 0), "no two days differ", "no day lost", "0.000000", "0.000000"},
		{"all lost", append(repeat(29, 0), -1), "-3.488075", "-3.488075", "the equity is not greater than 0", "the equity is not greater than 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			opening, list := days(c.returns...)
			a := byDay(opening, list, fall)
			require.Equal(t, []string{c.sharpe, c.sortino, c.cagr, c.calmar}, []string{text(a.sharpe), text(a.sortino), text(a.cagr), text(a.calmar)})
		})
	}
	opening, list := days(repeat(30, 0.01)...)
	require.Equal(t, "the equity never fell", byDay(opening, list, figure(0)).calmar.None())
	list[3].Return = none("the equity is not known")
	require.Equal(t, "too short to quote: 30 complete days (29 with a known equity) of 30", byDay(opening, list, fall).sharpe.None())
}

func trips(nets ...string) (list []RoundTrip) {
	for _, n := range nets {
		list = append(list, RoundTrip{Gross: decimal.RequireFromString(n).Add(decimal.NewFromInt(1)), Fees: decimal.NewFromInt(1)})
	}
	return list
}

func TestFiguresByTrip(t *testing.T) {
	for _, c := range []struct {
		name                                   string
		trips                                  []RoundTrip
		profitFactor, expectancy, winRate, sqn string
	}{
		{"none", nil, "no round trip", "no round trip", "no round trip", "no round trip"},
		{"one", trips("5"), "no round trip lost", "5.000000", "1.000000", "fewer than two round trips"},
		{"the same", trips("5", "5"), "no round trip lost", "5.000000", "1.000000", "no two round trips differ"},
		{"lost", trips("-5", "-7"), "0.000000", "-6.000000", "0.000000", "-6.000000"},
		// mean 2.5, deviation √(425/3).
		{"four", trips("10", "-5", "15", "-10"), "1.666667", "2.500000", "0.500000", "0.420084"},
		{"even", trips("0", "1"), "no round trip lost", "0.500000", "0.500000", "1.000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := byTrip(c.trips, 0)
			require.Equal(t, []string{c.profitFactor, c.expectancy, c.winRate, c.sqn}, []string{text(f.profitFactor), text(f.expectancy), text(f.winRate), text(f.sqn)})
		})
	}
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		count, of int
		want      string
	}{
		{0, 0, "none of none"},
		{0, 10, "0 of 10 (0 % to 28 %)"},
		{10, 10, "10 of 10 (72 % to 100 %)"},
		{5, 10, "5 of 10 (24 % to 76 %)"},
		{81, 263, "81 of 263 (26 % to 37 %)"},
	} {
		require.Equal(t, c.want, wilson(c.count, c.of).String())
	}
}

func TestFigureAsText(t *testing.T) {
	for _, f := range []Figure{figure(0), figure(-1.0 / 3), figure(1e300), none("no round trip")} {
		written, err := f.MarshalText()
		require.NoError(t, err)
		var read Figure
		require.NoError(t, read.UnmarshalText(written))
		require.Equal(t, f, read)
	}
	require.Error(t, new(Figure).UnmarshalText([]byte("x")))
	zero := 0.0
	require.Equal(t, "not a number", figure(1/zero).None())
}

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

// TestShape has numbers that were computed by hand.
func TestShape(t *testing.T) {
	start := time.Unix(fooledStart, 0)
	trip := func(net int64, opened, closed int) RoundTrip {
		return RoundTrip{Gross: decimal.NewFromInt(net), Opened: start.Add(time.Duration(opened) * time.Minute), Closed: start.Add(time.Duration(closed) * time.Minute)}
	}
	// In the order of their ends: won, won, lost, lost, lost, won. A net of 0 did not win.
	trips := []RoundTrip{trip(5, 0, 1), trip(-1, 1, 4), trip(7, 1, 3), trip(0, 4, 9), trip(-3, 9, 10), trip(2, 10, 40)}
	// The equity falls from 110 to 99 and is below for two days, then from 124.74 to half.
	opening, list := days(0.1, -0.1, 0.05, 0.2, -0.5)
	s := shapeOf(trips, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []int{2, 3}, []int{s.WinStreak, s.LossStreak})
	require.Equal(t, []time.Duration{time.Minute, 3 * time.Minute, 30 * time.Minute}, []time.Duration{s.Shortest, s.Median, s.Longest})
	require.Equal(t, []string{"0.300000", "1.500000"}, []string{text(s.MeanFall), text(s.MeanFallDays)})
	require.Equal(t, 2, s.Falls)
	require.Equal(t, "too short to quote: 5 complete days of 30", text(s.Tail))

	opening, list = days(append(repeat(29, 0), -1)...)
	s = shapeOf(nil, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []string{"-4.941675", "-0.500000", "1.000000"}, []string{text(s.Skew), text(s.Tail), text(s.MeanFall)})
	require.Zero(t, s.Longest)
	opening, list = days(repeat(30, 0.01)...)
	s = shapeOf(nil, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []string{"no two days differ", "0.010000", "no day ended below a peak"}, []string{text(s.Skew), text(s.Tail), text(s.MeanFall)})
	list[4].Equity.Valid, list[4].Return = false, none("unknown")
	s = shapeOf(nil, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []string{"too short to quote: 30 complete days (29 with a known equity) of 30", "no day ended below a peak"}, []string{text(s.Skew), text(s.MeanFall)})
}

// TestDeflatedSharpeOfAttempts holds a run by itself against the formula, computed elsewhere: the more
// attempts there were, the less it is worth.
func TestDeflatedSharpeOfAttempts(t *testing.T) {
	_, list := days(repeat(15, 0.02, -0.01)...)
	end := list[len(list)-1].Date.Add(day)
	r := &Result{To: end, Paths: []Path{{Days: list, Until: end}}}
	for attempts, want := range map[int]string{0: "0.961339", 1: "0.961339", 10: "0.575523"} {
		require.Equal(t, want, text(overfitOfOne(r, attempts).DeflatedSharpe))
	}
	require.Equal(t, "it takes a sweep over variants", text(overfitOfOne(r, 1).Overfitting))
	r.Paths[0].Days = list[:19]
	r.Paths[0].Until, r.To = end, end
	require.Equal(t, "too short: 19 complete days of 20", text(overfitOfOne(r, 1).DeflatedSharpe))
}

// TestLeverageAndTrades: what is held as a multiple of the equity, at its largest, and the list of
// trades in both forms.
func TestLeverageAndTrades(t *testing.T) {
	data := prices(t, "60000", "61000", "59000", "61000", "61000")
	r := Run(t, trader("", order(trading.Long, "1"), wait, wait, closing("100")), Config{Data: data})
	p := r.Worse()
	// 61000 ÷ (100000 - 27 of fees + 1000).
	require.Equal(t, "0.604122", text(p.Leverage.Most))
	require.Equal(t, "2026-01-01T00:01:00Z", p.Leverage.At.Format(time.RFC3339))
	require.Equal(t, "0.604122", text(p.Curve[len(p.Curve)/4].Leverage))
	require.Equal(t, "0.000000", text(p.Curve[len(p.Curve)-1].Leverage), "flat")
	require.Equal(t, []string{"-1000", "1000"}, []string{p.Trips[0].MAE().String(), p.Trips[0].MFE().String()})

	var b strings.Builder
	require.NoError(t, r.WriteTradesJSON(&b))
	var list []map[string]string
	require.NoError(t, json.Unmarshal([]byte(b.String()), &list))
	require.Len(t, list, 1)
	require.Equal(t, "-1000", list[0]["mae"])
	require.Equal(t, "945.55", list[0]["net"])
	var table strings.Builder
	require.NoError(t, r.WriteTrades(&table))
	require.Equal(t, len(list[0]), strings.Count(strings.Split(table.String(), "\n")[0], ",")+1)

	short := RoundTrip{Side: "short", Size: decimal.NewFromInt(2), Cost: decimal.NewFromInt(200), WorstPrice: decimal.NewFromInt(101), BestPrice: decimal.NewFromInt(90)}
	require.Equal(t, []string{"-2", "20"}, []string{short.MAE().String(), short.MFE().String()})
	short.BestPrice = decimal.NewFromInt(100)
	short.WorstPrice = decimal.NewFromInt(99) // it never lost
	require.Equal(t, []string{"0", "0"}, []string{short.MAE().String(), short.MFE().String()})
}
