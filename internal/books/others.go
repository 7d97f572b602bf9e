package books

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// What nobody of this program can have left on a live account is a sign that somebody else
// trades it. Where an own write may have left it, it is none: that may be in doubt, a run
// may have placed it, an order may have rested, a read may show what is gone already.

// Watch has signs of others count from now on: what earlier runs left is in the books. The
// service may carry that out at any time, and without a journal nobody knows of it.
func (b *Books) Watch() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watched = true
}

// Others returns the first sign that somebody else trades an account; "" if there was none.
func (b *Books) Others(id AccountKey) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.of[id]; a != nil {
		return a.others
	}
	return ""
}

// NoteOthers notes a sign that an earlier run has seen; "" if none counts any longer.
func (b *Books) NoteOthers(id AccountKey, sign string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(id)
	a.others, a.suspect = sign, ""
}

// seeing changes an account by what a read shows, and reports the first sign of others.
func (b *Books) seeing(id AccountKey, see func(*account)) {
	if sign := b.sees(id, see); sign != "" && b.report != nil {
		b.report(id, sign)
	}
}

func (b *Books) sees(id AccountKey, see func(*account)) (sign string) {
	b.mu.Lock()
	defer b.mu.Unlock() // also where what is read makes it panic
	a := b.account(id)
	before := a.others
	see(a)
	if before == "" && id.live() && b.watched {
		return a.others
	}
	if a.others = before; !b.watched {
		a.suspect = ""
	}
	return ""
}

// seekOrders looks for what waits, and is neither known nor an own write's.
func (a *account) seekOrders(resting, running []accounting.Waiting) {
	a.ran = a.ran || len(running) > 0
	unnamed := a.unnamed
	if a.unnamed = false; a.ordersAt.IsZero() || unnamed || a.mayHave((*Booked).waits) {
		return
	}
	known := map[string]bool{}
	for _, id := range slices.Concat(a.orders, a.runs, a.finished.IDs, a.ended) {
		known[id] = true
	}
	for i := range a.trails.waited {
		if o := &a.trails.waited[i]; !o.Gone.IsZero() {
			known[o.ID] = true
		}
	}
	for i := range resting {
		if !known[resting[i].ID] && !a.ran { // a run may place orders, and leave them
			a.others = "order " + resting[i].ID + " rests, and the program has not placed it"
		}
	}
	for i := range running {
		if !known[running[i].ID] {
			a.others = "run " + running[i].ID + " runs, and the program has not started it"
		}
	}
}

// seekTrades looks for a trade that was closed at the market since the list before, in a
// symbol in which the program had nothing under way and nothing waiting since then.
func (a *account) seekTrades(list []accounting.Row, ended time.Time) {
	if a.rowsAt.IsZero() || len(a.rows) == 0 || a.ordersAt.IsZero() || !a.waitedKnown || a.suspect != "" {
		return
	}
	shown := func(d accounting.Row) bool {
		return slices.ContainsFunc(a.rows, func(r accounting.Row) bool { return r.Digest == d.Digest })
	}
	fresh := slices.IndexFunc(list, func(r accounting.Row) bool { return r.Digest == a.rows[0].Digest })
	for i := range max(fresh, 0) {
		if symbol := list[i].Symbol; symbol != "" && list[i].Cause == accounting.Market && !shown(list[i]) && !a.activeIn(symbol) {
			a.suspect, a.suspectAt, a.suspectIn = "a trade in "+symbol+" was closed, and the program has not closed it", ended, a.rowsStatus
		}
	}
}

// confirm takes what was suspected for a sign, unless the status has changed: with such a
// change the service itself closes what is open.
func (a *account) confirm(asked time.Time) {
	if a.suspect == "" || asked.Sub(a.suspectAt) < a.lag {
		return
	}
	if a.status == a.suspectIn && a.status != "" {
		a.others = a.suspect
	}
	a.suspect = ""
}

// activeIn reports whether anything of the program's may have traded in a symbol since the
// last list of closed trades.
func (a *account) activeIn(symbol string) bool {
	in := func(p string) bool { return p == symbol || p == "" }
	since := earlier(a.posAt, a.rowsAt).Add(-a.lag)
	return a.trails.trail(symbol).ended > 0 || len(a.trails.known(symbol, since)) > 0 ||
		a.mayHave(func(w *Booked) bool { return in(w.Places[0].Symbol) || w.waits() })
}

// mayHave reports whether a write that is under way may have done such a thing.
func (a *account) mayHave(may func(*Booked) bool) bool {
	for w := range a.open {
		if may(w) {
			return true
		}
	}
	return false
}
