package odds

import (
	"math"
	"math/rand/v2"
	"slices"
)

// engine runs the paths of a forecast.
type engine struct {
	series       *series
	phases       [][]rule // by phase, one for each reading of the daily floor
	days         int
	outer, inner int
	seed         uint64
	rate         float64 // how likely a jump is on a day
	haircut      float64 // taken off each traded day
	watch        *watch  // notes equities of the first phase; nil for none
}

// share is how the paths of one sample of the history ended, as shares.
type share struct {
	passed, lost, held float64
	days               float64 // that a path took, in the mean
}

// shares are those of each reading, by outer sample.
type shares [][]share

// run makes the paths of every outer sample.
func (e *engine) run() shares {
	all := make(shares, len(e.phases[0]))
	list := make([]*tracks, e.outer)
	samples := make([]sample, e.outer)
	whole := e.series.whole()
	for k := range list {
		list[k] = e.tracks(sample{}, k)
		e.series.resample(whole, &samples[k], list[k].rng)
		list[k].from = samples[k]
	}
	for k, drift := range e.series.widen(samples) {
		list[k].drift += drift
		for reading, s := range e.paths(list[k]) {
			all[reading] = append(all[reading], s)
		}
	}
	return all
}

// tracks are those of a sample, with random numbers of their own.
func (e *engine) tracks(from sample, number int) *tracks {
	return &tracks{
		stroll: stroll{series: e.series, from: from, rng: rand.NewPCG(e.seed, uint64(number))},
		rate:   e.rate, jump: rand.NewPCG(e.seed+1, uint64(number)), drift: -e.haircut,
	}
}

// paths makes those of one sample, and returns how they ended by each reading.
func (e *engine) paths(t *tracks) []share {
	total := make([]share, len(e.phases[0]))
	for i := range total {
		total[i].passed = 1
	}
	for number, phase := range e.phases {
		counts := make([]share, len(phase))
		for path := range e.inner {
			t.begin()
			for i := range phase {
				w := walker{rule: &phase[i]}
				curve := e.watch.begin(&w, number, path)
				end := w.run(t, e.days)
				counts[i].count(end)
				if curve {
					e.watch.end(i, &w, end)
				}
				if number == 0 {
					e.watch.ended(i, end)
				}
			}
		}
		for i := range total {
			total[i].then(counts[i], float64(e.inner))
		}
	}
	return total
}

func (s *share) count(end ending) {
	s.days += float64(end.day)
	switch end.result {
	case passed:
		s.passed++
	case lost:
		s.lost++
	case held:
		s.held++
	case undecided:
	}
}

// then adds a phase that follows a pass.
func (s *share) then(next share, of float64) {
	s.lost += float64(s.passed * next.lost / of)
	s.held += float64(s.passed * next.held / of)
	s.days += float64(s.passed * next.days / of)
	s.passed *= next.passed / of
}

// Chance is a probability with what is known of it.
type Chance struct {
	// Low and High are the interval that holds the probability with 95 percent confidence, from
	// the histories that might have been seen. Mean is the mean over them.
	Low, High, Mean float64
	// Error is the standard error that the simulation adds to Mean, which more paths make smaller.
	Error float64
}

// Width is how wide the interval is.
func (c Chance) Width() float64 { return c.High - c.Low }

// chance is that of a share by outer sample, each from so many paths. What the paths add to the
// spread is taken out of it again.
func chance(list []float64, inner int) Chance {
	c := Chance{Mean: mean(list)}
	noise, spread := 0.0, 0.0
	for _, p := range list {
		noise += float64(p * (1 - p))
		spread += float64((p - c.Mean) * (p - c.Mean))
	}
	n := float64(len(list))
	noise /= n * float64(inner)
	spread /= n
	c.Error = math.Sqrt(noise / n)
	shrink := 0.0
	if spread > noise {
		shrink = math.Sqrt(1 - noise/spread)
	}
	sorted := slices.Sorted(slices.Values(list))
	at := func(q float64) float64 {
		return min(max(c.Mean+shrink*(percentile(sorted, q)-c.Mean), 0), 1)
	}
	c.Low, c.High = at(0.025), at(0.975)
	return c
}

// percentile is between the values of a sorted list, of which the i-th has i/(n+1) below it in the
// mean.
func percentile(sorted []float64, q float64) float64 {
	at := min(max(q*float64(len(sorted)+1)-1, 0), float64(len(sorted)-1))
	i := int(at)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + float64((at-float64(i))*(sorted[next]-sorted[i]))
}

// of takes one share of each sample.
func (s shares) of(reading int, what func(share) float64) []float64 {
	list := make([]float64, len(s[reading]))
	for i, one := range s[reading] {
		list[i] = what(one)
	}
	return list
}
