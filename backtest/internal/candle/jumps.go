package candle

import "math"

// jumpLaw is a mixture of two normals for what the logarithm of a candle's range is above that of
// the candles around it: those of a walk, and those with one jump.
type jumpLaw struct {
	share                    float64 // of candles with a jump
	mean, spread             float64
	jumpMean, jumpSpread     float64
	leastSpread, sharpSpread float64 // that the two can have
}

const (
	jumpPasses  = 3    // of mixture and mean
	jumpSteps   = 25   // of a mixture
	mostJumps   = 0.25 // of all candles
	fewestJumps = 3    // candles, or a mixture would fit itself to the widest
	jumpsApart  = 2.0  // spreads of a walk that the mean of a jump is above a walk's

	// besideJump is the share of a walk's range that both its parts, before the jump and after it,
	// add to the range of a candle.
	besideJump = 2.0 / 3
)

// NewJumpVolatility is [NewVolatility] with a chance for each candle that one jump made it. Other
// candles get their volatility from those without one.
func NewJumpVolatility(ranges []float64, steps int) *Volatility {
	v := NewVolatility(ranges, steps)
	y, at, m, s := logRanges(ranges, steps)
	if len(y) < 4*fewestJumps {
		return v
	}
	walks := append([]float64(nil), y...) // what the ranges would have been without a jump
	chance := make([]float64, len(y))
	var mu []float64
	for range jumpPasses {
		mu, _ = bestMean(walks)
		law, ok := newJumpLaw(y, mu, s)
		if !ok {
			return v
		}
		for i := range y {
			chance[i] = law.chance(y[i] - mu[i])
			walks[i] = y[i] - float64(chance[i]*(y[i]-mu[i]))
		}
	}
	miss, bars := 0.0, 0.0
	for i, c := range chance {
		d := y[i] - mu[i]
		miss, bars = miss+float64((1-c)*float64(d*d)), bars+1-c
	}
	spread := v.shrink(y, mu, at, miss/bars, bars, s)
	v.jumps = make([]jump, len(ranges))
	for k, i := range at {
		v.jumps[i] = jump{
			chance: chance[k], log: mu[k], spread: spread,
			size: max(0, ranges[i]-float64(besideJump*math.Exp(mu[k]+m)*math.Sqrt(float64(steps)))),
		}
	}
	return v
}

// jump is what is known of one in a candle.
type jump struct {
	chance      float64
	log, spread float64 // of the volatility of a second if there was one
	size        float64 // in logarithms of prices
}

// Jump draws whether a candle had a jump, and with one the volatility of a second around it and
// about how large it was.
func (v *Volatility) Jump(i int, d *Dice) (sigma, size float64, ok bool) {
	if len(v.jumps) == 0 || d.Uniform() >= v.jumps[i].chance {
		return 0, 0, false
	}
	j := v.jumps[i]
	return math.Exp(j.log + float64(j.spread*d.Normal())), j.size, true
}

// Inside draws what is known of a candle before any price inside is asked for, with the volatility
// that is known of it, and with a jump where one was drawn: then all of it.
func (v *Volatility) Inside(i int, b Bar, steps int, d *Dice) Inside {
	if sigma, _, ok := v.Jump(i, d); ok {
		if whole := make([]int64, steps+1); b.JumpPath(whole, sigma, d) {
			return Inside{bar: b, steps: steps, whole: whole}
		}
	}
	return b.Inside(steps, v.Of(i, d), d)
}

// newJumpLaw fits the mixture by expectation and maximization. It is false where the candles
// show no jumps: none stand apart, or so many that they are none.
func newJumpLaw(y, mu []float64, s float64) (jumpLaw, bool) {
	law := jumpLaw{share: 0.02, spread: s, jumpMean: 3 * s, jumpSpread: s, leastSpread: 0.8 * s, sharpSpread: 0.2 * s}
	bars := float64(len(y))
	for range jumpSteps {
		var n, sum, jumpSum, squares, jumpSquares float64
		for i := range y {
			r := y[i] - mu[i]
			c := law.chance(r)
			n, sum, jumpSum = n+c, sum+float64((1-c)*r), jumpSum+float64(c*r)
			squares, jumpSquares = squares+float64((1-c)*float64(r*r)), jumpSquares+float64(c*float64(r*r))
		}
		if n < fewestJumps || n > float64(mostJumps*bars) {
			return law, false
		}
		law.share, law.mean, law.jumpMean = n/bars, sum/(bars-n), jumpSum/n
		law.spread = max(law.leastSpread, math.Sqrt(max(0, squares/(bars-n)-float64(law.mean*law.mean))))
		law.jumpSpread = max(law.sharpSpread, math.Sqrt(max(0, jumpSquares/n-float64(law.jumpMean*law.jumpMean))))
	}
	return law, law.jumpMean-law.mean > float64(jumpsApart*law.spread)
}

// chance is the probability of a jump in a candle that is so far above the others. It does not
// fall with the range.
func (l jumpLaw) chance(r float64) float64 {
	r = min(r, l.jumpMean)
	if r <= l.mean {
		return 0
	}
	z, jump := (r-l.mean)/l.spread, (r-l.jumpMean)/l.jumpSpread
	odds := l.share / (1 - l.share) * l.spread / l.jumpSpread * math.Exp((float64(z*z)-float64(jump*jump))/2)
	if math.IsInf(odds, 1) {
		return 1
	}
	return odds / (1 + odds)
}
