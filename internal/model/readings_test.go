package model

import "testing"

// limits are worlds that the protocol is not made for, and what breaks in them. The
// client cannot close them; a caller can know about them.
var limits = []struct {
	name  string
	world func(w *world)
	find  []finding
}{
	{"49: keys per route, so a fence proves nothing",
		func(w *world) { w.keysPerRoute = true }, []finding{ranAfterNotApplied, falseNotApplied}},
	{"a worker outlives its claim of 15 minutes",
		func(w *world) { w.zombies = true }, []finding{ranAfterNotApplied, ranTwice}},
	{"11: idempotency_result_unknown does not last",
		func(w *world) { w.unknownFades = true }, []finding{ranAfterNotApplied}},
	{"a sole actor whose request is on its way for more than 15 minutes",
		func(w *world) { w.sole, w.arriveUntil = true, half }, []finding{ranAfterNotApplied}},
	{"no durable journal, and a second try that the restarted program knows nothing of",
		func(w *world) { w.durable = false }, []finding{ranAfterNotApplied}},
	{"something on the way repeats requests",
		func(w *world) { w.repeats, w.fences = 1, 1 }, []finding{falseNotApplied, ranTwice}},
}

func TestLimits(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, c := range limits {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := ordinary()
			c.world(&w)
			r := explore(w, allRules, c.find...)
			for _, f := range c.find {
				if r.count[f] == 0 {
					t.Errorf("it holds after all: %s", findings[f])
					continue
				}
				t.Logf("\n%s", r.schedule(f))
			}
		})
	}
}

// With keys per route a fence proves nothing; time and lasting traces still do,
// if nothing is on its way for more than 15 minutes.
func TestKeysPerRouteWithoutFence(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	w := ordinary()
	w.keysPerRoute, w.unfenced, w.others, w.fences = true, true, true, 0
	r := explore(w, allRules)
	for _, f := range r.broken() {
		t.Errorf("broken:\n%s", r.schedule(f))
	}
	if !r.goals[goalNone] {
		t.Errorf("never reached: %s", goals[goalNone])
	}
	t.Logf("%d states", r.states)
}

// Where requests are repeated on the way, a new key only after a replayed refusal
// keeps the second order away; what else runs is the repeat's own doing.
func TestRepeats(t *testing.T) {
	skipUnderRaceDetector(t)
	t.Parallel()
	w := ordinary()
	w.repeats, w.fences, w.crashes, w.sends = 1, 0, 0, 3
	w.answersExpire = false
	r := explore(w, hardened)
	if r.count[ranTwice] > 0 {
		t.Errorf("broken:\n%s", r.schedule(ranTwice))
	}
	if !r.goals[goalSecondKey] {
		t.Errorf("never reached: %s", goals[goalSecondKey])
	}
	t.Logf("%d states; repeats ran %d times", r.states, r.count[byRepeat])
}
