package model

import (
	"slices"
	"testing"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// A TP/SL setting replaces the one before it. The newer of two goes at once, beside an
// older one in doubt, which may be carried out after it.

// levels is when the level is read again, and the level itself.
type levels struct {
	on      bool
	onHold  bool // only after a fence of an older setting holds, as the first wording says
	set     []setting
	wanted  int
	resends int
	worst   time.Duration
}

// settingWorkers are the workers of a setting: a refusal is an accident here.
var settingWorkers = func() []option {
	all := slices.Clone(workers)
	all[refuses].cost = 1
	return all
}()

type setting struct {
	at    time.Duration
	value int
}

const maxResends = 3

var whenNewer = []option{{"the newer setting 300 ms later", 0}, {"the newer setting 3 s later", 0}, {"the newer setting 30 s later", 0}}

var newerAfter = []time.Duration{300 * time.Millisecond, 3 * time.Second, 30 * time.Second}

func tpsl(onHold bool) func(s *scenario) {
	return func(s *scenario) {
		s.terms.Entry, s.terms.NoProbe = false, onHold
		s.levels = levels{on: true, onHold: onHold}
	}
}

func (w *world) beginLevels() {
	older := w.program(&journal{})
	older.value, w.wanted = 1, 1
	w.after(0, older.take)
	w.after(newerAfter[w.pick(whenNewer)], func() {
		w.wanted = 2
		if older.on != nil && older.l.Sending() {
			older.waiting = 0
			older.note(ledger.Fact{Kind: ledger.SendingOver})
			older.goOn()
		}
		w.sets(3)
	})
}

// sets sends the level that is wanted, under a key of its own.
func (w *world) sets(key int) {
	p := w.program(&journal{})
	p.value = w.wanted
	p.began = w.now
	p.open(key, w.now)
}

// levelAt is the level that a read shows at a moment.
func (w *world) levelAt(at time.Duration) (value int) {
	for _, s := range w.set {
		if s.at <= at {
			value = s.value
		}
	}
	return value
}

// checksLevel reads the level a lag later, and sends it again if it is another.
func (w *world) checksLevel(held bool) {
	if !w.levels.on || w.onHold && !held {
		return
	}
	w.after(ledger.Lag, func() {
		if w.levelAt(w.now-lag) != w.wanted && w.resends < maxResends {
			w.resends++
			w.sets(3 + 2*w.resends) // a refusal for its price takes a second key
		}
	})
}

// endLevels looks at what is in force in the end, and for how long it was another
// after the newer setting had been carried out.
func (w *world) endLevels() {
	var newer time.Duration
	for i, s := range w.set {
		end := 24 * time.Hour
		if i+1 < len(w.set) {
			end = w.set[i+1].at
		}
		if newer == 0 && s.value == w.wanted {
			newer = s.at
		}
		if newer > 0 && s.value != w.wanted {
			w.worst = max(w.worst, end-s.at)
		}
	}
	last := w.programs[len(w.programs)-1]
	told := w.resends == maxResends || last.l.Outcome() != ledger.Applied
	if newer > 0 && w.levelAt(w.now) != w.wanted && !told {
		w.find(overwritten)
	}
}

func TestANewerLevelStaysInForce(t *testing.T) {
	skipUnderRaceDetector(t)
	for name, c := range map[string]struct {
		scenario scenario
		breaks   bool
	}{
		"read after a fence holds":     {with("", tpsl(true)), true},
		"read whenever one is decided": {with("", tpsl(false)), false},
		"the same, 10 and 50":          {with("", tpsl(false), reading10, reading50), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := search(c.scenario, *accidents)
			if broken := r.count[overwritten] > 0; broken != c.breaks {
				t.Errorf("the newer level is overwritten for good: %v, want %v\n%s", broken, c.breaks, r.schedule[overwritten])
			}
			if r.count[stuck] > 0 {
				t.Errorf("%s\n%s", findings[stuck], r.schedule[stuck])
			}
			t.Logf("%d schedules; for good %d times; for %v at most otherwise\n%s", r.runs, r.count[overwritten], r.worst, r.schedule[overwritten])
			t.Logf("the longest:\n%s", r.worstSchedule)
		})
	}
}
