package accounting

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// Judge says what became of the write.
func Judge(f Facts) Verdict {
	j := &f
	switch {
	case f.incomplete():
		return Verdict{Reason: WriteIncomplete}
	case f.Ended:
		return Verdict{Reason: AccountingEnded}
	case f.Asked.Kind == EditRun:
		return Verdict{Reason: NothingShows}
	case f.Asked.Kind == Pro:
		return j.run()
	case f.Asked.Kind == Limit:
		return j.limit()
	default:
		return j.courses()
	}
}

// run decides about a Pro order, by ids alone.
func (j *Facts) run() Verdict {
	before := j.before()
	known := slices.Concat(before.Runs, before.Finished.IDs)
	finished, complete := j.Look.Finished.since(before.Finished)
	if before.FinishedLags && newIDs(finished, known) > 0 {
		return Verdict{Reason: ListIncomplete}
	}
	switch n := newIDs(slices.Concat(j.Look.Runs, finished), known); {
	case n > 0:
		return j.started(n, j.PendingID)
	case !complete:
		return j.unknownFor(ListIncomplete)
	default:
		return j.absent()
	}
}

// limit decides about a limit: it waits under a new id, or has traded. An own run can rest orders.
func (j *Facts) limit() Verdict {
	if n := newIDs(j.Look.Orders, j.before().Orders); n > 0 {
		return j.started(n, j.PendingID || j.Runs)
	}
	return j.courses()
}

// before are the ids that were known; none if that is not known.
func (j *Facts) before() IDs {
	if j.IDs == nil {
		return IDs{}
	}
	return *j.IDs
}

// started is the verdict where new ids show.
func (j *Facts) started(ids int, othersToo bool) Verdict {
	switch {
	case j.IDs == nil || !j.Exclusive || j.PendingBeside || othersToo:
		return j.unknownFor(BothFit)
	case ids > 1:
		return Verdict{Reason: NothingFits}
	default:
		return j.present(OneNewID)
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
func (j *Facts) courses() Verdict {
	r, at := j.Course, j.At
	if r == nil {
		anywhere, why := j.anywhere()
		if why != "" {
			return j.unknownFor(why)
		}
		r, at = &anywhere, 0
	} else if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Symbol == "" }) { // it may be of another market
		return j.unknownFor(RowUnreadable)
	}
	f := r.Of(at, NoAct)
	if f.Failed != "" && r.nothing() {
		return j.absent()
	}
	switch outcome, why := f.Verdict(); {
	case outcome == ledger.Applied:
		return j.present(why)
	case outcome == ledger.NotApplied:
		return j.absent()
	case j.Course == nil, why == NothingFits && j.Equal >= 2, j.Still && !(j.Open && j.Exclusive): // nothing that follows says more
		return j.unknownFor(why)
	case j.Still: // another one is under way, which may never be found out about
		return Verdict{Reason: PendingBeside}
	default:
		return Verdict{Reason: LookAgain}
	}
}

// anywhere is what is known without a baseline: it begins empty, and a stranger makes of it what there was.
func (j *Facts) anywhere() (r Replay, why Reason) {
	rows, complete := j.since()
	if !complete {
		return r, ListIncomplete
	}
	r = Replay{To: decimal.NewNullDecimal(j.Look.Position.Size), Part: true, Halted: true, Acts: []Act{j.Asked}}
	for _, row := range slices.Backward(rows) {
		switch row.Symbol {
		case "":
			return r, RowUnreadable
		case j.Symbol:
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
func (j *Facts) steady() bool {
	switch {
	case j.Course == nil || j.Asked.Kind == Pro:
		return j.Equal >= 2
	case j.Asked.Kind == Limit:
		return j.Still
	default:
		return j.Still || j.Again
	}
}

// present is the verdict where the write is in every course.
func (j *Facts) present(why Reason) Verdict {
	if !j.steady() {
		return Verdict{Reason: LookAgain, Likely: ledger.Applied}
	}
	return Verdict{Outcome: ledger.Applied, Reason: why, Likely: ledger.Applied}
}

// absent is the verdict where it is in none.
func (j *Facts) absent() Verdict {
	v := Verdict{Outcome: ledger.NotApplied, Reason: NoTrace, Likely: ledger.NotApplied}
	switch {
	case !j.Held && !(j.Gone && j.lasts()):
		v.Outcome, v.Reason = ledger.Unknown, NotHeld
	case !j.steady(), j.Asked.Kind == Limit && j.Equal < 3:
		v.Outcome, v.Reason = ledger.Unknown, LookAgain
	}
	return v
}

// lasts reports whether nothing can have taken the write's trace away. A limit
// leaves none if somebody cancels it, or if the account's new status drops it.
func (j *Facts) lasts() bool {
	switch j.Asked.Kind {
	case Limit:
		return j.Exclusive && j.Course != nil && !j.Course.Halted
	case Pro:
		return j.Exclusive
	default:
		return true
	}
}

// unknownFor is the verdict where the write may have run, or not.
func (j *Facts) unknownFor(why Reason) Verdict {
	switch kind := j.Asked.Kind; {
	case kind != Pro && j.Course == nil, !kind.Acts() && j.IDs == nil:
		why = NoBaseline
	case why != BothFit:
	case !j.Exclusive:
		why = NotExclusive
	case !kind.Acts() && j.PendingBeside:
		why = PendingBeside
	}
	return Verdict{Reason: why}
}
