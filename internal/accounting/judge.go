package accounting

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// Judge says what became of the write.
func Judge(f Facts) Verdict {
	switch {
	case f.incomplete():
		return Verdict{Reason: WriteIncomplete}
	case f.Ended:
		return Verdict{Reason: AccountingEnded}
	case f.Asked.Kind == EditRun:
		return Verdict{Reason: NothingShows}
	case f.Asked.Kind == Pro:
		return f.run()
	case f.Asked.Kind == Limit:
		return f.limit()
	default:
		return f.courses()
	}
}

// run decides about a Pro order, by ids alone.
func (f *Facts) run() Verdict {
	before := f.before()
	known := slices.Concat(before.Runs, before.Finished.IDs)
	finished, complete := f.Look.Finished.since(before.Finished)
	if before.FinishedLags && newIDs(finished, known) > 0 {
		return Verdict{Reason: ListIncomplete}
	}
	switch n := newIDs(slices.Concat(f.Look.Runs, finished), known); {
	case n > 0:
		return f.started(n, false)
	case !complete:
		return f.unknownFor(ListIncomplete)
	default:
		return f.absent()
	}
}

// limit decides about a limit: it waits under a new id, or has traded. An own run can rest orders.
func (f *Facts) limit() Verdict {
	if n := newIDs(f.Look.Orders, f.before().Orders); n > 0 {
		return f.started(n, f.Runs)
	}
	return f.courses()
}

// before are the ids that were known; none if that is not known.
func (f *Facts) before() IDs {
	if f.IDs == nil {
		return IDs{}
	}
	return *f.IDs
}

// started is the verdict where new ids show. runs: an own run may have left them.
func (f *Facts) started(ids int, runs bool) Verdict {
	switch {
	case f.IDs == nil || !f.Exclusive || f.PendingBeside || runs:
		return f.unknownFor(BothFit)
	case ids > 1:
		return Verdict{Reason: NothingFits}
	default:
		return f.present(OneNewID)
	}
}

// newIDs counts the ids that an older list does not have.
func newIDs(now, before []string) (n int) {
	for _, id := range now {
		if !slices.Contains(before, id) {
			n++
		}
	}
	return n
}

// courses decides by every course of trades.
func (f *Facts) courses() Verdict {
	r, at := f.Course, f.At
	if r == nil {
		anywhere, why := f.anywhere()
		if why != "" {
			return f.unknownFor(why)
		}
		r, at = &anywhere, 0
	} else if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Symbol == "" }) { // it may be of another market
		return f.unknownFor(RowUnreadable)
	}
	found := r.Of(at, NoAct)
	if found.Failed != "" && r.nothing() {
		return f.absent()
	}
	switch outcome, why := found.Verdict(); {
	case outcome == ledger.Applied:
		return f.present(why)
	case outcome == ledger.NotApplied:
		return f.absent()
	case f.Course == nil, why == NothingFits && f.EqualLooks >= 2, f.Still && !(f.Open && f.Exclusive): // nothing that follows says more
		return f.unknownFor(why)
	case f.Still: // another one is under way, which may never be found out about
		return Verdict{Reason: PendingBeside}
	default:
		return Verdict{Reason: LookAgain}
	}
}

// anywhere is what is known without a baseline: it begins empty, and a stranger makes of it what there was.
func (f *Facts) anywhere() (r Replay, why Reason) {
	rows, complete := f.since()
	if !complete {
		return r, ListIncomplete
	}
	r = Replay{To: decimal.NewNullDecimal(f.Look.Position.Size), Part: true, Halted: true, Acts: []Act{f.Asked}}
	for _, row := range slices.Backward(rows) {
		switch row.Symbol {
		case "":
			return r, RowUnreadable
		case f.Symbol:
			r.Rows = append(r.Rows, row)
		}
	}
	r.Stranger()
	return r, ""
}

// nothing reports whether nothing at all has happened since its beginning.
func (r *Replay) nothing() bool {
	return len(r.Acts) == 1 && len(r.Rows) == 0 && !r.Cut && !r.Newer && r.To.Valid && r.From.Equal(r.To.Decimal)
}

// steady reports whether what the looks show is not half of something. What an order or a close comes to on a
// course is so too where own writes beside them make the looks differ.
func (f *Facts) steady() bool {
	switch {
	case f.Course == nil || f.Asked.Kind == Pro:
		return f.EqualLooks >= 2
	case f.Asked.Kind == Limit:
		return f.Still
	default:
		return f.Still || f.Again
	}
}

// present is the verdict where the write is in every course.
func (f *Facts) present(why Reason) Verdict {
	if !f.steady() {
		return Verdict{Reason: LookAgain, Likely: ledger.Applied}
	}
	return Verdict{Outcome: ledger.Applied, Reason: why, Likely: ledger.Applied}
}

// absent is the verdict where it is in none.
func (f *Facts) absent() Verdict {
	v := Verdict{Outcome: ledger.NotApplied, Reason: NoTrace, Likely: ledger.NotApplied}
	switch {
	case !f.Held && !(f.Gone && f.lasts()):
		v.Outcome, v.Reason = ledger.Unknown, NotHeld
	case f.Resets: // what it traded may be gone with all that was before
		v = Verdict{Reason: MayBeReset}
	case !f.steady(), f.Asked.Kind == Limit && f.EqualLooks < 3:
		v.Outcome, v.Reason = ledger.Unknown, LookAgain
	}
	return v
}

// lasts reports whether nothing can have taken the write's trace away. A limit
// leaves none if somebody cancels it, or if the account's new status drops it.
func (f *Facts) lasts() bool {
	switch f.Asked.Kind {
	case Limit:
		return f.Exclusive && f.Course != nil && !f.Course.Halted
	case Pro:
		return f.Exclusive
	default:
		return true
	}
}

// unknownFor is the verdict where the write may have run, or not.
func (f *Facts) unknownFor(why Reason) Verdict {
	switch kind := f.Asked.Kind; {
	case kind != Pro && f.Course == nil, !kind.Acts() && f.IDs == nil:
		why = NoBaseline
	case why != BothFit:
	case !f.Exclusive:
		why = NotExclusive
	case !kind.Acts() && f.PendingBeside:
		why = PendingBeside
	}
	return Verdict{Reason: why}
}
