package crash

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// table sums schedules up, by the first thing that happened to the write.
type table struct {
	rows     map[string]*row
	total    row
	reasons  map[string]int // of what is unknown in the end
	kills    map[string]int // by the kind of step
	verdicts map[string]int // by outcome and basis

	otherwise               []uint64 // seeds that came to something else than in process
	sentOnce, sentOnceTwice int
}

type row struct{ schedules, applied, notApplied, unknown, unbegun, doubles, copied, unstored, problems int }

func newTable() *table {
	return &table{rows: map[string]*row{}, reasons: map[string]int{}, kills: map[string]int{}, verdicts: map[string]int{}}
}

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
	for _, kind := range w.kills {
		t.kills[kind]++
	}
	for _, told := range w.told {
		if told.Verdict {
			t.verdicts[fmt.Sprintf("%s, by %s", told.Outcome, told.Basis)]++
		}
	}
	if w.otherwise {
		t.otherwise = append(t.otherwise, w.seed)
	}
	if !w.sentAgain() {
		t.sentOnce++
		if w.twice {
			t.sentOnceTwice++
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
	fmt.Fprintf(&b, "of %d with a lifetime of 0, %d were executed twice\n", t.sentOnce, t.sentOnceTwice)
	fmt.Fprintf(&b, "came to something else than in process: %d %v\n", len(t.otherwise), t.otherwise)
	counts(&b, fmt.Sprintf("unknown in the end, %.1f%%", 100*float64(t.total.unknown)/float64(max(1, t.total.schedules))), t.reasons)
	counts(&b, "kills", t.kills)
	counts(&b, "verdicts", t.verdicts)
	return b.String()
}

// counts writes a map of counts, the largest first.
func counts(b *strings.Builder, title string, of map[string]int) {
	n := 0
	for _, count := range of {
		n += count
	}
	fmt.Fprintf(b, "%s: %d\n", title, n)
	for _, name := range slices.SortedFunc(maps.Keys(of), func(x, y string) int { return cmp.Or(of[y]-of[x], strings.Compare(x, y)) }) {
		fmt.Fprintf(b, "%8d  %s\n", of[name], name)
	}
}
