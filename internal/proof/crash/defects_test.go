package crash

import (
	"math/rand/v2"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/defects"
)

// TestDefects plays the schedules in which the search has found something, each as
// -crash.accidents 1 -crash.only ACCIDENT -crash.n 1 -crash.from SEED do.
func TestDefects(t *testing.T) {
	for _, d := range defects.Of(defects.Crash) {
		t.Run(d.String(), func(t *testing.T) {
			who, accidents := kind(d.Parts()[0]), d.Parts()[1:]
			s := draw(who, d.Seed, func(s *schedule, r *rand.Rand) {
				for _, name := range accidents {
					s.meets(accidentOf(name), r)
				}
			})
			for _, p := range playOne(t, s).problems {
				t.Errorf("%s: %s", d.Was, p)
			}
		})
	}
}
