package backtest

import (
	"fmt"
	"math"
	"strings"

	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// Finding is what the steps of a run show of an edge, and what luck could have done; see [Steps]. Its
// sum over their root of squares is a t, whatever the bot does with its position.
type Finding struct {
	// Unsaid is why nothing can be said; empty if it can.
	Unsaid string
	// Found is whether what was earned before costs is more than luck explains in 1 of 100 runs
	// without an edge, of as many attempts, and Pays whether what is left of it after them is. Loses is
	// whether what is left is less than luck explains.
	Found, Pays, Loses bool
	// Gross and Net are what was earned before costs and after them, in basis points a round trip, with
	// their intervals of 95 percent.
	Gross, Net     Figure
	GrossIn, NetIn Interval
	// Gone is how large a move against the largest position takes all that was earned, as a share of the
	// price.
	Gone Figure
	// Attempts is how many runs of this bot the file of attempts has; 1 where none is kept.
	Attempts int
}

const (
	// luck is how often a run without an edge may show one. Half of it is spent: a bot that stops at
	// its target or its floor shows twice as much (reflection).
	luck = 0.01
	// leastNumber is how many steps of one size it takes.
	leastNumber = 10
)

// evidence are steps by which an edge is found, and those by which a loss is. Of several paths they are
// those of the one with the least to show for it.
type evidence struct{ gain, loss Steps }

// evidenceOf is that of paths of the same run.
func evidenceOf(paths []Path) (e evidence) {
	for i, p := range paths {
		s := p.Steps
		if i == 0 || s.t(0) < e.gain.t(0) {
			e.gain = s
		}
		if i == 0 || s.t(s.Costs) > e.loss.t(e.loss.Costs) {
			e.loss = s
		}
	}
	return e
}

// t is what was earned after some costs in standard deviations of luck.
func (s Steps) t(costs float64) float64 {
	if s.Squares == 0 {
		return 0
	}
	return (s.Sum - costs) / math.Sqrt(s.Squares)
}

// unsaid is why steps show nothing.
func (s Steps) unsaid() string {
	switch {
	case s.Straight:
		return "these candles cannot show it: more than a tenth of the fills are inside candles whose prices are straight lines"
	case s.Apart:
		return "these candles cannot show it: more than a tenth of the fills are inside candles of a second market, whose paths are drawn apart from those of the first"
	case s.Trips > 0 && 2*s.Brief >= s.Trips:
		return fmt.Sprintf("these candles cannot show it: %d of %s began or ended inside a candle, and lasted fewer than %d", s.Brief, words.Count(s.Trips, "round trip"), fewestSteps)
	case s.number() < leastNumber:
		return "too little was at risk"
	}
	return ""
}

// finding judges the evidence, of which others were tried before.
func (e evidence) finding(attempts int) Finding {
	f := Finding{Attempts: max(1, attempts), Gone: none("nothing was held")}
	s := e.gain
	perTrip := func(dollars float64) Figure {
		if s.Turnover == 0 {
			return none("no fill")
		}
		return figure(2e4 * dollars / s.Turnover) // a round trip trades twice
	}
	half := z * math.Sqrt(s.Squares)
	f.Gross, f.GrossIn = perTrip(s.Sum), Interval{perTrip(s.Sum - half), perTrip(s.Sum + half)}
	net := s.Sum - s.Costs
	f.Net, f.NetIn = perTrip(net), Interval{perTrip(net - half), perTrip(net + half)}
	if f.Unsaid = s.unsaid(); f.Unsaid == "" {
		f.Unsaid = e.loss.unsaid()
	}
	if f.Unsaid != "" {
		return f
	}
	bound := quantile(1 - luck/2/float64(f.Attempts))
	f.Found, f.Pays, f.Loses = s.t(0) > bound, s.t(s.Costs) > bound, e.loss.t(e.loss.Costs) < -bound
	if s.Largest > 0 {
		earned := s.Sum
		if f.Pays {
			earned = net
		}
		f.Gone = figure(earned / s.Largest)
	}
	return f
}

// Headline is the finding in a sentence.
func (f Finding) Headline() string {
	switch {
	case f.Unsaid != "":
		return "It cannot be said whether this bot has an edge: " + f.Unsaid + "."
	case f.Found && f.Pays:
		return "An edge was found, and it pays its costs."
	case f.Pays:
		return "It pays by the funding that it received. Without that it cannot be said whether this bot has an edge: luck explains what it earned."
	case f.Found && f.Loses:
		return "An edge was found before costs, and it loses its costs, at 99 %."
	case f.Found:
		return "An edge was found before costs. It cannot be said whether it pays them."
	case f.Loses:
		return "No edge was found: it loses its costs, at 99 %."
	}
	return "It cannot be said whether this bot has an edge: luck explains what it earned."
}

// Figures are what the headline goes by.
func (f Finding) Figures() string {
	var list []string
	if _, ok := f.Gross.Value(); ok {
		list = append(list, fmt.Sprintf("before costs %s bp a round trip%s, after them %s%s", f.Gross, f.GrossIn, f.Net, f.NetIn))
	}
	if f.Attempts > 1 {
		list = append(list, fmt.Sprintf("as one of %d attempts", f.Attempts))
	}
	if gone, ok := f.Gone.Value(); ok && (f.Found || f.Pays) {
		list = append(list, fmt.Sprintf("a move of %.2f %% against its largest position takes all of it", 100*gone))
	}
	return strings.Join(list, "; ")
}

// String is the headline with its figures.
func (f Finding) String() string {
	if figures := f.Figures(); figures != "" {
		return f.Headline() + " (" + figures + ")"
	}
	return f.Headline()
}

// FindingLimits is what no finding can know, in words: it stands beside each. The two shares are measured by
// TestLuckThatNoTestKnows.
const FindingLimits = "No test of these prices can know two things. A bot that watches its own result, and stops when it looks like an edge, has one found in 12 of 100 runs without one. A bot that earns in a calm market what one fall of 10 % takes away has one found in 67 of 100."

// quantile is that of the standard normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
