package model

import (
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type said uint8

const (
	saidNothing said = iota
	saidApplied
	saidNot
	saidUnknown
)

// journal is what survives a crash.
type journal struct{ entries []*entry }

// entry is one intent.
type entry struct {
	write    int // its number; a copy of the entry is of the same write
	terms    ledger.Terms
	firstKey int
	key      int
	facts    []ledger.Fact
	synced   int
	firstUse time.Duration
	decided  time.Duration
	outcome  said
	dead     bool // the key is spent: a refusal is stored under it, or a fence
	since    time.Duration
}

// program is one process after the other, with one journal.
type program struct {
	w         *world
	journal   *journal
	name      int
	began     time.Duration
	wall      time.Duration // how far its wall clock is off
	slept     time.Duration // how long its monotonic clock stood still
	noDate    bool
	lostAll   bool // it had no durable journal, and crashed
	life      int
	takes     int
	l         ledger.Ledger
	on        *entry
	waiting   int // the request that it waits for
	turn      int // what it came back for before is over
	listening map[int]listened
	succeeded bool          // a send of the write did, and that was no replay
	failed    bool          // a send of it failed and may have run
	reused    time.Duration // when a fence was first answered 422; 0 if it was not
	probed    bool
	value     int // of a TP/SL setting
	sends     int
	seen      int           // by the look before
	cutOff    time.Duration // another process has the journal, and this one sends until then; 0 for the holder
	handsOver bool          // once it has its answer
	gap       bool          // it took the journal over without a release
	looked    time.Duration
	looks     bool
	out       request
	said      said
	saidAt    time.Duration
}

func (p *program) lastSaid() said { return p.said }

func (p *program) now() ledger.Instant {
	i := ledger.Instant{Wall: start.Add(p.w.now + p.wall), Mono: p.w.now - p.began - p.slept}
	if !p.noDate {
		i.Service = servicetime.Shown(start.Add(p.w.now).Truncate(time.Second))
	}
	return i
}

// take carries the decision out, as the journal allows.
func (p *program) take() {
	if p.takes++; p.takes == 1 {
		p.began = p.w.now
	}
	j := p.journal
	if len(j.entries) == 0 {
		p.open(0, p.w.now)
		return
	}
	e := j.entries[len(j.entries)-1]
	old := p.w.now-e.since >= answerLasts
	switch {
	case e.outcome == saidApplied:
		p.speak(saidApplied)
	case e.outcome != saidNot && p.w.lies.nextKey:
		p.open(e.key+1, p.w.now)
	case e.outcome != saidNot:
		p.join(e)
	case e.dead && !old:
		p.open(e.key+1, p.w.now)
	default:
		if old {
			p.w.cause = named24h
		}
		p.open(e.key, e.firstUse)
	}
}

// open begins an intent.
func (p *program) open(key int, firstUse time.Duration) {
	t := p.w.terms
	t.Decided = p.now()
	if p.lostAll {
		t.FirstUseKnown = false
	}
	p.w.lies.onTerms(&t)
	p.w.writes++
	e := &entry{write: p.w.writes, terms: t, key: key, firstKey: key, decided: p.w.now, firstUse: firstUse}
	p.journal.entries = append(p.journal.entries, e)
	p.on, p.l, p.looks = e, ledger.New(t), false
	p.succeeded, p.failed = false, false
	p.said = saidNothing
	p.goOn()
}

// join takes up what another call, program or process has left pending.
func (p *program) join(e *entry) {
	p.on, p.looks, p.said = e, false, saidNothing
	p.l = p.w.lies.restore(e.terms, e.facts, p.now())
	e.facts = append(e.facts, ledger.Fact{Kind: ledger.Restarted, At: p.now()})
	e.synced = len(e.facts)
	p.goOn()
}

// secondUnderKey reports whether a send under the present key has begun before.
func (e *entry) secondUnderKey() bool {
	for i := len(e.facts) - 1; i >= 0 && e.facts[i].Kind != ledger.KeyChanged; i-- {
		if e.facts[i].Kind == ledger.SendBegun {
			return true
		}
	}
	return false
}

func (p *program) note(f ledger.Fact) {
	f.At = p.now()
	e := p.on
	if !p.w.lies.onFact(p, &f) {
		return
	}
	durable := false
	switch f.Kind {
	case ledger.SendBegun:
		durable = e.secondUnderKey()
	case ledger.KeyChanged, ledger.FenceBegun, ledger.ProbeBegun:
		durable = true
	}
	p.l.Note(f)
	e.facts = append(e.facts, f)
	if durable && !p.w.lies.volatile[f.Kind] {
		e.synced = len(e.facts)
	}
}

// patience is how long a process goes on with looks that leave it Unknown.
const patience = 75 * time.Minute

// goOn does what is due now, and comes back for what is due later.
func (p *program) goOn() {
	p.turn++
	for {
		step := p.w.lies.onStep(p, p.l.Next(p.now(), ledger.Limits{}))
		switch {
		case p.l.Done():
			p.ends()
			return
		case step.Do == ledger.Stop && p.l.Sending():
			p.note(ledger.Fact{Kind: ledger.SendingOver})
			continue
		case step.Do == ledger.Stop || p.w.now-p.began > patience && step.Do == ledger.Look:
			p.speak(saidUnknown)
			return
		}
		wait := step.At - p.now().Mono
		if wait <= 0 {
			p.does(step.Do)
			return
		}
		life, on, turn := p.life, p.on, p.turn
		p.w.after(wait, func() {
			if p.life == life && p.on == on && p.turn == turn {
				p.goOn()
			}
		})
		return
	}
}

// What may happen to a program beside a request.
const (
	crashBefore = iota + 1
	crashAfter  = crashBefore + 4
	restartOdd  = crashAfter + 8
	leaves      = restartOdd + 3
	jumps       = leaves + 1
	sleeps      = jumps + 2
)

var moments = []option{
	{"", 0},
	{"CRASH before the byte, all facts kept; again at once", 1}, {"CRASH before the byte, facts lost; again at once", 1},
	{"CRASH before the byte, all facts kept; again after 1 h", 1}, {"CRASH before the byte, facts lost; again after 1 h", 1},
	{"CRASH after the byte, all facts kept; again at once", 1}, {"CRASH after the byte, facts lost; again at once", 1},
	{"CRASH after the byte, all facts kept; again after 1 min", 1}, {"CRASH after the byte, facts lost; again after 1 min", 1},
	{"CRASH after the byte, all facts kept; again after 1 h", 1}, {"CRASH after the byte, facts lost; again after 1 h", 1},
	{"CRASH after the byte, all facts kept; again after 25 h", 1}, {"CRASH after the byte, facts lost; again after 25 h", 1},
	{"CRASH after the byte; again after 1 min, without a Date", 1},
	{"CRASH after the byte; again after 1 min, wall clock 1 h on", 1},
	{"CRASH after the byte; again after 1 min, wall clock 1 h back", 1},
	{"the caller leaves", 1},
	{"wall clock 1 h on", 1}, {"wall clock 1 h back", 1}, {"the machine sleeps for 20 min", 1},
}

const sleep = 20 * time.Minute

var downs = []time.Duration{0, time.Minute, time.Hour, 25 * time.Hour}

// does carries a step out.
func (p *program) does(do ledger.Action) {
	w := p.w
	if !p.mayAct(do) {
		p.speak(saidUnknown)
		return
	}
	if w.trace {
		w.say("program %d: %v", p.name, [...]string{"stop", "send", "new key", "fence", "probe", "look", "second question"}[do])
	}
	switch do {
	case ledger.Rekey:
		p.on.key++
		p.note(ledger.Fact{Kind: ledger.KeyChanged})
		p.goOn()
		return
	case ledger.Look:
		p.look()
		p.goOn()
		return
	case ledger.Confirm:
		p.note(ledger.Fact{Kind: ledger.Confirmed, Answer: w.confirms()})
		p.goOn()
		return
	}
	w.sharpens(do)
	p.probed = p.probed || do == ledger.Probe
	m := 0
	if !w.levels.on && p.cutOff == 0 {
		m = w.pick(w.moments())
	}
	begun := [...]ledger.FactKind{ledger.Send: ledger.SendBegun, ledger.Fence: ledger.FenceBegun, ledger.Probe: ledger.ProbeBegun}[do]
	if m == sleeps {
		life := p.life
		w.after(sleep, func() {
			if p.life == life {
				p.slept += sleep
				p.goOn()
			}
		})
		return
	}
	p.jump(m)
	if m >= jumps && p.l.Next(p.now(), ledger.Limits{}).Do != do {
		p.goOn() // judged anew, just before the byte
		return
	}
	p.note(ledger.Fact{Kind: begun})
	if m > sleeps && w.leased {
		p.takenOver(do, takings[m-sleeps-1])
		return
	}
	if m > sleeps {
		p.holdUp(do, heldUps[m-sleeps-1])
		return
	}
	if m >= crashBefore && m < crashAfter {
		p.crash((m-crashBefore)%2 == 1, []time.Duration{0, time.Hour}[(m-crashBefore)/2])
		return
	}
	p.leaves(do)
	p.meanwhile(m)
}

// leaves lets a request go.
func (p *program) leaves(do ledger.Action) {
	w := p.w
	w.seq++
	r := request{key: p.on.key, probe: do == ledger.Probe, program: p, id: w.seq}
	if do == ledger.Send {
		r.send, r.write = p.l.Sends(), p.on.write
	}
	age := w.now - p.on.decided
	if p.wall < 0 && p.slept > 0 && do != ledger.Fence { // neither clock tells the age
		w.cause = clocks
	}
	switch {
	case do == ledger.Fence:
		r.kind = fence
	case !r.probe && p.on.terms.TTL > 0 && age >= w.terms.TTL:
		w.find(staleSend)
	case r.probe && age >= probeUntil && !w.forgetful:
		w.find(staleProbe)
	}
	p.waiting, p.out = r.id, r
	w.send(r)
	life := p.life
	w.after(w.waitsAtMost(r), func() {
		switch {
		case p.life != life || p.waiting != r.id:
		case w.listens && r.send > 0:
			p.listensTo(r)
			p.hearsInTime(r, silence)
		default:
			p.hears(r, silence)
		}
	})
}

// jump lets a clock go wrong.
func (p *program) jump(m int) {
	switch m {
	case jumps:
		p.wall += time.Hour
	case jumps + 1:
		p.wall -= time.Hour
	}
}

// meanwhile is what happens while a request is on its way.
func (p *program) meanwhile(m int) {
	switch {
	case m >= crashAfter && m < restartOdd:
		p.crash((m-crashAfter)%2 == 1, downs[(m-crashAfter)/2])
	case m >= restartOdd && m < leaves:
		p.crash(false, time.Minute)
		switch m - restartOdd {
		case 0:
			p.noDate = true
		case 1:
			p.wall += time.Hour
		case 2:
			p.wall -= time.Hour
		}
	case m == leaves && p.l.Sending():
		p.waiting = 0
		if p.w.listens {
			p.listensTo(p.out)
			p.note(ledger.Fact{Kind: ledger.SendEnded, Answer: silence})
		}
		p.note(ledger.Fact{Kind: ledger.SendingOver})
		p.goOn()
	}
}

func (p *program) waitsFor(r request) bool {
	_, listens := p.listening[r.id]
	return listens || p.waiting == r.id
}

func (p *program) hears(r request, a ledger.Answer) {
	switch {
	case p.waiting == r.id:
		p.hearsInTime(r, a)
	case p.waitsFor(r):
		p.hearsLate(r, a)
	}
}

func (p *program) hearsInTime(r request, a ledger.Answer) {
	p.waiting = 0
	p.keeps(r, a)
	if p.w.trace {
		p.w.say("program %d hears %d %s replayed %v", p.name, a.Status, a.Code, a.Replayed)
	}
	ended := ledger.SendEnded
	switch {
	case r.kind == fence:
		ended = ledger.FenceEnded
	case r.probe:
		ended = ledger.ProbeEnded
	}
	if r.kind == fence && a == reused && p.reused == 0 {
		p.reused = p.now().Mono
	}
	p.note(ledger.Fact{Kind: ended, Answer: a, OwnRoute: r.kind == fence && p.w.ownRoute})
	if p.l.Held() {
		p.w.checksLevel(true)
	}
	if !p.over() {
		p.goOn()
	}
}

// look is the account as the accounting sees it.
func (p *program) look() {
	w := p.w
	if w.levels.on {
		w.checksLevel(p.l.Held())
		p.note(ledger.Fact{Kind: ledger.Looked, Finding: ledger.Finding{Enough: true, Stays: true}})
		return
	}
	seen := 0
	for _, x := range w.executed {
		if x.at <= w.now-lag && !w.vanished {
			seen++
		}
	}
	v := ledger.Finding{Enough: p.looks && seen == p.seen && w.now-p.looked >= ledger.Lag}
	t := &p.on.terms
	switch {
	case seen > 0 && t.Exclusive && !p.gap:
		v.Outcome = ledger.Applied
	case seen > 0:
		v.Stays = true
	case t.FirstUseKnown || t.NotBefore:
		v.Outcome = ledger.NotApplied
	default:
		v.Stays = true
	}
	w.lies.onLook(&v)
	p.seen, p.looked, p.looks = seen, w.now, true
	p.note(ledger.Fact{Kind: ledger.Looked, Finding: v})
}
