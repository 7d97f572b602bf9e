package backtest

import (
	"fmt"
	"math"

	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// Finding is what the round trips of a run show of an edge, and what luck could have done.
type Finding struct {
	// Found is whether the mean gross of a round trip is more than luck of as many attempts
	// explains, and Pays whether that holds for the net, too.
	Found, Pays bool
	// Gross and Net are the means of a round trip in basis points of what it traded, with their
	// intervals.
	Gross, Net     Figure
	GrossIn, NetIn Interval
	// Trips is how many there are, and Attempts how many runs of this bot the file of attempts
	// has; 1 where none is kept.
	Trips, Attempts int
}

const (
	// leastTrips is how many round trips an edge takes.
	leastTrips = 30
	// luck is how often a run without an edge may show one.
	luck = 0.01
)

// findingOf judges round trips, of which others were tried before.
func findingOf(trips []RoundTrip, attempts int) Finding {
	f := Finding{Trips: len(trips), Attempts: max(1, attempts)}
	if len(trips) < 2 {
		f.Gross, f.Net = none("fewer than two round trips"), none("fewer than two round trips")
		f.GrossIn, f.NetIn = noInterval(f.Gross.none), noInterval(f.Net.none)
		return f
	}
	gross, net := make([]float64, len(trips)), make([]float64, len(trips))
	for i, t := range trips {
		gross[i] = 1e4 * t.grossShare()
		if t.Cost.IsPositive() {
			net[i] = 1e4 * t.Net().InexactFloat64() / t.Cost.InexactFloat64()
		}
	}
	bound := quantile(1 - luck/float64(f.Attempts))
	judge := func(list []float64) (Figure, Interval, bool) {
		m, s := mean(list), deviation(list)/math.Sqrt(float64(len(list)))
		return figure(m), Interval{figure(m - z*s), figure(m + z*s)}, len(list) >= leastTrips && m > bound*s && m > 0
	}
	f.Gross, f.GrossIn, f.Found = judge(gross)
	f.Net, f.NetIn, f.Pays = judge(net)
	return f
}

// String is the finding in words.
func (f Finding) String() string {
	if _, ok := f.Gross.Value(); !ok || f.Trips < leastTrips {
		return "nothing was found: " + words.Are(f.Trips, "round trip") + " too few to tell an edge from luck"
	}
	of := ""
	if f.Attempts > 1 {
		of = fmt.Sprintf(", as one of %d attempts", f.Attempts)
	}
	figures := fmt.Sprintf("gross %s bp a round trip%s, net %s%s%s", f.Gross, f.GrossIn, f.Net, f.NetIn, of)
	switch {
	case f.Found && f.Pays:
		return "an edge was found: " + figures
	case f.Found:
		return "an edge was found before fees, and it does not pay them: " + figures
	}
	return "nothing was found: luck explains it; " + figures
}

// quantile is that of the standard normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
