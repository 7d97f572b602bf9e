package accounting

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"time"
)

var (
	one   = decimal.NewFromInt(1)
	most  = decimal.New(9, -1) // of a size: less is no fill of an order
	dust  = decimal.New(1, -2) // of a size
	share = decimal.New(2, -2) // how exact the service closes a share
)

// judge decides about one write. A test names a rule in off to leave it out.
type oracle struct {
	oldFacts
	off  string
	rows []oldEntry
}

func (j *oracle) on(rule string) bool { return j.off != rule }

func (j *oracle) closes() bool { return j.Write.Kind == Close || j.Write.Kind == ReduceOnly }

// says what became of the write.
func bySums(f oldFacts) oldVerdict {
	j := &oracle{oldFacts: f}
	return j.decide()
}

func (j *oracle) decide() oldVerdict {
	switch {
	case j.Write.incomplete():
		return oldVerdict{Reason: WriteIncomplete}
	case j.Ended && j.on("ended"):
		return oldVerdict{Reason: AccountingEnded}
	case j.Write.Kind == EditRun && j.on("edit"):
		return oldVerdict{Reason: NothingShows}
	case j.early() && j.on("early"):
		return oldVerdict{Reason: LookAgain}
	case j.Base == nil, !j.Base.BeforeFirstUse && j.on("young base"):
		j.Base = nil
		return j.flat()
	case j.Write.Kind == Pro, j.Write.Kind == EditRun:
		return j.pro()
	}
	if why := j.readRows(); why != "" {
		return oldVerdict{Reason: why}
	}
	v := oldVerdict{}
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
func (j *oracle) early() bool {
	return slices.ContainsFunc(j.Own, func(o oldOwn) bool { return !o.Resting && j.Look.At.Before(o.Last.Add(max(ledger.Lag, j.Lag))) })
}

// absent is the verdict where the account shows nothing of the write.
func (j *oracle) absent(v oldVerdict, why Reason) oldVerdict {
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
func (j *oracle) lasts() bool {
	if j.Write.Kind != Limit && j.Write.Kind != Pro {
		return true
	}
	same := j.Write.Kind == Pro || j.Base != nil && j.sameStatus()
	return (j.Exclusive || !j.on("gone exclusive")) && (same || !j.on("gone status"))
}

func (j *oracle) sameStatus() bool { return j.Look.Status != "" && j.Base.Status == j.Look.Status }

// flat decides without a baseline: only absence, and only in a flat symbol.
func (j *oracle) flat() oldVerdict {
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
		return oldVerdict{Reason: NoBaseline}
	}
	return j.absent(oldVerdict{}, FlatSymbol)
}

// newIDs counts the ids that neither an older list nor the program knows.
func (j *oracle) newIDs(now, before []string) (n int) {
	for _, id := range now {
		if !j.Known[id] && !slices.Contains(before, id) {
			n++
		}
	}
	return n
}

// present is the verdict where the account shows what the write would leave: Applied,
// unless something else can have left it.
func (j *oracle) present(v oldVerdict, why, other Reason) oldVerdict {
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
func (j *oracle) unless(why Reason, v oldVerdict) oldVerdict {
	if why != "" {
		v.Outcome, v.Reason = ledger.Unknown, why
	}
	return v
}

// started is the verdict where new ids show. A run can rest orders of its own.
func (j *oracle) started(v oldVerdict, ids int) oldVerdict {
	other := Reason("")
	switch {
	case ids > 1:
		other = DoesNotFit
	case j.PendingID && j.on("pending id"):
		other = PendingBeside
	case j.Write.Kind == Limit && j.on("orders of runs") && slices.ContainsFunc(j.Own, func(o oldOwn) bool { return o.Run }):
		other = OrdersRested
	}
	return j.present(v, OneNewID, other)
}

func (j *oracle) pro() oldVerdict {
	base, look := j.Base, j.Look
	known := slices.Concat(base.Runs, base.Finished.IDs)
	finished, complete := look.Finished.since(base.Finished)
	if base.FinishedLags && j.newIDs(finished, known) > 0 && j.on("finished lags") {
		return oldVerdict{Reason: ListIncomplete}
	}
	if ids := j.newIDs(slices.Concat(look.Runs, finished), known); ids > 0 {
		return j.started(oldVerdict{}, ids)
	}
	if !complete && j.on("finished cut") {
		return oldVerdict{Reason: ListIncomplete}
	}
	return j.absent(oldVerdict{}, NoTrace)
}

// volume decides about entries and limits.
func (j *oracle) volume(v oldVerdict) oldVerdict {
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
func (j *oracle) misfit(v decimal.Decimal) Reason {
	w := j.Write
	older, bound := j.resting(w.Side)
	older = older.Div(w.Size)
	sold := j.traded(-w.Side, false).Abs()
	closed := slices.ContainsFunc(j.rows, func(e oldEntry) bool { return e.Side == -w.Side && e.market() })
	opened := slices.ContainsFunc(j.Own, func(o oldOwn) bool { return o.Side == w.Side && o.Opened.IsPositive() && !o.InRows })
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
func (j *oracle) openedBefore() bool {
	side := j.Write.Side
	return len(j.Own) == 0 && j.Base.Position.on(side).IsZero() && !j.inTime(j.Look.Position.OpenedAt) &&
		j.Look.Position.on(side).IsPositive()
}

// contradicts reports a volume that cannot be, or a position that was replaced
// without a row.
func (j *oracle) contradicts(v decimal.Decimal) bool {
	was, is := j.Base.Position, j.Look.Position
	replaced := was.Size.Equal(is.Size) && (!was.EntryPrice.Equal(is.EntryPrice) || was.OpenedAt != is.OpenedAt)
	return v.LessThan(dust.Neg()) && j.on("negative") ||
		replaced && len(j.rows) == 0 && len(j.Own) == 0 && j.on("replaced")
}

// traded is the volume traded in a direction since the baseline, less what own
// writes are known to have traded. Of the write's direction it leaves out what the
// write cannot have traded: triggers, and rows outside its time.
func (j *oracle) traded(side Side, writes bool) decimal.Decimal {
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
func (j *oracle) counts(e *oldEntry, side Side, writes bool) bool {
	if e.Side != side { // closed by a trade in that direction
		return e.owner == nil && (!writes || (e.market() || !j.on("stops off")) && (e.inTime || !j.on("time")))
	}
	// by one, since the baseline or before: then the position is less by it.
	// a row older than the baseline's position, it already is.
	return (e.owner == nil || !e.owner.InPosition && j.on("own side row")) &&
		(e.market() || j.on("own side stops")) && (e.inTime || j.on("own side time"))
}

// resting is the most that own resting orders and runs can have traded in a
// direction; false if there is no bound.
func (j *oracle) resting(side Side) (sum decimal.Decimal, bound bool) {
	bound = true
	for _, o := range j.Own {
		if o.Resting && o.Side != -side {
			sum, bound = sum.Add(o.Size.Decimal), bound && o.Size.Valid
		}
	}
	return sum, bound
}

// closing decides about closes and reduce-only orders.
func (j *oracle) closing(v oldVerdict) oldVerdict {
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
	case j.on("close own") && slices.ContainsFunc(j.Own, func(o oldOwn) bool { return !o.Resting && !o.settled(side) }):
		return j.present(v, RowsFit, OwnWriteUnclear)
	case other && j.on("close other"), !near(sum, expected, share) && j.on("close sum"), !near(moved, expected, share) && j.on("close moved"):
		return j.present(v, RowsFit, DoesNotFit)
	}
	return j.present(v, RowsFit, "")
}

// sums give each of the program's answered writes the closed trade that it left. Where sizes
// are equal and the price stands still that is a guess, and decides nothing by itself.

// guess reports why the sums may be wrong about whether the write ran; empty if they are not. It
// tries every course of the account's trades in which the program's other writes ran as they were
// answered, and anybody who may trade traded anything.
func (j *oracle) guess(ran bool) Reason {
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
func (o *oldOwn) act() Act {
	if o.Side == NoSide {
		return Act{Kind: Close, Percent: o.Percent, Ran: true}
	}
	return Act{Kind: Entry, Side: o.Side, Size: o.Opened.Add(o.Closed.Decimal), Ran: true}
}

// entry is a new row in the write's symbol, read.
type oldEntry struct {
	entry
	inTime bool
	owner  *oldOwn // the own write that left it
}

// readRows finds and reads the new rows, and gives own writes theirs.
func (j *oracle) readRows() Reason {
	rows, complete := j.newRows()
	if !complete {
		return ListIncomplete
	}
	for _, r := range rows {
		if r.Symbol != j.Write.Symbol && r.Symbol != "" {
			continue
		}
		e := oldEntry{entry: entry{Row: r}, inTime: j.inTime(r.ClosedAt)}
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
func (j *oracle) newRows() ([]Row, bool) {
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
func (j *oracle) reaches(overlap int) bool {
	before := j.Base.Rows
	switch {
	case len(j.Look.Rows) < listCut:
		return overlap == len(before)
	case overlap == 0:
		return !j.on("list cut")
	}
	return overlap >= minOverlap || !before[0].ClosedAt.IsZero() || !j.on("list overlap")
}

// inTime reports whether the write could have run then. Not shown is possible.
func (j *oracle) inTime(t servicetime.Time) bool {
	return !t.Before(j.Write.From) && !t.After(j.Write.Until)
}

// assign gives an own write the row that it left; false if there is none. It prefers
// a row outside the write's time, and of two the smaller, so that never too much is
// taken off. Where a close may have left a row of either side, none is taken off.
func (j *oracle) assign(o *oldOwn) bool {
	var best *oldEntry
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

func (j *oracle) better(e, best *oldEntry) bool {
	if e.inTime != best.inTime && j.on("outside first") {
		return best.inTime
	}
	return e.size.LessThan(best.size) == j.on("smallest")
}

func (o *oldOwn) mayHaveLeft(e *oldEntry) bool {
	if o.Side != NoSide && e.Side != -o.Side || o.Closed.Valid && !near(e.size, o.Closed.Decimal, rounding) {
		return false
	}
	off := e.GrossPnL.Decimal.Sub(o.PnL.Decimal).Abs()
	return !o.PnL.Valid || !e.GrossPnL.Valid || off.LessThanOrEqual(rounding)
}

// is the account before the write. README.md says how it is to be read.
type oldBaseline struct {
	State
	// BeforeFirstUse: taken before the first byte under the write's key. Any other
	// baseline counts as none.
	BeforeFirstUse bool
	// FinishedLags: a run that had ended before may be in none of the lists.
	FinishedLags bool
}

// is another write of this program in the same symbol that the baseline's rows
// or position do not show. Writes that were refused are left out. Resting orders
// and runs are named if they rested or ran at any moment since the baseline.
type oldOwn struct {
	// is when its answer was heard, or, while none is, its last byte was sent, by the
	// clock of this process: of a write of an earlier one, when this one began to look.
	Last     time.Time
	Answered bool
	// is NoSide for a close: its answer does not show which position it closed.
	Side Side
	// is that of a close.
	Percent decimal.Decimal `json:",omitzero"`
	// is what the write opened or added on its side: of an order, the position
	// after it on that side, at most the size of the fill.
	Opened decimal.Decimal
	// LeftRow: it closed something, so that a row of cause Market must show. Closed is
	// the size of that row (of an order, the fill less Opened), PnL its gross result (of
	// a close, as answered); not valid if not known.
	LeftRow     bool
	Closed, PnL decimal.NullDecimal
	// InRows: the baseline's rows show it. InPosition: the baseline's position does.
	InRows, InPosition bool
	// Resting: it may trade by itself at any moment, at most Size; not valid is no
	// bound. Run: it is a run.
	Resting, Run bool
	Size         decimal.NullDecimal
	// is that of the order or run, so that it is not taken for the write's; empty if
	// not known. Read: a read before the write showed it, and no answer.
	ID   string
	Read bool
}

// settled reports whether what a close of a position on a side would have closed is
// known although this write came after the baseline's rows: the baseline's position
// shows it, and its row is taken off. An order that opened something on the other side
// may have closed more than its answer shows.
func (o *oldOwn) settled(side Side) bool {
	return o.Answered && o.InPosition && (o.InRows || o.Side != -side || !o.Opened.IsPositive())
}

// are what a verdict rests on.
type oldFacts struct {
	Write oldWrite
	// Held: the key can run nothing any more. Gone: 30 minutes have passed since the
	// last byte could have left.
	Held, Gone bool
	Base       *oldBaseline
	Look       Look
	Own        []oldOwn
	// Exclusive: nobody else trades the account.
	Exclusive bool
	// PendingBeside: another own write is pending in the symbol. PendingID: another
	// own limit or Pro order is pending in any symbol of the account, so that a new id
	// may be its.
	PendingBeside, PendingID bool
	// is how far a read can be behind, where that is longer than [ledger.Lag].
	Lag time.Duration
	// Ended: the account was reset, or its holder has changed, since the baseline or
	// the first use.
	Ended bool
	// are the ids of orders and runs that the program knows to be others.
	Known map[string]bool
}

// oldVerdict is what the sums said.
type oldVerdict struct {
	Outcome ledger.Outcome
	Reason  Reason
	V       decimal.Decimal
	Rows    []Row
	Likely  ledger.Outcome
}

func (p Position) on(side Side) decimal.Decimal {
	return decimal.Max(p.Size.Mul(decimal.NewFromInt(int64(side))), decimal.Zero)
}

// Its reasons, where the courses have none like them.
const (
	FlatSymbol      Reason = "FlatSymbol"
	VolumeFits      Reason = "VolumeFits"
	RowsFit         Reason = "RowsFit"
	OwnRowMissing   Reason = "OwnRowMissing"
	Contradiction   Reason = "Contradiction"
	StatusChanged   Reason = "StatusChanged"
	OrdersRested    Reason = "OrdersRested"
	OwnWriteUnclear Reason = "OwnWriteUnclear"
)

// oldWrite has the times in which it could run.
type oldWrite struct {
	Write
	Until servicetime.Time
}
