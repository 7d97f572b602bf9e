package protect

import (
	"fmt"

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
	ID     string                       `json:",omitempty"`
	// Known means that it was carried out.
	Known bool `json:",omitempty"`
}

// save writes the record with what is reserved now. The lock is held.
func (w *watcher) save(r *record, durable bool) error {
	r.Reserved = nil
	for one := range w.reserved {
		if one.unjudged == nil { // that one is pending in the journal, which Adopt reads
			r.Reserved = append(r.Reserved, kept{
				Symbol: one.symbol, Side: one.side, Size: one.size, Price: one.price, Limit: one.limit, Stop: one.stop,
				Exit: one.exit, Whole: one.whole, ID: one.id, Known: !one.answered.unset(),
			})
		}
	}
	return w.p.store.save(r, durable)
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
// shows it; the others are in doubt until [Protection.Adopt] says which of them are pending.
func (w *watcher) recall() {
	now := w.p.now()
	for _, k := range w.record.Reserved {
		r := &reservation{
			symbol: k.Symbol, side: k.Side, size: k.Size, price: k.Price, limit: k.Limit, stop: k.Stop,
			exit: k.Exit, whole: k.Whole, id: k.ID,
		}
		if k.Known || k.ID != "" {
			r.answered = now
		} else {
			r.left, r.forget = true, instant{now.wall.Add(gone), now.mono + gone}
		}
		w.reserved[r] = struct{}{}
	}
}

// same reports whether an order may do what another may.
func (r *reservation) same(o *reservation) bool {
	return r.symbol == o.symbol && r.side == o.side && r.size.Equal(o.size) && r.price.Equal(o.price) &&
		r.limit == o.limit && r.stop.Equal(o.stop) && r.exit == o.exit
}

// find takes the reservation that an earlier run has left for a pending write. The lock is held.
func (w *watcher) find(of *reservation) *reservation {
	for r := range w.reserved {
		if r.left && r.same(of) {
			r.left, r.forget = false, instant{}
			return r
		}
	}
	w.reserved[of] = struct{}{}
	return of
}

// release lets a look end what an earlier run has left and what is not pending. The lock is held.
func (w *watcher) release() {
	for r := range w.reserved {
		if r.left {
			r.left, r.forget, r.answered = false, instant{}, w.p.now()
		}
	}
}

// errUnkept is why an entry is refused that a restart would not know of.
func errUnkept(err error) error {
	return fmt.Errorf("%w: what it may do could not be written: %w", ErrNotJudged, err)
}
