package odds

import (
	"math"
	"math/rand/v2"
)

// day is a day of a history as paths take it: in dollars, relative to the equity that it began with.
type day struct {
	end        float64 // the equity at its end
	low, high  float64 // the lowest and the highest, 0 and end included
	unrealized float64 // of what is held at its end
	gross      float64 // the largest notional
	from, to   int32   // its extremes
	traded     bool
}

// series is a history as paths take it: positions in time, each with the days of that date.
type series struct {
	days     []day
	extremes []float64
	dates    [][]int32 // by date, the days that it has
	flat     []bool    // by date, whether all accounts were flat at its end
	block    float64   // mean length of a block, in days
	leave    float64   // how likely a block ends where it may
	marked   bool      // blocks end anywhere, positions marked to market
	notFlat  int       // midnights with positions
}

// fewestCuts is how many flat midnights it takes to cut nowhere else.
const fewestCuts = 30

// newSeries compiles a history.
func newSeries(h History) *series {
	s := &series{}
	var last int64 = -1
	for _, i := range h.order() {
		d := h.Days[i]
		if date := d.Date.Unix(); date != last || len(s.dates) == 0 {
			s.dates, s.flat, last = append(s.dates, nil), append(s.flat, true), date
		}
		at := len(s.dates) - 1
		s.dates[at] = append(s.dates[at], int32(len(s.days)))
		s.flat[at] = s.flat[at] && d.End.Flat
		s.add(d)
	}
	flats := 0
	for _, flat := range s.flat {
		if flat {
			flats++
		}
	}
	s.notFlat = len(s.flat) - flats
	s.marked = flats < fewestCuts
	if s.marked {
		for i := range s.flat {
			s.flat[i] = true
		}
	}
	return s
}

func (s *series) add(d Day) {
	begin := d.Begin.Equity
	one := day{
		end: d.profit(), unrealized: d.End.Equity.Sub(d.End.Balance).InexactFloat64(),
		gross: d.Largest.InexactFloat64(), from: int32(len(s.extremes)), traded: d.Traded,
	}
	note := func(x float64) {
		if x < one.low || x > one.high {
			s.extremes = append(s.extremes, x)
			one.low, one.high = min(one.low, x), max(one.high, x)
		}
	}
	for _, e := range d.Extremes {
		note(e.Sub(begin).InexactFloat64())
	}
	note(one.end)
	one.to = int32(len(s.extremes))
	s.days = append(s.days, one)
}

// profits are the means of the dates.
func (s *series) profits() []float64 {
	list := make([]float64, len(s.dates))
	for i, days := range s.dates {
		for _, d := range days {
			list[i] += s.days[d].end / float64(len(days))
		}
	}
	return list
}

// cut sets the mean length of a block of a path. A path is cut twice, when its history is
// resampled and when it is drawn from that, so each cuts less.
func (s *series) cut(block float64) {
	flats := 0
	for _, flat := range s.flat {
		if flat {
			flats++
		}
	}
	s.block = max(1, block)
	once := 1 - math.Sqrt(1-1/s.block)
	s.leave = min(1, once*float64(len(s.flat))/float64(flats))
}

// sample is a resampled history: dates in an order, and where blocks may begin.
type sample struct {
	dates  []int32
	starts []int32
}

// whole is the history itself.
func (s *series) whole() sample {
	var h sample
	for i := range s.dates {
		h.dates = append(h.dates, int32(i))
	}
	s.begin(&h)
	return h
}

// begin notes where blocks may begin: after a flat midnight.
func (s *series) begin(h *sample) {
	h.starts = h.starts[:0]
	before := h.dates[len(h.dates)-1]
	for i, d := range h.dates {
		if s.flat[before] || i == 0 {
			h.starts = append(h.starts, int32(i))
		}
		before = d
	}
}

// resample draws a history as long as another from it.
func (s *series) resample(from sample, into *sample, r *rand.PCG) {
	into.dates = into.dates[:0]
	w := stroll{series: s, from: from, rng: r}
	w.reset()
	for range from.dates {
		into.dates = append(into.dates, w.date())
	}
	s.begin(into)
}

// stroll goes through a sample block by block: the stationary bootstrap.
type stroll struct {
	*series
	from sample
	rng  *rand.PCG
	at   int32
}

// below is a random number from 0 to n-1.
func below(r *rand.PCG, n int) int32 { return int32((r.Uint64() >> 32) * uint64(n) >> 32) }

func unit(r *rand.PCG) float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

func (w *stroll) reset() { w.at = w.from.starts[below(w.rng, len(w.from.starts))] }

// date is the next one.
func (w *stroll) date() int32 {
	date := w.from.dates[w.at]
	if w.flat[date] && (w.leave >= 1 || unit(w.rng) < w.leave) {
		w.reset()
	} else if w.at++; int(w.at) == len(w.from.dates) {
		w.at = 0
	}
	return date
}

// day is a day of the next date.
func (w *stroll) day() int32 {
	days := w.dates[w.date()]
	if len(days) == 1 {
		return days[0]
	}
	return days[below(w.rng, len(days))]
}

// widen are the means of resampled histories, and what is added to each traded day of each, so that they
// spread by as much as the history's own is uncertain. A resampled history forgets the memory that
// is longer than its blocks, and its spread is that of n days where n-1 are free: without
// this the intervals are too narrow.
func (s *series) widen(samples []sample) (means, drifts []float64) {
	profits := s.profits()
	means, drifts = make([]float64, len(samples)), make([]float64, len(samples))
	for k, one := range samples {
		for _, date := range one.dates {
			means[k] += profits[date] / float64(len(one.dates))
		}
	}
	seen, days := deviation(means), float64(len(s.dates))
	if seen == 0 {
		return means, drifts
	}
	student := 1 + (1.96*1.96+1)/(4*(days-1))
	factor := min(max(meanError(profits)*student/seen, 1), 2)
	middle := mean(means)
	for k := range drifts {
		drifts[k] = (factor - 1) * (means[k] - middle) / s.traded()
	}
	return means, drifts
}

// traded is the share of the days with trades.
func (s *series) traded() float64 {
	n := 0
	for _, d := range s.days {
		if d.traded {
			n++
		}
	}
	return float64(max(n, 1)) / float64(len(s.days))
}
