package accounting

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

var (
	one   = decimal.NewFromInt(1)
	most  = decimal.New(9, -1) // of a size: less is no fill of an order
	dust  = decimal.New(1, -2) // of a size
	share = decimal.New(2, -2) // how exact the service closes a share
)

// judge decides about one write. A test names a rule in off to leave it out.
type judge struct {
	Facts
	off  string
	rows []entry
}

func (j *judge) on(rule string) bool { return j.off != rule }

func (j *judge) closes() bool { return j.Write.Kind == Close || j.Write.Kind == ReduceOnly }

// Decide says what became of the write.
func Decide(f Facts) Verdict {
	j := &judge{Facts: f}
	return j.decide()
}

func (j *judge) decide() Verdict {
	switch {
	case j.Write.incomplete():
		return Verdict{Reason: WriteIncomplete}
	case j.Ended && j.on("ended"):
		return Verdict{Reason: AccountingEnded}
	case j.Write.Kind == EditRun && j.on("edit"):
		return Verdict{Reason: NothingShows}
	case j.early() && j.on("early"):
		return Verdict{Reason: LookAgain}
	case j.Base == nil, !j.Base.BeforeFirstUse && j.on("young base"):
		j.Base = nil
		return j.flat()
	case j.Write.Kind == Pro, j.Write.Kind == EditRun:
		return j.pro()
	}
	if why := j.readRows(); why != "" {
		return Verdict{Reason: why}
	}
	v := Verdict{}
	for _, e := range j.rows {
		if e.owner == nil {
			v.Rows = append(v.Rows, e.Row)
		}
	}
	if j.closes() {
		return j.closing(v)
	}
	return j.volume(v)
}

// early reports whether reads may lag behind an own write.
func (j *judge) early() bool {
	return slices.ContainsFunc(j.Own, func(o Own) bool { return !o.Resting && j.Look.At.Before(o.Last.Add(max(ledger.Lag, j.Lag))) })
}

// absent is the verdict where the account shows nothing of the write.
func (j *judge) absent(v Verdict, why Reason) Verdict {
	v.Likely = ledger.NotApplied
	switch {
	case !j.Held && !(j.Gone && j.lasts()) && j.on("held"):
		v.Reason = NotHeld
	case j.Look.Equal < 2 && j.on("second look"), j.Write.Kind == Limit && j.Look.Equal < 3 && j.on("third look"):
		v.Reason = LookAgain
	default:
		v.Outcome, v.Reason = ledger.NotApplied, why
		if why == NoTrace && (j.Write.Kind == Entry || j.closes()) && j.on("courses without") {
			v = j.unless(j.guess(false), v)
		}
	}
	return v
}

// lasts reports whether nothing can have taken the write's trace away. A limit
// leaves none if somebody cancels it, or if the account's new status drops it.
func (j *judge) lasts() bool {
	if j.Write.Kind != Limit && j.Write.Kind != Pro {
		return true
	}
	same := j.Write.Kind == Pro || j.Base != nil && j.sameStatus()
	return (j.Exclusive || !j.on("gone exclusive")) && (same || !j.on("gone status"))
}

func (j *judge) sameStatus() bool { return j.Look.Status != "" && j.Base.Status == j.Look.Status }

// flat decides without a baseline: only absence, and only in a flat symbol.
func (j *judge) flat() Verdict {
	look := j.Look
	ids := slices.Concat(look.Orders, look.Runs)
	cut := false
	if j.Write.Kind == Pro && j.on("flat finished") {
		ids, cut = append(ids, look.Finished.IDs...), len(look.Finished.IDs) >= listCut
	}
	since := func(r Row) bool { return !r.ClosedAt.Before(j.Write.From) }
	if n := len(look.Rows); n >= listCut && j.on("flat list") {
		cut = cut || since(look.Rows[n-1])
	}
	closed := slices.ContainsFunc(look.Rows, func(r Row) bool {
		return since(r) && (r.Symbol == j.Write.Symbol || r.Symbol == "")
	})
	if cut || !look.Position.Size.IsZero() || j.newIDs(ids, nil) > 0 && j.on("flat known") || closed && j.on("flat rows") {
		return Verdict{Reason: NoBaseline}
	}
	return j.absent(Verdict{}, FlatSymbol)
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

// present is the verdict where the account shows what the write would leave: Applied,
// unless something else can have left it.
func (j *judge) present(v Verdict, why, other Reason) Verdict {
	v.Likely = ledger.Applied
	switch {
	case !j.Exclusive && j.on("exclusive"):
		v.Reason = NotExclusive
	case j.PendingBeside && j.on("pending"):
		v.Reason = PendingBeside
	case !j.sameStatus() && j.on("status"):
		v.Reason = StatusChanged
	case other != "":
		v.Reason = other
	case j.Look.Equal < 2 && j.on("second look"):
		v.Reason = LookAgain
	default:
		v.Outcome, v.Reason = ledger.Applied, why
		if why != OneNewID && j.on("courses with") {
			v = j.unless(j.guess(true), v)
		}
	}
	return v
}

// unless is a verdict, unless there is a reason against it.
func (j *judge) unless(why Reason, v Verdict) Verdict {
	if why != "" {
		v.Outcome, v.Reason = ledger.Unknown, why
	}
	return v
}

// started is the verdict where new ids show. A run can rest orders of its own.
func (j *judge) started(v Verdict, ids int) Verdict {
	other := Reason("")
	switch {
	case ids > 1:
		other = DoesNotFit
	case j.PendingID && j.on("pending id"):
		other = PendingBeside
	case j.Write.Kind == Limit && j.on("orders of runs") && slices.ContainsFunc(j.Own, func(o Own) bool { return o.Run }):
		other = OrdersRested
	}
	return j.present(v, OneNewID, other)
}

func (j *judge) pro() Verdict {
	base, look := j.Base, j.Look
	known := slices.Concat(base.Runs, base.Finished.IDs)
	finished, complete := look.Finished.since(base.Finished)
	if base.FinishedLags && j.newIDs(finished, known) > 0 && j.on("finished lags") {
		return Verdict{Reason: ListIncomplete}
	}
	if ids := j.newIDs(slices.Concat(look.Runs, finished), known); ids > 0 {
		return j.started(Verdict{}, ids)
	}
	if !complete && j.on("finished cut") {
		return Verdict{Reason: ListIncomplete}
	}
	return j.absent(Verdict{}, NoTrace)
}

// volume decides about entries and limits.
func (j *judge) volume(v Verdict) Verdict {
	w, enough := j.Write, most
	v.V = j.traded(w.Side, true).Div(w.Size)
	if w.Kind == Limit {
		if ids := j.newIDs(j.Look.Orders, j.Base.Orders); ids > 0 {
			return j.started(v, ids)
		}
		if j.on("limit part") { // a part may have filled before somebody cancelled the rest
			enough = dust
		}
	}
	if j.contradicts(v.V) {
		v.Reason = Contradiction
		return v
	}
	if v.V.LessThan(enough) {
		return j.absent(v, NoTrace)
	}
	return j.present(v, VolumeFits, j.misfit(v.V))
}

// misfit returns why a volume that is large enough may not be the write's.
func (j *judge) misfit(v decimal.Decimal) Reason {
	w := j.Write
	older, bound := j.resting(w.Side)
	older = older.Div(w.Size)
	sold := j.traded(-w.Side, false).Abs()
	closed := slices.ContainsFunc(j.rows, func(e entry) bool { return e.Side == -w.Side && e.market() })
	opened := slices.ContainsFunc(j.Own, func(o Own) bool { return o.Side == w.Side && o.Opened.IsPositive() && !o.InRows })
	switch {
	case (!bound || older.GreaterThanOrEqual(most)) && j.on("resting"), older.IsPositive() && closed && j.on("resting row"):
		return OrdersRested
	case opened && closed && j.on("flip"): // a flip may close more than its answer shows
		return OwnWriteUnclear
	case v.LessThan(one.Sub(dust)) && j.on("lower"), v.GreaterThan(one.Add(dust).Add(older)) && j.on("upper"),
		sold.GreaterThan(w.Size.Mul(dust)) && j.on("sold"), j.openedBefore() && j.on("opened"):
		return DoesNotFit
	}
	return ""
}

// openedBefore reports a position that the write did not open: the baseline lagged.
func (j *judge) openedBefore() bool {
	side := j.Write.Side
	return len(j.Own) == 0 && j.Base.Position.on(side).IsZero() && !j.inTime(j.Look.Position.OpenedAt) &&
		j.Look.Position.on(side).IsPositive()
}

// contradicts reports a volume that cannot be, or a position that was replaced
// without a row.
func (j *judge) contradicts(v decimal.Decimal) bool {
	was, is := j.Base.Position, j.Look.Position
	replaced := was.Size.Equal(is.Size) && (!was.EntryPrice.Equal(is.EntryPrice) || was.OpenedAt != is.OpenedAt)
	return v.LessThan(dust.Neg()) && j.on("negative") ||
		replaced && len(j.rows) == 0 && len(j.Own) == 0 && j.on("replaced")
}

// traded is the volume traded in a direction since the baseline, less what own
// writes are known to have traded. Of the write's direction it leaves out what the
// write cannot have traded: triggers, and rows outside its time.
func (j *judge) traded(side Side, writes bool) decimal.Decimal {
	sum := j.Look.Position.on(side).Sub(j.Base.Position.on(side))
	for i := range j.rows {
		if e := &j.rows[i]; j.counts(e, side, writes) {
			sum = sum.Add(e.size)
		}
	}
	for _, o := range j.Own {
		if o.Side == side && o.Answered && !(o.InPosition && j.on("own in position")) && j.on("own opened") {
			sum = sum.Sub(o.Opened)
		}
	}
	return sum
}

// counts reports whether a row adds to the volume traded in a direction.
func (j *judge) counts(e *entry, side Side, writes bool) bool {
	if e.Side != side { // closed by a trade in that direction
		return e.owner == nil && (!writes || (e.market() || !j.on("stops off")) && (e.inTime || !j.on("time")))
	}
	// Opened by one, since the baseline or before: then the position is less by it.
	// Of a row older than the baseline's position, it already is.
	return (e.owner == nil || !e.owner.InPosition && j.on("own side row")) &&
		(e.market() || j.on("own side stops")) && (e.inTime || j.on("own side time"))
}

// resting is the most that own resting orders and runs can have traded in a
// direction; false if there is no bound.
func (j *judge) resting(side Side) (sum decimal.Decimal, bound bool) {
	bound = true
	for _, o := range j.Own {
		if o.Resting && o.Side != -side {
			sum, bound = sum.Add(o.Size.Decimal), bound && o.Size.Valid
		}
	}
	return sum, bound
}

// closing decides about closes and reduce-only orders.
func (j *judge) closing(v Verdict) Verdict {
	base := j.Base.Position
	side := Side(base.Size.Sign())
	expected := base.Size.Abs().Mul(j.Write.Percent).Shift(-2)
	if j.Write.Kind == ReduceOnly {
		side = -j.Write.Side
		expected = decimal.Min(base.on(side), j.Write.Size)
	}
	sum, some, other := decimal.Zero, false, false
	for _, e := range j.rows {
		if e.market() && e.owner == nil && (e.inTime || !j.on("time")) {
			sum, some, other = sum.Add(e.size), true, other || e.Side != side
		}
	}
	if !some {
		return j.absent(v, NoTrace)
	}
	if expected.IsPositive() {
		v.V = sum.Div(expected)
	}
	moved := base.on(side).Sub(j.Look.Position.on(side))
	older, bound := j.resting(-side)
	switch {
	case (!bound || older.IsPositive()) && j.on("close resting"):
		return j.present(v, RowsFit, OrdersRested)
	case j.on("close own") && slices.ContainsFunc(j.Own, func(o Own) bool { return !o.Resting && !o.settled(side) }):
		return j.present(v, RowsFit, OwnWriteUnclear)
	case other && j.on("close other"), !near(sum, expected, share) && j.on("close sum"), !near(moved, expected, share) && j.on("close moved"):
		return j.present(v, RowsFit, DoesNotFit)
	}
	return j.present(v, RowsFit, "")
}
