package accounting

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// listCut is the shortest list that the service may have cut.
const listCut = 20

// minOverlap is how many of the baseline's rows a list that may be cut still has to
// show if rows show no time: single rows can be equal by chance.
const minOverlap = 3

var (
	takerFee = decimal.New(45, -5) // of each leg of a round trip
	rounding = decimal.New(1, -2)  // a cent, or a share
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

// readRows finds and reads the new rows, and gives own writes theirs.
func (j *judge) readRows() Reason {
	rows, complete := j.newRows()
	if !complete {
		return ListIncomplete
	}
	for _, r := range rows {
		if r.Symbol != j.Write.Symbol && r.Symbol != "" {
			continue
		}
		e := entry{Row: r, inTime: j.inTime(r.ClosedAt)}
		if (!e.measure() || r.Symbol == "") && j.on("unreadable") {
			return RowUnreadable
		}
		j.rows = append(j.rows, e)
	}
	for i := range j.Own {
		o := &j.Own[i]
		if o.Answered && o.LeftRow && !o.InRows && !j.assign(o) && j.on("own row") {
			return OwnRowMissing
		}
	}
	return ""
}

// newRows returns the rows that came after the baseline's; false if the list may
// lack some. A list is newest first: the new rows, then the baseline's.
func (j *judge) newRows() ([]Row, bool) {
	before, now := j.Base.Rows, j.Look.Rows
	found := -1
	for k := max(0, len(now)-len(before)); k <= len(now); k++ {
		overlap := len(now) - k
		if !j.reaches(overlap) || !slices.EqualFunc(now[k:], before[:overlap], sameRow) {
			continue
		}
		if found < 0 {
			found = k
		} else if j.on("list once") {
			return nil, false
		}
	}
	return now[:max(0, found)], found >= 0
}

// reaches reports whether a list that shows so many of the baseline's rows lacks
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

// inTime reports whether the write could have run then. Not shown is possible.
func (j *judge) inTime(t servicetime.Time) bool {
	return !t.Before(j.Write.From) && !t.After(j.Write.Until)
}

// measure finds size and side: as shown, or from the result over the price
// difference, if the size from the fee agrees.
func (e *entry) measure() bool {
	if e.Size.Valid && e.Side != NoSide {
		e.size = e.Size.Decimal
		return e.size.IsPositive()
	}
	moved := e.ExitPrice.Decimal.Sub(e.EntryPrice.Decimal)
	taxed := e.ExitPrice.Decimal.Add(e.EntryPrice.Decimal).Mul(takerFee)
	if !e.EntryPrice.Valid || !e.ExitPrice.Valid || !e.GrossPnL.Valid || !e.Fee.Valid || moved.IsZero() || !taxed.IsPositive() {
		return false
	}
	size := e.GrossPnL.Decimal.Div(moved)
	side := Side(size.Sign())
	e.size = size.Abs()
	fits := side != NoSide && (e.Side == NoSide || e.Side == side) && near(e.Fee.Decimal.Div(taxed), e.size, rounding) &&
		(!e.Size.Valid || near(e.Size.Decimal, e.size, rounding))
	e.Side = side
	return fits
}

// near reports whether a differs from b by at most a share of b.
func near(a, b, share decimal.Decimal) bool {
	return a.Sub(b).Abs().LessThanOrEqual(b.Abs().Mul(share))
}

// assign gives an own write the row that it left; false if there is none. It prefers
// a row outside the write's time, and of two the smaller, so that never too much is
// taken off. Where a close may have left a row of either side, none is taken off.
func (j *judge) assign(o *Own) bool {
	var best *entry
	var long, short bool
	for i := range j.rows {
		e := &j.rows[i]
		if e.owner != nil || !e.market() || !o.mayHaveLeft(e) {
			continue
		}
		long, short = long || e.Side == Long, short || e.Side == Short
		if best == nil || j.better(e, best) {
			best = e
		}
	}
	if long && short && !j.closes() && j.on("own side") {
		return true
	}
	if best != nil {
		best.owner = o
	}
	return best != nil
}

func (j *judge) better(e, best *entry) bool {
	if e.inTime != best.inTime && j.on("outside first") {
		return best.inTime
	}
	return e.size.LessThan(best.size) == j.on("smallest")
}

func (o *Own) mayHaveLeft(e *entry) bool {
	if o.Side != NoSide && e.Side != -o.Side || o.Closed.Valid && !near(e.size, o.Closed.Decimal, rounding) {
		return false
	}
	off := e.GrossPnL.Decimal.Sub(o.PnL.Decimal).Abs()
	return !o.PnL.Valid || !e.GrossPnL.Valid || off.LessThanOrEqual(rounding)
}
