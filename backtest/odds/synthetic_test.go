package odds

import (
	"flag"
	"math"
	"math/rand/v2"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// full makes the tests of the statistics as large as docs/odds-reference.md states them: minutes.
var full = flag.Bool("odds.full", false, "measure calibration, widths and sizes in full")

// histories are how many histories each cell of the coverage has.
var histories = flag.Int("odds.histories", 0, "measure the coverage of the intervals, on so many histories of each process, length and account")

// paths are how many paths each resampled history of them has.
var paths = flag.Int("odds.paths", 500, "how many paths each of the 200 resampled histories has, for -odds.histories")

// process draws the profits of so many days.
type process func(r *rand.Rand, n int) []float64

// shocks make a process of days without memory, whose deviation is 1, or of what is handed on from day to
// day.
type shocks func(r *rand.Rand) func() float64

// of has a mean and a deviation.
func (s shocks) of(mean, deviation float64) process {
	return func(r *rand.Rand, n int) []float64 {
		x, next := make([]float64, n), s(r)
		for i := range x {
			x[i] = mean + float64(deviation*next())
		}
		return x
	}
}

func normal(r *rand.Rand) func() float64 { return r.NormFloat64 }

// independent days are normal, with a mean and a deviation.
func independent(mean, deviation float64) process { return shocks(normal).of(mean, deviation) }

// student has fat tails: two to four degrees of freedom, and a deviation of 1 where there is one.
func student(freedom float64) shocks {
	return func(r *rand.Rand) func() float64 {
		return func() float64 {
			g := 0.0 // a gamma of half the freedom: halves from squares, and quarters from a beta
			for range int(freedom) {
				z := r.NormFloat64()
				g += z * z
			}
			if half := freedom - math.Floor(freedom); half > 0 {
				z := r.NormFloat64()
				g += z * z * betaQuarter(r)
			}
			return r.NormFloat64() / math.Sqrt(g/freedom) * math.Sqrt((freedom-2)/freedom)
		}
	}
}

// betaQuarter makes a gamma of a quarter of one of a half.
func betaQuarter(r *rand.Rand) float64 {
	for { // Jöhnk's, of two quarters
		u, v := math.Pow(r.Float64(), 4), math.Pow(r.Float64(), 4)
		if u+v <= 1 && u+v > 0 {
			return u / (u + v)
		}
	}
}

// remembering days have a correlation with the day before.
func remembering(correlation float64, shock shocks) shocks {
	return func(r *rand.Rand) func() float64 {
		next := shock(r)
		e := next()
		return func() float64 {
			e = float64(correlation*e) + float64(math.Sqrt(1-correlation*correlation)*next())
			return e
		}
	}
}

// garch has a volatility that lasts: a tenth of it is the last day's, and of the rest so much stays.
func garch(lasting float64) shocks {
	const alpha = 0.1
	return func(r *rand.Rand) func() float64 {
		v, x := 1.0, 0.0
		next := func() float64 {
			v = (1 - lasting) + alpha*x*x + (lasting-alpha)*v
			x = math.Sqrt(v) * r.NormFloat64()
			return x
		}
		for range 300 { // whatever it began with is forgotten
			next()
		}
		return next
	}
}

// regimes are calm, or three times as restless, for so many days in the mean.
func regimes(days float64) shocks {
	return func(r *rand.Rand) func() float64 {
		calm := r.IntN(2) == 0
		return func() float64 {
			if r.Float64() < 1/days {
				calm = !calm
			}
			if calm {
				return r.NormFloat64() / math.Sqrt(5)
			}
			return 3 * r.NormFloat64() / math.Sqrt(5)
		}
	}
}

// rare loses so many deviations on one day in so many, and earns that on all others.
func rare(days, loss float64) shocks {
	return func(r *rand.Rand) func() float64 {
		return func() float64 {
			x := r.NormFloat64() + loss/days
			if r.Float64() < 1/days {
				x -= loss
			}
			return x
		}
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

// truth is how likely the account passes within the horizon, and is lost, by running it.
func truth(p process, accounts int) (passes, loses float64) {
	r := rand.New(rand.NewPCG(7, 7))
	for range accounts {
		switch lives(p(r, testHorizon)) {
		case 1:
			passes++
		case -1:
			loses++
		}
	}
	return passes / float64(accounts), loses / float64(accounts)
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
