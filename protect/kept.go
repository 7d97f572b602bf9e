package protect

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// kept is a reservation in the account's file, for the next run.
type kept struct {
	Symbol string
	Side   trading.Side `json:",omitempty"`
	Size   decimal.Decimal
	Price  trading.Opt[decimal.Decimal] `json:",omitzero"`
	Limit  bool                         `json:",omitempty"`
	Stop   trading.Level                `json:",omitzero"`
	Exit   bool                         `json:",omitempty"`
	Whole  bool                         `json:",omitempty"`
	Waits  bool                         `json:",omitempty"`
	ID     string                       `json:",omitempty"`
	// Known means that it was carried out.
	Known bool `json:",omitempty"`
	// Sent is when it was let pass, by this machine's clock.
	Sent time.Time `json:",omitzero"`
}

// save writes the record with what is reserved now. The lock is held.
func (w *watcher) save(r *record, durable bool) error {
	r.Reserved = w.keeps()
	return w.p.store.save(r, durable)
}

// keeps is what is reserved now, for the next run. The lock is held.
func (w *watcher) keeps() (all []kept) {
	now := w.p.now().mono
	for _, r := range w.reserved.All() {
		if r.Of.unread == nil && !r.Elsewhere { // Adopt reads the one in the journal, and a look shows the other
			all = append(all, kept{
				Symbol: r.Symbol, Side: r.Side, Size: r.Size, Price: r.Of.price, Limit: r.Of.limit, Stop: r.Of.stop,
				Exit: r.Exit, Whole: r.Of.whole, Waits: r.Waits, ID: r.Order, Known: r.Ended(now), Sent: r.Of.sent,
			})
		}
	}
	return all
}

// keepReserved writes what is reserved now: durably before an entry is sent, and when the service
// has named what it left waiting.
func (w *watcher) keepReserved(durable bool) error {
	next := w.record
	err := w.save(&next, durable)
	if err == nil {
		w.record = next
	}
	return err
}

// recall reserves what an earlier run has reserved. What was carried out ends with a look that
// shows it; the others are in doubt, since they were sent, until [Protection.Adopt] says which of them are pending.
func (w *watcher) recall() {
	now := w.p.now()
	for _, k := range w.record.Reserved {
		r := &reservation{
			Symbol: k.Symbol, Side: k.Side, Size: k.Size, Exit: k.Exit, Waits: k.Waits, Order: k.ID,
			Of: terms{price: k.Price, limit: k.Limit, stop: k.Stop, whole: k.Whole, sent: k.Sent},
		}
		if r.Applied(now.mono); !k.Known && k.ID == "" {
			r.Of.left = true
			r.InDoubt(now.mono - now.ago(k.Sent))
		}
		w.reserved.Add(r)
	}
}

// same reports whether an order may do what another may.
func same(r, o *reservation) bool {
	return r.Symbol == o.Symbol && r.Side == o.Side && r.Size.Equal(o.Size) && r.Of.price.Equal(o.Of.price) &&
		r.Of.limit == o.Of.limit && r.Of.stop.Equal(o.Of.stop) && r.Exit == o.Exit
}

// find takes the reservation that an earlier run has left for a pending write. The lock is held.
func (w *watcher) find(of *reservation) *reservation {
	for _, r := range w.reserved.All() {
		if r.Of.left && same(r, of) {
			r.Of.left = false
			return r
		}
	}
	w.reserved.Add(of)
	return of
}

// release lets a look end what an earlier run has left and what is not pending. The lock is held.
func (w *watcher) release() {
	for _, r := range w.reserved.All() {
		if r.Of.left {
			r.Of.left = false
			r.Applied(w.p.now().mono)
		}
	}
}

// errUnkept is why an entry is refused that a restart would not know of.
func errUnkept(err error) error {
	return fmt.Errorf("%w: what it may do could not be written: %w", ErrNotJudged, err)
}
