package backtest

import (
	"math"
	"slices"
	"time"
)

// Shape is how the round trips and the days of a path are spread, which means and sums do not show.
type Shape struct {
	// WinStreak and LossStreak are the most round trips in a row that won, and that did not, in the
	// order in which they ended.
	WinStreak, LossStreak int
	// Shortest, Median and Longest are the times from the opening of a round trip to its end; 0
	// without one.
	Shortest, Median, Longest time.Duration
	// Falls is how often the equity at the ends of days fell from a peak until it was there again,
	// or the days ended; MeanFall is their mean depth as a share of the peak, MeanFallDays their
	// mean length in days.
	Falls                  int
	MeanFall, MeanFallDays Figure
	// Skew is that of the daily returns, and Tail the mean of their worst twentieth.
	Skew, Tail Figure
}

func shapeOf(trips []RoundTrip, days []Day, opening float64) Shape {
	s := Shape{}
	s.streaks(trips)
	s.holding(trips)
	s.falls(days, opening)
	s.Skew, s.Tail = spreadOfDays(days)
	return s
}

func (s *Shape) streaks(trips []RoundTrip) {
	won, lost := 0, 0
	for _, t := range slices.SortedStableFunc(slices.Values(trips), func(a, b RoundTrip) int { return a.Closed.Compare(b.Closed) }) {
		if t.Net().IsPositive() {
			won, lost = won+1, 0
		} else {
			won, lost = 0, lost+1
		}
		s.WinStreak, s.LossStreak = max(s.WinStreak, won), max(s.LossStreak, lost)
	}
}

func (s *Shape) holding(trips []RoundTrip) {
	if list := holdings(trips); len(list) > 0 {
		s.Shortest, s.Median, s.Longest = list[0], list[len(list)/2], list[len(list)-1]
	}
}

// holdings are how long round trips lasted, the shortest first.
func holdings(trips []RoundTrip) []time.Duration {
	list := make([]time.Duration, len(trips))
	for i, t := range trips {
		list[i] = t.Closed.Sub(t.Opened)
	}
	slices.Sort(list)
	return list
}

// falls goes by the ends of days: second by second nearly each moment is one of a fall.
func (s *Shape) falls(days []Day, opening float64) {
	peak, low, length := opening, opening, 0
	depth, total := 0.0, 0
	end := func() {
		if length > 0 {
			s.Falls, depth, total = s.Falls+1, depth+(peak-low)/peak, total+length
		}
		length = 0
	}
	for _, d := range days {
		if !d.Equity.Valid {
			if length > 0 {
				length++
			}
			continue
		}
		v := d.Equity.Decimal.InexactFloat64()
		if v >= peak {
			end()
			peak, low = v, v
			continue
		}
		length++
		low = min(low, v)
	}
	end()
	s.MeanFall, s.MeanFallDays = none("no day ended below a peak"), none("no day ended below a peak")
	if s.Falls > 0 {
		s.MeanFall, s.MeanFallDays = figure(depth/float64(s.Falls)), figure(float64(total)/float64(s.Falls))
	}
}

// spreadOfDays are the skew of the daily returns, and the mean of the worst twentieth.
func spreadOfDays(days []Day) (skew, tail Figure) {
	returns, _ := returnsOf(days)
	if len(returns) < minDays {
		short := none(tooShort(len(days), len(returns), minDays))
		return short, short
	}
	skew = none("no two days differ")
	if deviation(returns) > 0 {
		s, _ := moments(returns)
		skew = figure(s)
	}
	slices.Sort(returns)
	return skew, figure(mean(returns[:int(math.Ceil(float64(len(returns))/20))]))
}

// moments are the skewness and the kurtosis of values that differ.
func moments(list []float64) (skew, kurtosis float64) {
	m, d, n := mean(list), deviation(list), float64(len(list))
	for _, v := range list {
		u := (v - m) / d
		skew += float64(u*u*u) / n
		kurtosis += float64(u*u*u*u) / n
	}
	return skew, kurtosis
}
