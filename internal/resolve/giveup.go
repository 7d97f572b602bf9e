package resolve

import (
	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
)

// giveUp notes that nobody can find out about a write, as two looks have shown. On a declared
// account the looks then show all that there is, whatever the write did, since it can run no
// more: once nothing else hides that, the market of an order or a close is open again, and only
// its outcome stays unknown. final is false only where a later look could still open it. That a write
// can still run the ledger knows: to it a look is final only once the write is held or gone.
func (d *Driver) giveUp(w *OpenWrite, shown *seenLook, why accounting.Reason) (final bool) {
	n := len(shown.began)
	if !w.asked().Kind.Acts() || w.marketOpen.Load() || !w.Ledger.WasOver(d.Clocks.Now()) {
		return true
	}
	looks, show := books.Read{Begun: shown.began[n-2], Ended: shown.look.Ended}, shown.look.State(w.Intent.Symbol)
	first, opens := w.books.GiveUp(&w.booked, looks, shown.began[n-1], show)
	if first {
		d.goOnBeside(w) // what waited for it in vain waits no more
	}
	exclusive := w.Ledger.Exclusive && d.Exclusive(w.Intent.Account) && !w.gap && w.Ledger.Keyed && w.Ledger.FirstUseKnown
	switch why {
	case accounting.BothFit, accounting.TooManyOrders, accounting.SizesTooFine, accounting.NoBaseline:
	default:
		exclusive = false // there may be others, or what is shown is not understood
	}
	if !exclusive || !accounting.Open(show.Status) {
		return true
	}
	if !opens || !w.Ledger.WasOver(d.Clocks.At(looks.Begun)) {
		return false
	}
	// A later run must not judge it by a trail that ends here. That it hides nothing stands behind
	// what those beside it have to know.
	gone := record{Beside: &books.Note{NoIDs: true, NoTrail: true}}
	if d.noteBefore(w, gone) != nil {
		return false
	}
	opened, unnoted := w.books.OpenMarket(&w.booked, looks, shown.began[n-1], show)
	if !opened {
		return false
	}
	if unnoted == nil {
		_ = d.store.later(w, record{Beside: &books.Note{MarketOpen: true}})
	}
	w.marketOpen.Store(true)
	return true
}
