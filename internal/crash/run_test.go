package crash

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
)

// run plays a schedule in virtual time, and returns the world at its end.
func run(t *testing.T, s schedule) *world {
	t.Helper()
	steps := 0
	if s.kill1 < 1 {
		// Once to its end, to know how many steps there are to die at.
		synctest.Test(t, func(*testing.T) { steps = newWorld(s).firstProcess(0).steps })
	}
	var w *world
	synctest.Test(t, func(*testing.T) {
		w = newWorld(s)
		w.play(1 + int(s.kill1*float64(steps)))
		time.Sleep(time.Hour) // timers of this bubble have no business in the next
	})
	return w
}

// play is the whole life of a schedule.
func (w *world) play(killAt int) {
	if w.kill1 == 1 {
		killAt = 0
	}
	w.firstProcess(killAt)
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
	w.disk.turnClock(w.clockBack)
	w.recoverProcess("second", w.kill2, false)
	w.after("after the second death")
	time.Sleep(w.again)
	w.recoverProcess("third", 0, true)
	w.after("after the last recovery")
	time.Sleep(25 * time.Hour)
	w.check("a day later")
	w.open = len(w.pending(w.sim.URL()))
}

// after is what follows the end of each process.
func (w *world) after(when string) {
	w.check(when)
	w.copyLate()
	w.check(when + ", and copies")
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
