package odds

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Size asks for the best size, as a multiple of the one that the history was traded at.
type Size struct {
	// Payoff is what a pass pays, and Fee what an entry costs, in dollars. Without a horizon the
	// best size is the one that earns most for each day that it takes.
	Payoff, Fee trading.Opt[decimal.Decimal]
	// Reruns are the histories of the unmodified bot at three sizes at least, over the same
	// prices. Profits times a number are not the bot at that size: its stops, caps, least sizes
	// and refusals are its own. The curve is shown only where both agree.
	Reruns []Rerun
}

// Rerun is the bot at another size.
type Rerun struct {
	// Scale is the size, as a multiple of that of the history.
	Scale decimal.Decimal
	// History is what the bot did then.
	History History
}

// SizeCurve is what other sizes come to.
type SizeCurve struct {
	// Refused is why no size is named; empty if one is.
	Refused string
	// Best is the best size, as a multiple.
	Best trading.Opt[float64]
	// By is what Best is best at, in words.
	By string
	// Points are the curve, and Reruns what holds it against the bot.
	Points []SizePoint
	Reruns []RerunPoint
}

// SizePoint is one size. All but Scale are means over the histories that might have been.
type SizePoint struct {
	Scale      float64 // the size, as a multiple
	Pass, Lose float64 // the chances
	Value      float64 // what the size is judged by
}

// RerunPoint is the chance at one size by profits times the size, and by the bot itself.
type RerunPoint struct {
	Scale       float64 // the size, as a multiple
	Scaled, Bot float64 // how likely the account passes by either
	Agrees      bool    // whether the two are close enough
}

// agreement is how far apart the two may be.
const agreement = 0.05

// fewestReruns is how many sizes the bot has to be run at.
const fewestReruns = 3

func (s *Size) check() error {
	if s == nil {
		return nil
	}
	var wrong []error
	for _, r := range s.Reruns {
		if !r.Scale.IsPositive() {
			wrong = append(wrong, fmt.Errorf("odds: Rerun.Scale is %s: it must be greater than 0", r.Scale))
		}
		wrong = append(wrong, r.History.check())
	}
	payoff, ok := s.Payoff.Get()
	fee, feeToo := s.Fee.Get()
	if ok != feeToo || ok && (!payoff.IsPositive() || fee.IsNegative()) {
		wrong = append(wrong, errors.New("odds: Size.Payoff and Size.Fee belong together: the one must be greater than 0, the other not less"))
	}
	return errors.Join(wrong...)
}

// curve answers what Size asks, by the readings of one phase.
func (s *Size) curve(e engine, reading rule, o Options) *SizeCurve {
	c := &SizeCurve{}
	payoff, paid := s.Payoff.Get()
	switch low, high := meanInterval(e.series.profits(), e.haircut*e.series.traded()); {
	case math.IsInf(reading.target, 1):
		c.Refused = "the account has no target: there is nothing that a size could be best at"
	case o.Horizon == 0 && !paid:
		c.Refused = "no horizon and no payoff: with an edge the smallest size is always the best then, and without one the largest"
	case low <= 0:
		c.Refused = fmt.Sprintf("the mean of a day is between %s and %s with 99 %% confidence: that is no edge that a size could use", dollarText(low), dollarText(high))
	case len(s.Reruns) < fewestReruns:
		c.Refused = fmt.Sprintf("the bot was run again at %d other sizes, of %d: profits times a number are not the bot at that size", len(s.Reruns), fewestReruns)
	}
	if c.Refused != "" {
		return c
	}
	low, high := c.compare(s.Reruns, e, reading)
	if low >= high {
		c.Refused = "the bot at other sizes is not its profits times the size: the two do not agree"
		return c
	}
	c.By = "passing within the horizon"
	if o.Horizon == 0 {
		c.By = "payoff less fee, for each day that an account takes"
	}
	c.points(e, reading, low, high, func(one share) float64 {
		if o.Horizon > 0 {
			return one.passed
		}
		return (one.passed*payoff.InexactFloat64() - level(s.Fee, 0)) / max(one.days, 1)
	})
	return c
}

// compare holds profits times a size against the bot at that size, and returns the sizes between
// which they agree.
func (c *SizeCurve) compare(reruns []Rerun, e engine, reading rule) (low, high float64) {
	low, high = 1, 1
	for _, r := range slices.SortedFunc(slices.Values(reruns), func(a, b Rerun) int { return a.Scale.Cmp(b.Scale) }) {
		scale := r.Scale.InexactFloat64()
		own := newSeries(r.History)
		own.cut(e.series.block)
		p := RerunPoint{Scale: scale, Scaled: e.plugIn(e.series, reading, scale), Bot: e.plugIn(own, reading, 1)}
		p.Agrees = math.Abs(p.Scaled-p.Bot) <= agreement
		c.Reruns = append(c.Reruns, p)
	}
	for i := len(c.Reruns) - 1; i >= 0; i-- { // down from the size of the history
		if p := c.Reruns[i]; p.Scale <= 1 {
			if !p.Agrees {
				break
			}
			low = p.Scale
		}
	}
	for _, p := range c.Reruns {
		if p.Scale >= 1 {
			if !p.Agrees {
				break
			}
			high = p.Scale
		}
	}
	return low, high
}

// sizesAcross is how many sizes a curve has.
const sizesAcross = 15

// points computes the curve, every size on the same paths, and the best of it.
func (c *SizeCurve) points(e engine, reading rule, low, high float64, value func(share) float64) {
	rules := make([]rule, sizesAcross)
	for i := range rules {
		rules[i] = reading
		rules[i].scale = low * math.Pow(high/low, float64(i)/(sizesAcross-1))
	}
	e.phases, e.inner, e.watch = [][]rule{rules}, max(20, e.inner/5), nil
	all := e.run()
	for i, r := range rules {
		c.Points = append(c.Points, SizePoint{
			Scale: r.scale, Pass: mean(all.of(i, func(s share) float64 { return s.passed })),
			Lose: mean(all.of(i, func(s share) float64 { return s.lost })), Value: mean(all.of(i, value)),
		})
	}
	c.Best = trading.Some(top(c.Points))
}

// top is where a parabola through the points near the highest is highest: what is around it
// differs by less than the paths err.
func top(points []SizePoint) float64 {
	best := slices.MaxFunc(points, func(a, b SizePoint) int { return compare(a.Value, b.Value) })
	var x, y []float64
	for _, p := range points {
		if p.Value >= best.Value-0.1*math.Abs(best.Value) {
			x, y = append(x, math.Log(p.Scale/best.Scale)), append(y, p.Value)
		}
	}
	b, a, ok := parabola(x, y)
	if !ok || a >= 0 {
		return best.Scale
	}
	at := best.Scale * math.Exp(-b/(2*a))
	return min(max(at, points[0].Scale), points[len(points)-1].Scale)
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// parabola fits c + bx + ax² by least squares.
func parabola(x, y []float64) (b, a float64, ok bool) {
	if len(x) < 4 {
		return 0, 0, false
	}
	var s [5]float64
	var t [3]float64
	for i, v := range x {
		power := 1.0
		for k := range s {
			s[k] += power
			if k < len(t) {
				t[k] += float64(power * y[i])
			}
			power *= v
		}
	}
	det := func(m [9]float64) float64 {
		return float64(m[0]*(m[4]*m[8]-m[5]*m[7])) - float64(m[1]*(m[3]*m[8]-m[5]*m[6])) + float64(m[2]*(m[3]*m[7]-m[4]*m[6]))
	}
	d := det([9]float64{s[0], s[1], s[2], s[1], s[2], s[3], s[2], s[3], s[4]})
	if math.Abs(d) < 1e-12 {
		return 0, 0, false
	}
	b = det([9]float64{s[0], t[0], s[2], s[1], t[1], s[3], s[2], t[2], s[4]}) / d
	a = det([9]float64{s[0], s[1], t[0], s[1], s[2], t[1], s[2], s[3], t[2]}) / d
	return b, a, true
}

// plugIn is how likely the account passes if the history is the truth.
func (e engine) plugIn(from *series, reading rule, scale float64) float64 {
	reading.scale = scale
	e.series, e.phases, e.watch = from, [][]rule{{reading}}, nil
	e.inner = max(2000, e.inner)
	t := e.tracks(from.whole(), 0)
	return e.paths(t)[0].passed
}

// meanInterval holds the mean of a day with 99 percent confidence, after a haircut.
func meanInterval(profits []float64, haircut float64) (low, high float64) {
	const z = 2.5758293035489004
	student := 1 + (z*z+1)/(4*float64(len(profits)-1))
	half := z * student * meanError(profits)
	m := mean(profits) - haircut
	return m - half, m + half
}

func dollarText(v float64) string {
	return money(decimal.NewFromFloat(v))
}
