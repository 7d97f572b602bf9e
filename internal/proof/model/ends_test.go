package model

import (
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

var repeats = []option{{"", 0}, {"decides the same again", 1}, {"decides the same again 11 min later", 1}, {"decides the same again 25 h later", 1}}

var repeatAfter = []time.Duration{0, 0, 11 * time.Minute, 25 * time.Hour}

// ends is a verdict of the ledger.
func (p *program) ends() {
	e := p.on
	if p.w.levels.on {
		p.w.checksLevel(p.l.Held())
		return
	}
	switch {
	case p.l.Forget() || p.l.Outcome() == ledger.Unknown && !p.l.Resolves:
		p.journal.entries = p.journal.entries[:len(p.journal.entries)-1]
		p.speak(saidUnknown)
	case p.l.Outcome() == ledger.Applied:
		e.outcome = saidApplied
		for _, x := range p.w.executed {
			if x.probe && x.program == p && !p.l.Late() && !p.l.MaybeLate() {
				p.w.find(lateUntold)
			}
		}
		p.speak(saidApplied)
	case p.l.Outcome() == ledger.NotApplied:
		e.outcome = saidNot
		e.dead = e.dead || p.l.Held()
		e.since = p.w.now
		p.speak(saidNot)
	default:
		p.speak(saidUnknown)
	}
	if p.w.named && p.takes < 3 && p.said != saidApplied && p.cutOff == 0 {
		if a := p.w.pick(repeats); a > 0 {
			p.w.after(repeatAfter[a], p.take)
		}
	}
}

// speak tells the caller, and holds it against the truth.
func (p *program) speak(s said) {
	w := p.w
	if w.levels.on {
		return
	}
	p.said, p.saidAt = s, w.now
	if w.trace {
		w.say("program %d says %s", p.name, [...]string{"", "Applied", "NotApplied", "Unknown"}[s])
	}
	switch {
	case s == saidApplied && len(w.executed) == 0:
		w.find(falseApplied)
	case s == saidNot && len(w.executed) > 0 && w.vanished:
		w.find(cancelled)
	case s == saidNot && len(w.executed) > 0:
		w.find(falseNotApplied)
	}
}

// crash takes the memory, and what was not yet on disk; the next process takes the
// intent over.
func (p *program) crash(lost bool, down time.Duration) {
	w, e := p.w, p.on
	p.life++
	p.listening = nil
	p.waiting, p.wall, p.slept, p.noDate = 0, 0, 0, false
	if lost {
		e.lose()
	}
	if w.forgetful || w.lies.journalLate && lost && e.synced == 0 {
		p.journal.entries = nil
		p.lostAll = w.forgetful
		if !w.named && len(e.facts) > 0 || w.lies.journalLate {
			w.find(forgotten)
			return
		}
	}
	w.after(down, func() {
		p.began = w.now
		if down > answerLasts && w.forgetful {
			w.cause = named24h
		}
		p.take()
	})
}

// lose takes what was not yet on disk.
func (e *entry) lose() {
	e.facts = e.facts[:e.synced]
	e.key = e.firstKey
	for _, f := range e.facts {
		if f.Kind == ledger.KeyChanged {
			e.key++
		}
	}
}
