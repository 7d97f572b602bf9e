package odds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// world is a kind of days.
type world struct {
	name string
	days process
}

var worlds = []world{
	{"independent", independent(100, 1000)},
	{"memory of 0.3", remembering(100, 1000)},
	{"fat tails", fatTailed(100, 1000)},
}

// covered is how often an interval holds the truth, and how wide it is in the mean.
func covered(w world, days, histories int, truth float64, interval func(profits []float64, seed uint64) (low, high float64)) (share, width float64) {
	r := rand.New(rand.NewPCG(11, uint64(days)))
	for k := range histories {
		low, high := interval(w.days(r, days), uint64(k))
		if low <= truth && truth <= high {
			share++
		}
		width += high - low
	}
	return share / float64(histories), width / float64(histories)
}

// iterated is the interval of the package.
func iterated(outer, inner int) func([]float64, uint64) (float64, float64) {
	return func(profits []float64, seed uint64) (low, high float64) {
		e := engineOf(profits, outer, inner, seed)
		c := chance(e.run().of(0, passedShare), inner)
		return c.Low, c.High
	}
}

// plugIn is what simulators print: the history is taken for the truth, and the interval is of the
// paths alone.
func plugIn(paths int) func([]float64, uint64) (float64, float64) {
	return func(profits []float64, seed uint64) (low, high float64) {
		p := plugInOf(profits, paths, seed)
		half := 1.96 * math.Sqrt(p*(1-p)/float64(paths))
		return p - half, p + half
	}
}

func plugInOf(profits []float64, paths int, seed uint64) float64 {
	e := engineOf(profits, 1, paths, seed)
	return e.paths(e.tracks(e.series.whole(), 0))[0].passed
}

// jackknife leaves out each of twenty blocks once.
func jackknife(paths int) func([]float64, uint64) (float64, float64) {
	return func(profits []float64, seed uint64) (low, high float64) {
		const blocks = 20
		var list []float64
		for b := range blocks {
			from, to := b*len(profits)/blocks, (b+1)*len(profits)/blocks
			rest := append(append([]float64{}, profits[:from]...), profits[to:]...)
			list = append(list, plugInOf(rest, paths, seed))
		}
		m, sum := mean(list), 0.0
		for _, p := range list {
			sum += float64((p - m) * (p - m))
		}
		p, half := plugInOf(profits, paths, seed), 1.96*math.Sqrt(sum*(blocks-1)/blocks)
		return p - half, p + half
	}
}

// The intervals hold the truth as often as they say, and the two that everybody uses do not. In
// full it is the table of docs/odds.md:
//
//	go test ./backtest/odds -run Coverage -odds.full -v -timeout 60m
func TestCoverage(t *testing.T) {
	skipUnderRace(t)
	lengths, histories, inner := []int{60}, 60, 20
	low, high := 0.85, 1.0
	if *full {
		lengths, histories, inner = []int{60, 120, 250, 1000}, 1000, 50
		low, high = 0.92, 0.97
	}
	for _, w := range worlds {
		p := truth(w.days, histories*200)
		for _, days := range lengths {
			got, width := covered(w, days, histories, p, iterated(200, inner))
			t.Logf("%s, %d days: the truth is %.3f, covered %.1f %%, width %.2f", w.name, days, p, 100*got, width)
			assert.GreaterOrEqual(t, got, low, "%s, %d days", w.name, days)
			assert.LessOrEqual(t, got, high, "%s, %d days", w.name, days)
		}
		got, _ := covered(w, 60, histories, p, plugIn(2000))
		t.Logf("%s, 60 days: the plug-in covers %.1f %%", w.name, 100*got)
		assert.Less(t, got, low, "the plug-in")
		if *full {
			got, _ = covered(w, 60, histories/4, p, jackknife(2000))
			t.Logf("%s, 60 days: the jackknife covers %.1f %%", w.name, 100*got)
			assert.Less(t, got, low, "the jackknife")
		}
	}
}

// The jackknife fails the same judgement at 20 days, where it fails most.
func TestTheJackknifeDoesNotCover(t *testing.T) {
	skipUnderRace(t)
	w := worlds[0]
	p := truth(w.days, 20_000)
	got, _ := covered(w, 20, 40, p, jackknife(300))
	t.Logf("the jackknife covers %.0f %% at 20 days", 100*got)
	assert.Less(t, got, 0.85)
	got, _ = covered(w, 20, 40, p, iterated(200, 20))
	assert.GreaterOrEqual(t, got, 0.85)
}

// The width of an interval by the length of the history, for accounts of several chances. In full it
// is the table of docs/odds.md:
//
//	go test ./backtest/odds -run Widths -odds.full -v
func TestWidthsShrinkWithTheHistory(t *testing.T) {
	skipUnderRace(t)
	lengths, histories := []int{60, 250}, 10
	if *full {
		lengths, histories = []int{60, 120, 250, 500, 1000, 2000}, 100
	}
	for _, edge := range []struct{ mean, deviation float64 }{{100, 1000}, {150, 700}, {250, 700}, {300, 500}} {
		w := world{"independent", independent(edge.mean, edge.deviation)}
		p, before := truth(w.days, 20_000), 1.0
		for _, days := range lengths {
			narrow := 0
			_, width := covered(w, days, histories, p, func(profits []float64, seed uint64) (low, high float64) {
				if low, high = iterated(200, 50)(profits, seed); high-low <= WidestInterval {
					narrow++
				}
				return low, high
			})
			t.Logf("$%.0f a day, deviation $%.0f: the truth is %.2f; %d days: width %.2f, narrow enough %d of %d", edge.mean, edge.deviation, p, days, width, narrow, histories)
			assert.Less(t, width, before)
			before = width
		}
	}
}
