package accounting

import (
	"slices"

	"github.com/shopspring/decimal"
)

// ListCut is the shortest list that the service may have cut: the contract names no length. A shorter one is whole.
const ListCut = 5

var (
	takerFee = decimal.New(45, -5) // of each leg of a round trip
	rounding = decimal.New(1, -2)  // a cent, or a share
)

// entry is a row, read.
type entry struct {
	Row
	size decimal.Decimal
}

// market reports whether an order or a close may have left the row.
func (e *entry) market() bool { return e.Cause != StopLoss && e.Cause != TakeProfit }

// since returns the rows since the first use of the write's key; false if the list may lack some.
func (f *Facts) since() ([]Row, bool) {
	old := func(r Row) bool { return r.ClosedAt.Before(f.From) }
	now := f.Look.Rows
	if n := len(now); n >= ListCut && !old(now[n-1]) {
		return nil, false
	}
	return slices.DeleteFunc(slices.Clone(now), old), true
}

func sameRow(a, b Row) bool { return a.Digest == b.Digest }

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
	side := Direction(size.Sign())
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
