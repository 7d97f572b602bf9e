package model

import (
	"flag"
	"testing"
)

var accidents = flag.Int("accidents", 2, "how many accidents a schedule may have")

func TestHolds(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := search(s, *accidents)
			for f := finding(0); f < findingCount; f++ {
				if r.count[f] == 0 {
					continue
				}
				if f < apart {
					t.Errorf("%s: %d times\n%s", findings[f], r.count[f], r.schedule[f])
				} else {
					t.Logf("counted apart: %s: %d times\n%s", findings[f], r.count[f], r.schedule[f])
				}
			}
			t.Logf("%d schedules: %d Applied, %d NotApplied, %d Unknown", r.runs, r.applied, r.not, r.unknown)
		})
	}
}
