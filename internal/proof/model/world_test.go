package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// readings are what the contract leaves open.
type readings struct {
	inFlightToOthers bool // 10: 409, not 422, to another request while one runs
	releasesFirst    bool // 50: an overdue claim is released before the comparison
	unknownToOthers  bool // 409 result_unknown to another request too
	keysPerRoute     bool // 49
}

// lag is how far behind a read of the account is.
const lag = 4 * time.Second

// world is one run: a service, a network, an account, and the programs.
type world struct {
	scenario
	levels
	*chooser
	now     time.Duration
	events  []event
	seq     int
	writes  int
	records [16]record

	executed    []execution
	vanished    bool
	failedAfter bool    // the work was done, and a 5xx was the answer
	heard5xx    bool    // a program has heard one
	cause       finding // the accident that is known to break a promise
	found       [findingCount]bool
	programs    []*program
	lines       []string
	requests    int
	lastSharp   time.Duration
	dull        bool // what repeats itself has no accidents
}

// ordinary is how many requests of a run may meet an accident; after them only one fence
// in four minutes may, since a long wait repeats itself.
const ordinary = 7

// sharpens says whether the next request may meet an accident.
func (w *world) sharpens(do ledger.Action) {
	w.requests++
	w.dull = w.requests > ordinary && do == ledger.Fence && w.now-w.lastSharp < 4*time.Minute
	if !w.dull {
		w.lastSharp = w.now
	}
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

var whenSecond = []option{{"", 0}, {"the second program decides 4 s later", 1}, {"the second program decides 11 min later", 1}, {"the second program decides 25 h later", 1}}

var secondAfter = []time.Duration{20 * time.Millisecond, 4 * time.Second, 11 * time.Minute, 25 * time.Hour}

func newWorld(s scenario, c *chooser) *world {
	w := &world{scenario: s, levels: s.levels, chooser: c}
	if w.levels.on {
		w.beginLevels()
		return w
	}
	shared := &journal{}
	w.after(0, w.program(shared).take)
	if s.second {
		if s.ownJournals {
			shared = &journal{}
		}
		w.after(secondAfter[w.pick(whenSecond)], w.program(shared).take)
	}
	return w
}

func (w *world) program(j *journal) *program {
	p := &program{w: w, journal: j, name: len(w.programs) + 1}
	w.programs = append(w.programs, p)
	return p
}

func (w *world) paper() bool { return !w.terms.Keyed }

func (w *world) pick(options []option) int {
	if w.dull {
		return 0
	}
	n := w.chooser.pick(options, w.now)
	if n > 0 && w.trace {
		w.say("%s", options[n].name)
	}
	return n
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	w.events = append(w.events, event{w.now + d, w.seq, do})
}

// run lets one event happen after the other.
func (w *world) run() {
	for n := 0; len(w.events) > 0; n++ {
		if n > 2000 {
			w.find(stuck)
			return
		}
		first := 0
		for i, e := range w.events {
			if f := w.events[first]; e.at < f.at || e.at == f.at && e.seq < f.seq {
				first = i
			}
		}
		e := w.events[first]
		last := len(w.events) - 1
		w.events[first] = w.events[last]
		w.events = w.events[:last]
		w.now = e.at
		e.do()
	}
	if w.levels.on {
		w.endLevels()
	}
}

// find notes a finding, or the accident that is known to cause it.
func (w *world) find(f finding) {
	if f < apart && f != untold && w.cause != 0 {
		f = w.cause
	}
	w.found[f] = true
	if w.trace {
		w.say("=> %s", findings[f])
	}
}

var cancels = []option{{"", 0}, {"somebody cancels it a minute later", 1}}

// executes is the moment that matters.
func (w *world) executes(r request) {
	if w.trace {
		w.say("EXECUTES (program %d, key %d, probe %v)", r.program.name, r.key, r.probe)
	}
	if w.levels.on {
		w.set = append(w.set, setting{w.now, r.program.value})
		return
	}
	w.executed = append(w.executed, execution{at: w.now, probe: r.probe, key: r.key, program: r.program})
	for _, p := range w.programs {
		if p.said == saidNot && r.sent <= p.saidAt {
			w.find(ranAfterNotApplied)
		}
	}
	if r.probe {
		w.find(probeRan)
	}
	if len(w.executed) == 2 && w.terms.Resolves { // a cancel may run twice
		w.find(w.twice(r))
	}
	if w.vanish && w.pick(cancels) == 1 {
		w.after(time.Minute, func() { w.vanished = true })
	}
}

// twice tells whose fault a second execution is.
func (w *world) twice(r request) finding {
	first := w.executed[0]
	switch {
	case w.cause != 0:
		return w.cause
	case (r.program.journal != first.program.journal || r.program.lostAll) && (w.failedAfter || w.now-first.at >= claimLasts-2*time.Minute):
		return acrossJournals
	case r.probe:
		return probeRanTwice
	case w.failedAfter && r.key == first.key && !r.knows5xx:
		return after5xx
	}
	return ranTwice
}

func (w *world) say(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf("    %10v  ", w.now)+fmt.Sprintf(format, args...))
}

func (w *world) log() string { return strings.Join(w.lines, "\n") }
