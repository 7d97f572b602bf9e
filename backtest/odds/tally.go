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

// run makes the paths of every outer sample, as restless as the history.
func (e *engine) run() shares {
	all := make(shares, len(e.phases[0]))
	for _, t := range e.samples(0) {
		all.add(e.paths(t))
	}
	return all
}

// twice makes the paths of samples that are more or less restless, as the days are, and the same ones with
// a day now and then that is worse than any that was seen.
func (e *engine) twice() (seen, worse shares) {
	seen, worse = make(shares, len(e.phases[0])), make(shares, len(e.phases[0]))
	for k, t := range e.samples(restlessness(len(e.series.dates))) {
		again, rng, jump := *t, *t.rng, *t.jump
		again.rng, again.jump, again.seen, again.jumps = &rng, &jump, nil, nil
		again.worse = e.worse(k)
		seen.add(e.paths(t))
		worse.add(e.paths(&again))
	}
	return seen, worse
}

func (s shares) add(list []share) {
	for reading, one := range list {
		s[reading] = append(s[reading], one)
	}
}

// restlessness is by how much the volatility of the years around a history of so many days may differ
// from its own: the standard deviation of its logarithm.
func restlessness(days int) float64 { return 0.4 * math.Pow(60/float64(days), 0.25) }

// samples are the histories that might have been. The volatility of each is another, by so much, since
// the market of a history is as restless as its years only by chance.
func (e *engine) samples(restless float64) []*tracks {
	list, samples := make([]*tracks, e.outer), make([]sample, e.outer)
	whole := e.series.whole()
	for k := range list {
		list[k] = e.tracks(sample{}, k)
		e.series.resample(whole, &samples[k], list[k].rng)
		list[k].from = samples[k]
	}
	means, drifts := e.series.widen(samples)
	traded := e.series.traded()
	for k, t := range list {
		t.swing = math.Exp(restless * rand.New(rand.NewPCG(e.seed+2, uint64(k))).NormFloat64())
		t.drift += drifts[k] + (1-t.swing)*means[k]/traded
	}
	return list
}

// worse are the days that a sample has not seen: how often they come is drawn for each, about once in
// as many days as the history has.
func (e *engine) worse(number int) *worseDays {
	rng := rand.NewPCG(e.seed+3, uint64(number))
	w := &worseDays{rng: rng, mean: mean(e.series.profits()), rate: rand.New(rng).ExpFloat64() / float64(len(e.series.dates))}
	for _, d := range e.series.days {
		w.worst = max(w.worst, w.mean-d.end, -d.low)
	}
	return w
}

// tracks are those of a sample, with random numbers of their own.
func (e *engine) tracks(from sample, number int) *tracks {
	return &tracks{
		stroll: stroll{series: e.series, from: from, rng: rand.NewPCG(e.seed, uint64(number))},
		rate:   e.rate, jump: rand.NewPCG(e.seed+1, uint64(number)), drift: -e.haircut, swing: 1,
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
	// the histories that might have been seen. Mean is the mean over those that are as restless as the one
	// that was: of many accounts of many bots so many pass, and it is in no headline.
	Low, High, Mean float64
	// Error is the standard error that the simulation adds to Mean, which more paths make smaller.
	Error float64
}

// Width is how wide the interval is.
func (c Chance) Width() float64 { return c.High - c.Low }

// chance is that of a share by outer sample, each from so many paths. What the paths add to the
// spread is taken out of it again, unless they add more than there is.
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
	shrink := 1.0
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

// or is an interval from the lower of two to the higher.
func (c Chance) or(o Chance) Chance {
	c.Low, c.High = min(c.Low, o.Low), max(c.High, o.High)
	return c
}

// around has the mean of other paths, and holds it.
func (c Chance) around(o Chance) Chance {
	return Chance{min(c.Low, o.Mean), max(c.High, o.Mean), o.Mean, o.Error}
}

// apart is the interval where all of so many histories agree: that the next one differs is as likely as
// what none of so many has shown.
func (c Chance) apart(histories int) Chance {
	if c.Low == c.High {
		most := unseen(histories)
		c.Low, c.High = c.Low*(1-most), c.High+(1-c.High)*most
	}
	return c
}

// unseen is how likely something is at most that happened in none of so many cases, with 97.5 percent
// confidence (Clopper and Pearson).
func unseen(cases int) float64 {
	if cases == 0 {
		return 1
	}
	return 1 - math.Pow(0.025, 1/float64(cases))
}

// quiet reports whether no day and no moment of the history took a tenth of the room to a floor, by one
// reading: then it has seen nothing of how the account is lost.
func (e *engine) quiet(reading int) bool {
	deepest, room := 0.0, math.Inf(1)
	for _, d := range e.series.days {
		deepest = max(deepest, -d.low)
	}
	for _, phase := range e.phases {
		r := phase[reading]
		room = min(room, r.start-max(r.global, r.daily))
	}
	return !math.IsInf(room, 1) && 10*deepest < room
}

// chances are those to pass and to lose by one reading, from paths as the days are and from those with
// worse ones. Where nothing was seen they go as far as whole stretches of the horizon allow.
func (e *engine) chances(seen, worse shares, reading, horizon int) (pass, lose Chance) {
	pass = seen.chance(reading, e.inner, passedShare).or(worse.chance(reading, e.inner, passedShare))
	lose = seen.chance(reading, e.inner, lostShare).or(worse.chance(reading, e.inner, lostShare))
	pass, lose = pass.apart(e.outer), lose.apart(e.outer)
	if e.quiet(reading) {
		most := unseen(len(e.series.dates) / max(1, horizon))
		lose.High, pass.Low = max(lose.High, most), min(pass.Low, 1-most)
	}
	return pass, lose
}

func (s shares) chance(reading, inner int, what func(share) float64) Chance {
	return chance(s.of(reading, what), inner)
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
