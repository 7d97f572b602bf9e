package odds

import (
	"slices"
)

// watch notes the equities of some paths, and when all of them end.
type watch struct {
	days   int
	each   int // every so many paths one is noted
	curves [][][]float64
	passes [][]int // by reading and day
	losses [][]int
	paths  int
}

func newWatch(readings, days int) *watch {
	w := &watch{days: days, each: 5, curves: make([][][]float64, readings)}
	for range readings {
		w.passes, w.losses = append(w.passes, make([]int, days)), append(w.losses, make([]int, days))
	}
	return w
}

// begin lets a path note its equities, if it is one of those.
func (w *watch) begin(walker *walker, phase, path int) bool {
	if w == nil || phase > 0 || path%w.each != 0 {
		return false
	}
	walker.curve = make([]float64, w.days)
	return true
}

// end fills the rest of a path with how it ended.
func (w *watch) end(reading int, walker *walker, end ending) {
	for i := int(end.day); i < w.days; i++ {
		walker.curve[i] = end.equity
	}
	w.curves[reading] = append(w.curves[reading], walker.curve)
}

// ended counts the ends by day.
func (w *watch) ended(reading int, end ending) {
	if w == nil {
		return
	}
	if reading == 0 {
		w.paths++
	}
	if int(end.day) >= w.days {
		return
	}
	switch end.result {
	case passed:
		w.passes[reading][end.day]++
	case lost:
		w.losses[reading][end.day]++
	case undecided, held:
	}
}

// ByDay is what a forecast shows of a day of the first phase.
type ByDay struct {
	// Day is how many days from now; 1 is the first.
	Day int
	// Passed and Lost are the shares of the paths that have ended until then.
	Passed, Lost float64
	// Equity are the 5th, 25th, 50th, 75th and 95th percentiles of the equity at its end, in
	// dollars; a path that has ended stays where it ended.
	Equity [5]float64
}

// byDay are some days, the last among them.
func (w *watch) byDay(reading int) (list []ByDay) {
	step := (w.days + 89) / 90
	passes, losses := 0, 0
	column := make([]float64, len(w.curves[reading]))
	for i := range w.days {
		passes, losses = passes+w.passes[reading][i], losses+w.losses[reading][i]
		if (i+1)%step != 0 && i+1 != w.days && i != 0 {
			continue
		}
		for k, curve := range w.curves[reading] {
			column[k] = curve[i]
		}
		slices.Sort(column)
		one := ByDay{Day: i + 1, Passed: float64(passes) / float64(w.paths), Lost: float64(losses) / float64(w.paths)}
		for k, q := range [...]float64{0.05, 0.25, 0.5, 0.75, 0.95} {
			one.Equity[k] = percentile(column, q)
		}
		list = append(list, one)
	}
	return list
}
