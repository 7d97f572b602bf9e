package crash

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
)

// killAt is the step that the first process dies at, 0 for none: it is played once
// to its end, to know how many there are.
func (s schedule) killAt(t *testing.T) int {
	t.Helper()
	if s.kill1 == 1 {
		return 0
	}
	steps := 0
	synctest.Test(t, func(*testing.T) { steps = newWorld(s).live(decides, 0).steps })
	return 1 + int(s.kill1*float64(steps))
}

// bubble plays a schedule in virtual time, in a world that is prepared for it, and
// returns the world at its end.
func bubble(t *testing.T, s schedule, killAt int, prepare func(*world)) (w *world) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		w = newWorld(s)
		prepare(w)
		w.play(killAt)
		time.Sleep(time.Hour) // timers of this bubble have no business in the next
	})
	return w
}

// play is the whole life of a schedule.
func (w *world) play(killAt int) {
	w.live(decides, killAt)
	w.after("after the first death")
	w.ownerActs(afterDeath)
	if w.denied > 0 {
		w.sim.SetAccess(false)
		time.AfterFunc(w.denied, func() { w.sim.SetAccess(true) })
	}
	if w.locked {
		w.sim.SetStatus(account, "FAILED")
	}
	if first := w.first; !first.IsZero() {
		time.Sleep(time.Until(first.Add(w.away)))
	} else {
		time.Sleep(w.away)
	}
	w.turnClock(w.clockBack)
	w.live(recovers, w.kill2)
	w.after("after the second death")
	time.Sleep(w.again)
	w.live(settles, 0)
	w.after("after the last recovery")
	time.Sleep(25 * time.Hour)
	w.check("a day later")
	w.end = w.came()
	w.open = len(w.pending(w.sim.URL()))
}

// after is what follows the end of each process.
func (w *world) after(when string) {
	w.check(when)
	w.copyLate()
	w.check(when + ", and copies")
}

// came is all that a schedule came to, for a comparison with another run of it.
func (w *world) came() string {
	var b strings.Builder
	for _, t := range w.told {
		fmt.Fprintf(&b, "%s is told %s, by %s\n", t.by, t.Outcome, t.Basis)
	}
	for _, e := range w.sim.Ledger() {
		at := e.At.Sub(w.started).Round(time.Millisecond)
		if w.family == control { // in real time it depends on the machine
			at = 0
		}
		fmt.Fprintf(&b, "%s executed %s for %s\n", at, e.Operation, e.Actor)
	}
	for _, entry := range w.disk.all() {
		outcome := "open"
		if s, settled := entry.Settlement.Get(); settled {
			outcome = fmt.Sprintf("%s by %s", s.Outcome, s.Basis)
		}
		fmt.Fprintf(&b, "%s is %s\n", entry.Intent.Operation, outcome)
	}
	return b.String()
}

// outcome is what the decision of the schedule came to in the end.
func (w *world) outcome() string {
	all := w.decisions()
	if len(all) == 0 {
		return "never begun"
	}
	outcome := "unknown"
	for _, entry := range w.disk.all() {
		if s, settled := entry.Settlement.Get(); settled && slices.Contains(all[0].intents, entry.Intent.ID) {
			if outcome != trading.Applied.String() {
				outcome = s.Outcome.String()
			}
		}
	}
	return outcome
}
