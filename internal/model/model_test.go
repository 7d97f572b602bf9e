package model

import (
	"flag"
	"testing"
)

// deep lets one more send and one more crash happen.
var deep = flag.Bool("deep", false, "explore further, for minutes and in more than a gigabyte")

// worlds are those in which the protocol must hold.
var worlds = []struct {
	name  string
	world func(w *world)
	goals []goal
}{
	{"others trade, traces last", func(w *world) { w.others = true },
		[]goal{goalApplied, goalRefused, goalSecondKey, goalFence, goalFenceReplayed, goalUnknownKept}},
	{"others trade, traces vanish", func(w *world) { w.others, w.canVanish = true, true },
		[]goal{goalApplied, goalRefused, goalUnknownKept}},
	{"sole actor", func(w *world) { w.sole = true },
		[]goal{goalFence, goalTrace, goalNone}},
	{"sole actor, and older orders of ours act", func(w *world) { w.sole, w.active = true, true },
		[]goal{goalFence, goalNone}},
	{"recovery with the key of another holder", func(w *world) { w.otherHolder = true },
		[]goal{goalApplied, goalUnknownKept}},
	{"requests on their way for hours", func(w *world) { w.arriveUntil = half },
		[]goal{goalFence}},
	{"three sends", func(w *world) { w.sends, w.fences, w.crashes = 3, 1, 0 },
		[]goal{goalApplied, goalAfter429, goalFence}},
	// One send, so that nothing may run twice, whatever happens.
	{"lifetime 0", func(w *world) { w.sends, w.fences, w.crashes = 1, 3, 2 },
		[]goal{goalRefused, goalFence}},
	{"no journal, a derived key, one try, decided again at once",
		func(w *world) { w.durable, w.oneKey = false, true },
		[]goal{goalApplied, goalFence}},
}

func TestTheProtocolHolds(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, c := range worlds {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := ordinary()
			c.world(&w)
			if *deep {
				w.crashes++
				if w.sends > 1 {
					w.sends++
				}
			}
			r := explore(w, allRules)
			for _, f := range r.broken() {
				t.Errorf("broken:\n%s", r.schedule(f))
			}
			for _, g := range c.goals {
				if !r.goals[g] {
					t.Errorf("never reached: %s", goals[g])
				}
			}
			for f := apart; f < findingCount; f++ {
				if r.count[f] == 0 {
					continue
				}
				if w.sends == 1 {
					t.Errorf("nothing is resent, and yet:\n%s", r.schedule(f))
				}
				t.Logf("counted apart, %d times:\n%s", r.count[f], r.schedule(f))
			}
			t.Logf("%d sends, %d fences, %d crashes: %d states, %d transitions", w.sends, w.fences, w.crashes, r.states, r.transitions)
		})
	}
}

// skipUnderRaceDetector leaves out the searches: each is one goroutine, with
// nothing to race against, and would take ten times as long.
func skipUnderRaceDetector(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("a search is one goroutine")
	}
}
