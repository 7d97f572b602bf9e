package odds

import (
	"flag"
	"math"
	"math/rand/v2"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// full makes the tests of the statistics as large as docs/odds.md states them: minutes.
var full = flag.Bool("odds.full", false, "measure coverage and calibration in full")

// process draws the profits of so many days.
type process func(r *rand.Rand, n int) []float64

// independent days are normal, with a mean and a deviation.
func independent(mean, deviation float64) process {
	return func(r *rand.Rand, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = mean + float64(deviation*r.NormFloat64())
		}
		return x
	}
}

// remembering days have a correlation of 0.3 with the day before.
func remembering(mean, deviation float64) process {
	return func(r *rand.Rand, n int) []float64 {
		x, e := make([]float64, n), r.NormFloat64()
		for i := range x {
			e = float64(0.3*e) + float64(math.Sqrt(1-0.09)*r.NormFloat64())
			x[i] = mean + float64(deviation*e)
		}
		return x
	}
}

// fatTailed days have Student's distribution with 4 degrees of freedom.
func fatTailed(mean, deviation float64) process {
	return func(r *rand.Rand, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			g := 0.0
			for range 4 {
				z := r.NormFloat64()
				g += z * z
			}
			x[i] = mean + float64(deviation*r.NormFloat64()/math.Sqrt(g/2))
		}
		return x
	}
}

// The account of the tests of statistics: in per cent, 5 down and 10 up, judged at day's end.
const (
	testFloor, testTarget = 95_000.0, 110_000.0
	testHorizon           = 60
)

// lives is what becomes of an account on some days: 1 passed, -1 lost.
func lives(profits []float64) int {
	equity := 100_000.0
	for _, p := range profits {
		equity += p
		if equity <= testFloor {
			return -1
		}
		if equity >= testTarget {
			return 1
		}
	}
	return 0
}

// truth is how likely the account passes within the horizon, by running it.
func truth(p process, accounts int) float64 {
	r, n := rand.New(rand.NewPCG(7, 7)), 0
	for range accounts {
		if lives(p(r, testHorizon)) == 1 {
			n++
		}
	}
	return float64(n) / float64(accounts)
}

// simple are the account's rules.
func simple() rule {
	return rule{scale: 1, reading: fixed, anchor: fixed, start: 100_000, origin: 100_000, global: testFloor, daily: math.Inf(-1), target: testTarget}
}

// seriesOf are days that are judged at their end.
func seriesOf(profits []float64) *series {
	s := &series{}
	for _, p := range profits {
		s.append(p, []float64{p})
	}
	return s
}

func (s *series) append(end float64, extremes []float64) {
	d := day{end: end, low: min(0, end), high: max(0, end), from: int32(len(s.extremes)), traded: true}
	for _, x := range extremes {
		if x < d.low || x > d.high || x == end {
			s.extremes = append(s.extremes, x)
			d.low, d.high = min(d.low, x), max(d.high, x)
		}
	}
	d.to = int32(len(s.extremes))
	s.dates, s.flat = append(s.dates, []int32{int32(len(s.days))}), append(s.flat, true)
	s.days = append(s.days, d)
}

// engineOf forecasts the account from a history.
func engineOf(profits []float64, outer, inner int, seed uint64) engine {
	s := seriesOf(profits)
	s.cut(blockLength(profits))
	return engine{series: s, phases: [][]rule{{simple()}}, days: testHorizon, outer: outer, inner: inner, seed: seed}
}

// historyOf is a history of an account of 100,000 that was flat at each midnight.
func historyOf(profits []float64) History {
	h := History{Accounts: []Source{{Name: "acc_1", End: "failed", Opening: decimal.NewFromInt(100_000), Days: len(profits)}}}
	equity, date := decimal.NewFromInt(100_000), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, p := range profits {
		begin := equity
		equity = equity.Add(decimal.NewFromFloat(p).Round(2))
		h.Days = append(h.Days, Day{
			Date: date.Add(time.Duration(i) * aDay), Traded: true, Largest: decimal.NewFromInt(50_000),
			Begin: Midnight{begin, begin, true}, End: Midnight{equity, equity, true},
		})
	}
	return h
}

func dollars(text string) trading.Opt[decimal.Decimal] { return trading.Some(trading.Dec(text)) }

// challenge are the rules of an account with all floors.
func challenge() Rules {
	return Rules{
		Opening:    trading.Dec("100000"),
		DailyFloor: dollars("95000"), GlobalFloor: dollars("90000"), Target: dollars("110000"),
	}
}
