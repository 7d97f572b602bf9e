package books

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// baseline returns what is known of a symbol before a write; nil unless positions,
// trades and what waits are all known. Half of it could call an order absent that has
// run and been closed again. It has only what the write needs.
func (a *account) baseline(w *Booked) *accounting.Base {
	if !a.serves(w) {
		return nil
	}
	held := a.held(w.Places[0].Symbol)
	base := &accounting.Base{
		Position: held.Size, Rows: a.rows, Status: a.status, At: a.trails.clock,
		RowsNewer: !a.together(w.Places[0].Symbol, held),
	}
	switch {
	case w.Run:
		base.Runs = a.runs
		base.Finished = accounting.Newest{IDs: slices.Concat(a.finished.IDs, a.ended), More: a.finished.More}
		base.FinishedLags = a.finAt.Sub(a.runsFrom) < a.lag
	case w.waits():
		base.Orders = a.orders
	}
	return base
}

// serves reports whether what is known is a baseline for a write.
func (a *account) serves(w *Booked) bool {
	if a.posAt.IsZero() || a.rowsAt.IsZero() || w.Lists && a.ordersAt.IsZero() || w.Run && a.finAt.IsZero() {
		return false
	}
	symbol := w.Places[0].Symbol
	held := a.held(symbol)
	// Reads at once are enough for an entry where nothing is held on its side and
	// nothing waits: then no trade between them is missing on that side.
	return a.together(symbol, held) ||
		w.Entry && held.Size.Sign() != int(w.Asked.Side) && len(a.orders)+len(a.runs) == 0
}

// together reports whether a position and the closed trades are of one moment.
func (a *account) together(symbol string, held position) bool {
	return held.exact && a.agree(symbol, held) || a.stood(symbol, held)
}

// shown is the moment before which all that happened shows in the position and in the closed trades.
func (a *account) shown() time.Time { return earlier(a.posAt, a.rowsAt).Add(-a.lag) }

// stood reports whether a position and the closed trades were as they were read at one moment:
// neither changed for so long that both reads show it.
func (a *account) stood(symbol string, held position) bool {
	return a.posAt.Sub(held.since) >= a.lag && a.rowsAt.Sub(held.since) >= a.lag && a.agree(symbol, held)
}

// agree reports whether the position shows every closed trade that the rows show. One
// that an order of before left between the two reads would be missing in both.
func (a *account) agree(symbol string, held position) bool {
	since, fresh := a.rowsSince[symbol]
	if !fresh {
		since = a.rowsFrom
	}
	if held.exact && !held.at.Before(since) {
		return true // an answer does not lag
	}
	return held.at.Sub(since) >= a.lag
}

// baselineAge is how old a baseline may be before an entry reads another.
const baselineAge = 10 * time.Minute

// WantsRead reports whether a write reads the account first: no read is younger than ten
// minutes, or those that there are do not make a baseline of it and another one does.
// Reads that own writes or those of an earlier run are too near to are not worth the wait.
func (b *Books) WantsRead(w *Booked, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	if !b.passive(w.account(), a, now) {
		return false
	}
	tooOld := func(at time.Time) bool { return at.IsZero() || now.Sub(at) > baselineAge }
	if slices.ContainsFunc([]time.Time{a.posAt, a.rowsAt, a.ordersAt, a.statusAt}, tooOld) || w.Run && tooOld(a.finAt) {
		return true
	}
	return now.Sub(a.posEnded) >= a.lag && (!a.serves(w) || a.trailed &&
		(w.Asked.Kind.Acts() && a.lacksBase(w.Places[0].Symbol) || a.trails.unseen(w.Places[0].Symbol, a.shown())))
}
