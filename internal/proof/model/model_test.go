package model

import (
	"flag"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

var accidents = flag.Int("accidents", 2, "how many accidents a schedule may have; 3 takes minutes")

// TestHolds searches every scenario for what must never be.
func TestHolds(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := search(s, *accidents)
			for f := range apart {
				if r.count[f] > 0 {
					t.Errorf("%s: %d times\n%s", findings[f], r.count[f], r.schedule[f])
				}
			}
			for f := apart; f < findingCount; f++ {
				if r.count[f] > 0 {
					t.Logf("counted apart: %s: %d times\n%s", findings[f], r.count[f], r.schedule[f])
				}
			}
			if r.applied == 0 {
				t.Error("nothing is ever found to be applied")
			}
			t.Logf("%d schedules: %d Applied, %d NotApplied, %d Unknown", r.runs, r.applied, r.not, r.unknown)
		})
	}
}

// skipUnderRaceDetector leaves out the searches: each is one goroutine, with nothing
// to race against, and would take ten times as long.
func skipUnderRaceDetector(t *testing.T) {
	t.Helper()
	if depth.Race {
		t.Skip("a search is one goroutine")
	}
}
