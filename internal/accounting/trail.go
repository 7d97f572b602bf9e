package accounting

import (
	"slices"
	"time"
)

// MostSince is how many own writes a baseline is kept over, mostUnsure how many of them
// nobody is sure of.
const (
	MostSince  = 62
	mostUnsure = 8
)

// finest is the last decimal place that a market's unit is taken to have: sizes of more places
// come from shares that the service does not round, and would not fit a replay's numbers.
const finest = -8

// Open reports whether an account of a status accepts everything. It has never had
// another: the contract shows no way back to one of these. The last is the paper account's.
func Open(status string) bool {
	return status == "ACTIVE" || status == "PURCHASED" || status == "FUNDED" || status == "active"
}

// Trail is what is known of a symbol since a baseline.
type Trail struct {
	Base *Base `json:"base,omitempty"`
	Acts []Own `json:"acts,omitempty"` // in the order in which they were sent
	// Full: writes are missing among them, since there are too many. Until all have ended
	// there is no baseline. Missing is how many of those that are missing have not.
	Full    bool `json:"full,omitempty"`
	Missing int  `json:"missing,omitempty"`
	// Exp is the last decimal place of any size that the service has shown: its unit is no
	// larger.
	Exp int32 `json:"exp,omitempty"`
	// From: what was over by then is in the baseline. By the clock of this process.
	From time.Time `json:"-"`
}

// Keep drops a baseline whose place no longer counts.
func (t *Trail) Keep(reach Reach) {
	if reach == All {
		return
	}
	for i := range t.Acts {
		t.Acts[i].Place = -1
	}
	if reach == None || t.Base != nil && t.Base.Place > 0 {
		t.Drop()
	}
}

// Add notes that a write is about to be sent.
func (t *Trail) Add(b Own) {
	if len(t.Acts) >= MostSince {
		t.Drop()
	}
	if t.Full = t.Full || len(t.Acts) >= MostSince; t.Full { // since the first of them is open
		t.Missing++
		return
	}
	t.Acts = append(t.Acts, b)
}

// Leave notes what a write came to. One that the baseline may have need not have run since.
func (t *Trail) Leave(own *Own, ended Own) {
	if ended.Ran && t.Base != nil && t.Base.Shows(ended.Sent) {
		ended.Ran, ended.Unsure = false, true
	}
	*own = ended
}

// Ended notes that a write has ended, which is among the acts or is missing.
func (t *Trail) Ended(missing bool) {
	if missing {
		t.Missing = max(0, t.Missing-1)
	}
	if t.Full && t.Missing == 0 && !slices.ContainsFunc(t.Acts, func(b Own) bool { return !b.over() }) {
		t.Acts, t.Full = nil, false
	}
}

// Drop drops the baseline. What is open stays, and what may have run beside it.
func (t *Trail) Drop() {
	t.Base = nil
	open := slices.IndexFunc(t.Acts, func(b Own) bool { return !b.over() })
	if open < 0 {
		open = len(t.Acts)
	}
	t.Acts = slices.Clone(t.Acts[open:])
}

// Unsure notes that nobody knows whether a write ran. Where there are many of these, what the
// account has come to can be anything.
func (t *Trail) Unsure(b *Own) {
	b.Unsure = true
	unsure := 0
	for i := range t.Acts {
		if t.Acts[i].Unsure {
			unsure++
		}
	}
	if unsure > mostUnsure {
		t.Drop()
	}
}

// Find is a write by its id; nil if it is not there.
func (t *Trail) Find(id string) *Own {
	for i := range t.Acts {
		if t.Acts[i].ID == id {
			return &t.Acts[i]
		}
	}
	return nil
}

// Remove takes out a write that did nothing.
func (t *Trail) Remove(id string) {
	t.Acts = slices.DeleteFunc(t.Acts, func(b Own) bool { return b.ID == id })
}

// Begin begins anew at a baseline, which shows every own write; false if one is open, or was
// answered after a moment.
func (t *Trail) Begin(at Base, shown time.Time) bool {
	if t.Full || slices.ContainsFunc(t.Acts, func(b Own) bool { return !b.over() || b.Heard.After(shown) }) {
		return false
	}
	t.Base, t.Acts, t.From = &at, nil, shown
	return true
}

// BeginAnyway begins anew at what equal looks show, all of which show what happened before a moment,
// and the last of which ended at another, although nobody has found out about some writes. over
// says of which of these it was known by then that they can run no more: whatever they did, the
// looks show it. False if another may have been on its way then.
func (t *Trail) BeginAnyway(at Base, shown, ended time.Time, over func(id string) bool) bool {
	var later []Own
	for i := range t.Acts {
		switch b := &t.Acts[i]; {
		case b.Began.After(ended):
			later = append(later, *b)
		case b.over() && b.Heard.After(shown), !b.over() && !over(b.ID):
			return false
		}
	}
	if len(later) > 0 {
		at.At = min(at.At, later[0].Sent-1)
	}
	t.Base, t.Acts, t.From = &at, later, shown
	t.Full, t.Missing = false, 0
	return true
}

// Replay is what is to be replayed, by the list that was read last, and the act of a
// write in it; false without a baseline of before the write. waiting are the own orders and runs that may have
// traded since.
func (t *Trail) Replay(symbol string, trades *Trades, waiting []Waiting, status, id string) (r Replay, asked int, ok bool) {
	asked = slices.IndexFunc(t.Acts, func(b Own) bool { return b.ID == id })
	if t.Base == nil || t.Base.Place < trades.First || asked >= 0 && t.Base.Shows(t.Acts[asked].Sent) {
		return r, asked, false
	}
	r = since(trades, t.Acts)
	t.learn(symbol, trades)
	r.Waiting, r.Exp = waiting, t.Exp
	r.From, r.Near = t.Base.Position, t.Base.Near
	r.Rows = trades.Since(t.Base.Place, symbol)
	r.Cut = trades.Open > 0 && t.Base.Place == 0
	r.Halted = status != t.Base.Status && (t.Base.Status != "" || !Open(status))
	if r.Newer = t.Base.Newer; t.Base.Others {
		r.Stranger()
	}
	return r, asked, true
}

func since(trades *Trades, acts []Own) (r Replay) {
	r.Acts = make([]Act, len(acts))
	for i := range acts {
		r.Acts[i] = acts[i].Act
		r.Acts[i].Late = acts[i].over() && acts[i].Heard.After(trades.shown())
	}
	return r
}

// Follow goes on to a newer baseline, as far as the list that was read last shows: the
// last answer that carried the position, and has one place in it. waiting
// are the own orders and runs that may have traded since a moment.
func (t *Trail) Follow(symbol string, trades *Trades, waiting func(from time.Time) []Waiting, status string) {
	at := t.anchor(trades)
	if at < 0 || status != "" && !Open(status) { // an answer may be from before the status
		return
	}
	// An account that had a status may have another by the time of the list.
	var f ReplayResult
	a := &t.Acts[at]
	start := a.Place
	if r, _, ok := t.Replay(symbol, trades, waiting(t.From), status, ""); ok {
		start, r.Halted = t.Base.Place, true
		if f = r.Of(NoAct, at); f.Failed == "" && !f.Without {
			t.Drop() // nothing explains what the account shows
			return
		}
	} else if start >= trades.First && (start > 0 || trades.Open == 0) {
		r = since(trades, t.Acts[at+1:])
		t.learn(symbol, trades)
		r.Waiting, r.Exp = waiting(a.Began), t.Exp
		r.From, r.Rows, r.Anywhere, r.Halted = a.After.Decimal, trades.Since(start, symbol), true, true
		f = r.Of(NoAct, AtStart)
	}
	if f.Failed != "" || !f.Without || f.Place < 0 || t.Base != nil && t.Base.Others { // he is there still
		return
	}
	t.Base = &Base{Position: a.After.Decimal, Place: trades.placeOf(start, symbol, f.Place), Status: status, At: a.Ended}
	t.Acts, t.From = slices.Clone(t.Acts[at+1:]), a.Began
}

// learn takes in of how many places the sizes are that the service has shown.
func (t *Trail) learn(symbol string, trades *Trades) {
	u := units{exp: t.Exp}
	for i := range trades.Rows {
		if r := &trades.Rows[i]; r.Symbol == symbol && r.Size.Valid {
			u.widen(r.Size.Decimal)
		}
	}
	for i := range t.Acts {
		if a := &t.Acts[i]; a.Ran {
			u.widen(a.After.Decimal)
		}
	}
	t.Exp = max(u.exp, finest)
}

// Needs is the first place that the trail has a use for.
func (t *Trail) Needs(end int) int {
	if t.Base != nil {
		end = t.Base.Place
	}
	for i := range t.Acts {
		if place := t.Acts[i].Place; place >= 0 {
			end = min(end, place)
		}
	}
	return end
}

// anchor is the last answer that can become the baseline: the list shows its row, nothing
// of the program's was under way beside it, and all that was sent before has ended.
func (t *Trail) anchor(trades *Trades) int {
	found := NoAct
	for i := range t.Acts {
		a := &t.Acts[i]
		if !a.over() || t.Full {
			break
		}
		if a.Ran && a.After.Valid && !a.Heard.After(trades.shown()) && t.alone(i) {
			found = i
		}
	}
	return found
}

func (t *Trail) alone(i int) bool {
	a := &t.Acts[i].Act
	for j := range t.Acts {
		if b := &t.Acts[j].Act; j != i && !a.endedBefore(b) && !b.endedBefore(a) {
			return false
		}
	}
	return true
}

// placeOf is the place behind so many rows of a symbol since another place.
func (t *Trades) placeOf(since int, symbol string, rows int) int {
	place := since
	for ; rows > 0 && place < t.End(); place++ {
		if r := &t.Rows[place-t.First]; r.Symbol == symbol || r.Symbol == "" {
			rows--
		}
	}
	return place
}
