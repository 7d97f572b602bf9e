package crash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// check holds everything that was said so far against the ledger.
func (w *world) check(when string) {
	if w.kind == paper {
		w.checkPaper(when)
		return
	}
	w.checkOnce(when)
	w.checkEnds(when)
	w.checkTold(when)
	w.checkJournaled(when)
}

// checkOnce: no decision runs twice.
func (w *world) checkOnce(when string) {
	groups := map[string][]*written{}
	for _, in := range w.order {
		id := in.name
		if id == "" {
			id = string(in.ID)
		}
		groups[id] = append(groups[id], in)
	}
	for _, group := range groups {
		var keys []trading.Key
		probes := 0
		for _, in := range group {
			keys = append(keys, in.keys...)
			probes += in.probes
		}
		list := w.executed(group[0].Operation, keys...)
		w.Once(fmt.Sprintf("%s: %s", when, group[0].Operation), len(list), func() string {
			why := w.whyTwice(group, list, probes)
			w.doubled = cmp.Or(why, w.doubled)
			return why
		})
	}
}

// executed are the executions of an operation under keys.
func (w *world) executed(op trading.Operation, keys ...trading.Key) []tradingsim.Execution {
	return rig.Executed(w.sim, op, keys...)
}

// whyTwice names the exception behind a double; "" if there is none.
func (w *world) whyTwice(group []*written, list []tradingsim.Execution, probes int) string {
	apart := list[len(list)-1].At.Sub(list[0].At)
	switch {
	case w.jump != 0:
		return rig.Jumped
	case isGivenUp(group[0]): // its bytes went once
		return ""
	case w.lateTold() || w.worked && probes > 0:
		return rig.LateProbe
	case apart >= 23*time.Hour && w.named:
		return rig.Forgotten
	case w.longWork():
		return rig.Outlived
	case w.copied() && w.worked:
		return rig.Repeated
	case w.inItsWords(): // and the next take has another key
		return rig.InItsWords
	case w.worked && w.kind != solo:
		return rig.Unstored
	case w.worked && w.ttl != 0:
		return rig.FailedAfterWork
	case w.worked && w.untold(group, list[:len(list)-1]): // the name is new by the journal, and the key free by the service
		return rig.BrokenDisk
	default:
		return ""
	}
}

// untold reports whether executions of a named exit were of before all that the journal has of
// it: the disk was broken then.
func (w *world) untold(group []*written, list []tradingsim.Execution) bool {
	return w.badDisk() && w.named && !slices.ContainsFunc(group, func(in *written) bool {
		return in.Entry || !w.allBefore(list, w.byService(in.Decided))
	})
}

func (w *world) allBefore(list []tradingsim.Execution, at time.Time) bool {
	return !slices.ContainsFunc(list, func(e tradingsim.Execution) bool { return !e.At.Before(at) })
}

func (w *world) lateTold() bool {
	return slices.ContainsFunc(w.told, func(t told) bool { return t.late || t.maybeLate })
}

// copied reports whether something in front of the service has repeated a request,
// or held it up.
func (w *world) copied() bool { return w.metOne("a copy", "sent twice") }

// longWork reports whether a request can have run on behind its claim.
func (w *world) longWork() bool {
	return w.metOne("works for 10m", "arrives 16m") || slices.Contains(w.readings, 50) && w.metOne("works", "died")
}

func (w *world) metOne(prefixes ...string) bool {
	for name := range w.met {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
	}
	return false
}

// checkEnds: what a journal says is what happened.
func (w *world) checkEnds(when string) {
	for _, in := range w.order {
		if in.end == nil || in.key() == "" { // its beginning was lost
			continue
		}
		w.hold(fmt.Sprintf("%s: the end of %s by %s", when, in.ID, in.why), *in.end, in.Operation, in.ID, in.keys)
	}
}

// checkTold: what a program was told is what happened.
func (w *world) checkTold(when string) {
	for _, t := range w.told {
		keys := []trading.Key{t.key}
		if in := w.writes[t.id]; in != nil {
			keys = append(keys, in.keys...)
		}
		if w.named && t.key == "" { // what the journal says of the decision
			for _, in := range w.order {
				keys = append(keys, in.keys...)
			}
		}
		if t.notSent && t.outcome != trading.Unknown {
			w.problem("%s: %s was told %s, and that nothing was sent", when, t.by, t.outcome)
		}
		if t.outcome == trading.NotApplied && t.key == "" { // refused before it had a key
			w.checkName(when, t)
			continue
		}
		w.hold(fmt.Sprintf("%s: what %s was told (%v)", when, t.by, t.err), t.outcome, t.op, t.id, keys)
	}
}

// checkName: an id that has run is not told as not applied, also where this call sent
// nothing.
func (w *world) checkName(when string, t told) {
	if !t.named || t.op != w.endpoint() || w.jump != 0 || w.badDisk() || w.inItsWords() {
		return
	}
	for _, in := range w.order {
		ran := w.executed(in.Operation, in.keys...)
		if in.name != "" && !isGivenUp(in) && len(ran) > 0 && ran[0].At.Before(t.at) {
			w.Said(fmt.Sprintf("%s: what %s was told of an id that has run (%v)", when, t.by, t.err), trading.NotApplied, len(ran), func() string {
				if t.op == trading.OpTPSL && w.levelsGone() {
					return rig.OthersLevels
				}
				return ""
			})
		}
	}
}

// hold holds an outcome against the ledger.
func (w *world) hold(what string, o trading.Outcome, op trading.Operation, id trading.IntentID, keys []trading.Key) {
	list := w.executed(op, keys...)
	if o == trading.NotApplied && w.anotherUsed(id, keys) {
		return
	}
	w.Said(what, o, len(list), func() string { return w.whyFalse(op, id, list) })
}

// whyFalse names the exception behind a false word about a write; "" if there is none.
func (w *world) whyFalse(op trading.Operation, id trading.IntentID, list []tradingsim.Execution) string {
	ran := len(list) > 0
	switch {
	case w.jump != 0:
		return rig.Jumped
	case op == trading.OpTPSL && (!ran && w.levelsSet() || ran && w.levelsGone()):
		return rig.OthersLevels
	case !ran && w.badDisk() && (op == trading.OpClose || op == trading.OpTPSL): // under a key that the journal did not take
		return rig.BrokenDisk
	case !ran && w.doubled != "": // another write's second order looks like this one's
		return w.doubled
	case ran && w.notTaken(id, list):
		return rig.BrokenDisk
	case w.inItsWords(): // not run: the trace is of another write, which ran and is taken not to have
		return rig.InItsWords
	case ran && w.copied():
		return rig.Repeated
	case ran && w.longWork():
		return rig.Outlived
	default:
		return ""
	}
}

// inItsWords reports whether something in front has answered, after the work, with a code
// and a status that the contract gives this operation. Of a key or an account a live
// write asks a second question.
func (w *world) inItsWords() bool {
	return w.metOne("a gateway's 409 after") || w.kind == paper && w.metOne("a gateway's 401 after", "a gateway's 404 after")
}

// levelsSet reports whether any write of a program has set levels: all set the same.
func (w *world) levelsSet() bool {
	return slices.ContainsFunc(w.sim.Ledger(), func(e tradingsim.Execution) bool {
		return e.Actor == "api" && e.Operation == string(trading.OpTPSL)
	})
}

// levelsGone reports whether the position may have been closed, and its levels with it.
func (w *world) levelsGone() bool {
	return w.person == undoes || w.person == moves || slices.ContainsFunc(w.sim.Ledger(), func(e tradingsim.Execution) bool {
		return e.Operation == string(trading.OpClose)
	})
}

// anotherUsed reports whether another write has gone under one of the keys since: the
// same decision, where the refusal of the one before was not stored.
func (w *world) anotherUsed(id trading.IntentID, keys []trading.Key) bool {
	for _, in := range w.order {
		if in.ID != id && slices.ContainsFunc(in.keys, func(k trading.Key) bool { return slices.Contains(keys, k) }) {
			return true
		}
	}
	return false
}

// notTaken reports whether all that was executed of a named exit was sent while the disk was
// broken, before the first use of its name that the journal knows: by the journal the name is
// new, and the service forgets it within a day.
func (w *world) notTaken(id trading.IntentID, all []tradingsim.Execution) bool {
	in := w.writes[id]
	if in == nil { // nor what this take was
		return w.badDisk() && w.named && w.op == closing
	}
	if !w.badDisk() || !w.named || in.Entry {
		return false
	}
	after := in.end != nil && !slices.ContainsFunc(all, func(e tradingsim.Execution) bool { return e.At.Before(in.ended) })
	return after || // by the next take of the name, under the key that was still free
		w.allBefore(all, w.byService(in.Decided))
}

// badDisk reports whether the journal has not taken a record: it failed, or took longer than
// an exit waits.
func (w *world) badDisk() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disk > 0 || w.losesAt > 0 || w.hung
}

// checkJournaled: what was executed is in a journal.
func (w *world) checkJournaled(when string) {
	known := map[string]bool{}
	for _, in := range w.order {
		for _, key := range in.keys {
			known[string(key)] = true
		}
	}
	for _, e := range w.sim.Ledger() {
		exit := e.Operation == string(trading.OpClose) || e.Operation == string(trading.OpTPSL)
		if e.Actor != "api" || known[e.Key] || w.settled || e.Operation == string(trading.OpCancelOrder) {
			continue
		}
		w.Wrong(func() string {
			if exit && w.badDisk() {
				return rig.BrokenDisk
			}
			return ""
		}, "%s: %s ran under %s, which no journal knows", when, e.Operation, e.Key)
	}
}

// checkPaper: the paper account has no keys, so the operation tells.
func (w *world) checkPaper(when string) {
	n := 0
	for _, e := range w.sim.Ledger()[w.before:] {
		if e.Actor == "api" && e.Account == "" && e.Operation == string(w.endpoint()) {
			n++
		}
	}
	why := func() string {
		if w.metOne("arrives", "a copy", "works for 10m", "works for 14m50s", "sent twice") {
			return rig.LatePaper
		}
		return ""
	}
	for _, t := range w.told {
		w.Said(fmt.Sprintf("%s: what %s was told (%v)", when, t.by, t.err), t.outcome, n, func() string {
			if w.inItsWords() {
				return rig.InItsWords
			}
			return why()
		})
	}
	w.Once(when+": a paper write", n, why)
}

// reason puts into a few words why a write stays Unknown.
func (w *world) reason(r trading.Resolution) string {
	text := "no reason"
	if r.Err != nil {
		text, _, _ = strings.Cut(strings.TrimPrefix(r.Err.Error(), trading.ErrUndetermined.Error()+": "), "\n")
	}
	if len(text) > 90 {
		text = text[:90]
	}
	whose := "not declared"
	if w.exclusive {
		whose = "declared"
	}
	return whose + ": " + text
}
