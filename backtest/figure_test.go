package backtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
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
	require.Equal(t, "the equity at the end of a day is not known", byDay(opening, list, fall).sharpe.None())
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
