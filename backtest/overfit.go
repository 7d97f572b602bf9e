package backtest

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// Overfit is how much of a run's figures the choice among all that were tried explains: of a sweep
// from the daily returns of every variant on the train runs, of a run by itself from its own days and
// the number of attempts.
type Overfit struct {
	// Days is how many days each variant has; a variant whose account ended has returns of 0
	// from then on.
	Days int
	// DeflatedSharpe is the probability that the best variant's Sharpe ratio is more than the
	// expected best of as many variants without an edge (Bailey and Lopez de Prado 2014).
	DeflatedSharpe Figure
	// Overfitting is the probability that the best on one half of the days is below the median on
	// the other (CSCV: Bailey, Borwein, Lopez de Prado and Zhu 2015).
	Overfitting Figure
	// ExpectedBest is the Sharpe ratio of a day that the best of as many variants without an edge
	// is expected to have.
	ExpectedBest Figure
}

// leastDays is how many days the figures take.
const leastDays = 20

// overfitOf judges variants by their rows, the best first.
func overfitOf(rows []SweepRow) Overfit {
	var all [][]float64
	for _, row := range rows {
		if _, ok := row.Score.Value(); ok {
			all = append(all, dailyReturns(row.Runs))
		}
	}
	return OverfitOf(all)
}

// OverfitOf judges a choice among variants by the daily returns of each, those of the chosen one
// first. A variant with fewer days than another has returns of 0 after them.
func OverfitOf(returns [][]float64) Overfit {
	n, all := 0, slices.Clone(returns)
	for _, list := range all {
		n = max(n, len(list))
	}
	nothing := func(why string) Overfit { return Overfit{n, none(why), none(why), none(why)} }
	switch {
	case len(all) < 2:
		return nothing("fewer than two variants")
	case n < leastDays:
		return nothing(fmt.Sprintf("too short: %s of %d", words.Count(n, "complete day"), leastDays))
	}
	for i := range all {
		all[i] = append(slices.Clip(all[i]), make([]float64, n-len(all[i]))...)
	}
	expected := expectedBest(all)
	return Overfit{n, deflatedSharpe(all[0], expected), cscv(all), figure(expected)}
}

// dailyReturns are those of the worse path of each run, one run after the other.
func dailyReturns(runs []*Result) (list []float64) {
	for _, r := range runs {
		p := r.Worse()
		for _, d := range p.Days {
			v, _ := d.Return.Value()
			list = append(list, v)
		}
		// What is after the verdict is no return.
		for missing := int(r.To.Sub(p.Until) / day); missing > 0; missing-- {
			list = append(list, 0)
		}
	}
	return list
}

func sharpeOf(returns []float64) float64 {
	d := deviation(returns)
	if d == 0 {
		return 0
	}
	return mean(returns) / d
}

// expectedBest is the Sharpe ratio that the best of as many variants without an edge has.
func expectedBest(all [][]float64) float64 {
	ratios := make([]float64, len(all))
	for i, list := range all {
		ratios[i] = sharpeOf(list)
	}
	// Without an edge ratios spread by no more than chance; what they spread beyond it is edge.
	return bestOf(len(all), min(deviation(ratios), byChance(len(all[0]))))
}

// byChance is how far the Sharpe ratios of variants without an edge spread over so many days.
func byChance(days int) float64 { return 1 / math.Sqrt(float64(days-1)) }

// bestOf is what the best of so many is expected to have, whose mean is 0, by their deviation.
func bestOf(n int, deviation float64) float64 {
	const euler = 0.5772156649015329
	if n < 2 {
		return 0
	}
	return deviation * (float64((1-euler)*quantile(1-1/float64(n))) + float64(euler*quantile(1-1/(float64(n)*math.E))))
}

// deflatedSharpe is how likely the Sharpe ratio of the best is more than that expected of luck.
func deflatedSharpe(best []float64, expected float64) Figure {
	if deviation(best) == 0 {
		return none("no two days differ")
	}
	s := sharpeOf(best)
	skew, kurtosis := moments(best)
	spread := 1 - float64(skew*s) + float64((kurtosis-1)/4*s*s)
	if spread <= 0 {
		return none("the days are too skewed")
	}
	return figure(normalShare((s - expected) * math.Sqrt(float64(len(best)-1)) / math.Sqrt(spread)))
}

// overfitOfOne judges a run by itself, of which so many were tried.
func overfitOfOne(r *Result, attempts int) Overfit {
	list, _ := returnsOf(r.Worse().Days)
	o := Overfit{Days: len(list), Overfitting: none("it takes a sweep over variants")}
	if o.Days < leastDays {
		o.DeflatedSharpe = none(fmt.Sprintf("too short: %s of %d", words.Count(o.Days, "complete day"), leastDays))
		o.ExpectedBest = o.DeflatedSharpe
		return o
	}
	expected := bestOf(attempts, byChance(o.Days))
	o.DeflatedSharpe, o.ExpectedBest = deflatedSharpe(list, expected), figure(expected)
	return o
}

// normalShare is how much of the standard normal distribution is below a value.
func normalShare(v float64) float64 { return math.Erfc(-v/math.Sqrt2) / 2 }

// cscv splits the days into ten blocks, and takes every half of them once to choose on.
func cscv(all [][]float64) Figure {
	const blocks = 10
	n := len(all[0])
	type moments struct{ sum, squares, days float64 }
	parts := make([][blocks]moments, len(all))
	for i, list := range all {
		for k, v := range list {
			p := &parts[i][k*blocks/n]
			p.sum, p.squares, p.days = p.sum+v, p.squares+float64(v*v), p.days+1
		}
	}
	ratio := func(i int, chosen uint, in bool) float64 {
		var m moments
		for b := range blocks {
			if (chosen>>b&1 == 1) == in {
				p := parts[i][b]
				m.sum, m.squares, m.days = m.sum+p.sum, m.squares+p.squares, m.days+p.days
			}
		}
		mean := m.sum / m.days
		variance := m.squares/m.days - float64(mean*mean)
		if variance <= 1e-18 {
			return 0
		}
		return mean / math.Sqrt(variance)
	}
	splits, over := 0, 0.0
	order := make([]float64, len(all))
	for chosen := range uint(1) << blocks {
		if bits.OnesCount(chosen) != blocks/2 {
			continue
		}
		best := 0
		for i := range all {
			order[i] = ratio(i, chosen, true)
			if order[i] > order[best] {
				best = i
			}
		}
		there := ratio(best, chosen, false)
		below, same := 0.0, 0.0
		for i := range all {
			switch r := ratio(i, chosen, false); {
			case i == best:
			case r < there:
				below++
			case r == there:
				same++
			}
		}
		splits++
		switch share := (below + same/2 + 0.5) / float64(len(all)); {
		case share < 0.5:
			over++
		case share == 0.5:
			over += 0.5
		}
	}
	return figure(over / float64(splits))
}

// finding judges the best by all its test runs together, which it was not chosen on: so the choice is
// no attempt, and how often the test runs were made is.
func (r *SweepResult) finding(attempts int) Finding {
	var all evidence
	for _, one := range r.Best {
		e := evidenceOf(one.Paths)
		all.gain, all.loss = all.gain.plus(e.gain), all.loss.plus(e.loss)
	}
	return all.finding(attempts)
}

// choice is what the choice among the variants explains, in words. It is no verdict: days of capped
// gains look like an edge by either figure.
func (r *SweepResult) choice() string {
	o := r.Overfit
	return fmt.Sprintf("deflated Sharpe %s, probability of overfitting %s, on %s of %d variants", o.DeflatedSharpe, o.Overfitting, words.Count(o.Days, "day"), r.Tried)
}

// sharesMarket reports whether two runs have a market in common.
func sharesMarket(a, b *Data) bool {
	return slices.ContainsFunc(a.Symbols(), func(s string) bool { return slices.Contains(b.Symbols(), s) })
}
