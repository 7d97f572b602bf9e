package books

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/pending"
)

// known are the orders and runs that may have traded in a symbol since a moment, own ones and
// those that reads have shown.
func (t *trails) known(symbol string, from time.Time) (may []accounting.Waiting) {
	for i := range t.waited {
		o := &t.waited[i]
		if (o.Symbol == "" || o.Symbol == symbol) && (o.Gone.IsZero() || o.Gone.After(from)) {
			may = append(may, *o)
		}
	}
	return may
}

// waiting are these, and one that stands for any where there may be others.
func (t *trails) waiting(symbol string, from time.Time) []accounting.Waiting {
	may := t.known(symbol, from)
	if t.unseen(symbol, from) {
		may = append(may, accounting.Waiting{})
	}
	return may
}

// unseen reports whether an order or a run that an earlier run left may have traded in a symbol
// since a moment, and be in no read: it ended before the first read of what waits.
func (t *trails) unseen(symbol string, from time.Time) bool {
	since := t.lists
	if of := t.trail(symbol).lists; !of.IsZero() && (since.IsZero() || of.Before(since)) {
		since = of
	}
	return since.IsZero() || since.After(from)
}

// waiting is a write under way, or one of which nobody knows what it left.
func (w *Booked) waiting() accounting.Waiting {
	o := accounting.Waiting{ID: w.ID, Symbol: w.Places[0].Symbol, Side: w.Asked.Side, Run: w.Run || w.Asked.Kind == accounting.EditRun}
	if o.Symbol == pending.AnyMarket {
		o.Symbol = ""
	}
	return o
}

// waitsFor notes what a write may leave, or an edit that may have a run trade more.
func (t *trails) waitsFor(w *Booked) {
	t.edits(w.Asked.Kind)
	t.waits(w.waiting())
}

// edits takes the bounds of runs away where a write edits one.
func (t *trails) edits(kind accounting.ActKind) {
	if kind != accounting.EditRun {
		return
	}
	t.edited = true
	for i := range t.waited {
		if o := &t.waited[i]; o.Run {
			o.Size = decimal.NullDecimal{}
		}
	}
}

// waits notes an order or a run that may trade by itself.
func (t *trails) waits(o accounting.Waiting) {
	if o.Run && t.edited {
		o.Size = decimal.NullDecimal{}
	}
	for i := range t.waited {
		if t.waited[i].ID != o.ID {
			continue
		}
		known := &t.waited[i]
		if known.Gone = (time.Time{}); !known.Size.Valid || known.Size.Decimal.LessThan(o.Size.Decimal) { // reads show what is left of it
			*known = o
		}
		return
	}
	t.waited = append(t.waited, o)
	if len(t.waited) > maxWaited { // one that stands for any
		t.waited = slices.Delete(t.waited, 0, 1)
		t.waited[0] = accounting.Waiting{}
	}
}

// waitedFor notes what became of a write that may have left something that waits.
func (t *trails) waitedFor(w *Booked, did *Did) {
	if did != nil && did.refused() { // what waits shows whether it did
		return
	}
	t.waited = slices.DeleteFunc(t.waited, func(o accounting.Waiting) bool {
		return o.ID == w.ID && (did == nil || did.Own.WaitID != "" || !did.unclear() && !did.Own.Waits())
	})
	if did != nil && did.Own.WaitID != "" {
		t.waits(did.Own.Left())
	}
}

// sawWaiting takes in what rests and runs, by a read that ended at a moment. all means that it
// shows what earlier runs wrote, own that it shows what this one did.
func (t *trails) sawWaiting(waiting []accounting.Waiting, ended time.Time, all, own bool) {
	if t.lists.IsZero() && all {
		t.lists = ended
	}
	shown := make(map[string]bool, len(waiting))
	for i := range waiting {
		t.waits(waiting[i])
		shown[waiting[i].ID] = true
	}
	for i := range t.waited {
		o := &t.waited[i]
		if own && o.ID != "" && o.Gone.IsZero() && !shown[o.ID] {
			o.Gone = ended
		}
	}
}

// forgetGone forgets what was gone by a moment, and when each baseline was, and each answer that may
// become one.
func (t *trails) forgetGone(by time.Time) {
	for _, of := range t.of {
		if of.Base != nil {
			by = earlier(by, of.From)
		}
		for i := range of.Acts {
			by = earlier(by, of.Acts[i].Began)
		}
	}
	t.waited = slices.DeleteFunc(t.waited, func(o accounting.Waiting) bool { return !o.Gone.IsZero() && !o.Gone.After(by) })
}

// mayRest reports whether a run may have rested orders since a moment.
func (t *trails) mayRest(from time.Time) bool {
	return slices.ContainsFunc(t.waited, func(o accounting.Waiting) bool { return o.Run && (o.Gone.IsZero() || o.Gone.After(from)) })
}
