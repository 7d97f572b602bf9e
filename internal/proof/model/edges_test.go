package model

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// heldUp is what keeps a request back after it was noted and before its first byte.
type heldUp struct {
	name   string
	lasts  time.Duration
	asleep bool // the monotonic clock stands still
	unsent bool // then it does not go at all
}

var heldUps = []heldUp{
	{name: "a sync takes 1 s", lasts: time.Second},
	{name: "a sync takes 1 min", lasts: time.Minute},
	{name: "a sync takes 10 min", lasts: 10 * time.Minute},
	{name: "the connection takes 4 s", lasts: 4 * time.Second},
	{name: "the machine stops for 1 s", lasts: time.Second},
	{name: "the machine stops for 1 h", lasts: time.Hour},
	{name: "the machine is suspended for 1 s", lasts: time.Second, asleep: true},
	{name: "the machine is suspended for 10 min", lasts: 10 * time.Minute, asleep: true},
	{name: "the machine is suspended for 1 h", lasts: time.Hour, asleep: true},
	{name: "no connection for 4 s", lasts: 4 * time.Second, unsent: true},
	{name: "the own limiter is full for 20 s", lasts: 20 * time.Second, unsent: true},
	{name: "the own limiter is full for 1 min", lasts: time.Minute, unsent: true},
}

// edgeMoments are all moments of a request.
var edgeMoments = func() []option {
	all := slices.Clone(moments)
	for _, h := range heldUps {
		all = append(all, option{h.name, 1})
	}
	return all
}()

// edgeNames are the accidents that only a search of edges has.
func edgeNames() (names []string) {
	for _, o := range slices.Concat(edgeMoments[len(moments):], edgeReplies[len(replies):]) {
		names = append(names, o.name)
	}
	return names
}

func (w *world) moments() []option {
	switch {
	case w.edges:
		return edgeMoments
	case w.leased:
		return leaseMoments
	default:
		return moments
	}
}

func (w *world) replies() []option {
	switch {
	case w.edges:
		return edgeReplies
	case w.listens:
		return listenedReplies
	default:
		return replies
	}
}

// probeUntil is how old a write is at the most when a probe leaves.
const probeUntil = 10 * time.Minute

// holdUp lets time pass between a request's note and its first byte. What ages is judged
// once more then.
func (p *program) holdUp(do ledger.Action, h heldUp) {
	w, life := p.w, p.life
	w.seq++
	p.waiting = w.seq
	waits := w.seq
	w.after(h.lasts, func() {
		if p.life != life || p.waiting != waits {
			return
		}
		p.waiting = 0
		if h.asleep {
			p.slept += h.lasts
		}
		if !h.unsent && (p.mayLeave(do) || w.lies.noGate) {
			p.leaves(do)
			return
		}
		p.note(ledger.Fact{Kind: endOf(do), Answer: ledger.Answer{Class: ledger.Unsent}, OwnRoute: do == ledger.Fence && w.ownRoute})
		p.goOn()
	})
}

// mayLeave is the gate right before the first byte.
func (p *program) mayLeave(do ledger.Action) bool {
	now := p.now()
	switch do {
	case ledger.Send:
		decided := p.on.terms.Decided
		return (p.l.MaySend() || p.w.lies.leavesLate) && max(now.Mono-decided.Mono, now.Wall.Sub(decided.Wall)) < p.on.terms.SendTTL()
	case ledger.Probe:
		return p.l.ProbeWithin(now) > 0
	default:
		return true
	}
}

func endOf(do ledger.Action) ledger.FactKind {
	return [...]ledger.FactKind{ledger.Send: ledger.SendEnded, ledger.Fence: ledger.FenceEnded, ledger.Probe: ledger.ProbeEnded}[do]
}
