package odds

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// rerun is a bot that is exactly its profits times the size.
func rerun(profits []float64, scale float64) Rerun {
	list := make([]float64, len(profits))
	for i, p := range profits {
		list[i] = scale * p
	}
	h := historyOf(list)
	for i := range h.Days {
		h.Days[i].Largest = h.Days[i].Largest.Mul(decimal.NewFromFloat(scale))
	}
	return Rerun{Scale: decimal.NewFromFloat(scale), History: h}
}

// quantiles are normal days whose mean and deviation are exact, in an order without memory.
func quantiles(n int, m, deviation float64) []float64 {
	days := setting{mean: m, deviation: deviation}.days(n, 1)
	list := make([]float64, n)
	for i, k := range rand.New(rand.NewPCG(9, 9)).Perm(n) {
		list[i] = days.days[k].end
	}
	return list
}

// bestByForce is the size at which most of so many accounts pass, of a normal edge, by running them
// at every size.
func bestByForce(m, deviation float64, accounts int) float64 {
	const sizes = 40
	counts := make([]SizePoint, sizes)
	r := rand.New(rand.NewPCG(17, 1))
	for range accounts {
		profits := independent(m, deviation)(r, testHorizon)
		for i := range counts {
			counts[i].Scale = 0.25 * math.Pow(16, float64(i)/(sizes-1))
			scaled := make([]float64, len(profits))
			for k, p := range profits {
				scaled[k] = counts[i].Scale * p
			}
			if lives(scaled) == 1 {
				counts[i].Value += 1 / float64(accounts)
			}
		}
	}
	return top(counts)
}

func TestTheBestSize(t *testing.T) {
	skipUnderRace(t)
	const m, deviation = 150, 700
	profits := quantiles(2000, m, deviation)
	rules := challenge()
	rules.DailyFloor, rules.GlobalFloor = trading.Opt[decimal.Decimal]{}, dollars("95000")
	o := Options{Rules: rules, Horizon: testHorizon, Jump: &Jump{}, Outer: 100, Inner: 1000}
	o.Size = &Size{Reruns: []Rerun{rerun(profits, 0.25), rerun(profits, 0.5), rerun(profits, 2), rerun(profits, 4)}}
	f := forecast(t, historyOf(profits), o)
	require.NotNil(t, f.Size)
	require.Empty(t, f.Size.Refused)
	best, ok := f.Size.Best.Get()
	require.True(t, ok)
	want := bestByForce(m, deviation, 20_000)
	t.Logf("the best size is %.2f, and by running every size %.2f", best, want)
	require.InEpsilon(t, want, best, 0.1)
	require.Len(t, f.Size.Points, sizesAcross)
	require.Contains(t, f.String(), "times the present one is best at passing within the horizon")
}

func TestNoSizeWithoutWhatItTakes(t *testing.T) {
	profits := quantiles(1000, 300, 500)
	ask := func(change func(*Options)) *SizeCurve {
		o := quick(challenge())
		o.Size = &Size{Reruns: []Rerun{rerun(profits, 0.5), rerun(profits, 1.5), rerun(profits, 2)}}
		change(&o)
		return forecast(t, historyOf(profits), o).Size
	}
	require.Empty(t, ask(func(*Options) {}).Refused)
	require.Empty(t, ask(func(o *Options) { o.Horizon, o.Size.Payoff, o.Size.Fee = 0, dollars("5000"), dollars("500") }).Refused)
	for want, change := range map[string]func(*Options){
		"no horizon and no payoff":     func(o *Options) { o.Horizon = 0 },
		"run again at 2 other sizes":   func(o *Options) { o.Size.Reruns = o.Size.Reruns[:2] },
		"a size is of one phase":       func(o *Options) { o.Then = []Rules{challenge()} },
		"the account has no target":    func(o *Options) { o.Rules.Target = trading.Opt[decimal.Decimal]{} },
		"is not its profits times the": func(o *Options) { o.Size.Reruns = disagreeing(profits) },
	} {
		c := ask(change)
		assert.Contains(t, c.Refused, want)
		_, named := c.Best.Get()
		assert.False(t, named)
	}
	o := quick(challenge())
	o.Size = &Size{}
	require.True(t, strings.HasPrefix(forecast(t, historyOf(profits[:3]), o).String(), "chances       No chance can be given: 3 days are too few days for an interval."))
}

// disagreeing is a bot whose profits at other sizes are not its profits times the size.
func disagreeing(profits []float64) []Rerun {
	flat := make([]float64, len(profits))
	list := []Rerun{rerun(flat, 0.5), rerun(flat, 1.5), rerun(flat, 2)}
	return list
}

// The curve ends where the bot is another than its profits times the size.
func TestTheCurveIsWhereBothAgree(t *testing.T) {
	profits := quantiles(1000, 300, 500)
	o := quick(challenge())
	o.Size = &Size{Reruns: []Rerun{rerun(profits, 0.8), rerun(profits, 1.5), {Scale: trading.Dec("3"), History: historyOf(make([]float64, 1000))}}}
	c := forecast(t, historyOf(profits), o).Size
	require.Empty(t, c.Refused)
	require.InDelta(t, 0.8, c.Points[0].Scale, 1e-9)
	require.InDelta(t, 1.5, c.Points[len(c.Points)-1].Scale, 1e-9)
	require.Equal(t, []bool{true, true, false}, []bool{c.Reruns[0].Agrees, c.Reruns[1].Agrees, c.Reruns[2].Agrees})
}

// Without an edge, or with a losing one, 99 of 100 histories name no size.
func TestNoSizeWithoutAnEdge(t *testing.T) {
	skipUnderRace(t)
	histories := 1000
	if *full {
		histories = 5000
	}
	for _, m := range []float64{0, -50} {
		for _, days := range []int{4, 10, 60, 250} {
			r, named := rand.New(rand.NewPCG(13, uint64(days))), 0
			for range histories {
				if low, _ := meanInterval(independent(m, 1000)(r, days), 0); low > 0 {
					named++
				}
			}
			t.Logf("a mean of %v, %d days: %d of %d histories would name a size", m, days, named, histories)
			assert.LessOrEqual(t, named, histories/100)
		}
	}
	r, found := rand.New(rand.NewPCG(13, 1)), 0
	for range 200 {
		if low, _ := meanInterval(independent(300, 1000)(r, 250), 0); low > 0 {
			found++
		}
	}
	assert.Greater(t, found, 190, "an edge is found")
}
