package backtest

import (
	"math"
	"time"

	"github.com/shopspring/decimal"
)

// Reach is the first moment from one time to another at which the mark may be at or below low, or at
// or above high, for the service: a candle that stays off both is not drawn. What is drawn is halved
// only where it can come there.
func (f *feed) Reach(from, to time.Time, low, high decimal.NullDecimal) (time.Time, bool) {
	if f.clock != nil && to.After(f.clock()) {
		f.ahead = true
		return from, true
	}
	lowest, highest := int64(math.MinInt64), int64(math.MaxInt64)
	if low.Valid {
		lowest = wholeUnits(low.Decimal.Shift(f.places).Floor())
	}
	if high.Valid {
		highest = wholeUnits(high.Decimal.Shift(f.places).Ceil())
	}
	at, ok := f.reach(from.UnixNano(), to.UnixNano(), lowest, highest)
	return time.Unix(0, at).UTC(), ok
}

// wholeUnits is a number, or the largest or the least that there is.
func wholeUnits(d decimal.Decimal) int64 {
	switch {
	case d.GreaterThan(tooLarge):
		return math.MaxInt64
	case d.IsNegative():
		return math.MinInt64
	}
	return d.IntPart()
}

// reach is the same of whole numbers of 10^-places and of Unix nanoseconds.
func (f *feed) reach(from, to, low, high int64) (at int64, ok bool) {
	if f.walk != nil {
		return from, from <= to // it is looked at each second
	}
	for at = from; at <= to; {
		if !f.seek(at) {
			if len(f.rows) == 0 {
				return at, false
			}
			at = f.rows[0].at
			continue
		}
		r, end := &f.rows[f.row], int64(math.MaxInt64)
		if f.row+1 < len(f.rows) {
			end = f.rows[f.row+1].at
		}
		if found, met := f.reachIn(r, at, min(to, end-1), low, high); met {
			return found, true
		}
		at = end
	}
	return at, false
}

// reachIn is the same within a row and what follows it until the next.
func (f *feed) reachIn(r *row, from, to, low, high int64) (at int64, ok bool) {
	met := r.close <= low || r.close >= high
	since := from - r.at
	if f.interval == 0 && f.row+1 == len(f.rows) && from > f.ends() {
		return from, false
	}
	if r.close == 0 || f.interval == 0 || since >= f.length(f.row) {
		return from, r.close > 0 && met
	}
	steps := f.length(f.row)/int64(time.Second) - 1
	first, last := since/int64(time.Second), min(steps, (to-r.at)/int64(time.Second))
	second, found := f.reachSecond(r, first, last, low, high)
	if found {
		return max(from, r.at+second*int64(time.Second)), true
	}
	after := r.at + f.length(f.row)
	return max(from, after), met && after <= to
}

// reachSecond is the same of the seconds of a candle.
func (f *feed) reachSecond(r *row, first, last, low, high int64) (second int64, ok bool) {
	if r.low > low && r.high < high {
		return 0, false
	}
	if met := func(p int64) bool { return p <= low || p >= high }; first == 0 && met(r.open) {
		return 0, true
	}
	if f.in.drawn {
		at, ok := f.present().Reach(int(first), int(last), low, high)
		return int64(at), ok
	}
	for second = first; second <= last; second++ {
		if p := f.inside(r, second); p <= low || p >= high {
			return second, true
		}
	}
	return 0, false
}
