package accounting

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFigures counts what is decided where nothing happens beside the write.
func TestFigures(t *testing.T) {
	states := []start{
		startWith("flat", 0, nil, nil, 1),
		startWith("position", unit, nil, nil, 1),
		startWith("position with a stop", unit, nil, nil, 1), // a level shows in no fact
		startWith("opposite position", -unit, nil, nil, 1),
		startWith("resting limit, small", 0, []int8{2}, nil, 1),
		startWith("resting limit, same size", 0, []int8{1}, nil, 1),
		startWith("resting limit to sell", unit, []int8{-1}, nil, 1),
		startWith("running run", 0, nil, []int8{1}, 1),
	}
	asks := []asked{writes[0], writes[1], writes[4], writes[2]}
	var table strings.Builder
	fmt.Fprintf(&table, "%-26s %-8s", "declared / not declared", "")
	for _, a := range asks {
		fmt.Fprintf(&table, " %-24s", a.name)
	}
	decided, cells := [2]int{}, 0
	for _, st := range states {
		for _, ran := range []bool{true, false} {
			fmt.Fprintf(&table, "\n%-26s %-8s", st.name, map[bool]string{true: "ran", false: "did not"}[ran])
			for _, a := range asks {
				found := plain(st, a, ran)
				if len(found) == 0 {
					fmt.Fprintf(&table, " %-24s", "cannot")
					continue
				}
				cells++
				for i, o := range found {
					if o != "Unknown" {
						decided[i]++
					}
				}
				fmt.Fprintf(&table, " %-24s", found[0]+" / "+found[1])
			}
		}
	}
	t.Logf("\n%s\ndecided of %d: declared %d, not declared %d", table.String(), cells, decided[0], decided[1])
	assert.Equal(t, [2]int{56, 32}, decided, "decided of %d", cells)
}

// plain returns the outcome on a declared account and on one that is not.
func plain(st start, a asked, ran bool) []string {
	names := [...]string{"Unknown", "Applied", "NotApplied"}
	found := make([]string, 2)
	some := false
	s := &search{formats: formats[:1], flats: no, flips: no, cut: 20}
	s.report = func(sc *schedule) bool {
		enough := sc.facts.EqualLooks == 3 || a.kind != Limit && sc.facts.EqualLooks == 2
		if s.runs == ran && s.fill <= 0 && sc.held && sc.facts.Base != nil && enough {
			i := 1
			if sc.exclusive {
				i = 0
			}
			some, found[i] = true, names[judged(sc.facts).Outcome]
		}
		return true
	}
	s.run([]start{st}, []asked{a})
	if !some {
		return nil
	}
	return found
}
