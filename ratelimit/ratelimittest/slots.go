package ratelimittest

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
)

func holdsItsLimit(r run) {
	one := needs(bucket("a", 3))
	for range 3 {
		r.must(one)
	}
	r.refused(one)
	r.pass(2 * window)
	if !r.spec.Shared { // what is under way holds its slot, however long it takes
		r.refused(one)
	}
}

func holdsAfterTheAnswer(r run) {
	one := needs(bucket("a", 1))
	slot := r.must(one)
	r.spec.Sleep(time.Second)
	r.giveBack(slot, one, true)
	r.spec.Sleep(window - time.Second) // a window after it was sent
	r.refused(one)
	r.pass(time.Second)
	r.must(one)
}

func unsentHoldsNothing(r run) {
	one := needs(bucket("a", 1))
	for range 5 {
		r.giveBack(r.must(one), one, false)
	}
	r.answer(one)
	r.refused(one)
}

// staysWithinEveryWindow sends at random, with requests that arrive anywhere
// between their send and their answer, and looks at every window of the service
// that ends with an arrival.
func staysWithinEveryWindow(r run) {
	const limit = 12
	b := bucket("a", limit)
	random := rand.New(rand.NewPCG(1, 2))
	var now time.Duration
	type flight struct {
		slot   string
		answer time.Duration
	}
	var arrivals []time.Duration
	var flying []flight
	most, refusals := 0, 0
	for range 3000 {
		step := time.Duration(random.IntN(3000)) * time.Millisecond
		r.spec.Sleep(step)
		now += step
		flying = slices.DeleteFunc(flying, func(f flight) bool {
			if f.answer > now {
				return false
			}
			r.giveBack(f.slot, needs(b), true)
			return true
		})
		grant := r.take(needs(b))
		if grant.Wait > 0 {
			refusals++
			continue
		}
		took := time.Duration(random.IntN(900)) * time.Millisecond
		arrivals = append(arrivals, now+time.Duration(random.Int64N(int64(took)+1)))
		flying = append(flying, flight{grant.Slot, now + took})
	}
	slices.Sort(arrivals)
	for i := range arrivals {
		seen := 1
		for j := i - 1; j >= 0 && arrivals[i]-arrivals[j] < window; j-- {
			seen++
		}
		most = max(most, seen)
	}
	assert.LessOrEqual(r, most, limit, "a window of the service saw more")
	assert.Equal(r, limit, most, "and what there is was used")
	assert.NotZero(r, refusals, "nothing was refused")
}
