package accounting

import "github.com/shopspring/decimal"

// The sums give each of the program's answered writes the closed trade that it left. Where sizes
// are equal and the price stands still that is a guess, and decides nothing by itself.

// The order of what a position shows, and what it does not.
const (
	beforeShown = iota + 1
	whenShown
	afterShown
)

// guess reports why the sums may be wrong about whether the write ran; empty if they are not. It
// tries every course of the account's trades in which the program's other writes ran as they were
// answered, and anybody who may trade traded anything.
func (j *judge) guess(ran bool) Reason {
	if len(j.Own) == 0 {
		return ""
	}
	r := &Replay{From: j.Base.Position.Size, Halted: !j.sameStatus()}
	r.To.Decimal, r.To.Valid = j.Look.Position.Size, true
	for i := len(j.rows) - 1; i >= 0; i-- {
		r.Rows = append(r.Rows, j.rows[i].Row)
	}
	if !j.Exclusive {
		r.Resting = []Resting{{}}
	}
	shown := 0 // acts that the position shows, and the rows do not
	for i := range j.Own {
		o := &j.Own[i]
		switch {
		case o.Resting:
			r.Resting = append(r.Resting, Resting{Side: o.Side, Size: o.Size})
		case !o.Answered:
			r.Resting = append(r.Resting, Resting{})
		case o.InPosition && !o.InRows && !j.Exclusive:
			shown++
			a := o.act()
			a.Ended = beforeShown
			r.Acts = append(r.Acts, a)
		case o.InPosition != o.InRows: // the one read is of before it, and the other of after it
			r.Anywhere, r.Cut = r.Anywhere || o.InPosition, r.Cut || o.InRows
		case !o.InPosition:
			r.Acts = append(r.Acts, o.act())
		}
	}
	asked := NoAct
	if !ran {
		asked = len(r.Acts)
		r.Acts = append(r.Acts, Act{Kind: j.Write.Kind, Side: j.Write.Side, Size: j.Write.Size, Percent: j.Write.Percent})
	}
	if shown > 0 { // it begins where the rows do, at a position that nobody knows: a stranger makes it
		r.From = decimal.Zero
		for i := range r.Acts {
			if a := &r.Acts[i]; a.Ended != beforeShown {
				a.Sent = afterShown
			}
		}
		r.Acts = append(r.Acts, Act{Kind: Shown, Sent: whenShown, Ended: whenShown, Ran: true, After: decimal.NewNullDecimal(j.Base.Position.Size)})
	}
	switch f := r.Of(asked, NoAct); {
	case f.Failed != "":
		return f.Failed
	case ran && f.Without, f.With:
		return BothFit
	case !ran && !f.Without:
		return NothingFits
	default:
		return ""
	}
}

// act is an answered write as a replay takes it.
func (o *Own) act() Act {
	if o.Side == NoSide {
		return Act{Kind: Close, Percent: o.Percent, Ran: true}
	}
	return Act{Kind: Entry, Side: o.Side, Size: o.Opened.Add(o.Closed.Decimal), Ran: true}
}
