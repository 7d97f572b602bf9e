package observe

import (
	"fmt"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// Round is one time that a script was asked, under a key of its own.
type Round struct {
	// Script is which requests it has: see the constants of scripts.
	Script string
	// Steps are the exchanges, in their order.
	Steps []*Exchange
	// Void says why the round does not count; empty if it does.
	Void string

	// own means that it named an account that could have had the order.
	own bool
	// begun is the first visit of a round that needs two.
	begun *profile.Begun
	// kept means that its steps are among the exchanges of the evidence already.
	kept bool
}

// at is the answer to a step; nil if there is none that decides.
func (r *Round) at(step int) *Exchange {
	if step < 0 || step >= len(r.Steps) || r.Steps[step] == nil || !r.Steps[step].decides() {
		return nil
	}
	return r.Steps[step]
}

// question is an experiment as [Ask] asks it: which scripts decide it, how many rounds it needs, and a
// pure function from a round to counts.
type question struct {
	scripts []string
	rounds  int
	vote    func(*Round, *Tally)
}

// enoughRounds is how many rounds a verdict needs.
const enoughRounds = 8

// asked are the questions by the number of their experiment.
var asked = map[string]question{
	"A1":  {[]string{scriptOrder, scriptRun}, enoughRounds, voteStored},
	"A2":  {[]string{scriptOrder, scriptRun}, enoughRounds, voteOtherBytes},
	"49":  {[]string{scriptOrder, scriptRun}, enoughRounds, voteRoutes},
	"51":  {[]string{scriptOrder, scriptRun}, enoughRounds, voteValidation},
	"9":   {[]string{scriptOrder, scriptRun}, enoughRounds, voteMeaning},
	"A18": {[]string{scriptOrder, scriptRun}, enoughRounds, voteReplayBytes},
	"A8":  {[]string{scriptOrder}, enoughRounds / 2, voteNothing},
	"13":  {[]string{scriptBare}, enoughRounds, voteBareStored},
	"14":  {[]string{scriptTwice}, enoughRounds, voteTwice},
	"A15": {[]string{scriptKeys}, enoughRounds, voteTwoKeys},
	"A6":  {[]string{scriptBeside}, 2, voteBeside},
	"A6e": {[]string{scriptTwins}, enoughRounds, voteTwins},
	"A4":  {[]string{scriptStays}, 2, voteStays},
	"A5":  {[]string{scriptGone}, 2, voteGone},

	"15": {[]string{scriptFlip}, enoughRounds, voteFlip},
	"21": {[]string{scriptFee}, enoughRounds, voteFee},
	"25": {[]string{scriptNulls}, enoughRounds, voteNulls},
	"26": {[]string{scriptSlippage}, enoughRounds, voteSlippage},
	"27": {[]string{scriptLeverage}, enoughRounds, voteLeverage},
	"30": {[]string{scriptOwners}, enoughRounds, voteOwners},
	"33": {[]string{scriptEmpty}, enoughRounds, voteEmpty},
	"57": {[]string{scriptDust}, enoughRounds, voteDust},
	"39": {[]string{scriptRests}, enoughRounds, voteRests},
	"46": {[]string{scriptParts}, enoughRounds, voteClip},
	"56": {[]string{scriptParts}, enoughRounds, voteParts},

	"8":  {[]string{scriptPath}, readRounds, votePath},
	"47": {[]string{scriptLegacy}, readRounds, voteLegacy},
	"48": {[]string{scriptHeader}, readRounds, voteHeader},

	"A10": {[]string{scriptHealth}, enoughRounds, voteDate},
	"A13": {[]string{scriptHealth}, enoughRounds, voteHealthAge},
}

// countRounds adds what the rounds say to a tally, and returns over how many connections.
func (x *Experiment) countRounds(e *Evidence, t *Tally) (lines int) {
	q, ok := asked[x.Number]
	if !ok {
		return 0
	}
	over := map[int]bool{}
	for i := range e.Rounds {
		r := &e.Rounds[i]
		if r.Void != "" || !slices.Contains(q.scripts, r.Script) {
			continue
		}
		before := t.First + t.Other + t.Neither
		if q.vote(r, t); t.First+t.Other+t.Neither > before {
			for _, step := range r.Steps {
				if step != nil && step.Line > 0 {
					over[step.Line] = true
				}
			}
		}
	}
	return len(over)
}

// void says why none of the rounds that were asked counts; empty if none was asked.
func (x *Experiment) void(e *Evidence) (why string) {
	n := 0
	for i := range e.Rounds {
		if r := &e.Rounds[i]; r.Void != "" && slices.Contains(asked[x.Number].scripts, r.Script) {
			n, why = n+1, r.Void
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d rounds did not count, the last because of this: %s", n, why)
}

// tooFew says why the rounds of an asked experiment do not decide yet; empty if they do. What no
// reading foresees needs no second time, and neither does one that was answered both ways.
func (x *Experiment) tooFew(t *Tally, connections int, span profile.Duration) string {
	q := asked[x.Number]
	n := t.First + t.Other
	const apart = time.Hour
	switch {
	case t.Neither > 0 || t.First > 0 && t.Other > 0:
		return ""
	case n < q.rounds:
		return fmt.Sprintf("%d of %d rounds: it needs another visit", n, q.rounds)
	case q.rounds == enoughRounds && connections < connectionsNeeded:
		return fmt.Sprintf("over %d of %d connections", connections, connectionsNeeded)
	case q.rounds == enoughRounds && x.Class == Locked && time.Duration(span) < apart:
		return "its rounds are less than an hour apart"
	default:
		return ""
	}
}

// connectionsNeeded is over how many connections the rounds of a verdict must go.
const connectionsNeeded = 4
