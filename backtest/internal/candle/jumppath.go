package candle

import "math"

// A candle with a jump is two walks: one from the open to the second before the jump, which has
// the extreme that the jump leaves, and one from the jump to the close, which has the other. The
// jump is what is between them. Backwards in time the second walk is as the first, from the
// close.

// leastJump is how many deviations of its length a candle's range has at least: a narrower one is
// taken to be a walk.
const leastJump = 2.5

// JumpPath draws all prices of a candle that has one jump in one second. It is false, and leaves the slice as it is,
// where one jump does not explain the candle.
func (b Bar) JumpPath(into []int64, sigma float64, d *Dice) bool {
	n := len(into) - 1
	c := jumpCandle{Bar: b, sigma: sigma, width: math.Log(float64(b.High)/float64(b.Low)) / sigma}
	if !(c.width >= float64(leastJump*math.Sqrt(float64(n)))) {
		return false
	}
	tick := math.Log1p(1/float64(b.Low)) / sigma
	j := jumped{n, c.width, c.above(b.Open), c.below(b.Close), tick}
	down := jumped{n, c.width, c.below(b.Open), c.above(b.Close), tick}
	weights, log := j.weights()
	downWeights, downLog := down.weights()
	rises := d.Uniform() < 1/(1+math.Exp(downLog-log))
	if !rises {
		j, weights = down, downWeights
	}
	if weights == nil || float64(j.open*j.open)+float64(j.close*j.close) > float64(widest*widest*float64(n)) {
		return false
	}
	before := pick(d, weights)
	for i, x := range j.piece(d, j.open, before) {
		into[i] = c.price(x, rises)
	}
	for i, x := range j.piece(d, j.close, n-1-before) {
		into[n-i] = c.price(x, !rises)
	}
	into[0], into[n] = b.Open, b.Close
	return true
}

// jumpCandle turns prices into distances from an extreme, in units of the volatility of a second,
// and back.
type jumpCandle struct {
	Bar
	sigma, width float64
}

func (c jumpCandle) above(price int64) float64 {
	if price == c.Low {
		return 0
	}
	return max(math.SmallestNonzeroFloat64, math.Log(float64(price)/float64(c.Low))/c.sigma)
}

func (c jumpCandle) below(price int64) float64 {
	if price == c.High {
		return 0
	}
	return max(math.SmallestNonzeroFloat64, math.Log(float64(c.High)/float64(price))/c.sigma)
}

func (c jumpCandle) price(distance float64, fromLow bool) int64 {
	switch {
	case distance == 0 && fromLow:
		return c.Low
	case distance == 0:
		return c.High
	case !fromLow:
		distance = c.width - distance
	}
	p := int64(math.RoundToEven(float64(float64(c.Low) * math.Exp(float64(c.sigma*distance)))))
	return min(max(p, c.Low), c.High)
}

// jumped is a candle with a jump, in units of the volatility of a second: how far the open is from
// the extreme before the jump, and the close from that after it.
type jumped struct {
	steps                    int
	width, open, close, tick float64
}

// weights are how likely each number of steps before the jump is, and the logarithm of their sum.
func (j jumped) weights() ([]float64, float64) {
	weights := make([]float64, j.steps)
	most := math.Inf(-1)
	for before := range weights {
		weights[before] = j.extreme(before, j.open) + j.extreme(j.steps-1-before, j.close)
		most = max(most, weights[before])
	}
	if math.IsInf(most, -1) {
		return nil, most
	}
	sum := 0.0
	for i, w := range weights {
		weights[i] = math.Exp(w - most)
		sum += weights[i]
	}
	return weights, most + math.Log(sum)
}

// extreme is the logarithm of the probability that the lowest place of a walk of so many steps is
// x below the first, to a tick.
func (j jumped) extreme(steps int, x float64) float64 {
	t := float64(steps)
	switch {
	case x == 0:
		return math.Log(staysAbove(steps))
	case steps == 0:
		return math.Inf(-1)
	case steps == 1:
		return math.Log(j.tick/math.Sqrt(2*math.Pi)) - float64(x*x)/2
	}
	x += beta
	return math.Log(2*j.tick/math.Sqrt(float64(2*math.Pi*t))) - float64(x*x)/float64(2*t)
}

// staysAbove is the probability that a walk is above its first place at each of so many steps.
func staysAbove(steps int) float64 {
	if steps == 0 {
		return 1
	}
	return 1 / math.Sqrt(float64(math.Pi*(float64(steps)+0.25)))
}

// pick draws one of the weights.
func pick(d *Dice, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u, last := float64(d.Uniform()*sum), 0
	for i, w := range weights {
		if w > 0 {
			last = i
		}
		if u < w {
			return i
		}
		u -= w
	}
	return last
}

// piece draws the distances to the wall of a walk that begins so far from it, is at it once, and
// stays inside the candle.
func (j jumped) piece(d *Dice, from float64, steps int) []float64 {
	b := bridge{v: make([]float64, steps+1), width: j.width, dice: d}
	b.v[0] = from
	at := 0
	if from > 0 {
		weights := make([]float64, steps+1)
		for t := 1; t <= steps; t++ {
			weights[t] = float64(arrival(t, from, j.width+2*beta) * staysAbove(steps-t))
		}
		at = max(1, pick(d, weights))
		b.v[at] = 0
		b.fill(0, at)
	}
	b.leave(at, steps)
	return b.v
}

// leave draws a walk from the wall that stays inside.
func (b *bridge) leave(from, to int) {
	for range tries {
		i := from + 1
		for ; i <= to; i++ {
			x := b.v[i-1] + b.dice.Normal()
			if x <= 0 || x > b.width {
				break
			}
			b.v[i] = x
		}
		if i > to {
			return
		}
	}
	for i := from + 1; i <= to; i++ { // it cannot be so unlikely; folded at the walls
		b.v[i] = min(math.Abs(b.v[i-1]+b.dice.Normal()), b.width)
	}
}
