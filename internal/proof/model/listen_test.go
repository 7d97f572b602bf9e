package model

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// A send that has no answer in time can be listened to, while another goes under its key. Then two
// attempts are open, and the answer of either may come at any time, or never.

// listened is what an answer that comes late is of.
type listened struct{ write, send int }

// listenedTravels are how a request travels whose connection stays, after all others.
var listenedTravels = append(slices.Clone(travels), option{"request swallowed", 1},
	option{"request held up 2.5 s", 1}, option{"request held up 7 s", 1}, option{"request held up 9 min", 1})

var stays = []time.Duration{2500 * time.Millisecond, 7 * time.Second, 9 * time.Minute}

// listenedReplies are how an answer travels to somebody who listens.
var listenedReplies = append(slices.Clone(replies), option{"reply swallowed", 1},
	option{"reply 3 s late", 1}, option{"reply 12 s late", 1}, option{"reply 11 min late", 1})

var late = []time.Duration{3 * time.Second, 12 * time.Second, 11 * time.Minute}

func (w *world) travels() []option {
	if w.listens {
		return listenedTravels
	}
	return travels
}

// waitsAtMost is how long a request is waited for.
func (w *world) waitsAtMost(r request) time.Duration {
	switch {
	case r.send == 1 && w.firstFor > 0:
		return w.firstFor
	case r.probe, w.listens:
		return 5 * time.Second
	default:
		return 10 * time.Second
	}
}

// listensTo ends the waiting for a send, and not the listening.
func (p *program) listensTo(r request) {
	if p.listening == nil {
		p.listening = map[int]listened{}
	}
	p.listening[r.id] = listened{r.write, r.send}
}

// keeps remembers what an answer says apart from the ledger.
func (p *program) keeps(r request, a ledger.Answer) {
	p.w.heard5xx = p.w.heard5xx || a == failed && r.kind == order
	if a.Class == ledger.Refusal && a.Status < 500 && a.Says == ledger.NotApplied && (!a.InFront || a.Replayed) && a.Code != reused.Code {
		p.on.dead, p.on.since = true, p.w.now
	}
	p.succeeded = p.succeeded || r.send > 0 && a == ok
	p.failed = p.failed || r.send > 0 && a == failed
}

// hearsLate takes an answer in that is waited for no more.
func (p *program) hearsLate(r request, a ledger.Answer) {
	l := p.listening[r.id]
	delete(p.listening, r.id)
	if a == silence || l.write != p.on.write {
		return
	}
	if p.w.trace {
		p.w.say("program %d hears of send %d, late: %d %s replayed %v", p.name, l.send, a.Status, a.Code, a.Replayed)
	}
	p.keeps(r, a)
	done := p.l.Done()
	p.note(ledger.Fact{Kind: ledger.SendHeard, Answer: a, Send: l.send})
	contradicts := a.Class == ledger.Success && p.said == saidNot || p.succeeded && p.failed
	if contradicts && !p.l.Contradicted() {
		p.w.find(untold)
	}
	switch {
	case p.l.Done() && !done:
		p.turn++
		if p.waiting == p.out.id && p.out.send > 0 {
			p.listensTo(p.out)
		}
		p.waiting = 0
		p.ends()
	case !p.l.Done() && p.waiting == 0:
		p.goOn()
	}
}

// listens lets a program wait for an attempt for 5 s, and listen to it.
func listens(s *scenario) {
	s.listens = true
	s.terms.Retry.Attempts = 4
}

// asksTwice is a write that changes nothing when it is executed twice, and goes a second time
// after a second.
func asksTwice(s *scenario) {
	exit(s)
	listens(s)
	s.terms.Idempotent, s.terms.TTL, s.firstFor = true, 2*time.Minute, time.Second
}
