package resolve

import (
	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// judgeTrail judges an order or a close on an exclusive account by every course that the trades of its
// market can have taken since the baseline of the trail; false where there is none, or the write is not in it.
func (d *Driver) judgeTrail(w *Write, f *accounting.Facts, shown *seenLook, lookedBefore bool) (v accounting.Verdict, judged bool) {
	if !f.Exclusive || f.Ended || !w.asked().Kind.Acts() || !w.Ledger.Keyed || !w.Ledger.FirstUseKnown {
		return v, false
	}
	over := f.Held || f.Gone
	c, ok := w.books.Course(&w.booked, over, f.Look.Status)
	if !ok {
		return v, false
	}
	n := len(shown.began) // of equal looks the first may be behind an own write that the last two are not
	equal := n >= 2 && c.Still(shown.began[n-2], f.Look.Position.Size, f.Look.Rows)
	// The status was read before the closed trades, and may lag: only what equal looks show was
	// closed before the last of them asked for it.
	c.Halted = c.Halted || !equal
	found := c.Of(c.Asked, accounting.NoAct)
	v.Outcome, v.Reason = found.Verdict()
	v.Likely = v.Outcome
	switch {
	case v.Outcome == ledger.NotApplied && !over:
		v.Outcome, v.Reason = ledger.Unknown, accounting.NotHeld
	case v.Outcome != ledger.Unknown && (equal || lookedBefore): // own writes beside the looks make them differ
	case v.Reason == accounting.NothingFits && f.Look.Equal >= 2, equal && !c.Open(): // nothing that follows says more
	case equal: // another one is under way, which may never be found out about
		v.Outcome, v.Reason = ledger.Unknown, accounting.PendingBeside
	default:
		v.Outcome, v.Reason = ledger.Unknown, accounting.LookAgain
	}
	if v.Reason == accounting.NothingFits {
		w.books.Lost(&w.booked)
	}
	return v, true
}

// giveUp notes why nobody can find out about a write, which two looks have found. On a declared
// account the looks then show all that there is, whatever the write did, since it can run no
// more: once nothing else hides that, the market of an order or a close is open again, and only
// its outcome stays unknown. final means that nothing is to be waited for.
func (d *Driver) giveUp(w *Write, shown *seenLook, why accounting.Reason) (final bool) {
	n := len(shown.began)
	if !w.asked().Kind.Acts() || n < 2 || w.settled || !w.Ledger.WasOver(d.Clock.Now()) {
		return true
	}
	looks, show := books.Read{Begun: shown.began[n-2], Ended: shown.look.Ended}, shown.look.State(w.Intent.Symbol)
	first, settles := w.books.GiveUp(&w.booked, looks, show)
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
	if !settles || !w.Ledger.WasOver(d.Clock.At(looks.Begun)) {
		return false
	}
	// A later run must not judge it by a trail that ends here. That it hides nothing stands behind
	// what those beside it have to know.
	gone := record{Beside: &books.Note{NoBaseline: true, NoTrail: true}}
	if d.noteBefore(w, gone) != nil || !w.books.Settle(&w.booked, looks, show) {
		return false
	}
	d.store.later(w, record{Beside: &books.Note{Settled: true}})
	d.pending.settle(w)
	d.say(func() { w.settled = true })
	return true
}
