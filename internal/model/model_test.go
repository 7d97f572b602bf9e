package model

import (
	"testing"
	"time"
)

func TestTry(t *testing.T) {
	for _, sends := range []uint8{1, 2, 3} {
		w := ordinary()
		w.sends = sends
		began := time.Now()
		r := explore(w, allRules, 4_000_000)
		t.Log(sends, r.states, r.transitions, time.Since(began), r.count, r.full, r.goals)
		for _, f := range r.broken() {
			t.Errorf("%s\n%s", findings[f], r.schedule(f))
		}
	}
}
