package model

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// A journal that several machines see is held under a lease. What is new to the protocol is
// that a second process goes on while the first one lives: the journal takes nothing of that
// one any more, and its bytes may leave until its own deadline.

const (
	// leaseLasts is how long a lease stands still before another process takes it.
	leaseLasts = 15 * time.Second
	// leaseEnds is how long after its last renewal its holder sends at the most.
	leaseEnds = leaseLasts - 2*time.Second
)

// taking is one way in which another process takes the journal over, beside a request.
type taking struct {
	name     string
	lost     bool          // what was not waited for is not in the journal
	held     time.Duration // from the note to the gate
	paused   time.Duration // from the gate to the byte
	unnoted  bool          // the journal takes nothing of an exit, which goes out all the same
	released bool          // the holder hands over, once it has its answer
}

var takings = []taking{
	{name: "TAKEN OVER, all facts kept"},
	{name: "TAKEN OVER, facts lost", lost: true},
	{name: "TAKEN OVER, facts lost; held up until the deadline", lost: true, held: leaseEnds - 100*time.Millisecond},
	{name: "TAKEN OVER, facts lost; held up for 20 s", lost: true, held: 20 * time.Second},
	{name: "TAKEN OVER, facts lost; held up for 50 s", lost: true, held: 50 * time.Second},
	{name: "TAKEN OVER, facts lost; stopped for 1 min between gate and byte", lost: true, paused: time.Minute},
	{name: "TAKEN OVER, facts lost; stopped for 1 h between gate and byte", lost: true, paused: time.Hour},
	{name: "TAKEN OVER, an exit without an append", unnoted: true},
	{name: "RELEASED", released: true},
}

// leaseMoments are all moments of a request under a lease.
var leaseMoments = func() []option {
	all := slices.Clone(moments)
	for _, t := range takings {
		all = append(all, option{t.name, 1})
	}
	return all
}()

// leased is a search of its own: the takings, and of the others what they meet.
func leased(s *scenario) {
	s.leased = true
	s.only = []string{"TAKEN OVER", "RELEASED", "reply lost", "request lost", "5xx", "part-way", "dies", "takes 6 s", "takes 14 min", "refuses for its price",
		"delayed 7 s", "delayed 9 min", "429", "503", "caller leaves", "CRASH after the byte, facts lost; again at once", "wall clock", "without a Date", "fence:", "decides the same"}
}

// takenOver lets another process take the journal over while a request of p is under way.
// Nothing of p is in the journal from then on.
func (p *program) takenOver(do ledger.Action, t taking) {
	w := p.w
	if t.released {
		p.handsOver = true
		p.leaves(do)
		return
	}
	exit := !p.on.terms.Entry
	own, left := *p.on, p.on
	own.facts = slices.Clone(left.facts)
	p.on, p.cutOff = &own, w.now+leaseEnds
	if t.lost {
		left.lose()
	}
	if t.unnoted && (do == ledger.Fence || do == ledger.Probe || !exit) {
		p.speak(saidUnknown) // it does not leave without its note
		left.facts = left.facts[:len(left.facts)-1]
		w.after(leaseLasts, w.successor(p).take)
		return
	}
	if t.unnoted && len(left.facts) == 1 {
		w.cause = brokenDisk
		w.find(forgotten)
		p.journal.entries = p.journal.entries[:len(p.journal.entries)-1]
	} else {
		if t.unnoted {
			left.facts = left.facts[:len(left.facts)-1]
		}
		left.terms.SendsMissing = exit && !w.lies.noGap
		w.after(leaseLasts, w.successor(p).take)
	}
	life := p.life
	p.waiting = -1
	w.after(t.held, func() {
		if p.life != life || p.l.Done() {
			return
		}
		p.waiting = 0
		if w.now >= p.cutOff && !w.lies.noLease || !p.mayLeave(do) {
			p.note(ledger.Fact{Kind: endOf(do), Answer: ledger.Answer{Class: ledger.Unsent}, OwnRoute: do == ledger.Fence && w.ownRoute})
			if w.named && !w.lies.knowsDecision { // the other process may have carried the decision out
				p.speak(saidUnknown)
				return
			}
			p.goOn()
			return
		}
		if t.paused > 0 {
			w.cause = paused
		}
		w.after(t.paused, func() { p.leaves(do) })
	})
}

// successor is the process that goes on with what p's journal has.
func (w *world) successor(p *program) *program {
	n := w.program(p.journal)
	n.gap = true
	return n
}

// mayAct says what a process does whose journal takes nothing any more: it reads, and an exit
// is sent once more without a note, until the deadline.
func (p *program) mayAct(do ledger.Action) bool {
	switch do {
	case ledger.Send:
		return p.cutOff == 0 || !p.on.terms.Entry && p.w.now < p.cutOff
	case ledger.Rekey:
		if p.cutOff == 0 {
			return true
		}
		if p.on.terms.Entry || p.w.now >= p.cutOff {
			return false
		}
		p.w.cause = brokenDisk // under a key that no journal has
		return true
	case ledger.Fence, ledger.Probe:
		return p.cutOff == 0
	default:
		return true
	}
}

// over hands the journal over, where p has begun to, once it has its answer.
func (p *program) over() bool {
	if !p.handsOver || p.l.Done() {
		return false
	}
	p.handsOver = false
	n := p.w.program(p.journal)
	n.take()
	return true
}
