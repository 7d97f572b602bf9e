package backtest

import (
	"time"
)

// Steps are what an account earned before all costs, from step to step. A step ends with each whole
// UTC minute, or with the candle where nobody knows what was inside it: where no price was drawn, where
// prices are straight lines, and where candles of two markets are held, since their paths are drawn apart. A path without an edge earns as
// often as it loses in each of them, whatever it earned before.
type Steps struct {
	Count int // how many they are
	// Sum is all that was earned, at the marks, and Squares and Fourths are the sums of the squares and
	// of the fourth powers of what each step earned. A step in which nothing was held adds nothing.
	Sum, Squares, Fourths float64
	// Costs are fees, spread and slippage, and the funding that was paid less the one received.
	Costs float64
	// Turnover is what all fills together traded, and Largest the largest position, of all markets
	// together, at what it was opened for.
	Turnover, Largest float64
	// Trips are the round trips, and Brief those that lasted fewer than three steps, and began or ended
	// inside one that is a candle.
	Trips, Brief int
	// Straight is whether the prices inside candles were straight lines where more than a tenth of
	// the fills happened.
	Straight bool
	// Apart is whether more than a tenth of the fills happened inside candles of a second market, whose
	// paths are drawn apart from those of the first.
	Apart bool
}

// earned notes what a step earned.
func (s *Steps) earned(x float64) {
	square := float64(x * x)
	s.Count++
	s.Sum, s.Squares, s.Fourths = s.Sum+x, s.Squares+square, s.Fourths+float64(square*square)
}

// plus are the steps of two runs, one after the other.
func (s Steps) plus(o Steps) Steps {
	return Steps{
		s.Count + o.Count, s.Sum + o.Sum, s.Squares + o.Squares, s.Fourths + o.Fourths, s.Costs + o.Costs,
		s.Turnover + o.Turnover, max(s.Largest, o.Largest), s.Trips + o.Trips, s.Brief + o.Brief, s.Straight || o.Straight, s.Apart || o.Apart,
	}
}

// number is how many steps of one size would say as much.
func (s Steps) number() float64 {
	if s.Fourths == 0 {
		return 0
	}
	return s.Squares * s.Squares / s.Fourths
}

// fewestSteps is how many steps a round trip must last at least, or half of them.
const fewestSteps = 3

// stepping is a walk's way from step to step.
type stepping struct {
	Steps
	from, until time.Time // of the present step; until is zero without one
	candle      bool      // it ends with a candle
	gross       float64   // at the end of the last
}

// stepTo goes on to a time until which nothing but prices change.
func (w *walk) stepTo(until time.Time) {
	s, at := &w.steps, w.at
	for w.inStep(at) && !s.until.After(until) {
		at = s.until
		if w.step(at) {
			s.until = time.Time{}
		} else {
			s.until, _ = w.book.stepFrom(at)
		}
		if at.Equal(until) {
			return // what is held may change
		}
	}
}

// inStep begins a step where something is held, and makes the present one longer where it must be. It
// reports whether there is one.
func (w *walk) inStep(at time.Time) bool {
	s := &w.steps
	if w.book.flat() {
		return !s.until.IsZero()
	}
	if s.until.IsZero() {
		s.from, s.candle = at, false
	}
	if end, candle := w.book.stepFrom(at); end.After(s.until) {
		s.until, s.candle = end, s.candle || candle
	}
	return true
}

// step ends the present step, unless the prices are not known.
func (w *walk) step(at time.Time) bool {
	open, ok := w.book.open(at)
	if !ok {
		return false
	}
	s := &w.steps
	gross := w.book.earned + open
	s.earned(gross - s.gross)
	s.gross = gross
	w.book.step++
	return true
}

// open is the unrealized profit at a time, as [book.value] has it and a tenth as dear.
func (b *book) open(at time.Time) (sum float64, ok bool) {
	nanos := at.UnixNano()
	for _, symbol := range b.order {
		h := b.markets[symbol]
		if h.size.IsZero() {
			continue
		}
		units, priced := h.feed.units(nanos - nanos%h.feed.grain())
		if !priced {
			return 0, false
		}
		sum += float64(h.perUnit*float64(units)) - h.paid
	}
	return sum, true
}

// insideOne reports whether a time is inside a step that is a candle.
func (s *stepping) insideOne(at time.Time) bool {
	return s.candle && !s.until.IsZero() && at.After(s.from)
}

// stepFrom is when a step that begins at a time ends, by what is held, and whether that is a candle's end.
func (b *book) stepFrom(at time.Time) (end time.Time, candle bool) {
	end = at.Truncate(time.Minute).Add(time.Minute)
	candles, whole, straight := 0, end, false
	for _, symbol := range b.order {
		h := b.markets[symbol]
		if h.size.IsZero() && !h.feed.in.straight() {
			continue
		}
		closes, drawn, inside := h.feed.closes(at)
		if !inside {
			continue
		}
		if closes.After(whole) {
			whole = closes // with straight lines that of the longest candle, held or not
		}
		if h.size.IsZero() {
			continue
		}
		candles, straight = candles+1, h.feed.in.straight()
		if !drawn && closes.After(end) {
			end, candle = closes, true
		}
	}
	if candles > 1 || straight {
		return whole, true
	}
	return end, candle
}

// closes is when the candle of a time closes, or where none is, the next opens, and whether the run
// drew prices until then; inside is false of what is no candle.
func (f *feed) closes(at time.Time) (closes time.Time, drawn, inside bool) {
	nanos := at.UnixNano()
	if f.interval == 0 || !f.seek(nanos) {
		return closes, false, false
	}
	end := f.rows[f.row].at + f.length(f.row)
	drawn = f.looked.has(f.row)
	if nanos >= end {
		if drawn = false; f.row+1 == len(f.rows) {
			return closes, false, false
		}
		end = f.rows[f.row+1].at
	}
	return time.Unix(0, end).UTC(), drawn, true
}

// drawnRows are the candles that prices were drawn in, by their rows.
type drawnRows []uint64

func (d drawnRows) has(row int) bool { return row/64 < len(d) && d[row/64]>>(row%64)&1 == 1 }

// add makes room for all rows at once.
func (d *drawnRows) add(row, of int) {
	if *d == nil {
		*d = make(drawnRows, (of+63)/64)
	}
	(*d)[row/64] |= 1 << (row % 64)
}

// stepsOf are those of a path, with what they cost.
func (w *walk) stepsOf(p *Path, in inside) Steps {
	s, f := w.steps.Steps, p.FillTimes
	s.Costs = p.Fees.Add(p.Took).Sub(p.Funding).InexactFloat64()
	s.Turnover, s.Trips, s.Brief = p.Turnover.InexactFloat64(), len(p.Trips), w.book.brief
	s.Straight = in.straight() && f.Inside*doubtfulShare > f.Of
	s.Apart = f.Apart*doubtfulShare > f.Of
	return s
}

// straight reports whether prices inside candles are straight lines.
func (in inside) straight() bool { return in.order == highFirst || in.order == lowFirst }
