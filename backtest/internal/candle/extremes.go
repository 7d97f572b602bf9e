package candle

import "math"

// shape is a candle in units of the volatility of a second, from its low on.
type shape struct {
	open, close, width float64
	steps              int
	cross              []float64 // of each number of steps, where all are summed
}

// extremes draws when a candle is at its first extreme and at its last, and which is the first.
func (s shape) extremes(d *Dice) (highFirst bool, first, last int) {
	high, low := s.orders()
	end := s.steps - 1 // the close takes the last second
	if high.atTheLast || low.atTheLast {
		end = s.steps
	}
	if s.steps <= exactSteps {
		square := float64(s.strip() * s.strip())
		s.cross = make([]float64, s.steps)
		for t := 1; t < s.steps; t++ {
			s.cross[t] = crossing(float64(t) / square)
		}
		return s.draw(d, high, low, everySecond(end))
	}
	return s.draw(d, high, low, knotsOf(end))
}

// exactSteps is how long a candle may be whose times are summed second by second.
const exactSteps = 240

// order is one of the two: how far the open is from the first extreme, and the close from the
// last.
type order struct {
	possible  bool
	from, to  float64
	atOnce    bool // the open is the first extreme
	atTheLast bool // the close is the last
}

func (s shape) orders() (highFirst, lowFirst order) {
	w := s.width
	highFirst = order{true, w - s.open, s.close, s.open >= w, s.close <= 0}
	lowFirst = order{true, s.open, w - s.close, s.open <= 0, s.close >= w}
	switch {
	case highFirst.atOnce:
		lowFirst.possible = false
	case lowFirst.atOnce:
		highFirst.possible = false
	case highFirst.atTheLast:
		lowFirst.possible = false
	case lowFirst.atTheLast:
		highFirst.possible = false
	}
	return highFirst, lowFirst
}

// times are the seconds that a weight is computed at, and how many seconds each is for.
type times struct {
	at    []int
	exact bool
}

// everySecond are those before the end.
func everySecond(end int) times {
	t := times{exact: true}
	for i := 1; i < end; i++ {
		t.at = append(t.at, i)
	}
	return t
}

// knotsOf are each second near both ends, and apart by a share of the distance to them between.
func knotsOf(end int) times {
	var t times
	const near, share = 64, 32
	for i := 1; i <= end/2; {
		t.at = append(t.at, i)
		i += max(1, (i-near)/share)
	}
	for k := len(t.at) - 1; k >= 0; k-- {
		if mirrored := end - t.at[k]; mirrored > t.at[len(t.at)-1] {
			t.at = append(t.at, mirrored)
		}
	}
	return t
}

// area is the weight of the seconds after the knot before, up to a knot.
func (t times) area(weights []float64, i int) float64 {
	if i == 0 || t.at[i] == t.at[i-1]+1 {
		return weights[i]
	}
	gap := float64(t.at[i] - t.at[i-1])
	return float64(gap*(weights[i]+weights[i-1]))/2 + (weights[i]-weights[i-1])/2
}

func (t times) sum(weights []float64) float64 {
	sum := 0.0
	for i := range weights {
		sum += t.area(weights, i)
	}
	return sum
}

// pick draws a second from the weights at some, straight in between.
func (t times) pick(d *Dice, weights []float64, sum float64) int {
	if sum <= 0 { // so unlikely that it has no number
		return t.at[int(float64(d.Uniform()*float64(len(t.at))))]
	}
	u := float64(d.Uniform() * sum)
	for i := range t.at {
		a := t.area(weights, i)
		if u >= a && i+1 < len(t.at) {
			u -= a
			continue
		}
		if i == 0 || t.at[i] == t.at[i-1]+1 {
			return t.at[i]
		}
		gap := t.at[i] - t.at[i-1]
		for k := 1; k < gap; k++ {
			w := weights[i-1] + float64((weights[i]-weights[i-1])*float64(k)/float64(gap))
			if u < w {
				return t.at[i-1] + k
			}
			u -= w
		}
		return t.at[i]
	}
	return t.at[len(t.at)-1]
}

func (s shape) draw(d *Dice, high, low order, knots times) (highFirst bool, first, last int) {
	highWeights, highSum := s.firsts(high, knots)
	lowWeights, lowSum := s.firsts(low, knots)
	o, weights, sum := high, highWeights, highSum
	highFirst = !low.possible || high.possible && float64(d.Uniform()*(highSum+lowSum)) < highSum
	if !highFirst {
		o, weights, sum = low, lowWeights, lowSum
	}
	if !o.atOnce {
		first = knots.pick(d, weights, sum)
	}
	if o.atTheLast {
		return highFirst, first, s.steps
	}
	return highFirst, first, first + s.second(d, o, s.steps-first, knots.exact)
}

// strip is the width that a continuous walk has, which meets walls as the candle's.
func (s shape) strip() float64 { return s.width + 2*beta }

// firsts are the weights of the times of the first extreme.
func (s shape) firsts(o order, knots times) (weights []float64, sum float64) {
	if !o.possible {
		return nil, 0
	}
	if o.atOnce {
		return nil, 1
	}
	rest := s.rest(o, knots)
	weights = make([]float64, len(knots.at))
	for i, t := range knots.at {
		if rest[i] > 0 {
			weights[i] = float64(arrival(t, o.from, s.strip()) * rest[i])
		}
	}
	return weights, knots.sum(weights)
}

// unlikely is the exponent from which on a time of the first extreme is not weighed: it is e^-40 of
// the likeliest.
const unlikely = 40

// rest is the weight of all that comes after the first extreme, for each of its times.
func (s shape) rest(o order, knots times) []float64 {
	width := s.strip()
	square := float64(width * width)
	rest := make([]float64, len(knots.at))
	switch {
	case o.atTheLast:
		for i, t := range knots.at {
			rest[i] = crossing(float64(s.steps-t) / square)
		}
	case knots.exact:
		leave := make([]float64, s.steps)
		for t := 1; t < s.steps; t++ {
			leave[t] = arrival(t, o.to, width)
		}
		for i, t := range knots.at {
			left, sum := s.steps-t, 0.0
			for k := 1; k < left; k++ {
				sum += float64(s.cross[k] * leave[left-k])
			}
			rest[i] = sum / square
		}
	default:
		// The continuous law, and what its first seconds have too much or too little.
		more := 0.0
		if o.to < ladderMost-ladderGrid {
			for t := 1; t <= ladderSteps; t++ {
				more += arrival(t, o.to, width) / square
			}
			x := o.to + beta
			more -= math.Erfc(x / math.Sqrt(2*(ladderSteps+0.5)))
		}
		far := func(t int) float64 {
			after := width + o.to
			return float64(o.from*o.from)/float64(2*t) + float64(after*after)/float64(2*(s.steps-t))
		}
		least := math.Inf(1)
		for _, t := range knots.at {
			least = min(least, far(t))
		}
		for i, t := range knots.at {
			if far(t) > least+unlikely {
				continue
			}
			u := float64(s.steps-t) / square
			rest[i] = max(0, crossAndLeave(u, (o.to+beta)/width)+float64(more*crossing(u)))
		}
	}
	return rest
}

// crossing is the weight of so many steps from one extreme to the other.
func (s shape) crossing(t int) float64 {
	if s.cross != nil {
		return s.cross[t]
	}
	return crossing(float64(t) / float64(s.strip()*s.strip()))
}

// second draws how long after the first extreme the last comes, if so much time is left.
func (s shape) second(d *Dice, o order, left int, exact bool) int {
	if left <= 2 {
		return 1
	}
	of := everySecond
	if !exact && left > exactSteps {
		of = knotsOf
	}
	knots := of(left)
	width := s.strip()
	weights := make([]float64, len(knots.at))
	for i, t := range knots.at {
		if c := s.crossing(t); c > 0 {
			weights[i] = float64(c * arrival(left-t, o.to, width))
		}
	}
	return knots.pick(d, weights, knots.sum(weights))
}
