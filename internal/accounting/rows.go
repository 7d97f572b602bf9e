package accounting

import (
	"slices"

	"github.com/shopspring/decimal"
)

// listCut is the shortest list that the service may have cut.
const listCut = 20

// minOverlap is how many rows of the baseline a list that may be cut must still
// show: rows without a time can be equal by chance.
const minOverlap = 3

var (
	takerFee = decimal.New(45, -5) // of each leg of a round trip
	percent1 = decimal.New(1, -2)
	cent     = decimal.New(1, -2)
)

// entry is a new row in the write's symbol, read.
type entry struct {
	Row
	size   decimal.Decimal
	inTime bool
	owner  *Own // the own write that left it
}

// market reports whether an order or a close may have left the row.
func (e *entry) market() bool { return e.Cause != StopLoss && e.Cause != TakeProfit }

// newRows returns the rows that came after the baseline's; false if the list may
// lack some. A list is newest first, so it is the new rows, then the baseline's.
func (j *judge) newRows() ([]Row, bool) {
	before, now := j.Base.Rows, j.Look.Rows
	found := -1
	for k := max(0, len(now)-len(before)); k <= len(now); k++ {
		overlap := len(now) - k
		if !j.reaches(overlap) || !slices.EqualFunc(now[k:], before[:overlap], sameRow) {
			continue
		}
		if found >= 0 && j.on("list once") {
			return nil, false
		}
		if found < 0 {
			found = k
		}
	}
	if found < 0 {
		return nil, false
	}
	return now[:found], true
}

// reaches reports whether a list that shows so many rows of the baseline's lacks
// none that is newer.
func (j *judge) reaches(overlap int) bool {
	before := j.Base.Rows
	switch {
	case len(j.Look.Rows) < listCut:
		return overlap == len(before)
	case overlap == 0:
		return !j.on("list cut")
	}
	return overlap >= minOverlap || !before[0].ClosedAt.IsZero() || !j.on("list overlap")
}

func sameRow(a, b Row) bool { return a.Digest == b.Digest }

// read returns the new rows in the write's symbol; false if one cannot be read.
func (j *judge) read(rows []Row) ([]entry, bool) {
	var entries []entry
	for _, r := range rows {
		if r.Symbol != j.Write.Symbol && r.Symbol != "" {
			continue
		}
		e := entry{Row: r, inTime: j.inTime(r)}
		if !e.measure() || r.Symbol == "" {
			if j.on("unreadable") {
				return nil, false
			}
			continue
		}
		entries = append(entries, e)
	}
	return entries, true
}

// inTime reports whether the write could have run when the row was closed.
func (j *judge) inTime(r Row) bool {
	w := j.Write
	return r.ClosedAt.IsZero() || !r.ClosedAt.Before(w.From) && (w.Until.IsZero() || !r.ClosedAt.After(w.Until))
}

// measure finds size and side: as shown, or from the result over the price
// difference if the size from the fee agrees.
func (e *entry) measure() bool {
	if e.Size.Valid && e.Side != NoSide {
		e.size = e.Size.Decimal
		return e.size.IsPositive()
	}
	moved := e.ExitPrice.Decimal.Sub(e.EntryPrice.Decimal)
	if !e.EntryPrice.Valid || !e.ExitPrice.Valid || !e.GrossPnL.Valid || moved.IsZero() {
		return false
	}
	size := e.GrossPnL.Decimal.Div(moved)
	side := Side(size.Sign())
	if side == NoSide || e.Side != NoSide && e.Side != side {
		return false
	}
	e.Side, e.size = side, size.Abs()
	if e.Size.Valid {
		e.size = e.Size.Decimal
		return near(size.Abs(), e.size, percent1) && e.size.IsPositive()
	}
	prices := e.EntryPrice.Decimal.Add(e.ExitPrice.Decimal)
	if !e.Fee.Valid || !prices.IsPositive() {
		return false
	}
	return near(e.Fee.Decimal.Div(prices.Mul(takerFee)), e.size, percent1)
}

// near reports whether a differs from b by at most a share of b.
func near(a, b, share decimal.Decimal) bool {
	return a.Sub(b).Abs().LessThanOrEqual(b.Abs().Mul(share))
}

// assign gives each own write the row that it left; false if a row is missing.
// Orders come first: what they left is better known.
func (j *judge) assign() bool {
	for _, closes := range [...]bool{false, true} {
		for i := range j.Own {
			o := &j.Own[i]
			if o.InRows || !o.LeftRow || o.Answered.IsZero() || closes != (o.Side == NoSide) {
				continue
			}
			if !j.assignTo(o) && j.on("own row") {
				return false
			}
		}
	}
	return true
}

// assignTo gives an own write a row: one outside the write's time if it can be that
// one, and of two the smaller, so that never too much is taken off.
func (j *judge) assignTo(o *Own) bool {
	var best *entry
	sides := [3]bool{}
	for i := range j.rows {
		e := &j.rows[i]
		if e.owner != nil || !e.market() || !o.mayHaveLeft(e) {
			continue
		}
		sides[e.Side+1] = true
		if best == nil || j.better(e, best) {
			best = e
		}
	}
	if best == nil {
		return false
	}
	if sides[0] && sides[2] && !j.closes() && j.on("own side") {
		j.unclear = true // it takes nothing off
		return true
	}
	best.owner = o
	return true
}

func (j *judge) better(e, best *entry) bool {
	if e.inTime != best.inTime && j.on("outside first") {
		return best.inTime
	}
	return e.size.LessThan(best.size) == j.on("smallest")
}

func (o *Own) mayHaveLeft(e *entry) bool {
	if o.Side != NoSide && e.Side != -o.Side {
		return false
	}
	if o.Closed.Valid && !near(e.size, o.Closed.Decimal, percent1) {
		return false
	}
	return !o.PnL.Valid || !e.GrossPnL.Valid ||
		e.GrossPnL.Decimal.Sub(o.PnL.Decimal).Abs().LessThanOrEqual(cent)
}
