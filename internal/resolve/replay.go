package resolve

import (
	"github.com/tradingapi/trading-go/internal/accounting"
)

// replay judges an order or a close on a declared account by every course that its trades
// can have taken since a baseline; false where there is none, or nothing to replay.
func (d *Driver) replay(w *Write, f *accounting.Facts, shown *seenLook, again bool) (v accounting.Verdict, replayed bool) {
	if !f.Exclusive || f.Ended || w.booked.Act.Kind == 0 || !w.Ledger.Keyed || !w.Ledger.FirstUseKnown {
		return v, false
	}
	over := f.Held || f.Gone
	c, ok := w.books.Course(&w.booked, over, f.Look.Status)
	if !ok {
		return v, false
	}
	equal := f.Look.Equal >= 2 && c.Still(shown.began[0], f.Look.Position.Size, f.Look.Rows)
	found := c.Of(c.Asked, -1)
	v.Outcome, v.Reason = found.Verdict()
	v.Likely = v.Outcome
	switch {
	case v.Outcome == accounting.NotApplied && !over:
		v.Outcome, v.Reason = accounting.Unknown, accounting.NotHeld
	case v.Outcome != accounting.Unknown && (equal || again): // own writes beside the looks make them differ
	case v.Reason == accounting.NothingFits && f.Look.Equal >= 2, equal && !c.Open(): // nothing that follows says more
	default:
		v.Outcome, v.Reason = accounting.Unknown, accounting.LookAgain
	}
	if v.Reason == accounting.NothingFits {
		w.books.Lost(&w.booked)
	}
	return v, true
}
