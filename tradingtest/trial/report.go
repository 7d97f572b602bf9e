package trial

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// String is a finding for a person.
func (f Finding) String() string {
	text := fmt.Sprintf("%s %s: %s\n    %s\n", strings.ToUpper(string(f.Verdict)), f.Judgement, f.Text, f.Contract)
	for line := range strings.Lines(f.Picture) {
		text += "    " + line
	}
	return text
}

// Thrice makes one outcome of up to three runs of one scene: a fail that another run does not have is
// a warning, and where all others have no result, it has none either.
func Thrice(runs []Outcome) (o Outcome) {
	var fails, others, nothing []Outcome
	for _, one := range runs {
		switch {
		case one.NoResult != "":
			nothing = append(nothing, one)
		case one.Worst() == Fail:
			fails = append(fails, one)
		default:
			others = append(others, one)
		}
	}
	switch {
	case len(fails) == 0 && len(others) > 0:
		return others[0]
	case len(others) == 0:
		return append(nothing, fails...)[0]
	}
	o = fails[0]
	o.Split, o.Findings = fmt.Sprintf("%d of %d", len(fails), len(runs)), slices.Clone(o.Findings)
	for i := range o.Findings {
		if o.Findings[i].Verdict == Fail {
			o.Findings[i].Verdict = Warn
		}
	}
	return o
}

// Total is what all runs came to.
type Total struct {
	Verdict  Verdict         // the worst of them
	Findings map[Verdict]int // how many there are of each word
	NoResult int             // runs without a result, which count for nothing
}

// Summary sums up runs. A quiet run exercises nothing: it has no fault.
func Summary(runs []Outcome) Total {
	t := Total{Findings: map[Verdict]int{}}
	var counted []Finding
	for _, o := range runs {
		if o.NoResult != "" {
			t.NoResult++
			continue
		}
		for _, f := range o.Findings {
			t.Findings[f.Verdict]++
			if f.Verdict == Fail || o.Scenario != Quiet {
				counted = append(counted, f)
			}
		}
	}
	t.Verdict = worst(counted)
	return t
}

// Case is what all runs of a scenario, or of all, say of a judgement.
type Case struct {
	Judgement string    // one of [Judgements]
	Runs      []Outcome // each without the other findings
	Exercised int       // how many of them had an opportunity
	Verdict   Verdict   // the worst
}

// CasesOf are the judgements of a scenario in their order; of all scenarios if it is "".
func CasesOf(scenario string, runs []Outcome) (cases []Case) {
	for _, name := range Judgements() {
		c := Case{Judgement: name}
		var all []Finding
		for _, o := range runs {
			if scenario != "" && scenario != o.Scenario {
				continue
			}
			f := o.Of(name)
			if f.Verdict != NotExercised {
				c.Exercised++
			}
			o.Findings, all = []Finding{f}, append(all, f)
			c.Runs = append(c.Runs, o)
		}
		c.Verdict = worst(all)
		cases = append(cases, c)
	}
	return cases
}

// ScenariosOf are the scenarios of some runs, in the order of their first.
func ScenariosOf(runs []Outcome) (names []string) {
	for _, o := range runs {
		if !slices.Contains(names, o.Scenario) {
			names = append(names, o.Scenario)
		}
	}
	return names
}

// WriteReached writes which judgement was exercised in which scenario, and why others were not.
func WriteReached(w io.Writer, runs []Outcome) {
	fmt.Fprintf(w, "%-24s", "exercised, of the runs")
	for _, name := range Judgements() {
		head, _, _ := strings.Cut(name, " ent")
		fmt.Fprintf(w, " %-9.9s", strings.TrimSuffix(head, " resend"))
	}
	scenarios := ScenariosOf(runs)
	for _, scenario := range scenarios {
		fmt.Fprintf(w, "\n%-24s", scenario)
		for _, c := range CasesOf(scenario, runs) {
			cell := fmt.Sprintf("%d/%d", c.Exercised, len(c.Runs))
			switch c.Verdict {
			case NotExercised:
				cell = "-"
			case Fail, Warn:
				cell += " " + string(c.Verdict)
			}
			fmt.Fprintf(w, " %-9s", cell)
		}
	}
	fmt.Fprintln(w)
	for _, c := range CasesOf("", runs) {
		if len(scenarios) < 3 || c.Verdict != NotExercised { // a replay exercises few
			continue
		}
		for _, o := range c.Runs { // one without a result does not say why
			if f := o.Findings[0]; f.Change != "" {
				fmt.Fprintf(w, "never exercised: %s, because %s. To exercise it, %s.\n", f.Judgement, f.Text, f.Change)
				break
			}
		}
	}
	for _, o := range runs {
		if o.Counts.Ends > 0 {
			fmt.Fprintf(w, "%s, seed %d: the bot ended by itself %d times, and was started again.\n", o.Scenario, o.Seed, o.Counts.Ends)
		}
		if o.NoResult != "" {
			fmt.Fprintf(w, "%s, seed %d: NO RESULT: %s\n", o.Scenario, o.Seed, o.NoResult)
		}
	}
}

// shownRuns are as many as show a finding.
const shownRuns = 3

// WriteFindings writes fails, then warnings, each with the command that plays its run again.
func WriteFindings(w io.Writer, runs []Outcome) {
	for _, verdict := range []Verdict{Fail, Warn} {
		for _, c := range CasesOf("", runs) {
			shown := 0
			for _, o := range c.Runs {
				if o.Worst() != verdict {
					continue
				}
				if shown++; shown > shownRuns {
					continue
				}
				fmt.Fprintf(w, "\n%s, seed %d", o.Scenario, o.Seed)
				if o.Split != "" {
					fmt.Fprintf(w, " (it failed in %s runs)", o.Split)
				}
				fmt.Fprintf(w, "\n  %s", o.Findings[0])
				if o.Replay != "" {
					fmt.Fprintf(w, "    again: %s\n", o.Replay)
				}
			}
			if shown > shownRuns {
				fmt.Fprintf(w, "\n  … and %d more runs with %s: %s\n", shown-shownRuns, verdict, c.Judgement)
			}
		}
	}
}
