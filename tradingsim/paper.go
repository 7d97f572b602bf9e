package tradingsim

import (
	"fmt"
	"time"
)

// Sandbox describes the paper account. Amounts are absolute dollars, as text.
type Sandbox struct {
	Balance         string // 100000 unless set
	DailyLossFloor  string // 95 percent of the balance unless set
	GlobalLossFloor string // 90 percent of the balance unless set
	ProfitTarget    string // 110 percent of the balance unless set
	ProfitSplit     string // a share: 0.8 unless set
}

// The states of a paper account.
const (
	paperActive = "active"
	paperLocked = "locked"
	paperPassed = "passed"
)

// sandboxIdle is how long a sandbox without writes is kept.
const sandboxIdle = 30 * 24 * time.Hour

// paper is a paper account.
type paper struct {
	book
	id        string
	status    string
	lastWrite time.Time
	terms     terms
}

// paperOf finds the account of a key, or opens it: an idle one is deleted, and
// the next call starts afresh under a new id.
func (s *Sim) paperOf(k *apiKey) *desk {
	owner := s.deskOwner(k)
	d, ok := s.desks[owner]
	if !ok {
		d = &desk{}
		s.desks[owner] = d
	}
	if d.paper == nil || s.now.Sub(d.paper.lastWrite) >= sandboxIdle {
		s.papers++
		d.past = history[*paper]{}
		s.open(d, fmt.Sprintf("sbx_%d", s.papers))
	}
	if s.newDay(&d.paper.terms, d.paper.balance) {
		s.remember(d)
	}
	return d
}

// deskOwner is whose sandbox a key reaches: the holder's, or the key's own under
// the other interpretation.
func (s *Sim) deskOwner(k *apiKey) string {
	if s.other(30) {
		return k.id
	}
	return ""
}

// desk is a holder's place in the sandbox: the account and what is kept about it.
type desk struct {
	paper *paper
	busy  bool // a write is in flight
	past  history[*paper]
	track track
}

// open opens an account with its opening balance, in the place of the one before.
func (s *Sim) open(d *desk, id string) {
	if d.paper != nil {
		s.retire(&d.track, &d.paper.book)
	}
	d.paper = &paper{
		id:        id,
		book:      book{balance: s.paperTerms.opening},
		terms:     s.paperTerms,
		status:    paperActive,
		lastWrite: s.now,
	}
	s.opened(&d.track, &d.paper.book)
	s.remember(d)
}

// settle judges the breach and then the pass. While a position is unpriced the
// equity is not known, and neither is judged.
func (s *Sim) settle(d *desk, c *call) {
	p := d.paper
	if p.status != paperActive {
		return
	}
	v := p.value(s.mark)
	if v.unpriced != "" && !s.other(17) {
		return
	}
	equity := p.equity(v)
	switch {
	case p.terms.breached(equity):
		s.closeBook(&p.book, c, "")
		p.status = paperLocked
	case p.terms.passed(equity, &p.book, s.fees.taker, s.mark):
		s.closeBook(&p.book, c, "")
		if !s.other(19) {
			p.status = paperPassed
		}
	default:
		return
	}
	s.changedTo(EventStatus, Change{Value: p.status})
	s.remember(d)
}

// closeBook closes every priced position at its mark.
func (s *Sim) closeBook(b *book, c *call, account string) {
	for _, p := range append([]position(nil), b.positions...) {
		if m := s.mark(p.symbol); m.set {
			t := b.close(p.symbol, p.size, s.taken(p.symbol, opposite(p.side), p.size, m.value), s.fees.taker, causeMarket, s.now)
			s.recordClose(c, account, "service", t)
		}
	}
}

// fireTriggers closes what has crossed its level, at the mark as it is now and
// not at the level: a gap fills at the gapped mark. It reports whether any did.
func (s *Sim) fireTriggers(b *book, c *call, account string) (fired bool) {
	if !s.anyCrossed(b) {
		return false
	}
	for _, p := range append([]position(nil), b.positions...) {
		m := s.mark(p.symbol)
		if !m.set {
			continue
		}
		cause, ok := s.crossed(&p, m)
		if !ok {
			continue
		}
		fired = true
		size := p.size
		if p.closePct.set {
			size = shareOf(p.size, p.closePct.value)
		}
		price := s.taken(p.symbol, opposite(p.side), size, m.value)
		s.recordClose(c, account, "service", b.close(p.symbol, size, price, s.fees.taker, cause, s.now))
		if left := b.find(p.symbol); left != nil {
			// The share is closed once; the other level stays.
			if cause == causeTakeProfit || s.other(22) {
				left.takeProfit = opt{}
			}
			if cause == causeStopLoss || s.other(22) {
				left.stopLoss = opt{}
			}
		}
	}
	return fired
}

// anyCrossed reports whether fireTriggers finds something to close.
func (s *Sim) anyCrossed(b *book) bool {
	for i := range b.positions {
		p := &b.positions[i]
		if !p.takeProfit.set && !p.stopLoss.set {
			continue
		}
		m := s.mark(p.symbol)
		if !m.set {
			continue
		}
		if _, ok := s.crossed(p, m); ok {
			return true
		}
	}
	return false
}

// crossed returns which level a mark has reached. A mark exactly at a level
// counts.
func (s *Sim) crossed(p *position, mark opt) (cause string, ok bool) {
	past := func(level opt, against int) bool {
		if !level.set {
			return false
		}
		beyond := amountOf(mark.value).compare(amountOf(level.value)) * against
		return beyond > 0 || (beyond == 0 && !s.other(23))
	}
	up := 1
	if p.side == short {
		up = -1
	}
	switch {
	case past(p.stopLoss, -up):
		return causeStopLoss, true
	case past(p.takeProfit, up):
		return causeTakeProfit, true
	}
	return "", false
}

// beginRead is what a read of the account or of its positions does first.
func (s *Sim) beginRead(c *call) *desk {
	d := s.paperOf(c.key)
	if s.other(18) {
		s.settle(d, c)
	}
	if d.paper.status != paperLocked && s.fireTriggers(&d.paper.book, c, "") {
		s.remember(d)
	}
	s.settle(d, c)
	return d
}

// beginWrite judges the account before a write: triggers do not fire.
func (s *Sim) beginWrite(c *call) (*desk, *refusal) {
	d := s.paperOf(c.key)
	s.settle(d, c)
	switch d.paper.status {
	case paperLocked:
		return nil, refuse("account_locked", "The sandbox account is locked after a breach of a loss floor; reset it to go on.")
	case paperPassed:
		return nil, refuse("account_locked", "The sandbox account has passed and is not active; reset it to go on.")
	}
	return d, nil
}

// endWrite keeps the account alive and judges it again.
func (s *Sim) endWrite(d *desk, c *call) {
	d.paper.lastWrite = s.now
	s.remember(d)
	s.settle(d, c)
}
