package candle

import "math"

// surely is how unlikely it is that a search misses a price: e^-surely for each piece that it does
// not halve.
const surely = 45

// Reach is the first second of a range in which the price is at or below low, or at or above high.
// It halves only what can come there.
func (p *Inside) Reach(from, to int, low, high int64) (second int, ok bool) {
	if from > to || low < p.bar.Low && high > p.bar.High {
		return 0, false
	}
	met := func(second int) bool { price := p.At(second); return price <= low || price >= high }
	if p.whole != nil || p.bar.High == p.bar.Low {
		for s := from; s <= to; s++ {
			if met(s) {
				return s, true
			}
		}
		return 0, false
	}
	if met(from) {
		return from, true
	}
	s := search{p, from, to, low, high, p.value(low, 0.5), p.value(high, -0.5)}
	for i, at := range p.known {
		if i > 0 && p.known[i-1] < at {
			if second, ok = s.first(halved{from: p.known[i-1], to: at, a: p.values[i-1], c: p.values[i]}); ok {
				return second, true
			}
		}
		if at > from && at <= to && met(at) {
			return at, true
		}
	}
	return 0, false
}

// value is that of a price, or of one so far beyond a tick.
func (p *Inside) value(price int64, ticks float64) float64 {
	at := float64(price) + ticks
	switch {
	case price > p.bar.High:
		return math.Inf(1)
	case at <= 0:
		return math.Inf(-1)
	}
	return math.Log(at/float64(p.bar.Low)) / p.sigma
}

// search is one for the first price at a bound.
type search struct {
	*Inside
	begin, end      int
	lowest, highest int64
	low, high       float64 // what comes there
}

// first looks strictly inside a piece.
func (s *search) first(h halved) (second int, ok bool) {
	if h.to-h.from < 2 || h.to <= s.begin || h.from >= s.end || !s.near(h) {
		return 0, false
	}
	h = s.halve(h)
	middle := h.middle()
	if second, ok = s.first(halved{from: h.from, to: middle, a: h.a, c: h.m}); ok {
		return second, true
	}
	if price := s.price(h.m); middle > s.begin && middle <= s.end && (price <= s.lowest || price >= s.highest) {
		return middle, true
	}
	return s.first(halved{from: middle, to: h.to, a: h.m, c: h.c})
}

// near reports whether a piece can come to a bound.
func (s *search) near(h halved) bool {
	t := float64(h.to - h.from)
	return !(beyond(h.a-s.low, h.c-s.low, t) && beyond(s.high-h.a, s.high-h.c, t))
}

// beyond reports whether a walk of so many steps surely stays off a bound, from which its ends are
// so far.
func beyond(a, c, t float64) bool { return a > 0 && c > 0 && float64(2*a*c) > float64(surely*t) }

// Least and Most are the first seconds of a range in which the price is lowest, and highest.
func (p *Inside) Least(from, to int) int { return p.extreme(from, to, 1) }

// Most is described at [Inside.Least].
func (p *Inside) Most(from, to int) int { return p.extreme(from, to, -1) }

func (p *Inside) extreme(from, to int, sign int64) int {
	low, high := p.Extremes()
	if sign < 0 {
		low = high
	}
	if from <= low && low <= to {
		return low
	}
	e := extremum{Inside: p, begin: from, end: to, sign: sign}
	e.see(from, p.At(from))
	e.see(to, p.At(to))
	if p.whole != nil || p.bar.High == p.bar.Low {
		for s := from; s <= to; s++ {
			e.see(s, p.At(s))
		}
		return e.at
	}
	for i := 1; i < len(p.known); i++ {
		if at := p.known[i]; at >= from && at <= to {
			e.see(at, p.At(at))
		}
	}
	for i := 1; i < len(p.known); i++ {
		if p.known[i-1] < p.known[i] {
			e.look(halved{from: p.known[i-1], to: p.known[i], a: p.values[i-1], c: p.values[i]})
		}
	}
	return e.at
}

// extremum is a search for the lowest price, or with a negative sign the highest.
type extremum struct {
	*Inside
	begin, end int
	sign       int64

	at    int
	price int64 // the lowest so far
	bound float64
	seen  bool
}

func (e *extremum) see(second int, price int64) {
	better, same := price*e.sign < e.price*e.sign, price == e.price
	if !e.seen || better || same && second < e.at {
		e.at, e.price, e.seen = second, price, true
		e.bound = e.value(price, 0.5*float64(e.sign))
	}
}

// look looks strictly inside a piece, first where it is better.
func (e *extremum) look(h halved) {
	sign := float64(e.sign)
	if h.to-h.from < 2 || h.to <= e.begin || h.from >= e.end || beyond(sign*(h.a-e.bound), sign*(h.c-e.bound), float64(h.to-h.from)) {
		return
	}
	h = e.halve(h)
	middle := h.middle()
	if middle >= e.begin && middle <= e.end {
		e.see(middle, e.Inside.price(h.m))
	}
	left, right := halved{from: h.from, to: middle, a: h.a, c: h.m}, halved{from: middle, to: h.to, a: h.m, c: h.c}
	if sign*(h.c-h.a) < 0 {
		left, right = right, left
	}
	e.look(left)
	e.look(right)
}
