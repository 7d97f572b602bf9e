package backtest

import (
	"time"
)

// Steps are what an account earned before all costs, from step to step. A step ends with each whole
// UTC minute, or with the candle where nobody knows what was inside it. A path without an edge earns as
// often as it loses in each of them, whatever it earned before.
type Steps struct {
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
}

// earned notes what a step earned.
func (s *Steps) earned(x float64) {
	square := float64(x * x)
	s.Sum, s.Squares, s.Fourths = s.Sum+x, s.Squares+square, s.Fourths+float64(square*square)
}

// plus are the steps of two runs, one after the other.
func (s Steps) plus(o Steps) Steps {
	return Steps{
		s.Sum + o.Sum, s.Squares + o.Squares, s.Fourths + o.Fourths, s.Costs + o.Costs,
		s.Turnover + o.Turnover, max(s.Largest, o.Largest), s.Trips + o.Trips, s.Brief + o.Brief, s.Straight || o.Straight,
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

// step ends the present step, if the equity is known.
func (w *walk) step() {
	w.due, w.stepped = w.stepEnd(), w.at
	w.coarse = w.hidden || w.straight
	if !w.unrealized.Valid {
		return
	}
	gross := w.book.gross.Add(w.book.took).Add(w.unrealized.Decimal).InexactFloat64()
	w.steps.earned(gross - w.gross)
	w.gross = gross
	w.book.step++
}

// stepIfDue ends it where its time has come.
func (w *walk) stepIfDue() {
	switch {
	case !w.at.Before(w.due):
		w.step()
	case w.shown():
		w.due = w.stepEnd()
	}
}

// stepWhileFlat ends the steps until a time, in which nothing is earned, but the one that the account
// became flat in.
func (w *walk) stepWhileFlat(until time.Time) {
	if w.due.After(until) {
		return
	}
	next := w.grainAfter(until.UnixNano())
	more := (next-w.due.UnixNano())/int64(w.grain) - 1
	w.step()
	w.book.step += int(more)
	w.due, w.stepped = time.Unix(0, next).UTC(), time.Unix(0, next-int64(w.grain)).UTC()
}

// inside reports whether the present time is inside a step that is a candle.
func (w *walk) inside() bool { return w.coarse && w.at.After(w.stepped) }

// stepEnd is when the next step ends: with a whole minute, and not before all that is held has a mark
// that needs no drawing. Where no mark can change until later, it is later.
func (w *walk) stepEnd() time.Time {
	at := w.at.UnixNano()
	until, hidden := int64(0), int64(0)
	for _, symbol := range w.book.order {
		h := w.book.markets[symbol]
		if h.size.IsZero() {
			continue
		}
		still, inside := h.feed.still(at)
		if inside {
			hidden = max(hidden, still)
		}
		if until == 0 || still < until {
			until = still
		}
	}
	w.hidden = hidden > 0
	if w.hidden {
		until = hidden
	}
	end := w.grainAfter(at)
	if until > at {
		end = max(end, w.grainAfter(until-1))
	}
	return time.Unix(0, end).UTC()
}

// grainAfter is the next time after one at which a step may end.
func (w *walk) grainAfter(at int64) int64 {
	return at - (at-w.grid)%int64(w.grain) + int64(w.grain)
}

// shown reports whether a candle that hid its inside has been drawn since.
func (w *walk) shown() bool {
	if !w.hidden {
		return false
	}
	for _, symbol := range w.book.order {
		if h := w.book.markets[symbol]; !h.size.IsZero() {
			if _, inside := h.feed.still(w.at.UnixNano()); inside {
				return false
			}
		}
	}
	return true
}

// still is until when the mark of a time holds, and whether it is inside a candle that was not drawn:
// then until the end of the candle.
func (f *feed) still(at int64) (until int64, hidden bool) {
	if f.walk != nil || !f.seek(at) {
		return at + 1, false
	}
	r := &f.rows[f.row]
	if f.interval == 0 {
		if f.row+1 < len(f.rows) {
			return f.rows[f.row+1].at, false
		}
		return at + 1, false
	}
	end := r.at + int64(f.interval)
	if r.close == 0 || at >= end || f.drawn == f.row+1 {
		return at + 1, false
	}
	return end, true
}

// stepsOf are those of a path, with what they cost.
func (w *walk) stepsOf(p *Path, in inside) Steps {
	s, f := w.steps, p.FillTimes
	s.Costs = p.Fees.Add(p.Took).Sub(p.Funding).InexactFloat64()
	s.Turnover, s.Trips, s.Brief = p.Turnover.InexactFloat64(), len(p.Trips), w.book.brief
	s.Straight = in.straight() && f.Inside*doubtfulShare > f.Of
	return s
}

// grainOf is how long steps are, and a time at which one ends, in Unix nanoseconds. With straight lines
// inside candles they are as long as the longest candle.
func (p plan) grainOf() (grain time.Duration, grid int64) {
	grain = time.Minute
	if !p.in.straight() {
		return grain, 0
	}
	for _, s := range p.Data.series {
		if s.interval > grain {
			grain, grid = s.interval, s.rows[0].at%int64(s.interval)
		}
	}
	return grain, grid
}

// straight reports whether prices inside candles are straight lines.
func (in inside) straight() bool { return in.order == highFirst || in.order == lowFirst }
