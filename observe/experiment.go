package observe

import (
	"fmt"

	"github.com/tradingapi/trading-go/profile"
)

// Class is how an experiment can be asked.
type Class string

// The classes.
const (
	Passive Class = "passive"    // by evidence that is there
	Reads   Class = "read"       // by reads
	Locked  Class = "live"       // on a live account that cannot trade
	OnPaper Class = "paper"      // on the paper account
	Trial   Class = "trial"      // on a trial account
	Never   Class = "never"      // only by harm or luck
	Closed  Class = "untestable" // not at all
)

// Experiment is a question to a service, as data.
type Experiment struct {
	// Number is that of the reading of the contract, such as "49", or of an assumption of the
	// promise, such as "A1". Assumption is the one that a reading stands for.
	Number, Assumption string
	// First and Other are the two readings, in words.
	First, Other string
	// Class says how it can be asked beside the evidence that is there.
	Class Class
	// Environment is where it is seen.
	Environment profile.Environment
	// Controls are the experiments that must be first before this one counts.
	Controls []string
	// Falls is what the client does where it is otherwise.
	Falls string

	judge func(*Evidence, *Tally)
}

// Tally counts what exchanges speak for, with some of them as proof.
type Tally struct {
	First, Other, Neither int // how many exchanges spoke for each

	doubt int    // of Other: how many may be about the account that was named
	open  int    // how many more may be, or about something that nobody knows
	why   string // of the first neither
	proof [3][]*Exchange
	seen  []*Exchange // all that decided
}

// maxProof is how many exchanges prove each of the three.
const maxProof = 4

func (t *Tally) first(proof ...*Exchange) { t.First++; t.keep(0, proof) }
func (t *Tally) other(proof ...*Exchange) { t.Other++; t.keep(1, proof) }
func (t *Tally) neither(why string, proof ...*Exchange) {
	if t.Neither++; t.why == "" {
		t.why = why
	}
	t.keep(2, proof)
}

// doubtful counts an other that may be about the account that was named. A refusal that a cancel of nothing does not
// meet counts for nothing.
func (t *Tally) doubtful(proof ...*Exchange) {
	if !proof[0].ofNothing() {
		t.open++
		return
	}
	t.doubt++
	t.other(proof...)
}

// inFront reports whether something may have been refused in front of the key.
func (t *Tally) inFront() bool { return t.doubt+t.open > 0 }

// either counts by a condition.
func (t *Tally) either(first bool, proof ...*Exchange) {
	if first {
		t.first(proof...)
	} else {
		t.other(proof...)
	}
}

func (t *Tally) keep(kind int, proof []*Exchange) {
	t.seen = append(t.seen, proof...)
	if len(t.proof[kind])+len(proof) <= maxProof {
		t.proof[kind] = append(t.proof[kind], proof...)
	}
}

// Count judges the evidence by one experiment, without its controls.
func (x *Experiment) Count(e *Evidence) *Tally {
	t := &Tally{}
	if x.judge != nil {
		x.judge(e, t)
	}
	return t
}

// unseen says why an experiment that nothing decided is not seen.
func (x *Experiment) unseen() string {
	switch x.Class {
	case Never:
		return "never asked: it shows only by harm or luck"
	case Closed:
		return "it cannot be tested"
	default:
		if x.judge == nil {
			return fmt.Sprintf("no evidence shows it: it has to be asked (%s)", x.Class)
		}
		return "the evidence does not show it"
	}
}

// verdict is the result of a tally, given the results of the controls.
func (x *Experiment) verdict(t *Tally, hold func(number string) profile.Verdict) profile.Result {
	r := profile.Result{
		Experiment: x.Number, Environment: x.Environment, Verdict: profile.Of(t.First, t.Other, t.Neither),
		N: t.First + t.Other + t.Neither, CountFirst: t.First, CountOther: t.Other, CountNeither: t.Neither, Why: t.why,
	}
	if r.Verdict == profile.Unseen {
		r.Why = x.unseen()
		return r
	}
	if r.Verdict == profile.Neither && r.Why == "" {
		r.Why = "an earlier visit saw something that no reading foresees"
	}
	for _, control := range x.Controls {
		if v := hold(control); v != profile.First {
			r.Verdict, r.Why = profile.Unseen, fmt.Sprintf("its control %s is %s", control, v)
			return r
		}
	}
	return r
}
