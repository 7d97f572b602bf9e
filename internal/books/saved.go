package books

import (
	"cmp"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// Saved is what a journal has of a symbol's trail with a write.
type Saved struct {
	accounting.Trail
	// Trades are those since the baseline, and some before, by which the next run finds where
	// its lists go on.
	accounting.Trades
	// Waiting are the own orders and runs that may have traded since the baseline.
	Waiting []accounting.Waiting `json:"waiting,omitempty"`
	// Unseen: others may have, which runs before that one left.
	Unseen bool `json:"unseen,omitempty"`
}

// overlap is how many rows before the baseline a journal has.
const overlap = 8

// saved is what the journal of a write needs of its symbol's trail; nil without a baseline.
func (a *account) saved(w *Booked) *Saved {
	if w.Run || w.Asked.Kind == accounting.EditRun {
		return nil
	}
	return a.trails.saved(w.Places[0].Symbol)
}

// saved is a symbol's trail as a journal has it; nil without a baseline.
func (t *trails) saved(symbol string) *Saved {
	of := t.trail(symbol)
	if of.Base == nil || of.Base.Place < t.trades.First {
		return nil
	}
	s := &Saved{
		Trail: of.Trail, Trades: t.trades.From(of.Base.Place - overlap),
		Waiting: t.known(symbol, of.From), Unseen: t.unseen(symbol, of.From),
	}
	s.Acts = slices.Clone(of.Acts)
	return s
}

// Handed is what a run that ends in order hands over of an account: the trails of its symbols, to be
// gone on with as on its own. Nothing of the run's is under way any more.
type Handed struct {
	accounting.Trades                   // of all symbols, which the trails have not then
	Of                map[string]*Saved `json:"of"`
}

// HandOver is what the run hands over, by the ids of declared accounts. One that has a write
// under way, or one in doubt, is not among them.
func (b *Books) HandOver() map[pending.AccountID]*Handed {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[pending.AccountID]*Handed)
	for id, h := range b.earlier.Handed {
		if b.of[AccountKey{Environment: "live", ID: id}] == nil { // nothing was done to it since
			all[id] = h
		}
	}
	for id, a := range b.of {
		if h := a.handOver(); h != nil && id.live() && b.isDeclared(id) {
			all[id.ID] = h
		}
	}
	return all
}

func (a *account) handOver() *Handed {
	if !a.declared || a.others != "" || a.inFlight > 0 || len(a.open) > 0 || len(a.trails.left) > 0 {
		return nil
	}
	t := &a.trails
	h, first := &Handed{Of: make(map[string]*Saved)}, t.trades.End()
	for symbol, of := range t.of {
		if s := t.saved(symbol); s != nil && of.sure() {
			first, s.Trades = min(first, s.First), accounting.Trades{}
			h.Of[symbol] = s
		}
	}
	if len(h.Of) == 0 {
		return nil
	}
	h.Trades = t.trades.From(first)
	return h
}

// takeOver goes on with what an earlier run has handed over. By the clock of this process all of it
// is of when the books began, and no read of this run is as old.
func (a *account) takeOver(h *Handed, began time.Time) {
	t := &a.trails
	t.trades, t.place = h.Trades, -1
	t.trades.Begun = began
	for symbol, s := range h.Of {
		of := t.trail(symbol)
		of.goOn(s, t, began)
		if of.handed = true; s.Unseen { // it is of before what waits was known, and all of that may be gone
			t.lists = time.Time{}
		}
		t.clock = max(t.clock, s.last())
	}
}

// Left is a write of an earlier run, and what its journal has of it.
type Left struct {
	*Booked
	Note Note
}

// based is the place of a write whose journal has a trail, by which the newest is found; 0 if
// that has none.
func (l *Left) based() int {
	if l.Note.Trail == nil || l.Note.NoTrail {
		return 0
	}
	return l.Note.Sent
}

// last is the last place that a note names.
func (n *Note) last() int {
	last := n.Sent
	if n.Trail != nil {
		last = max(last, n.Trail.last())
	}
	for _, o := range n.Own {
		last = max(last, o.Sent, o.Ended)
	}
	return last
}

// last is the last place that is in it.
func (s *Saved) last() (last int) {
	if s.Base != nil {
		last = s.Base.At
	}
	for i := range s.Acts {
		last = max(last, s.Acts[i].Sent, s.Acts[i].Ended)
	}
	return last
}

// comeBehind has all that this run has sent and heard come behind what an earlier one did: an
// exit may have gone before the journal was read.
func (a *account) comeBehind(last int) {
	t := &a.trails
	t.clock += last
	behind := func(place *int) {
		if *place > 0 {
			*place += last
		}
	}
	for w := range a.open {
		behind(&w.sent)
		behind(&w.over)
	}
	for _, of := range t.of {
		if of.Base != nil {
			of.Base.At += last
		}
		for i := range of.Acts {
			behind(&of.Acts[i].Sent)
			behind(&of.Acts[i].Ended)
		}
	}
}

// goOn goes on with what the journals of an earlier run's writes have. The newest knows the
// most. By the clock of this process all of it is of when the books began, and no read of this run
// is as old.
func (a *account) goOn() {
	t := &a.trails
	if a.inherits && time.Since(a.began) >= ledger.Gone {
		a.endInherited()
	}
	if len(t.left) == 0 {
		return
	}
	a.inherits = true
	all := t.left
	t.left = nil
	slices.SortStableFunc(all, func(a, b Left) int { return cmp.Compare(b.based(), a.based()) })
	reach := accounting.None
	if all[0].based() > 0 {
		reach = t.goOn(all[0].Note.Trail, a.began)
	}
	for i := range all {
		l := &all[i]
		symbol := l.Places[0].Symbol
		of := t.trail(symbol)
		if s := l.Note.Trail; reach != accounting.None && l.based() > 0 && of.Base == nil && s.Series == t.trades.Series && s.Base.Place >= t.trades.First {
			of.goOn(s, t, a.began)
			of.Keep(reach)
		}
		if l.Asked.Kind.Acts() {
			of.left(l, t, a.began)
		} else {
			t.waitsFor(l.Booked)
		}
	}
	for i := range all {
		a.goOnBeside(&all[i], a.began)
	}
}

// endInherited ends what a trail of an earlier run has on its way although no journal has its beginning: it never
// left, or is an exit that went ahead of its journal. It can run no more by now, and nobody else ends it.
func (a *account) endInherited() {
	a.inherits = false
	open := make(map[string]bool, len(a.open))
	for w := range a.open {
		open[w.ID] = true
	}
	for _, of := range a.trails.of {
		for i := range of.Acts {
			if own := &of.Acts[i]; own.Ended == 0 && own.Began.Equal(a.began) && !open[own.ID] {
				own.Unsure, own.Heard, own.Ended = true, a.began.Add(ledger.Gone), a.trails.tick()
			}
		}
	}
}

// left adds a write of an earlier run where no journal has it on its trail: it may have run. One
// that could run no more when the baseline was, or before this run, is in that.
func (of *trail) left(l *Left, t *trails, began time.Time) {
	own := of.Find(l.ID)
	givenUp := l.Note.MarketOpen
	switch {
	case own == nil && givenUp && (of.Base == nil || of.Base.Shows(l.Note.Sent)):
		return
	case own == nil:
		of.Add(accounting.Own{ID: l.ID, Act: *l.Asked, Place: -1})
		if own = of.Find(l.ID); own == nil { // there are too many
			if givenUp {
				of.Ended(true)
			}
			return
		}
		own.Sent = l.Note.Sent
	}
	if givenUp && own.Ended == 0 {
		own.Unsure, own.Heard, own.Ended = true, began, t.tick()
	}
	of.sort()
}

// sort puts the writes into the order in which they were sent.
func (of *trail) sort() {
	slices.SortStableFunc(of.Acts, func(a, b accounting.Own) int { return cmp.Compare(a.Sent, b.Sent) })
}

// goOnBeside takes over what ended beside a write.
func (a *account) goOnBeside(l *Left, began time.Time) {
	t := &a.trails
	of := t.trail(l.Places[0].Symbol)
	says := func(symbol string) bool { // what may have traded by itself there
		in := t.of[symbol]
		return in != nil && in.Base != nil && in.Base.Shows(l.Note.Sent)
	}
	for _, o := range l.Note.Own {
		t.edits(o.Kind)
		switch {
		case o.Kind.Acts():
			of.end(o, began)
		case !o.Waits():
			of.Remove(o.ID) // it did nothing
		case !says(o.Symbol):
			t.waits(o.Left())
		}
	}
}

// goOn takes over what an earlier run knew of the closed trades; None if that does not
// fit to what this one knows.
func (t *trails) goOn(s *Saved, began time.Time) accounting.Reach {
	known, reach := s.Trades, accounting.All
	known.Begun = began
	if t.trades.Known {
		list := slices.Clone(t.trades.Rows)
		slices.Reverse(list)
		if reach = known.Take(list, t.trades.Begun, t.longest); reach == accounting.None || reach == accounting.OnlyStart && s.Base.Place > 0 {
			t.trades.Series = s.Series + 1
			return accounting.None
		}
	}
	t.drop()
	known.Lag = t.trades.Lag
	t.trades, t.place = known, -1
	return reach
}

// goOn takes over what an earlier run knew of a symbol.
func (of *trail) goOn(s *Saved, t *trails, began time.Time) {
	of.adopt(s, began)
	for _, o := range s.Waiting {
		t.waits(o)
	}
	if !s.Unseen {
		of.lists = began
	}
}

// adopt takes over the baseline and the writes of an earlier run.
func (of *trail) adopt(s *Saved, began time.Time) {
	of.Base, of.From = s.Base, began
	begun := of.Acts
	of.Acts = slices.Clone(s.Acts)
	for i := range of.Acts {
		b := &of.Acts[i]
		if b.Began = began; b.Ran || b.Unsure {
			b.Heard = began
		}
	}
	of.Acts = append(of.Acts, slices.DeleteFunc(begun, func(b accounting.Own) bool { return s.Find(b.ID) != nil })...)
}

// end notes how a write of an earlier run ended.
func (of *trail) end(ended accounting.Own, began time.Time) {
	own := of.Find(ended.ID)
	ended.Place, ended.Began, ended.Heard = -1, began, began
	switch {
	case own != nil:
		ended.Place = own.Place
		of.Leave(own, ended)
	case of.Base != nil && !of.Base.Shows(ended.Sent): // it began after the trail was written down
		of.Acts = append(of.Acts, ended)
		of.sort()
	}
}
