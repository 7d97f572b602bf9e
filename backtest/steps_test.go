package backtest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// TestStepsAreMinutes has numbers that were computed by hand.
func TestStepsAreMinutes(t *testing.T) {
	data := prices(t, "60000", "61000", "59000", "61000", "61000", "62000", "62000")
	bot := trader("", order(trading.Long, "1"), wait, wait, closing("100"), order(trading.Long, "2"), closing("50"))
	p := Run(t, bot, Config{Data: data, Frictions: Frictions{HalfSpread: "5"}}).Worse()
	amounts(t, p)
	s := p.Steps
	require.InDelta(t, 3000, s.Sum, 1e-6, "1000 - 2000 + 2000 + 2 × 1000")
	require.InDelta(t, 13e6, s.Squares, 1e-3)
	require.InDelta(t, 49e12, s.Fourths, 1)
	require.InDelta(t, 122_061, s.Largest, 1e-6, "with the spread that it was bought at")
	require.InDelta(t, p.Fees.Add(p.Took).InexactFloat64(), s.Costs, 1e-9)
	require.Equal(t, [2]int{1, 0}, [2]int{s.Trips, s.Brief})
}

// TestStepsOfCandles: a candle that was not drawn is a step, whatever its length, and so is one with
// straight lines inside. Where somebody looked, random paths have minutes.
func TestStepsOfCandles(t *testing.T) {
	skipUnderRace(t)
	data := candlesOf(t, "BTC", driftless(3, 24*3600, 1), 3600)
	hold := timetable("0.1", time.Hour, 19*time.Hour)                  // from opening to opening
	look := timetable("0.1", time.Hour+20*time.Minute, 2*time.Hour)    // from inside a candle
	flat := timetable("0.1", every(20, time.Hour, 30*time.Minute)...)  // half of the fills inside
	brief := timetable("0.1", every(20, time.Hour, 59*time.Minute)...) // nearly all of them
	squares := func(hours int) (sum float64) {
		for i := 1; i <= hours; i++ {
			f := data.series[0].feed(inside{}, nil)
			x := 0.1 * float64(f.rows[i+1].open-f.rows[i].open) / 100
			sum += x * x
		}
		return sum
	}
	for _, paths := range []CandlePaths{RandomPaths, FixedPaths} {
		p := Run(t, hold, Config{Data: data, Account: unbounded("100000"), CandlePaths: paths}).Worse()
		amounts(t, p)
		s := p.Steps
		if paths == FixedPaths {
			require.Less(t, s.number(), 19.0)
			require.InDelta(t, squares(18), s.Squares, 1e-6, "each candle from opening to opening")
		}
		require.Zero(t, s.Brief, "nothing happened inside a step")
	}
	p := Run(t, look, Config{Data: data, Account: unbounded("100000")}).Worse()
	amounts(t, p)
	require.Greater(t, p.Steps.number(), 8.0, "40 minutes")
	p = Run(t, look, Config{Data: data, Account: unbounded("100000"), CandlePaths: FixedPaths}).Worse()
	require.InDelta(t, math.Pow(p.Steps.Sum, 2), p.Steps.Squares, 1e-6, "one step")
	for _, bot := range []Bot{flat, brief} {
		r := Run(t, bot, Config{Data: data, Account: unbounded("100000"), CandlePaths: FixedPaths})
		require.Contains(t, r.Finding.Headline(), "these candles cannot show it")
	}
}

// TestStepsOfTwoMarkets: with straight lines a step is the longest candle of all markets.
func TestStepsOfTwoMarkets(t *testing.T) {
	data, err := Join(candlesOf(t, "BTC", driftless(3, 12*3600, 1), 900), candlesOf(t, "ETH", driftless(4, 12*3600, 1), 3600))
	require.NoError(t, err)
	c := Config{Data: data, Account: unbounded("100000"), CandlePaths: FixedPaths}
	p := Run(t, timetable("0.1", time.Hour, 9*time.Hour), c).Worse()
	amounts(t, p)
	require.LessOrEqual(t, p.Steps.number(), 8.0)
}

// TestAnAccountDecidedAtOnce: one whose balance is at the target or at a floor is refused, and one that
// its first order decides has a result.
func TestAnAccountDecidedAtOnce(t *testing.T) {
	data := prices(t, "60000", "61000", "59000", "61000", "61000")
	for want, a := range map[string]Account{
		"Config.Account.ProfitTarget is 110000; it must be greater than the balance, 120000": {Balance: "120000", DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "110000"},
		"GlobalLossFloor is 100000; it must be less than the balance, 100000":                {GlobalLossFloor: "100000"},
		"GlobalLossFloor is 100001; it must be less than the balance, 100000":                {DailyLossFloor: "100001"},
	} {
		_, err := run(t, trader(""), Config{Data: data, Account: a})
		require.ErrorContains(t, err, want)
	}
	r := Run(t, trader("", order(trading.Long, "1")), Config{Data: data, Account: Account{GlobalLossFloor: "99990"}})
	require.Equal(t, Failed, r.Verdict)
	require.Equal(t, r.From, r.Worse().Until, "the fee of its first order is all the room that there was")
}

// TestDaysThatCount: at weekends there are no prices, and the bot holds. The ratios are of the days whose
// end has a known equity, and say so.
func TestDaysThatCount(t *testing.T) {
	opening, list := days(repeat(30, 0.02, -0.01)...)
	want := byDay(opening, list, figure(0.1))
	for i := range list {
		if i%3 == 1 { // what the day lost is in the next
			list[i].Equity.Valid, list[i].Return = false, none("the equity is not known")
		}
	}
	got := byDay(opening, list, figure(0.1))
	require.Equal(t, "of the 40 of 60 days at whose end the equity is known", (&Path{Days: list}).DaysThatCount())
	require.Equal(t, text(want.cagr), text(got.cagr))
	returns, _ := returnsOf(list)
	require.Equal(t, text(figure(mean(returns)/deviation(returns)*math.Sqrt(365*40.0/60))), text(got.sharpe))
	skew, tail := spreadOfDays(list)
	require.Empty(t, skew.None()+tail.None())
}
