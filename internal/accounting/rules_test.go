package accounting

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unsearched are the rules without which the search finds nothing wrong, and why
// they stand.
var unsearched = map[string]string{
	"time":          "it lets more be decided: rows outside the write's time prove nothing about it",
	"lower":         "it keeps V and R apart by more than rounding: 0.99 beside less than 0.9",
	"upper":         "on a declared account only a wrong declaration trades more than is known",
	"close other":   "as upper",
	"close sum":     "as upper",
	"close moved":   "as upper",
	"own row":       "only a list that lags by more than Lag lacks the row, and then no course fits: see TestReadsThatLagTooFar",
	"negative":      "only reads that lag by more than Lag: see TestReadsThatLagTooFar",
	"replaced":      "only reads that lag by more than Lag: see TestReadsThatLagTooFar",
	"finished lags": "the world's lists of runs are read again a lag after each other: see TestARunThatEndedBeforeTheBaseline",
	"opened":        "only a baseline that lags by more than Lag: see TestReadsThatLagTooFar",

	// What the program's other writes may have traded the courses know by themselves. These say
	// which of them it is, or leave the courses less to try.
	"courses without": "of own writes at a price that stands still: see TestSumsHold",
	"courses with":    "the same",
	"pending":         courses, "resting": courses, "resting row": courses, "flip": courses, "sold": courses,
	"close resting": courses, "close own": courses, "own side": courses, "smallest": courses,
}

const courses = "without it two courses fit"

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
	if raceDetector {
		t.Skip("one goroutine, and a search")
	}
	open := slices.DeleteFunc(ruleNames(t), func(rule string) bool { return unsearched[rule] != "" })
	if len(open) < 30 {
		t.Fatalf("only %d rules found in the code", len(open))
	}
	for _, b := range quick {
		if len(open) == 0 {
			return
		}
		b.search(func(sc *schedule) bool {
			open = slices.DeleteFunc(open, func(rule string) bool {
				j := &judge{Facts: sc.facts, off: rule}
				if v := j.decide(); !wrong(sc, v) {
					return false
				}
				t.Logf("without %q: %s", rule, sc)
				return true
			})
			return len(open) > 0
		})
	}
	if len(open) > 0 {
		t.Errorf("nothing goes wrong without: %s", strings.Join(open, ", "))
	}
}
