package accounting

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// Trades are the account's closed trades as far as they are known. The service only adds
// to the list, so what an older read shows is a part of what a newer one does.
type Trades struct {
	// Rows are the newest that are known, oldest first. First is the place of the first.
	Rows  []Row `json:"rows,omitempty"`
	First int   `json:"first,omitempty"`
	// Series is how often places were counted anew, by a run whose lists do not go on from an earlier one's.
	Series int `json:"series,omitempty"`
	// Known: a list was read. Open: older ones may be missing before the first, since an
	// empty list was read before, and then one of so many rows, which may have been cut.
	Known bool      `json:"known,omitempty"`
	Open  int       `json:"open,omitempty"`
	Begun time.Time `json:"-"` // the read of the newest list
	// Lag is how far behind it may be, where that is longer than [ledger.Lag].
	Lag time.Duration `json:"-"`
}

// shown is the moment before which all that happened shows in the newest list.
func (t *Trades) shown() time.Time { return t.Begun.Add(-max(ledger.Lag, t.Lag)) }

// minOverlap is how many of the known rows a list that may be cut still has to
// show if rows show no time: single rows can be equal by chance.
const minOverlap = 3

// keptTrades is how many rows before those that anybody needs are kept: enough to find
// where a list goes on.
const keptTrades = 20

// mostTrades is how many rows are kept in all: with more, the oldest are forgotten.
const mostTrades = 256

// From are the trades from a place on.
func (t *Trades) From(place int) Trades {
	from := *t
	from.First = max(t.First, place)
	from.Rows = slices.Clone(t.Rows[from.First-t.First:])
	return from
}

// End is the place behind the newest row.
func (t *Trades) End() int { return t.First + len(t.Rows) }

// Newest reports whether a list, newest first, begins with the newest rows that are known.
func (t *Trades) Newest(list []Row) bool {
	if len(t.Rows) == 0 || len(list) == 0 {
		return len(t.Rows) == len(list)
	}
	for i := range min(len(list), len(t.Rows)) {
		if !sameRow(list[i], t.Rows[len(t.Rows)-1-i]) {
			return false
		}
	}
	return true
}

// Since are the rows of a symbol from a place on.
func (t *Trades) Since(place int, symbol string) []Row {
	var rows []Row
	for _, r := range t.Rows[max(0, place-t.First):] {
		if r.Symbol == symbol || r.Symbol == "" {
			rows = append(rows, r)
		}
	}
	return rows
}

// Nearby is the place before those rows in front of a place that no write left. hidden means that such a row may be
// missing, which is no older than so long before the place: it would be in front of the first that is known.
func (t *Trades) Nearby(place int, symbol string, old time.Duration) (first int, hidden bool) {
	first = place
	for at := place - 1; at >= t.First; at-- {
		r := &t.Rows[at-t.First]
		switch {
		case r.Symbol != symbol && r.Symbol != "":
		case r.Cause == Market:
			return first, false
		default:
			first = at
		}
	}
	return first, !t.reach(place, old)
}

// reach reports whether the rows in front of a place are all that there are, or last for so long.
func (t *Trades) reach(place int, old time.Duration) bool {
	switch n := place - t.First; {
	case t.First == 0 && n < ListCut:
		return true
	case n == 0:
		return false
	default:
		lasted, known := t.Rows[n-1].ClosedAt.Since(t.Rows[0].ClosedAt)
		return known && lasted >= old
	}
}

// Reach is which places still count after a list.
type Reach int

// None: it does not reach back to the known rows. OnlyStart: it may, or those that are known
// came before; either way all that it lacks was closed before the first of its rows. All: the
// rows are known from one to the next.
const (
	None Reach = iota
	OnlyStart
	All
)

// Take takes in a list, newest first, whose read began at a moment. longest is the longest
// that the service was seen to return. Where it does not reach back it begins anew.
func (t *Trades) Take(list []Row, begun time.Time, longest int) Reach {
	rows := make([]Row, len(list))
	for i := range list {
		rows[len(list)-1-i] = list[i].kept()
	}
	if !t.Known {
		t.Rows, t.Known, t.Begun = rows, true, begun
		return All
	}
	fresh, ok := t.fresh(rows, longest)
	switch {
	case !ok && t.First == 0 && t.Open > 0 && fresh >= 0:
		t.Rows, t.Begun = rows, begun
		return OnlyStart
	case !ok:
		t.Rows, t.First, t.Open, t.Begun = rows, t.End()+1, 0, begun
		return None
	case t.End() == 0:
		t.Open = len(rows)
	}
	if max(longest, len(rows)) > t.Open { // a longer list was seen: that one was not cut
		t.Open = 0
	}
	if begun.After(t.Begun) {
		t.Begun = begun
	}
	t.Rows = append(t.Rows, rows[len(rows)-fresh:]...)
	return All
}

// kept is what replays need of a row: no price, unless it is to be measured by its prices.
func (r Row) kept() Row {
	if r.Size.Valid && r.Side != NoSide {
		none := decimal.NullDecimal{}
		r.EntryPrice, r.ExitPrice, r.GrossPnL, r.Fee = none, none, none, none
	}
	return r
}

// fresh is how many rows of a list are new; false if that is not certain. Then it is -1, or 0 if
// the list may show all rows that were ever known.
func (t *Trades) fresh(rows []Row, longest int) (fresh int, ok bool) {
	if t.End() == 0 { // every list was empty so far
		return len(rows), true
	}
	if len(rows) == 0 || len(t.Rows) == 0 {
		return -1, false
	}
	fresh = -1
	found, proved := 0, true
	for at := 1 - len(rows); at < len(t.Rows); at++ { // where the list begins, among the known
		from, to := max(at, 0), min(at+len(rows), len(t.Rows))
		if !slices.EqualFunc(t.Rows[from:to], rows[from-at:to-at], sameRow) {
			continue
		}
		if !t.proves(from, to, len(rows) < longest) {
			if to-from == t.End() {
				fresh, proved = 0, false
			}
			continue
		}
		fresh = max(0, at+len(rows)-len(t.Rows))
		found++
	}
	return fresh, found == 1 && proved
}

// proves reports whether rows that look like known ones are these. Without times any may look
// like another, with them two that were closed at once. A list that is shorter than another
// was is complete: then so are all rows that were ever known.
func (t *Trades) proves(from, to int, complete bool) bool {
	all, timed := to-from == t.End(), !t.Rows[from].ClosedAt.IsZero()
	return to-from >= minOverlap || timed && (all || to-from > 1) || complete && all
}

// Forget drops rows that nobody needs who goes on from a place.
func (t *Trades) Forget(place int) {
	if n := max(min(place, t.End())-keptTrades, t.End()-mostTrades) - t.First; n > 0 {
		t.Rows, t.First = slices.Clone(t.Rows[n:]), t.First+n
	}
}
