package odds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// setting is a walk between two barriers, in per cent of the account.
type setting struct{ down, up, mean, deviation float64 }

var barriers = []setting{
	{5, 10, 0.1, 1}, // the reference: 0.665
	{5, 10, 0, 1}, {5, 10, -0.05, 1}, {10, 10, 0.05, 1}, {5, 5, 0.05, 0.8},
	{4, 8, 0.1, 0.7}, {10, 5, 0, 1.2}, {6, 12, 0.15, 1.5}, {3, 10, 0.1, 0.6}, {8, 8, -0.03, 0.9},
}

// twoBarriers is how likely a walk that is watched without pause reaches the upper one first.
func (s setting) twoBarriers() float64 {
	down, up := s.down, s.up
	if s.mean == 0 {
		return down / (down + up)
	}
	theta := 2 * s.mean / (s.deviation * s.deviation)
	return (1 - math.Exp(-theta*down)) / (1 - math.Exp(-theta*(down+up)))
}

// days are normal by their quantiles, so that mean and deviation are exact, with a Brownian bridge
// in so many steps inside each.
func (s setting) days(n, steps int) *series {
	r := rand.New(rand.NewPCG(3, 4))
	made := &series{}
	z := make([]float64, n)
	for i := range z {
		z[i] = math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/float64(n)-1)
	}
	correction := 1 / deviation(z)
	path := make([]float64, steps+1)
	for _, v := range z {
		end := s.mean + float64(s.deviation*v*correction)
		for k := 1; k <= steps; k++ {
			path[k] = path[k-1] + float64(s.deviation*r.NormFloat64()/math.Sqrt(float64(steps)))
		}
		var extremes []float64
		for k := 1; k < steps; k++ {
			part := float64(k) / float64(steps)
			extremes = append(extremes, path[k]+float64(part*(end-path[steps])))
		}
		made.append(end, append(extremes, end))
	}
	made.cut(1)
	return made
}

// passes is the engine's answer, from so many paths.
func (s setting) passes(days *series, paths int) float64 {
	r := rule{scale: 1, reading: fixed, anchor: fixed, global: -s.down, daily: math.Inf(-1), target: s.up}
	e := engine{series: days, phases: [][]rule{{r}}, days: 5000, inner: paths, seed: 1}
	return e.paths(e.tracks(days.whole(), 0))[0].passed
}

func TestTwoBarriers(t *testing.T) {
	skipUnderRace(t)
	require.InDelta(t, 0.665, barriers[0].twoBarriers(), 0.0005)
	for _, s := range barriers {
		want := s.twoBarriers()
		require.InDelta(t, want, s.passes(s.days(1500, 400), 40_000), 0.01, "%+v", s)
	}
}

// A coin that wins or loses one.
func TestGamblersRuin(t *testing.T) {
	skipUnderRace(t)
	for _, c := range []struct {
		down, up   float64
		wins, days int
	}{{5, 10, 1, 2}, {3, 3, 1, 2}, {2, 7, 1, 2}, {5, 10, 6, 11}, {4, 6, 9, 20}} {
		coin := &series{}
		for i := range c.days {
			x := -1.0
			if i < c.wins {
				x = 1
			}
			coin.append(x, []float64{x})
		}
		coin.cut(1)
		win := float64(c.wins) / float64(c.days)
		want := c.down / (c.down + c.up)
		if odds := (1 - win) / win; odds != 1 {
			want = (1 - math.Pow(odds, c.down)) / (1 - math.Pow(odds, c.down+c.up))
		}
		const paths = 60_000
		got := setting{down: c.down, up: c.up}.passes(coin, paths)
		require.InDelta(t, want, got, 3.5*math.Sqrt(want*(1-want)/paths), "%+v: exactly, but for the paths", c)
	}
}

// The theory of an autoregression: (2ρ/(1-ρ²))^⅔ n^⅓.
func TestBlockLength(t *testing.T) {
	skipUnderRace(t)
	r := rand.New(rand.NewPCG(1, 9))
	for _, rho := range []float64{0.3, 0.5} {
		sum := 0.0
		for range 20 {
			x, e := make([]float64, 4000), 0.0
			for i := range x {
				e = float64(rho*e) + r.NormFloat64()
				x[i] = e
			}
			sum += blockLength(x) / 20
		}
		want := math.Pow(2*rho/(1-rho*rho), 2.0/3) * math.Cbrt(4000)
		require.InEpsilon(t, want, sum, 0.15, "ρ = %v", rho)
	}
	require.Less(t, blockLength(independent(0, 1)(r, 4000)), 5.0)
	require.InDelta(t, 1, blockLength(make([]float64, 100)), 0, "days that do not differ")
	require.InDelta(t, 1, blockLength([]float64{1, 2}), 0)
}

// A path is cut twice, and its blocks have the length that was asked for.
func TestBlocksHaveTheirLength(t *testing.T) {
	s := seriesOf(make([]float64, 500))
	for _, length := range []float64{1, 2, 7} {
		s.cut(length)
		e := engine{series: s, seed: 5}
		var drawn sample
		followed, days := 0, 0
		for k := range 40 {
			one := e.tracks(s.whole(), k)
			s.resample(s.whole(), &drawn, one.rng)
			one.from = drawn
			one.reset()
			before := int32(-2)
			for range 1000 {
				d := one.stroll.day()
				if d == (before+1)%500 {
					followed++
				}
				days, before = days+1, d
			}
		}
		require.InDelta(t, 1-1/length, float64(followed)/float64(days), 0.02, "blocks of %v days", length)
	}
}
