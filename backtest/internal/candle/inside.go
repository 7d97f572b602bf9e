package candle

import (
	"math"
	"slices"
)

// Inside are the prices of a candle, one for each second. When it is at its high and at its low is
// drawn first. Each other price is drawn when it is asked for, by halving what is between those that
// are known, with dice that follow from the candle's and from the place alone. So a price is the
// same whatever was asked for before, and costs as much as halving takes.
type Inside struct {
	bar   Bar
	steps int
	dice  Dice
	sigma float64

	width       float64
	known       [4]int     // the open, both extremes and the close
	values      [4]float64 // there
	highFirst   bool
	first, last int

	way   []halved // the halvings on the way to the last price
	whole []int64  // all prices, of a candle with a jump
}

// halved is what is between two known places, and the one in the middle.
type halved struct {
	from, to int
	a, m, c  float64
}

// middle is where it is halved.
func (h halved) middle() int { return (h.from + h.to) / 2 }

// Inside draws what is known of a candle of so many steps before any price inside is asked for.
// Sigma is the volatility of a second.
func (b Bar) Inside(steps int, sigma float64, d *Dice) Inside {
	p := Inside{bar: b, steps: steps, dice: *d}
	if b.High == b.Low {
		p.last = steps
		return p
	}
	low := float64(b.Low)
	log := math.Log(float64(b.High) / low)
	p.sigma = max(sigma, log/float64(widest*math.Sqrt(float64(steps))))
	s := shape{width: log / p.sigma, steps: steps, open: math.Log(float64(b.Open)/low) / p.sigma, close: math.Log(float64(b.Close)/low) / p.sigma}
	if b.Open == b.High { // whatever was rounded
		s.open = s.width
	}
	if b.Close == b.High {
		s.close = s.width
	}
	p.highFirst, p.first, p.last = s.extremes(d)
	p.width, p.known = s.width, [4]int{0, p.first, p.last, steps}
	p.values = [4]float64{s.open, 0, s.width, s.close}
	if p.highFirst {
		p.values[1], p.values[2] = s.width, 0
	}
	return p
}

// Extremes are the seconds of the low and of the high.
func (p *Inside) Extremes() (low, high int) {
	if p.whole != nil {
		return slices.Index(p.whole, p.bar.Low), slices.Index(p.whole, p.bar.High)
	}
	if p.highFirst {
		return p.last, p.first
	}
	return p.first, p.last
}

// At is the price in a second, from 0 to the number of steps.
func (p *Inside) At(second int) int64 {
	switch {
	case p.whole != nil:
		return p.whole[second]
	case p.bar.High == p.bar.Low:
		return p.bar.Low
	}
	if price, ok := p.knownAt(second); ok {
		return price
	}
	for n := len(p.way); n > 0 && !(p.way[n-1].from < second && second < p.way[n-1].to); n-- {
		p.way = p.way[:n-1]
	}
	if len(p.way) == 0 {
		p.way = append(p.way, p.halve(p.piece(second)))
	}
	for {
		h := &p.way[len(p.way)-1]
		switch middle := h.middle(); {
		case second < middle:
			p.way = append(p.way, p.halve(halved{from: h.from, to: middle, a: h.a, c: h.m}))
		case second > middle:
			p.way = append(p.way, p.halve(halved{from: middle, to: h.to, a: h.m, c: h.c}))
		default:
			return p.price(h.m)
		}
	}
}

// knownAt is the price in a second that needs no halving.
func (p *Inside) knownAt(second int) (int64, bool) {
	low, high := p.Extremes()
	switch second {
	case 0:
		return p.bar.Open, true
	case p.steps:
		return p.bar.Close, true
	case low:
		return p.bar.Low, true
	case high:
		return p.bar.High, true
	}
	return 0, false
}

// piece is what a second is in, between known places.
func (p *Inside) piece(second int) halved {
	i := 0
	for p.known[i+1] < second {
		i++
	}
	return halved{from: p.known[i], to: p.known[i+1], a: p.values[i], c: p.values[i+1]}
}

// halve draws the middle.
func (p *Inside) halve(h halved) halved {
	middle := h.middle()
	d := p.dice.at(middle)
	b := bridge{width: p.width, dice: &d}
	h.m = b.between(h.a, h.c, middle-h.from, h.to-middle)
	return h
}

func (p *Inside) price(v float64) int64 {
	price := int64(math.RoundToEven(float64(float64(p.bar.Low) * math.Exp(float64(p.sigma*v)))))
	return min(max(price, p.bar.Low), p.bar.High)
}
