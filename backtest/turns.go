package backtest

import (
	"math"
	"time"
)

// turns are the seconds of a candle that a judge looks at: those of the extremes of what is held
// of it.
type turns struct {
	row int // and 1; 0 is none
	at  [2]int64
}

// enter begins a time in which what is held stays the same. It reports whether that are candles.
func (b *book) enter() (candles bool) {
	for _, symbol := range b.order {
		h := b.markets[symbol]
		h.feed.extreme = turns{}
		candles = candles || h.feed.interval > 0 && !h.size.IsZero()
	}
	return candles
}

// moment is the first after a time, and until another, at which a price that is held is known without
// a look, in whole seconds.
func (b *book) moment(at, until int64) time.Time {
	next := until
	for _, h := range b.markets {
		if !h.size.IsZero() {
			next = min(next, h.feed.moment(at, until))
		}
	}
	return time.Unix(0, next).UTC()
}

// moment is that of a feed.
func (f *feed) moment(at, until int64) int64 {
	const second = int64(time.Second)
	if f.walk != nil {
		return at + second
	}
	next := func(t int64) int64 { return (t + second - 1) / second * second }
	following := math.MaxInt64 - second
	if n := len(f.rows); f.interval == 0 && n > 0 {
		if ends := f.ends(); at <= ends {
			following = ends + 1
		}
	}
	switch known := f.seek(at); {
	case !known && len(f.rows) > 0:
		return next(f.rows[0].at)
	case !known:
		return following
	case f.row+1 < len(f.rows):
		following = f.rows[f.row+1].at
	}
	r := &f.rows[f.row]
	if r.close == 0 || f.interval == 0 {
		return next(following)
	}
	closes := r.at + f.length(f.row)
	for _, t := range [...]int64{closes, closes + int64(f.interval)} {
		if t > at {
			following = min(following, t)
		}
	}
	if at >= closes {
		return next(following)
	}
	if f.extreme.row != f.row+1 {
		f.extreme = f.turnsOf(r, at, min(until, closes-1))
	}
	for _, t := range f.extreme.at {
		if t > at {
			following = min(following, t)
		}
	}
	return next(following)
}

// turnsOf are those of a candle from one time to another.
func (f *feed) turnsOf(r *row, from, to int64) turns {
	const second = int64(time.Second)
	m, steps := turns{row: f.row + 1}, f.length(f.row)/second-1
	first, last := min(steps, (from-r.at+second-1)/second), min(steps, (to-r.at)/second)
	low, high := steps/3, 2*steps/3 // of a straight line, whatever comes first
	switch {
	case !f.in.drawn || first >= last:
	case r.high == r.low:
		return m
	default:
		p := f.present()
		low, high = int64(p.Least(int(first), int(last))), int64(p.Most(int(first), int(last)))
	}
	m.at = [2]int64{r.at + low*second, r.at + high*second}
	return m
}

// drawnExtremes takes the lowest and the highest price of the rest of a candle, until a time at the
// latest, and returns when it ends; ok is false where none is drawn.
func (f *feed) drawnExtremes(at, to int64, take func(low, high int64)) (end int64, ok bool) {
	const second = int64(time.Second)
	if f.interval == 0 || !f.in.drawn || !f.seek(at) {
		return 0, false
	}
	r := &f.rows[f.row]
	end = r.at + f.length(f.row)
	if r.close == 0 || at >= end || at == to {
		return 0, false
	}
	p := f.present()
	first, last := int((at-r.at)/second), int(min(to-r.at, end-1-r.at)/second)
	take(p.At(p.Least(first, last)), p.At(p.Most(first, last)))
	return end, true
}

// afterGap is when the next candle opens, of a time that is in none; ok is false of another.
func (f *feed) afterGap(at int64) (next int64, ok bool) {
	if f.interval == 0 || !f.seek(at) || at < f.rows[f.row].at+f.length(f.row) {
		return 0, false
	}
	if f.row+1 == len(f.rows) {
		return math.MaxInt64, true
	}
	return f.rows[f.row+1].at, true
}
