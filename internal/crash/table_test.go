package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// table sums schedules up, by the first thing that happened to the write.
type table struct {
	rows    map[string]*row
	reasons map[string]int
	total   row
}

type row struct{ schedules, applied, notApplied, unknown, unbegun, doubles, copied, unstored, problems int }

func newTable() *table { return &table{rows: map[string]*row{}, reasons: map[string]int{}} }

func (t *table) add(w *world) {
	name := w.tries[0].name
	if t.rows[name] == nil {
		t.rows[name] = &row{}
	}
	for _, r := range []*row{t.rows[name], &t.total} {
		r.schedules++
		switch w.outcome() {
		case "applied":
			r.applied++
		case "not applied":
			r.notApplied++
		case "unknown":
			r.unknown++
		default:
			r.unbegun++
		}
		if w.double {
			r.doubles++
		}
		if w.copyDouble {
			r.copied++
		}
		if w.copyUnstored {
			r.unstored++
		}
		if len(w.problems) > 0 {
			r.problems++
		}
	}
	if w.outcome() == "unknown" {
		reason := "no verdict was reached"
		if n := len(w.unknown); n > 0 {
			reason = w.unknown[n-1]
		}
		t.reasons[reason]++
	}
}

// String is the table as text.
func (t *table) String() string {
	var b strings.Builder
	b.WriteString("\n")
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "first fault\tschedules\tapplied\tnot applied\tunknown\tnever begun\t5xx doubles\t5xx, late copy\trefused, late copy\tproblems\t")
	line := func(name string, r *row) {
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, r.schedules, r.applied, r.notApplied, r.unknown, r.unbegun, r.doubles, r.copied, r.unstored, r.problems)
	}
	for _, name := range slices.Sorted(maps.Keys(t.rows)) {
		line(name, t.rows[name])
	}
	line("all", &t.total)
	_ = out.Flush()
	fmt.Fprintf(&b, "unknown in the end: %.1f%%\n", 100*float64(t.total.unknown)/float64(max(1, t.total.schedules)))
	for _, reason := range slices.SortedFunc(maps.Keys(t.reasons), func(a, b string) int { return t.reasons[b] - t.reasons[a] }) {
		fmt.Fprintf(&b, "%8d  %s\n", t.reasons[reason], reason)
	}
	return b.String()
}
