package trading

import (
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"
)

// readLag is how far the service's reads may lag behind: a read begun sooner
// after one of our writes may still show the account as it was before.
const readLag = 5 * time.Second

// accountViews is what the program's own calls have shown of its accounts. It
// never asks for anything by itself.
type accountViews struct {
	mu    sync.Mutex
	views map[AccountID]*accountView
}

type accountView struct {
	status    AccountStatus // as last seen; empty if never
	moved     time.Time     // when a write of ours was last under way
	moves     int           // how often one began or ended
	positions map[string]heldPosition
	posRead   time.Time           // when the positions were read as a whole; zero if they are not known
	trades    map[string][]uint64 // digests, by symbol
	tradeRead time.Time
	orders    []OrderID
	runs      []RunID
	orderRead time.Time
	finished  []RunID
	finRead   time.Time
}

type heldPosition struct {
	size, entry decimal.Decimal
	armed       bool // it has a trigger, or may have one
}

func holding(p Position) heldPosition {
	return heldPosition{size: p.Signed(), entry: p.EntryPrice, armed: !p.TakeProfit.IsClear() || !p.StopLoss.IsClear()}
}

// view returns the account's view, made when first seen. The lock is held.
func (v *accountViews) view(id AccountID) *accountView {
	if v.views == nil {
		v.views = make(map[AccountID]*accountView)
	}
	view := v.views[id]
	if view == nil {
		view = &accountView{}
		v.views[id] = view
	}
	return view
}

// saw notes a status.
func (v *accountViews) saw(id AccountID, status AccountStatus) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view(id).status = status
}

// status returns the status last seen; empty if none was.
func (v *accountViews) status(id AccountID) AccountStatus {
	v.mu.Lock()
	defer v.mu.Unlock()
	if view := v.views[id]; view != nil {
		return view.status
	}
	return ""
}

// settled reports whether a read begun at that time is behind our last write.
func (w *accountView) settled(begun time.Time) bool {
	return w.moved.IsZero() || begun.Sub(w.moved) >= readLag
}

func (v *accountViews) sawPositions(id AccountID, begun time.Time, positions Positions) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(id)
	if !view.settled(begun) {
		return
	}
	view.positions = make(map[string]heldPosition, len(positions))
	for _, p := range positions {
		view.positions[p.Symbol] = holding(p)
	}
	view.posRead = begun
}

func (v *accountViews) sawTrades(id AccountID, begun time.Time, trades []Trade) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(id)
	if !view.settled(begun) {
		return
	}
	view.trades = make(map[string][]uint64)
	for i := range trades {
		t := &trades[i]
		view.trades[t.Symbol] = append(view.trades[t.Symbol], digestOfTrade(t))
	}
	view.tradeRead = begun
}

func (v *accountViews) sawOrders(id AccountID, begun time.Time, open *OpenOrders) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(id)
	if !view.settled(begun) {
		return
	}
	view.orders, view.runs = orderIDs(open), sortedRunIDs(open.Runs)
	view.orderRead = begun
}

func (v *accountViews) sawFinished(id AccountID, begun time.Time, runs []Run) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(id)
	if !view.settled(begun) {
		return
	}
	view.finished, view.finRead = sortedRunIDs(runs), begun
}

// opened notes the position that an order of ours has opened or added to, from
// its own answer. Nothing else of the account has changed by it, so what was
// known before the order is known again.
func (v *accountViews) opened(id AccountID, before knowledge, answered time.Time, p Position) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(id)
	if before.moves != view.moves-2 || before.posRead.IsZero() {
		return // another write of ours has been under way beside it
	}
	if held, ok := view.positions[p.Symbol]; ok && held.size.Sign() == -p.Signed().Sign() {
		return // it has closed a position first, and left a trade
	}
	view.positions[p.Symbol] = holding(p)
	view.posRead = answered
	view.tradeRead, view.orderRead, view.finRead = before.tradeRead, before.orderRead, before.finRead
}

// knowledge is which parts of an account were known when a write began.
type knowledge struct {
	moves                                  int
	posRead, tradeRead, orderRead, finRead time.Time
}

// knows returns what is known now.
func (v *accountViews) knows(id AccountID) knowledge {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(id)
	return knowledge{view.moves, view.posRead, view.tradeRead, view.orderRead, view.finRead}
}

// moved notes that a write of ours is, or has been, under way at a time: what was read
// before says nothing about the account after it.
func (v *accountViews) moved(id AccountID, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.view(id)
	if at.After(view.moved) { // of two that end at once, the later
		view.moved = at
	}
	view.moves++
	view.posRead, view.tradeRead, view.orderRead, view.finRead = time.Time{}, time.Time{}, time.Time{}, time.Time{}
}

// baseline returns what is known of a symbol; none unless positions, trades and
// what waits are all known from behind our last write. Half of it could call an
// order absent that has run and been closed again.
//
// A Pro order also shows among the finished runs, so those have to be known too.
func (v *accountViews) baseline(id AccountID, symbol string, pro bool) *Baseline {
	v.mu.Lock()
	defer v.mu.Unlock()
	view := v.views[id]
	if view == nil || view.posRead.IsZero() || view.tradeRead.IsZero() || view.orderRead.IsZero() || pro && view.finRead.IsZero() {
		return nil
	}
	held := view.positions[symbol]
	// A trade that does not name its symbol may be in any.
	trades := append(slices.Clone(view.trades[symbol]), view.trades[""]...)
	b := &Baseline{
		At:         oldest(view.posRead, view.tradeRead, view.orderRead),
		Size:       held.size,
		EntryPrice: held.entry,
		Orders:     slices.Clone(view.orders),
		Runs:       slices.Clone(view.runs),
		Trades:     trades,
		Armed:      held.armed,
	}
	if pro {
		b.Finished = slices.Clone(view.finished)
	}
	return b
}

// paperAccount is the paper account among the views; no live account has that id.
const paperAccount AccountID = ""

// sandboxBaseline is baseline for the paper account, where nothing waits.
func (v *accountViews) sandboxBaseline(symbol string) *Baseline {
	v.mu.Lock()
	view := v.view(paperAccount)
	view.orderRead = view.posRead
	v.mu.Unlock()
	return v.baseline(paperAccount, symbol, false)
}

func oldest(times ...time.Time) time.Time {
	return slices.MinFunc(times, time.Time.Compare)
}

func orderIDs(open *OpenOrders) []OrderID {
	ids := make([]OrderID, len(open.Limits))
	for i, o := range open.Limits {
		ids[i] = o.ID
	}
	slices.Sort(ids)
	return ids
}

func sortedRunIDs(runs []Run) []RunID {
	ids := make([]RunID, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	slices.Sort(ids)
	return ids
}
