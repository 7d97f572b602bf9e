package accounting

import (
	"slices"

	"github.com/shopspring/decimal"
)

var (
	one    = decimal.NewFromInt(1)
	whole  = decimal.NewFromInt(100)
	most   = decimal.New(9, -1) // less is no whole fill
	dust   = decimal.New(1, -2) // tolerance of volumes, in units of the write's size
	closed = decimal.New(2, -2) // tolerance of closes: the service rounds
	never  = decimal.New(1, 6)  // more than any order fills
)

// judge decides one write. off is the rule left out by a test.
type judge struct {
	Facts
	off     string
	rows    []entry
	unclear bool // what an own write traded is not clear: no Applied
}

func (j *judge) on(rule string) bool { return j.off != rule }

// Decide says what became of the write.
func Decide(f Facts) Verdict {
	j := &judge{Facts: f}
	return j.decide()
}

func (j *judge) closes() bool { return j.Write.Kind == Close || j.Write.Kind == ReduceOnly }

func (j *judge) decide() Verdict {
	switch {
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
	rows, complete := j.newRows()
	if !complete {
		return Verdict{Reason: ListIncomplete}
	}
	var readable bool
	if j.rows, readable = j.read(rows); !readable {
		return Verdict{Reason: RowUnreadable}
	}
	if !j.assign() {
		return Verdict{Reason: OwnRowMissing}
	}
	if j.closes() {
		return j.closing()
	}
	return j.volume()
}

// early reports whether reads may lag behind an own write.
func (j *judge) early() bool {
	return slices.ContainsFunc(j.Own, func(o Own) bool {
		last := o.Answered
		if last.IsZero() {
			last = o.Sent
		}
		return !o.Resting && j.Look.At.Before(last.Add(Lag))
	})
}

// absent is the verdict where nothing shows of the write.
func (j *judge) absent(v Verdict, why Reason) Verdict {
	lasts := j.lasts()
	v.Likely = NotApplied
	if !j.Held && !(j.Gone && lasts) && j.on("held") {
		v.Reason = NotHeld
		return v
	}
	if needed := j.looksNeeded(); j.Look.Equal < needed {
		v.Reason = LookAgain
		return v
	}
	v.Outcome, v.Reason = NotApplied, why
	return v
}

// lasts reports whether the write leaves a trace that nothing takes away. A resting
// limit leaves none if a person cancels it or the account's new status drops it, and
// a run only one in a list.
func (j *judge) lasts() bool {
	switch {
	case j.Write.Kind != Limit && j.Write.Kind != Pro:
		return true
	case !j.Exclusive && j.on("gone exclusive"):
		return false
	}
	return j.Write.Kind == Pro || j.Base != nil && j.sameStatus() || !j.on("gone status")
}

func (j *judge) sameStatus() bool {
	return j.Base.Status == j.Look.Status && j.Look.Status != ""
}

func (j *judge) looksNeeded() int {
	if j.Write.Kind == Limit && j.on("third look") {
		return 3
	}
	return 2
}

// flat decides without a baseline: only absence, and only in a flat symbol.
func (j *judge) flat() Verdict {
	none := Verdict{Reason: NoBaseline}
	unknown := func(id string) bool { return !j.Known[id] && j.on("flat known") }
	look := j.Look
	if !look.Position.Size.IsZero() || slices.ContainsFunc(look.Orders, unknown) || slices.ContainsFunc(look.Runs, unknown) {
		return none
	}
	if j.Write.Kind == Pro && j.on("flat finished") &&
		(len(look.Finished) >= listCut || slices.ContainsFunc(look.Finished, unknown)) {
		return none
	}
	if n := len(look.Rows); n >= listCut && j.on("flat list") {
		if oldest := look.Rows[n-1].ClosedAt; oldest.IsZero() || !oldest.Before(j.Write.From) {
			return none
		}
	}
	for _, r := range look.Rows {
		since := r.ClosedAt.IsZero() || !r.ClosedAt.Before(j.Write.From)
		if since && (r.Symbol == j.Write.Symbol || r.Symbol == "") && j.on("flat rows") {
			return none
		}
	}
	return j.absent(Verdict{}, FlatSymbol)
}

// barred returns why a trace that fits does not prove that the write left it.
func (j *judge) barred() Reason {
	switch {
	case !j.Exclusive && j.on("exclusive"):
		return NotExclusive
	case j.PendingBeside && j.on("pending"):
		return PendingWrite
	case !j.sameStatus() && j.on("status"):
		return StatusChanged
	case j.unclear && j.on("unclear"):
		return OwnWriteUnclear
	}
	return NoReason
}

// present is the verdict where the account shows what the write would leave.
func (j *judge) present(v Verdict, bar, why Reason) Verdict {
	v.Likely = Applied
	if v.Reason = bar; bar == NoReason {
		v.Outcome, v.Reason = Applied, why
	}
	return v
}

// newIDs counts the ids that neither the baseline nor the program knows.
func (j *judge) newIDs(now []string, before ...[]string) int {
	n := 0
	for _, id := range now {
		if !j.Known[id] && !slices.ContainsFunc(before, func(ids []string) bool { return slices.Contains(ids, id) }) {
			n++
		}
	}
	return n
}

func (j *judge) byID(v Verdict, ids int, bar Reason) Verdict {
	switch {
	case ids > 1 && j.on("one i d"):
		v.Reason, v.Likely = DoesNotFit, Applied
		return v
	case bar == NoReason && j.PendingID && j.on("pending i d"):
		bar = PendingWrite
	}
	return j.present(v, bar, OneNewID)
}

func (j *judge) pro() Verdict {
	base, look := j.Base, j.Look
	started := j.newIDs(look.Runs, base.Runs, base.Finished) + j.newIDs(look.Finished, base.Runs, base.Finished)
	if started > 0 {
		return j.byID(Verdict{}, started, j.barred())
	}
	whole := len(base.Finished) == 0 && len(look.Finished) < listCut ||
		len(base.Finished) > 0 && slices.Contains(look.Finished, base.Finished[0])
	if !whole && j.on("finished cut") {
		return Verdict{Reason: ListIncomplete}
	}
	return j.absent(Verdict{}, NoTrace)
}

// volume decides entries and limits.
func (j *judge) volume() Verdict {
	w := j.Write
	traded := j.traded(w.Side, true).Div(w.Size)
	v := Verdict{V: traded, Rows: j.unowned()}
	if w.Kind == Limit {
		if ids := j.newIDs(j.Look.Orders, j.Base.Orders); ids > 0 {
			bar := j.barred()
			if bar == NoReason && slices.ContainsFunc(j.Own, func(o Own) bool { return o.Run }) && j.on("run places orders") {
				bar = OrdersRested
			}
			return j.byID(v, ids, bar)
		}
	}
	if j.contradicts(traded) {
		v.Reason = Contradiction
		return v
	}
	enough := most
	if w.Kind == Limit && j.on("limit part") {
		enough = dust // a part may have filled before somebody cancelled the rest
	}
	if traded.LessThan(enough) {
		return j.absent(v, NoTrace)
	}
	return j.entered(v)
}

// entered decides where the volume is enough.
func (j *judge) entered(v Verdict) Verdict {
	w := j.Write
	resting := j.resting(w.Side)
	low := v.V.LessThan(one.Sub(dust)) && j.on("lower")
	high := v.V.GreaterThan(one.Add(dust).Add(resting)) && j.on("upper")
	sold := j.traded(-w.Side, false).Abs().GreaterThan(w.Size.Mul(dust)) && j.on("sold")
	if low || high || sold || !j.agrees() && j.on("agrees") {
		v.Reason, v.Likely = DoesNotFit, Applied
		return v
	}
	bar := j.barred()
	switch {
	case bar != NoReason:
	case resting.GreaterThanOrEqual(most) && j.on("resting"),
		resting.IsPositive() && j.closedByOrder(false) && j.on("resting row"):
		bar = OrdersRested
	case j.ownOpened() && j.closedByOrder(true) && j.on("flip"):
		bar = OwnWriteUnclear
	}
	return j.present(v, bar, VolumeFits)
}

// traded is the volume traded in a direction since the baseline, less what own
// writes are known to have traded. Of the write's direction it also leaves out what
// the write cannot have traded: triggers, and rows outside its time.
func (j *judge) traded(side Side, write bool) decimal.Decimal {
	sum := j.Look.Position.on(side).Sub(j.Base.Position.on(side))
	for i := range j.rows {
		if e := &j.rows[i]; j.counts(e, side, write) {
			sum = sum.Add(e.size)
		}
	}
	for _, o := range j.Own {
		if o.Side == side && !o.Answered.IsZero() && (!o.InPosition || !j.on("own in position")) && j.on("own opened") {
			sum = sum.Sub(o.Opened)
		}
	}
	return sum
}

// counts reports whether a row adds to the volume traded in a direction.
func (j *judge) counts(e *entry, side Side, write bool) bool {
	if e.Side == side { // it was opened in that direction, perhaps by the write
		if !j.on("own side stops") && !e.market() || !j.on("own side time") && !e.inTime {
			return false
		}
		return e.owner == nil || !e.owner.InPosition && j.on("own side row")
	}
	if e.owner != nil {
		return false
	}
	return !write || (e.market() || !j.on("stops off")) && (e.inTime || !j.on("time"))
}

// resting is the most that own resting orders and runs can have traded in a
// direction, in units of the write's size.
func (j *judge) resting(side Side) decimal.Decimal {
	sum := decimal.Zero
	for _, o := range j.Own {
		switch {
		case !o.Resting || o.Side == -side:
		case !o.Size.Valid:
			return never
		default:
			sum = sum.Add(o.Size.Decimal.Div(j.Write.Size))
		}
	}
	return sum
}

// closedByOrder reports whether an order closed a part of the opposite side.
func (j *judge) closedByOrder(unowned bool) bool {
	return slices.ContainsFunc(j.rows, func(e entry) bool {
		return e.Side == -j.Write.Side && e.market() && (e.owner == nil || !unowned)
	})
}

// ownOpened reports whether an own order opened something on the write's side.
// Where it closed an opposite position too, its answer may not show that.
func (j *judge) ownOpened() bool {
	return slices.ContainsFunc(j.Own, func(o Own) bool {
		return o.Side == j.Write.Side && o.Opened.IsPositive() && !o.InRows
	})
}

// contradicts reports a volume that cannot be, or a position that was replaced
// without a row.
func (j *judge) contradicts(v decimal.Decimal) bool {
	if v.LessThan(dust.Neg()) && j.on("negative") {
		return true
	}
	was, is := j.Base.Position, j.Look.Position
	if len(j.rows) > 0 || len(j.Own) > 0 || !was.Size.Equal(is.Size) || !j.on("entry price") {
		return false
	}
	return !samePosition(was, is)
}

func samePosition(a, b Position) bool {
	return a.EntryPrice.Equal(b.EntryPrice) &&
		(a.OpenedAt.Equal(b.OpenedAt) || a.OpenedAt.IsZero() || b.OpenedAt.IsZero())
}

// agrees reports whether the position's entry is one that the write could leave.
func (j *judge) agrees() bool {
	was, is, side := j.Base.Position, j.Look.Position, j.Write.Side
	before, now := was.on(side), is.on(side)
	switch {
	case len(j.Own) > 0:
		return true // they change the entry too
	case now.IsZero():
		return is.Size.IsZero() || samePosition(was, is)
	case before.IsZero():
		return j.inTime(Row{ClosedAt: is.OpenedAt})
	case !now.GreaterThan(before):
		return false
	}
	paid := now.Mul(is.EntryPrice).Sub(before.Mul(was.EntryPrice))
	return paid.IsPositive()
}

// closing decides closes and reduce-only orders.
func (j *judge) closing() Verdict {
	base := j.Base.Position
	side := Side(base.Size.Sign())
	expected := base.Size.Abs().Mul(j.Write.Percent).Div(whole)
	if j.Write.Kind == ReduceOnly {
		side = -j.Write.Side
		expected = decimal.Min(base.on(side), j.Write.Size)
	}
	v := Verdict{}
	sum, other := decimal.Zero, false
	for _, e := range j.rows {
		if !e.market() || e.owner != nil || !e.inTime && j.on("time") {
			continue
		}
		v.Rows = append(v.Rows, e.Row)
		if sum = sum.Add(e.size); e.Side != side {
			other = true
		}
	}
	if len(v.Rows) == 0 {
		return j.absent(v, NoTrace)
	}
	moved := base.on(side).Sub(j.Look.Position.on(side))
	if expected.IsPositive() {
		v.V = sum.Div(expected)
	}
	if other && j.on("close other") || !near(sum, expected, closed) && j.on("close sum") ||
		!near(moved, expected, closed) && j.on("close moved") {
		v.Reason, v.Likely = DoesNotFit, Applied
		return v
	}
	bar := j.barred()
	switch {
	case bar != NoReason:
	case j.resting(-side).IsPositive() && j.on("close resting"):
		bar = OrdersRested
	case slices.ContainsFunc(j.Own, func(o Own) bool { return !o.Resting }) && j.on("close own"):
		bar = OwnWriteUnclear
	}
	return j.present(v, bar, RowsFit)
}

// unowned returns the new rows that no own write left.
func (j *judge) unowned() []Row {
	var rows []Row
	for _, e := range j.rows {
		if e.owner == nil {
			rows = append(rows, e.Row)
		}
	}
	return rows
}
