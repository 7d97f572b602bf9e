package accounting

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ruleNames returns the rules that the code names.
func ruleNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, file := range []string{"decide.go", "rows.go"} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`j\.on\("([^"]+)"\)`).FindAllStringSubmatch(string(code), -1) {
			if !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// TestEachRuleIsNeeded leaves out one rule after another, until the search finds a
// false verdict that the rule prevents.
func TestEachRuleIsNeeded(t *testing.T) {
	open := ruleNames(t)
	s := &search{bound: *bound, formats: formats, flats: both, flips: both}
	s.report = func(sc *schedule) bool {
		for i := 0; i < len(open); i++ {
			j := &judge{Facts: sc.facts, off: open[i]}
			if v := j.decide(); wrong(sc, v) {
				t.Logf("%s: %s", open[i], sc)
				open = slices.Delete(open, i, i+1)
				i--
			}
		}
		return len(open) > 0
	}
	ws, ss := narrow(s)
	s.run(ss, ws)
	if len(open) > 0 {
		t.Errorf("not needed: %s", strings.Join(open, ", "))
	}
}
