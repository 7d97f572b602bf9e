package accounting

import (
	"flag"
	"testing"
)

var (
	bound = flag.Int("accounting.bound", 1, "events beside the write")
	part  = flag.Int("accounting.part", 0, "part")
	one_  = flag.Int("accounting.write", -1, "only write")
	strt  = flag.Int("accounting.start", -1, "only start")
)

func wrong(sc *schedule, v Verdict) bool {
	return v.Outcome == NotApplied && sc.falseNot || v.Outcome == Applied && sc.falseApplied
}

var (
	no   = []bool{false}
	yes  = []bool{true}
	both = []bool{false, true}
)

func narrow(s *search) ([]asked, []start) {
	switch *part {
	case 1:
		s.formats, s.flats, s.flips = formats[:1], no, no
	case 2:
		s.formats, s.flats, s.flips, s.without = formats[1:2], yes, no, []int{1, 4}
	case 3:
		s.formats, s.flats, s.flips, s.without = formats[1:2], no, yes, []int{1, 4}
	case 4:
		s.formats, s.flats, s.flips, s.without = formats[3:4], no, no, []int{1, 4}
	case 5:
		s.formats, s.flats, s.flips, s.without = formats[1:2], no, no, []int{1, 4}
	}
	ws, ss := writes, starts
	if *one_ >= 0 {
		ws = writes[*one_:][:1]
	}
	if *strt >= 0 {
		ss = starts[*strt:][:1]
	}
	return ws, ss
}

// TestNoFalseVerdict judges every pair of a truth and what can be seen of it.
func TestNoFalseVerdict(t *testing.T) {
	s := &search{bound: *bound, formats: formats, flats: both, flips: both}
	ws, ss := narrow(s)
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
	s.run(ss, ws)
	t.Logf("%d judgments, %d distinct; unknown %d, applied %d, not applied %d", s.judged, s.distinct, outcomes[0], outcomes[1], outcomes[2])
}
