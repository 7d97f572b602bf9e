package books

import (
	"cmp"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// Saved is what a journal has of a symbol's trail with a write.
type Saved struct {
	accounting.Trail
	// Rows are closed trades, oldest first: those since the baseline, and some before, by
	// which the next run finds where its lists go on. First is the place of the first.
	Rows  []savedRow `json:"rows,omitempty"`
	First int        `json:"first,omitempty"`
	Open  int        `json:"open,omitempty"`
	// Waiting are the own orders and runs that may have traded since the baseline.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Unseen: others may have, which runs before that one left.
	Unseen bool `json:"unseen,omitempty"`
}

// savedRow is a closed trade as a journal has it.
type savedRow struct {
	Digest uint64              `json:"d"`
	Symbol string              `json:"m,omitempty"`
	Side   accounting.Side     `json:"s,omitempty"`
	Cause  accounting.Cause    `json:"c,omitempty"`
	Size   decimal.NullDecimal `json:"n,omitzero"`
	Closed servicetime.Time    `json:"t,omitzero"`
}

// overlap is how many rows before the baseline a journal has.
const overlap = 8

// saved is what the journal of a write needs of its symbol's trail; nil without a baseline.
func (a *account) saved(w *Write) *Saved {
	t := &a.trails
	symbol := w.Places[0].Symbol
	of := t.trail(symbol)
	if !w.Declared || !w.Asked.Acts() || of.Base == nil || of.Base.Place < t.trades.First {
		return nil
	}
	s := &Saved{Trail: of.Trail, Open: t.trades.Open, Waiting: t.known(symbol, of.From), Unseen: t.unseen(symbol, of.From)}
	s.Acts = slices.Clone(of.Acts)
	s.First = max(t.trades.First, of.Base.Place-overlap)
	s.Rows = saveRows(t.trades.Rows[s.First-t.trades.First:])
	return s
}

func saveRows(rows []accounting.Row) (saved []savedRow) {
	for _, r := range rows {
		saved = append(saved, savedRow{r.Digest, r.Symbol, r.Side, r.Cause, r.Size, r.ClosedAt})
	}
	return saved
}

// trades are its closed trades.
func (s *Saved) trades(begun time.Time) accounting.Trades {
	t := accounting.Trades{First: s.First, Known: true, Open: s.Open, Begun: begun}
	for _, r := range s.Rows {
		t.Rows = append(t.Rows, accounting.Row{
			Digest: r.Digest, Symbol: r.Symbol, Side: r.Side, Cause: r.Cause, Size: r.Size, ClosedAt: r.Closed,
		})
	}
	return t
}

// Handed is what a run that ends in order hands over of an account: the trails of its symbols, to be
// gone on with as on its own. Nothing of the run's is under way any more.
type Handed struct {
	// Rows, First and Open are as those of [Saved], for all symbols.
	Rows  []savedRow        `json:"rows,omitempty"`
	First int               `json:"first,omitempty"`
	Open  int               `json:"open,omitempty"`
	Of    map[string]*Saved `json:"of"`
}

// HandOver is what the run hands over, by the ids of declared accounts. One that has a write
// under way, or one in doubt, is not among them.
func (b *Books) HandOver() map[string]*Handed {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make(map[string]*Handed)
	for id, h := range b.earlier.Handed {
		if b.of[Account{Environment: "live", ID: id}] == nil { // nothing was done to it since
			all[id] = h
		}
	}
	for id, a := range b.of {
		if h := a.handOver(); h != nil && b.isDeclared(id) {
			all[id.ID] = h
		}
	}
	return all
}

func (a *account) handOver() *Handed {
	if !a.trailed || a.others != "" || a.inFlight > 0 || len(a.open) > 0 || len(a.trails.left) > 0 {
		return nil
	}
	t := &a.trails
	h := &Handed{Open: t.trades.Open, First: t.trades.End(), Of: make(map[string]*Saved)}
	for symbol, of := range t.of {
		if !of.sure() || of.Base.Place < t.trades.First {
			continue
		}
		h.Of[symbol] = &Saved{Trail: of.Trail, Waiting: t.known(symbol, of.From), Unseen: t.unseen(symbol, of.From)}
		h.Of[symbol].Acts = slices.Clone(of.Acts)
		h.First = min(h.First, max(t.trades.First, of.Base.Place-overlap))
	}
	if len(h.Of) == 0 {
		return nil
	}
	h.Rows = saveRows(t.trades.Rows[h.First-t.trades.First:])
	return h
}

// takeOver goes on with what an earlier run has handed over. By the clock of this process all of it
// is of when the books began, and no read of this run is as old.
func (a *account) takeOver(h *Handed, began time.Time) {
	t := &a.trails
	rows := Saved{Rows: h.Rows, First: h.First, Open: h.Open}
	t.trades, t.place = rows.trades(began), -1
	for symbol, s := range h.Of {
		of := t.trail(symbol)
		of.goOn(s, t, began)
		of.handed = true
		for i := range of.Acts {
			t.clock = max(t.clock, of.Acts[i].Sent, of.Acts[i].Ended)
		}
	}
}

// left is a write of an earlier run, and what its journal has of it.
type left struct {
	of   *Write
	note Note
}

// sent is a place in the order of the earlier run's writes, by which the newest is found; 0 if
// its journal has none.
func (l *left) sent() int {
	if l.note.Trail == nil || l.note.NoTrail {
		return 0
	}
	if own := l.note.Trail.Find(l.of.ID); own != nil {
		return own.Sent
	}
	return 0
}

// goOn goes on with what the journals of an earlier run's writes have. The newest knows the
// most. By the clock of this process all of it is of now.
func (a *account) goOn() {
	t := &a.trails
	if len(t.left) == 0 {
		return
	}
	now := time.Now()
	all := t.left
	t.left = nil
	slices.SortStableFunc(all, func(a, b left) int { return cmp.Compare(b.sent(), a.sent()) })
	known := all[0].sent() > 0 && t.goOn(all[0].note.Trail, now)
	for i := range all {
		l := &all[i]
		symbol := l.of.Places[0].Symbol
		of := t.trail(symbol)
		if !l.of.Asked.Acts() {
			t.waits(Waiting{ID: l.of.ID, Symbol: symbol, Side: l.of.Asked.Side})
			continue
		}
		if s := l.note.Trail; known && l.sent() > 0 && of.Base == nil && s.Base.Place >= t.trades.First {
			of.goOn(s, t, now)
		}
		if of.Find(l.of.ID) == nil {
			of.Add(accounting.Booked{ID: l.of.ID, Act: l.of.Asked.Act(), Place: -1})
		}
	}
	for i := range all {
		a.goOnBeside(&all[i], now)
	}
}

// goOnBeside takes over what ended beside a write.
func (a *account) goOnBeside(l *left, now time.Time) {
	t := &a.trails
	of := t.trail(l.of.Places[0].Symbol)
	for _, b := range l.note.Ended {
		of.end(b, now)
	}
	for i := range l.note.Own {
		if o := &l.note.Own[i]; o.Resting {
			t.waits(Waiting{ID: o.ID, Symbol: l.of.Places[0].Symbol, Side: o.Side, Size: o.Size})
		}
	}
	for i := range of.Acts {
		t.clock = max(t.clock, of.Acts[i].Sent, of.Acts[i].Ended)
	}
}

// goOn takes over what an earlier run knew of the closed trades; false if that does not
// fit to what this one knows.
func (t *trails) goOn(s *Saved, now time.Time) bool {
	known := s.trades(now)
	if t.trades.Known {
		list := slices.Clone(t.trades.Rows)
		slices.Reverse(list)
		if reach := known.Take(list, t.trades.Begun, t.longest); reach == accounting.None || reach == accounting.OnlyStart && s.Base.Place > 0 {
			return false
		}
	}
	t.drop()
	known.Lag = t.trades.Lag
	t.trades, t.place = known, -1
	return true
}

// goOn takes over what an earlier run knew of a symbol.
func (of *trail) goOn(s *Saved, t *trails, now time.Time) {
	of.adopt(s, now)
	for _, o := range s.Waiting {
		t.waits(o)
	}
	if !s.Unseen {
		of.lists = now
	}
}

// adopt takes over the baseline and the writes of an earlier run.
func (of *trail) adopt(s *Saved, now time.Time) {
	of.Base, of.From = s.Base, now
	begun := of.Acts
	of.Acts = slices.Clone(s.Acts)
	for i := range of.Acts {
		b := &of.Acts[i]
		if b.Began = now; b.Ran || b.Unsure {
			b.Heard = now
		}
	}
	of.Acts = append(of.Acts, slices.DeleteFunc(begun, func(b accounting.Booked) bool { return s.Find(b.ID) != nil })...)
}

// end notes how a write of an earlier run ended.
func (of *trail) end(b accounting.Booked, now time.Time) {
	own := of.Find(b.ID)
	switch {
	case own == nil && (b.Ran || b.Unsure): // it began after the trail was written down
		b.Place, b.Began, b.Heard = -1, now, now
		of.Acts = append(of.Acts, b)
		slices.SortStableFunc(of.Acts, func(a, b accounting.Booked) int { return cmp.Compare(a.Sent, b.Sent) })
	case own == nil:
	case !b.Ran && !b.Unsure:
		of.Remove(b.ID)
	default:
		b.Place, b.Began, b.Heard = own.Place, own.Began, now
		*own = b
	}
}
