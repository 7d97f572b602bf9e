package resolve

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/pending"
)

// AsksTwice reports whether nothing is known that a second execution of a write would meet beside what the
// first has: a close also closes what an own entry, a resting order or a run has filled between the two.
func (d *Driver) AsksTwice(w *OpenWrite) bool {
	isEntry := func(other *OpenWrite) bool { return other.Intent.Entry }
	return !w.Traits.Trades || !d.pending.beside(w, isEntry) && !d.mayWait(w.Places[0])
}

// SawWaiting notes in which markets of an account something rests or runs, by a read of all of it: each by
// its symbol, which is empty where the service does not show it.
func (d *Driver) SawWaiting(of books.AccountKey, waiting []accounting.Waiting, begun time.Time) {
	lag := d.cfg.Without().ReadLag()
	d.view.mu.Lock()
	defer d.view.mu.Unlock()
	for p, known := range d.waits {
		in := func(o accounting.Waiting) bool { return o.Symbol == p.Symbol || o.Symbol == "" }
		if p.Environment == of.Environment && p.Account == of.ID && begun.Sub(known) >= lag && !slices.ContainsFunc(waiting, in) {
			delete(d.waits, p)
		}
	}
	for i := range waiting {
		d.waits[pending.Place{Environment: of.Environment, Account: of.ID, Symbol: waiting[i].Symbol}] = begun
	}
}

// leftWaiting notes that a write has left something that rests or runs.
func (v *view) leftWaiting(w *OpenWrite) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waits[w.Places[0]] = time.Now()
}

// mayWait reports whether something may rest or run in a market.
func (v *view) mayWait(p pending.Place) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, here := v.waits[p]
	p.Symbol = ""
	_, somewhere := v.waits[p]
	return here || somewhere
}
