package trading

import (
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// accountViews is what the program's own calls have shown of its accounts. It
// never asks for anything by itself.
type accountViews struct {
	began time.Time // reads sooner than a lag after it may show an earlier run's writes late

	mu       sync.Mutex
	views    map[accountKey]*accountView
	settings map[pending.Place][]*setting // of levels, in the order in which they stand
}

type accountKey struct {
	env Environment
	id  AccountID
}

// accountView is one account: the last read of each kind that no own write came
// close to, and what own writes have done since.
type accountView struct {
	status    AccountStatus // as last seen; empty if never
	inFlight  int           // own writes under way
	lastWrite time.Time     // when one last ended

	positions map[string]position // of a symbol that is not here, every read showed none
	posAt     time.Time           // when the positions were read; zero if they are not known
	posFrom   time.Time           // the first of those reads
	rows      []accounting.Row
	rowsAt    time.Time
	orders    []string
	runs      []string
	ordersAt  time.Time
	finished  []string
	finAt     time.Time

	own map[string][]accounting.Own // by symbol, since the oldest of the reads
}

// position is one as reads or answers showed it.
type position struct {
	accounting.Position
	since time.Time // reads have shown it unchanged since
	exact bool      // an answer said it
}

// maxOwn bounds how many writes are kept for one symbol between two reads.
const maxOwn = 512

func (v *accountViews) view(env Environment, id AccountID) *accountView {
	if v.views == nil {
		v.views = make(map[accountKey]*accountView)
	}
	key := accountKey{env, id}
	view := v.views[key]
	if view == nil {
		view = &accountView{}
		v.views[key] = view
	}
	return view
}

// saw notes a status.
func (v *accountViews) saw(env Environment, id AccountID, status AccountStatus) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view(env, id).status = status
}

// status returns the status last seen; empty if none was.
func (v *accountViews) status(env Environment, id AccountID) AccountStatus {
	v.mu.Lock()
	defer v.mu.Unlock()
	if view := v.views[accountKey{env, id}]; view != nil {
		return view.status
	}
	return ""
}

// began notes that a write is about to leave, ended that it has its answer or none.
func (v *accountViews) beganWrite(env Environment, id AccountID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view(env, id).inFlight++
}

func (v *accountViews) endedWrite(env Environment, id AccountID, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	view.inFlight--
	if at.After(view.lastWrite) { // of two that end at once, the later
		view.lastWrite = at
	}
}

// passive reports whether a read begun then shows every own write before it: none is
// under way, and the last is a lag ago.
func (v *accountViews) passive(view *accountView, begun time.Time) bool {
	return view.inFlight == 0 && begun.Sub(view.lastWrite) >= ledger.Lag && (v.began.IsZero() || begun.Sub(v.began) >= ledger.Lag)
}

func (v *accountViews) sawPositions(env Environment, id AccountID, begun time.Time, positions Positions) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	if !v.passive(view, begun) {
		return
	}
	if view.posAt.IsZero() {
		view.posFrom = begun
	}
	seen := make(map[string]position, len(positions))
	for i := range positions {
		now := position{Position: heldPosition(&positions[i]), since: begun}
		if before, ok := view.positions[positions[i].Symbol]; ok && before.equal(now.Position) {
			now.since, now.exact = before.since, before.exact
		}
		seen[positions[i].Symbol] = now
	}
	for symbol := range view.positions {
		if _, open := seen[symbol]; !open {
			flat := position{since: begun}
			if before := view.positions[symbol]; before.equal(flat.Position) {
				flat.since, flat.exact = before.since, before.exact
			}
			seen[symbol] = flat
		}
	}
	view.positions, view.posAt = seen, begun
	for symbol := range view.own {
		view.markInPosition(symbol)
	}
	view.prune()
}

func (p position) equal(o accounting.Position) bool {
	return p.Size.Equal(o.Size) && p.EntryPrice.Equal(o.EntryPrice)
}

func (v *accountViews) sawTrades(env Environment, id AccountID, begun time.Time, trades []Trade) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	if !v.passive(view, begun) {
		return
	}
	view.rows, view.rowsAt = rowsOf(trades), begun
	for _, own := range view.own {
		for i := range own {
			own[i].InRows = true
		}
	}
	view.prune()
}

func (v *accountViews) sawOrders(env Environment, id AccountID, begun time.Time, open *OpenOrders) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	if !v.passive(view, begun) {
		return
	}
	view.orders, view.runs = orderIDs(open), runIDs(open.Runs)
	view.ordersAt = begun
}

func (v *accountViews) sawFinished(env Environment, id AccountID, begun time.Time, runs []Run) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	if !v.passive(view, begun) {
		return
	}
	view.finished, view.finAt = runIDs(runs), begun
}

// prune forgets the own writes that both reads show.
func (a *accountView) prune() {
	for symbol, own := range a.own {
		a.own[symbol] = slices.DeleteFunc(own, func(o accounting.Own) bool { return o.InRows && o.InPosition && !o.Resting })
	}
}

// wrote notes what an own write did in a symbol, and the position after it if its
// answer said one. alone means that no other own write was under way in the symbol.
func (v *accountViews) wrote(env Environment, id AccountID, symbol string, own accounting.Own, after *accounting.Position, alone bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	if own.Resting {
		view.addWaiting(&own)
	}
	if after != nil && alone {
		if view.positions == nil {
			view.positions = make(map[string]position)
		}
		view.positions[symbol] = position{Position: *after, exact: true}
	}
	if view.rowsAt.IsZero() && view.posAt.IsZero() {
		return // nothing to be held against
	}
	if view.own == nil {
		view.own = make(map[string][]accounting.Own)
	}
	view.own[symbol] = append(view.own[symbol], own)
	if len(view.own[symbol]) > maxOwn {
		view.rows, view.rowsAt, view.posAt = nil, time.Time{}, time.Time{}
		view.own = nil
		return
	}
	if after != nil && alone {
		view.markInPosition(symbol)
	}
}

// addWaiting adds an own order or run to the lists, which were read before it: else it
// would be taken for that of a later write.
func (a *accountView) addWaiting(own *accounting.Own) {
	switch {
	case own.ID == "" && own.Size.Valid: // an edit, which has no bound, leaves nothing new
		a.ordersAt, a.finAt = time.Time{}, time.Time{}
	case own.ID == "":
	case own.Run:
		a.runs = append(a.runs, own.ID)
	default:
		a.orders = append(a.orders, own.ID)
	}
}

func (a *accountView) markInPosition(symbol string) {
	for i := range a.own[symbol] {
		a.own[symbol][i].InPosition = true
	}
}

// unclear notes that an own write may have done anything: what was read of its account
// before a moment is known no longer.
func (v *accountViews) unclear(env Environment, id AccountID, symbol string, from time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	if !slices.ContainsFunc([]time.Time{view.posAt, view.rowsAt, view.ordersAt, view.finAt}, from.After) {
		held := view.held(symbol)
		held.exact = false
		view.positions[symbol] = held
		return
	}
	view.posAt, view.rowsAt, view.ordersAt, view.finAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	view.positions, view.own = nil, nil
}

// readSince reports whether any of the reads began after a moment.
func (v *accountViews) readSince(env Environment, id AccountID, at time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(env, id)
	return slices.ContainsFunc([]time.Time{view.posAt, view.rowsAt, view.ordersAt, view.finAt}, func(read time.Time) bool { return read.After(at) })
}

// baseline returns what is known of a symbol before a write, and what own writes did
// since; nil unless positions, trades and what waits are all known. Half of it could
// call an order absent that has run and been closed again.
func (v *accountViews) baseline(in *Intent, side accounting.Side) (*accounting.Baseline, []accounting.Own) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.views[accountKey{in.Environment, in.Account}]
	if view == nil || !view.serves(in, side) {
		return nil, nil
	}
	held := view.held(in.Symbol)
	return &accounting.Baseline{
		State: accounting.State{
			Position: held.Position,
			Rows:     view.rows,
			Orders:   view.orders,
			Runs:     view.runs,
			Finished: view.finished,
			Status:   string(view.status),
		},
		BeforeFirstUse: true,
	}, slices.Clone(view.own[in.Symbol])
}

// serves reports whether what is known is a baseline for a write.
func (a *accountView) serves(in *Intent, side accounting.Side) bool {
	if a.posAt.IsZero() || a.rowsAt.IsZero() {
		return false
	}
	e := endpointOf(in.Operation)
	if in.Environment == EnvLive && (a.ordersAt.IsZero() || e != nil && e.pro && a.finAt.IsZero()) {
		return false
	}
	held := a.held(in.Symbol)
	// Reads at once are enough for an entry where nothing is held on its side and
	// nothing waits.
	return held.exact || a.posAt.Sub(held.since) >= ledger.Lag ||
		in.Entry && held.Size.Sign() != int(side) && len(a.orders)+len(a.runs) == 0
}

// held is the position in a symbol.
func (a *accountView) held(symbol string) position {
	if p, seen := a.positions[symbol]; seen {
		return p
	}
	return position{since: a.posFrom}
}

// wantsRead reports whether an entry reads the account first: no read is younger than
// ten minutes, or those that there are do not make a baseline of it and another one
// does. Reads that own writes or those of an earlier run are too near to are not worth
// the wait.
func (v *accountViews) wantsRead(in *Intent, side accounting.Side, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(in.Environment, in.Account)
	if !v.passive(view, now) {
		return false
	}
	for _, at := range [...]time.Time{view.posAt, view.rowsAt, view.ordersAt} {
		if at.IsZero() || now.Sub(at) > baselineAge {
			return true
		}
	}
	return now.Sub(view.posAt) >= ledger.Lag && !view.serves(in, side)
}

// baselineAge is how old a baseline may be before an entry reads another.
const baselineAge = 10 * time.Minute

func orderIDs(open *OpenOrders) []string {
	ids := make([]string, len(open.Limits))
	for i := range open.Limits {
		ids[i] = string(open.Limits[i].ID)
	}
	return ids
}

func runIDs(runs []Run) []string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = string(runs[i].ID)
	}
	return ids
}
