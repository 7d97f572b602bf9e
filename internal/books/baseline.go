package books

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// ids are those that are known before a write that leaves one; nil where they are not.
func (a *account) ids(w *Booked) *accounting.IDs {
	switch {
	case !w.waits(), a.ordersAt.IsZero(), w.Run && a.finAt.IsZero():
		return nil
	case w.Run:
		return &accounting.IDs{
			Runs:         a.runs,
			Finished:     accounting.Newest{IDs: slices.Concat(a.finished.IDs, a.ended), More: a.finished.More},
			FinishedLags: a.finAt.Sub(a.runsFrom) < a.lag,
		}
	default:
		return &accounting.IDs{Orders: slices.Concat(a.orders, withoutIDs(IDsOf(a.trails.waited), a.orders))}
	}
}

// left adds the id of what another write has left to those that an open one knows; without it nothing is
// known of them any more.
func (w *Booked) left(own *accounting.Own) {
	switch {
	case w.ids == nil:
	case own.WaitID == "":
		w.ids = nil
	default:
		ids := *w.ids
		ids.Orders, ids.Runs = append(slices.Clip(ids.Orders), own.WaitID), append(slices.Clip(ids.Runs), own.WaitID)
		w.ids = &ids
	}
}

// shown is the moment before which all that happened shows in the position and in the closed trades.
func (a *account) shown() time.Time { return earlier(a.posAt, a.rowsAt).Add(-a.lag) }

// stood reports whether a position and the closed trades were as they were read at one moment:
// neither changed for so long that both reads show it.
func (a *account) stood(symbol string, held position) bool {
	since, fresh := a.rowsSince[symbol]
	if !fresh {
		since = a.rowsFrom
	}
	return a.posAt.Sub(held.since) >= a.lag && a.rowsAt.Sub(held.since) >= a.lag && held.at.Sub(since) >= a.lag
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
	return now.Sub(a.posEnded) >= a.lag && a.lacks(w)
}

// lacks reports whether what is known is no baseline for a write that counts for certain, and another look
// would be one.
func (a *account) lacks(w *Booked) bool {
	symbol := w.Places[0].Symbol
	of := a.trails.trail(symbol)
	switch {
	case w.Run: // ids are all that it needs
		return false
	case a.declared:
		return a.lacksBase(symbol) || a.trails.unseen(symbol, a.shown()) || of.hidesEntry(w)
	}
	a.rebase(symbol, of)
	return of.Base == nil || of.hidesEntry(w) || len(of.Acts) >= accounting.MostSince/2
}

// hidesEntry reports whether a write may add what something has closed before that the baseline does not show.
func (of *trail) hidesEntry(w *Booked) bool {
	return of.Base != nil && of.Base.Newer && of.Base.Position.Sign() == int(w.Asked.Side)
}
