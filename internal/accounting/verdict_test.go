package accounting

import (
	"flag"
	"testing"
)

var bound = flag.Int("accounting.bound", 1, "x")
var deep = flag.Bool("accounting.deep", false, "two events beside the write in every world: minutes")

func wrong(sc *schedule, v Verdict) bool {
	return v.Outcome == NotApplied && sc.falseNot || v.Outcome == Applied && sc.falseApplied
}

// TestNoFalseVerdict judges every pair of a truth and what can be seen of it.
func TestNoFalseVerdict(t *testing.T) {
	s := &search{bound: *bound, formats: formats}
	if *deep {
		s.bound = 2
	}
	bad := 0
	var outcomes [3]int
	s.report = func(sc *schedule) bool {
		v := Decide(sc.facts)
		outcomes[v.Outcome]++
		if wrong(sc, v) {
			bad++
			t.Errorf("%s: %s", sc, v.Reason)
		}
		return bad < 30
	}
	s.run(starts, writes)
	t.Logf("%d judgments, %d distinct; unknown %d, applied %d, not applied %d", s.judged, s.distinct, outcomes[0], outcomes[1], outcomes[2])
}
