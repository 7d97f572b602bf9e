package trial

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Outcome is one run with what was found.
type Outcome struct {
	Scenario string `json:"scenario"` // of the run
	Seed     uint64 `json:"seed"`     // what it drew
	Counts   Counts `json:"counts"`   // what the bot did
	Findings
	// Harness is why the run says nothing of the bot; Split is how many of three runs failed
	// where not all did, "1 of 3", and its fails are warnings.
	Harness string `json:"harness,omitempty"`
	Split   string `json:"split,omitempty"`
	Replay  string `json:"replay,omitempty"` // the command that plays it again
}

// String is a finding for a person.
func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s\n    %s\n", strings.ToUpper(string(f.Verdict))+" "+f.Judgement, f.Text, f.Contract)
	for line := range strings.Lines(f.Picture) {
		text += "    " + line
	}
	return text
}

// Total is what all runs came to.
type Total struct {
	Verdict    Verdict // the worst of them
	Fails      int     // findings that are fails
	Warnings   int     // findings that are warnings
	Exercised  int     // findings of scenarios with a fault that had an opportunity
	NotReached int     // findings that had none
	Harness    int     // runs without a result
}

// Summary sums up runs. A run of the harness's own fault counts for nothing.
func Summary(runs []Outcome) (t Total) {
	for _, o := range runs {
		if o.Harness != "" || o.Inconclusive != "" {
			t.Harness++
			continue
		}
		for _, f := range o.Findings.Findings {
			switch f.Verdict {
			case Fail:
				t.Fails++
			case Warn:
				t.Warnings++
			case NotExercised:
				t.NotReached++
			}
			if f.Verdict != NotExercised && o.Scenario != Quiet {
				t.Exercised++
			}
		}
	}
	t.Verdict = Pass
	switch {
	case t.Fails > 0:
		t.Verdict = Fail
	case t.Exercised == 0:
		t.Verdict = NotExercised
	case t.Warnings > 0:
		t.Verdict = Warn
	}
	return t
}

// WriteReached writes which judgement was exercised in which scenario, and why others were not.
func WriteReached(w io.Writer, runs []Outcome) {
	var scenarios []string
	found := map[[2]string][]Finding{} // by scenario, or none, and judgement
	for _, o := range runs {
		if !slices.Contains(scenarios, o.Scenario) {
			scenarios = append(scenarios, o.Scenario)
		}
		for _, name := range Judgements() {
			for _, scenario := range []string{o.Scenario, ""} {
				found[[2]string{scenario, name}] = append(found[[2]string{scenario, name}], o.Of(name))
			}
		}
	}
	fmt.Fprintf(w, "%-24s", "exercised, of the runs")
	for _, name := range Judgements() {
		fmt.Fprintf(w, " %-9.9s", short(name))
	}
	fmt.Fprintln(w)
	for _, scenario := range scenarios {
		fmt.Fprintf(w, "%-24s", scenario)
		for _, name := range Judgements() {
			list := found[[2]string{scenario, name}]
			missed := 0
			for _, f := range list {
				if f.Verdict == NotExercised {
					missed++
				}
			}
			cell := fmt.Sprintf("%d/%d", len(list)-missed, len(list))
			switch v := worst(list); v {
			case NotExercised:
				cell = "-"
			case Fail, Warn:
				cell += " " + string(v)
			}
			fmt.Fprintf(w, " %-9s", cell)
		}
		fmt.Fprintln(w)
	}
	for _, name := range Judgements() {
		list := found[[2]string{"", name}]
		if f := list[len(list)-1]; worst(list) == NotExercised && f.Text != "" && len(scenarios) > 2 { // not of a replay
			fmt.Fprintf(w, "never exercised: %s, because %s. To exercise it, %s.\n", name, f.Text, cmp.Or(f.Change, "see the reason"))
		}
	}
	for _, o := range runs {
		if o.Counts.Ends > 0 {
			fmt.Fprintf(w, "%s, seed %d: the bot ended by itself %d times, and was started again.\n", o.Scenario, o.Seed, o.Counts.Ends)
		}
		if problem := cmp.Or(o.Harness, o.Inconclusive); problem != "" {
			fmt.Fprintf(w, "%s, seed %d: NO RESULT: %s\n", o.Scenario, o.Seed, problem)
		}
	}
}

// short is the head of a judgement's column.
func short(name string) string {
	if name == BlindResend {
		return "blind"
	}
	head, _, _ := strings.Cut(name, " ent")
	return head
}

// WriteFindings writes fails, then warnings, each with the command that plays its run again.
func WriteFindings(w io.Writer, runs []Outcome) {
	for _, verdict := range []Verdict{Fail, Warn} {
		for _, name := range Judgements() {
			shown := 0
			for _, o := range runs {
				f := o.Of(name)
				if f.Verdict != verdict {
					continue
				}
				if shown++; shown > 3 {
					continue
				}
				fmt.Fprintf(w, "\n%s, seed %d", o.Scenario, o.Seed)
				if o.Split != "" {
					fmt.Fprintf(w, " (it failed in %s runs)", o.Split)
				}
				fmt.Fprintf(w, "\n  %s", f)
				if o.Replay != "" {
					fmt.Fprintf(w, "    again: %s\n", o.Replay)
				}
			}
			if shown > 3 {
				fmt.Fprintf(w, "\n  … and %d more runs with %s: %s\n", shown-3, verdict, name)
			}
		}
	}
}
