package trial

import (
	"fmt"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Verdict is one of four words.
type Verdict string

// The verdicts, worst first.
const (
	Fail         Verdict = "fail"          // the bot did what it must not
	Warn         Verdict = "warn"          // it may have, or not each time
	Pass         Verdict = "pass"          // it had the opportunity, and did not
	NotExercised Verdict = "not exercised" // there was no opportunity; never a pass
)

// Finding is what one judgement says of one run.
type Finding struct {
	Judgement string  `json:"judgement"` // one of [Judgements]
	Verdict   Verdict `json:"verdict"`   // its word
	// Reason is stable, for programs; Text is one sentence, for a person.
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Contract is the sentence of the contract that it stands on.
	Contract string `json:"contract"`
	// Change is what to change so that it is exercised.
	Change string `json:"change,omitempty"`
	// Requests are those that show the first time, and Picture is what happened then, as text.
	Requests []int64 `json:"requests,omitempty"`
	Picture  string  `json:"picture,omitempty"`
}

// Outcome is what one run of a bot shows.
type Outcome struct {
	Scenario string    `json:"scenario"` // of the run
	Seed     uint64    `json:"seed"`     // what it drew
	Counts   Counts    `json:"counts"`   // what the bot did
	Findings []Finding `json:"findings"` // in the order of [Judgements]
	// NoResult is why the run says nothing of the bot: the harness failed, or the bot was not
	// dead when it should have been.
	NoResult string `json:"noResult,omitempty"`
	// Split is how many of three runs failed where not all did, "1 of 3", and its fails are warnings.
	Split  string `json:"split,omitempty"`
	Replay string `json:"replay,omitempty"` // the command that plays it again
}

// Of is the finding of a judgement.
func (o Outcome) Of(judgement string) Finding {
	for _, f := range o.Findings {
		if f.Judgement == judgement {
			return f
		}
	}
	return Finding{Judgement: judgement, Verdict: NotExercised}
}

// Worst is the worst verdict.
func (o Outcome) Worst() Verdict { return worst(o.Findings) }

func worst(list []Finding) Verdict {
	for _, v := range []Verdict{Fail, Warn, Pass} {
		if slices.ContainsFunc(list, func(f Finding) bool { return f.Verdict == v }) {
			return v
		}
	}
	return NotExercised
}

// tally is what a judgement has seen so far.
type tally struct {
	Finding
	exercised bool
	now, at   time.Time // the moment, and that of the violation that is shown
}

// had notes an opportunity.
func (t *tally) had(it bool) { t.exercised = t.exercised || it }

// violated notes a violation. The first of the worst word is shown.
func (t *tally) violated(v Verdict, reason string, shows []*request, format string, args ...any) {
	if t.Verdict == Fail || t.Verdict == v {
		return
	}
	t.at, t.Verdict, t.Reason, t.Text, t.Requests = t.now, v, reason, fmt.Sprintf(format, args...), nil
	for _, r := range shows {
		if r != nil && !slices.Contains(t.Requests, r.ID) {
			t.Requests = append(t.Requests, r.ID)
		}
	}
}

const ended tradingsim.EventKind = "ended"

// Judge judges a run from the log of its simulation.
func Judge(m Manifest, events []tradingsim.Event) (o Outcome, err error) {
	if m, err = m.filled().complete(); err != nil {
		return o, err
	}
	points, byID := timeline(events)
	w := newWorld(m, points)
	tallies, watching := make([]tally, len(judgements)), make([]func(*world, point), len(judgements))
	for i, j := range judgements {
		watching[i] = j.watch(&tallies[i])
	}
	for _, r := range byID {
		o.Counts.Requests++
		if isEntry(r.Operation) {
			o.Counts.Entries++
		}
		if isLevels(r.Operation) {
			o.Counts.Levels++
		}
	}
	for _, p := range append(slices.Clip(points), point{kind: ended}) {
		if p.kind == tradingsim.EventRequest && w.dead && !w.part && o.NoResult == "" {
			o.NoResult = fmt.Sprintf("%s arrived while the bot was dead: something of it lives on, use --kill-command", p.r.text())
		}
		if p.kind == ended {
			p.at = w.now
		}
		w.see(p)
		for i, see := range watching {
			tallies[i].now = p.at
			see(w, p)
		}
		w.after(p)
	}
	missed := w.late >= time.Duration(m.Timeout) // the bot may not have had an answer in time
	if o.NoResult == "" && missed && slices.ContainsFunc(tallies, func(t tally) bool { return t.Verdict == Fail }) {
		o.NoResult = fmt.Sprintf("the machine was busy: a wait may have been %s too long, and the bot's shortest time-out is %s, so that it may have missed an answer; run fewer at once, or slower", w.late, time.Duration(m.Timeout))
	}
	for i, j := range judgements {
		t := tallies[i]
		f := Finding{Verdict: NotExercised, Reason: "no-opportunity", Text: j.lacks, Change: j.change}
		switch {
		case o.NoResult != "":
			f = Finding{Verdict: NotExercised, Reason: "no-result", Text: o.NoResult}
		case t.Verdict != "":
			f = t.Finding
			f.Picture = picture(points, byID, t.Requests, t.at)
		case t.exercised:
			f = Finding{Verdict: Pass, Reason: "pass"}
		}
		f.Judgement, f.Contract = j.name, j.contract
		o.Findings = append(o.Findings, f)
	}
	return o, nil
}
