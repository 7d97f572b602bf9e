package accounting

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// judge decides about one write.
type judge struct {
	Facts
	// unknown: there is no baseline of before the write. It begins empty then, and a stranger makes of it what there was.
	unknown bool
	// stranger: what nobody knows of may trade beside the write.
	stranger bool
}

// Judge says what became of the write.
func Judge(f Facts) Verdict {
	j := &judge{Facts: f, unknown: f.Base == nil || f.Base.Shows(f.Asked.Sent)}
	if j.unknown {
		j.Base = &Base{}
	}
	j.stranger = j.unknown || !f.Exclusive || f.PendingBeside
	switch {
	case f.incomplete():
		return Verdict{Reason: WriteIncomplete}
	case f.Ended:
		return Verdict{Reason: AccountingEnded}
	case f.Asked.Kind == EditRun:
		return Verdict{Reason: NothingShows}
	case j.early():
		return Verdict{Reason: LookAgain}
	case f.Asked.Kind == Pro:
		return j.run()
	case f.Asked.Kind == Limit:
		return j.limit()
	default:
		return j.courses()
	}
}

// early reports whether reads may lag behind an own write.
func (j *judge) early() bool {
	return slices.ContainsFunc(j.Own, func(o Own) bool { return !o.Waits() && j.Look.At.Before(o.Heard.Add(max(ledger.Lag, j.Lag))) })
}

// run decides about a Pro order, by ids alone.
func (j *judge) run() Verdict {
	known := slices.Concat(j.Base.Runs, j.Base.Finished.IDs)
	finished, complete := j.Look.Finished.since(j.Base.Finished)
	if j.Base.FinishedLags && j.newIDs(finished, known) > 0 {
		return Verdict{Reason: ListIncomplete}
	}
	switch n := j.newIDs(slices.Concat(j.Look.Runs, finished), known); {
	case n > 0:
		return j.started(n, j.PendingID)
	case !complete:
		return j.unknownFor(ListIncomplete)
	default:
		return j.absent()
	}
}

// limit decides about a limit: it waits under a new id, or has traded. An own run can rest orders.
func (j *judge) limit() Verdict {
	if n := j.newIDs(j.Look.Orders, j.Base.Orders); n > 0 {
		return j.started(n, j.PendingID || j.runs())
	}
	return j.courses()
}

// runs reports whether an own run may rest orders.
func (j *judge) runs() bool {
	return slices.ContainsFunc(j.Own, func(o Own) bool { return o.Kind == Pro || o.Kind == EditRun }) ||
		slices.ContainsFunc(j.Waiting, func(o Waiting) bool { return o.Run })
}

// started is the verdict where new ids show.
func (j *judge) started(ids int, othersToo bool) Verdict {
	switch {
	case j.stranger || othersToo:
		return j.unknownFor(BothFit)
	case ids > 1:
		return Verdict{Reason: NothingFits}
	default:
		return j.present(OneNewID)
	}
}

// newIDs counts the ids that neither an older list nor the program knows.
func (j *judge) newIDs(now, before []string) (n int) {
	for _, id := range now {
		if !j.Known[id] && !slices.Contains(before, id) {
			n++
		}
	}
	return n
}

// courses decides by every course of trades.
func (j *judge) courses() Verdict {
	r, why := j.replay()
	if why != "" {
		return j.unknownFor(why)
	}
	f := r.Of(len(r.Acts)-1, NoAct)
	switch {
	case f.Failed != "" && len(j.Own)+len(j.Waiting)+len(r.Rows) == 0 && r.From.Equal(r.To.Decimal): // nothing has happened at all
		return j.absent()
	case f.Failed != "":
		return Verdict{Reason: f.Failed}
	case f.With && f.Without:
		return j.unknownFor(BothFit)
	case f.With:
		return j.present(ReplayFits)
	case f.Without:
		return j.absent()
	default:
		return Verdict{Reason: NothingFits}
	}
}

// The order of what a position shows, and what it does not.
const (
	beforeShown = iota + 1
	whenShown
	afterShown
)

// replay is what is known since the baseline; its last act is the write.
func (j *judge) replay() (r Replay, why Reason) {
	r = Replay{
		From: j.Base.Position, To: decimal.NewNullDecimal(j.Look.Position.Size),
		Part: true, Shrunk: j.Base.RowsNewer, Halted: !j.sameStatus(), Waiting: slices.Clone(j.Waiting),
	}
	if j.stranger { // as an order that never ends; what he closes he closes as where flips net
		r.Waiting = append(r.Waiting, Waiting{})
	}
	rows, complete := j.newRows()
	if !complete {
		return r, ListIncomplete
	}
	for _, row := range slices.Backward(rows) {
		switch row.Symbol {
		case "":
			return r, RowUnreadable
		case j.Symbol:
			r.Rows = append(r.Rows, row)
		}
	}
	shown := false
	others := len(r.Waiting) > 0 || j.Asked.Kind == Limit || slices.ContainsFunc(j.Own, func(o Own) bool { return o.Waits() })
	for i := range j.Own {
		o := &j.Own[i]
		switch {
		case o.Waits():
			r.Waiting = append(r.Waiting, o.Left(""))
		case j.unknown, o.InPosition && o.InRows: // the position that it begins at is of after it, or any
		case o.Kind == 0:
			r.Waiting = append(r.Waiting, Waiting{})
		default:
			a := o.Act
			if o.InPosition {
				a.Sent, a.Ended, shown = 0, beforeShown, true
			} else {
				a.afterShown()
			}
			if others || o.InPosition { // these may have traded before the position in an answer was read
				a.After = decimal.NullDecimal{}
			}
			r.Cut = r.Cut || o.InRows
			r.Acts = append(r.Acts, a)
		}
	}
	if shown { // it begins where the rows do, at a position that nobody knows
		r.From, r.Unknown = decimal.Zero, true
		r.Acts = append(r.Acts, Act{Kind: Shown, Sent: whenShown, Ended: whenShown, Ran: true, After: decimal.NewNullDecimal(j.Base.Position)})
	}
	asked := j.Asked
	if asked.Kind == Limit { // what waits trades at any time
		asked.Ended = 0
	}
	asked.afterShown()
	r.Acts = append(r.Acts, asked)
	return r, ""
}

// afterShown has an act come behind what a position shows.
func (a *Act) afterShown() {
	if a.Sent += afterShown; a.Ended > 0 {
		a.Ended += afterShown
	}
}

func (j *judge) sameStatus() bool { return j.Look.Status != "" && j.Base.Status == j.Look.Status }

// present is the verdict where the write is in every course.
func (j *judge) present(why Reason) Verdict {
	if j.Look.Equal < 2 {
		return Verdict{Reason: LookAgain, Likely: ledger.Applied}
	}
	return Verdict{Outcome: ledger.Applied, Reason: why, Likely: ledger.Applied}
}

// absent is the verdict where it is in none.
func (j *judge) absent() Verdict {
	v := Verdict{Outcome: ledger.NotApplied, Reason: NoTrace, Likely: ledger.NotApplied}
	switch {
	case !j.Held && !(j.Gone && j.lasts()):
		v.Outcome, v.Reason = ledger.Unknown, NotHeld
	case j.Look.Equal < 2, j.Asked.Kind == Limit && j.Look.Equal < 3:
		v.Outcome, v.Reason = ledger.Unknown, LookAgain
	}
	return v
}

// lasts reports whether nothing can have taken the write's trace away. A limit
// leaves none if somebody cancels it, or if the account's new status drops it.
func (j *judge) lasts() bool {
	switch j.Asked.Kind {
	case Limit:
		return j.Exclusive && j.sameStatus()
	case Pro:
		return j.Exclusive
	default:
		return true
	}
}

// unknownFor is the verdict where the write may have run, or not.
func (j *judge) unknownFor(why Reason) Verdict {
	switch {
	case j.unknown:
		why = NoBaseline
	case why != BothFit:
	case !j.Exclusive:
		why = NotExclusive
	case j.PendingBeside:
		why = PendingBeside
	}
	return Verdict{Reason: why}
}
