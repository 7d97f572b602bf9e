package crash

import (
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// executed counts how often the service executed an operation under a key.
func (w *world) executed(op trading.Operation, keys ...trading.Key) int {
	n := 0
	for _, e := range w.sim.Ledger() {
		if e.Actor == "api" && e.Key != "" && e.Operation == string(op) && slices.Contains(keys, trading.Key(e.Key)) {
			n++
		}
	}
	return n
}

// pending are the intents that are not settled, of one service.
func (w *world) pending(baseURL string) []trading.IntentID {
	var ids []trading.IntentID
	for _, entry := range w.disk.all() {
		if _, settled := entry.Settlement.Get(); !settled && entry.Intent.BaseURL == baseURL {
			ids = append(ids, entry.Intent.ID)
		}
	}
	return ids
}

// decision is what is to happen once: an intent, or all intents of a decision.
type decision struct {
	op      trading.Operation
	intents []trading.IntentID
	keys    []trading.Key
}

func (w *world) decisions() []*decision {
	var list []*decision
	named := map[string]*decision{}
	for _, entry := range w.disk.all() {
		in := entry.Intent
		d := named[in.Decision]
		if d == nil || in.Decision == "" {
			d = &decision{op: in.Operation}
			list = append(list, d)
			named[in.Decision] = d
		}
		d.intents = append(d.intents, in.ID)
		d.keys = append(d.keys, w.disk.keysOf(in.ID)...)
	}
	return list
}

// check holds everything that was said so far against the ledger.
func (w *world) check(when string) {
	w.checkOnce(when)
	w.checkSettlements(when)
	w.checkTold(when)
	w.checkJournaled(when)
}

// checkOnce: nothing runs twice, but for the fault that the contract leaves open.
func (w *world) checkOnce(when string) {
	for _, d := range w.decisions() {
		n := w.executed(d.op, d.keys...)
		w.mu.Lock()
		for _, key := range d.keys {
			n -= w.ranAgain[string(key)]
		}
		w.mu.Unlock()
		w.twice = w.twice || n > 1
		switch {
		case n < 2:
		case w.worked && w.sentAgain():
			w.double = true
		default:
			w.problem("%s: %s was executed %d times", when, d.op, n)
		}
	}
}

// sentAgain reports whether the schedule lets the bytes be sent more than once: with
// a lifetime of 0 they are not, unless the bot still wants the write.
func (w *world) sentAgain() bool {
	return w.lifetime != 0 || w.resolve == stillWant
}

// checkSettlements: what the journal says is what happened.
func (w *world) checkSettlements(when string) {
	for _, entry := range w.disk.all() {
		s, settled := entry.Settlement.Get()
		if !settled {
			continue
		}
		n := w.executed(entry.Intent.Operation, w.disk.keysOf(entry.Intent.ID)...)
		switch {
		case s.Outcome == trading.Applied && n == 0:
			w.problem("%s: %.8s is settled as applied by %s, and was not executed", when, entry.Intent.ID, s.Basis)
		case s.Outcome == trading.NotApplied && n > 0 && !s.Spent && w.copiedOnTheWay():
			w.copyUnstored = true // see gaps_test.go
		case s.Outcome == trading.NotApplied && n > 0 && !w.anotherRan(entry.Intent):
			w.problem("%s: %.8s is settled as not applied by %s, and was executed %d times", when, entry.Intent.ID, s.Basis, n)
		}
	}
}

// copiedOnTheWay reports whether something in front of the service has repeated a
// request.
func (w *world) copiedOnTheWay() bool {
	for name := range w.faulted {
		if strings.HasPrefix(name, "a copy") || strings.HasPrefix(name, "sent twice") {
			return true
		}
	}
	return false
}

// anotherRan reports whether an execution under the intent's key can be another
// intent's: the same decision goes on under the same key where the refusal of the
// one before was not stored.
func (w *world) anotherRan(in trading.Intent) bool {
	for _, entry := range w.disk.all() {
		s, settled := entry.Settlement.Get()
		if entry.Intent.ID != in.ID && entry.Intent.Key == in.Key && (!settled || s.Outcome == trading.Applied) {
			return true
		}
	}
	return false
}

// checkTold: what the bot was told is what the journal says, and so what happened.
func (w *world) checkTold(when string) {
	for _, t := range w.told {
		for _, entry := range w.disk.all() {
			in := entry.Intent
			s, settled := entry.Settlement.Get()
			mine := in.ID == t.Intent || t.Intent == "" && slices.Contains(w.disk.keysOf(in.ID), t.Key)
			switch {
			case !mine || t.Outcome == trading.Unknown:
			case t.Intent == "" && in.Decision != "": // answered for the decision, perhaps by an earlier intent
			case !settled || s.Outcome != t.Outcome:
				w.problem("%s: %s was told that %.8s is %s, and the journal says otherwise", when, t.by, in.ID, t.Outcome)
			}
		}
		if t.Outcome == trading.Applied && t.Key != "" && t.Intent == "" && w.executedEver(t.Key) == 0 {
			w.problem("%s: %s was told that %s is applied, and nothing was executed under it", when, t.by, t.Key)
		}
	}
}

// executedEver counts what was executed under a key.
func (w *world) executedEver(key trading.Key) int {
	n := 0
	for _, e := range w.sim.Ledger() {
		if e.Actor == "api" && e.Key == string(key) {
			n++
		}
	}
	return n
}

// checkJournaled: what can trade and may have left is in the journal.
func (w *world) checkJournaled(when string) {
	known := map[string]bool{}
	for _, d := range w.decisions() {
		for _, key := range d.keys {
			known[string(key)] = true
		}
	}
	for _, s := range w.sends {
		if !known[s.key] {
			w.problem("%s: %s left under %s, which is not in the journal", when, s.path, s.key)
		}
	}
}

// copyLate lets copies of what was sent arrive once an intent is settled: at once,
// and later, though not later than the service remembers the key for. What the
// client itself counts as a key that can still run is left out: see gaps_test.go.
func (w *world) copyLate() {
	for _, entry := range w.disk.all() {
		s, settled := entry.Settlement.Get()
		if !settled || !s.Spent || w.copied[entry.Intent.ID] {
			continue
		}
		w.copied[entry.Intent.ID] = true
		for _, key := range w.disk.keysOf(entry.Intent.ID) {
			for _, out := range w.sends {
				if out.key == string(key) && (key == entry.Intent.Key || time.Since(out.at) < time.Hour) && !strings.HasSuffix(out.path, "/orders/cancel") {
					w.copyAt(out)
				}
			}
		}
	}
}

func (w *world) copyAt(out *sent) {
	w.note("a copy of %s arrives, and others later", out.path)
	w.copyNow(out)
	for _, after := range []time.Duration{time.Minute, 15*time.Minute + time.Second, 20 * time.Hour} {
		time.AfterFunc(after, func() { w.copyNow(out) })
	}
}

// copyNow lets a copy arrive. One that runs a second time where the service did
// the work, said 5xx and forgot the key is counted apart.
func (w *world) copyNow(out *sent) {
	before := w.executedEver(trading.Key(out.key))
	w.raw(w.ownerKey, out.path, out.key, out.body)
	after := w.executedEver(trading.Key(out.key))
	w.mu.Lock()
	defer w.mu.Unlock()
	if before > 0 && after > before && w.worked {
		w.copyDouble = true
		w.ranAgain[out.key] += after - before
	}
}

// reasonOf puts into a few words why a verdict is Unknown.
func reasonOf(v trading.Verdict) string {
	text := ""
	if v.Err != nil {
		text = v.Err.Error()
	}
	for _, r := range []struct{ part, reason string }{
		{"it is not known what the account held", "no baseline"},
		{"somebody else may have done it", "the account has changed, and others may trade it"},
		{"but not as this write", "the account has changed otherwise"},
		{"somebody else may have cancelled it", "no trace, of a kind that others can take away"},
		{"another write of this program", "the account has changed, and another write of the bot may have done it"},
		{"a trigger, an order or a run of before", "the account has changed, and what was there before may have done it"},
		{"does not show it yet", "received, and no trace"},
		{"kept changing", "the account kept changing"},
		{"the process is dead", "the recovery was killed"},
		{"context canceled", "the recovery was killed"},
		{"api_access_denied", "the service refused the holder"},
	} {
		if strings.Contains(text, r.part) {
			return r.reason
		}
	}
	if len(v.Readings) == 0 {
		return "the fence proved nothing, or the account could not be read"
	}
	return text
}
