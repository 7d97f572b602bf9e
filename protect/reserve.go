package protect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
)

// reservation is what one write, or an order that was placed elsewhere, may still do to an account.
type reservation = claims.Claim[terms]

// terms are what the protection keeps with a claim.
type terms struct {
	price  trading.Opt[decimal.Decimal] // that it fills at; none is the mark
	limit  bool                         // it fills at its price now, if the mark is better
	stop   trading.Level
	whole  bool  // an exit of as much as is held
	unread error // why the request of a pending write cannot be read

	sent   time.Time        // when it was let pass, by this machine's clock, for the next run
	intent trading.IntentID // while its outcome is not known
	left   bool             // an earlier run ended before its outcome was known
}

// unjudged says why a reservation cannot be judged, nil if it can: while it is there, entries are refused. Of a run
// that was placed elsewhere the total is not known.
func unjudged(r *reservation) error {
	if _, priced := r.Of.price.Get(); r.Elsewhere && (r.Unsized || !priced) {
		return fmt.Errorf("%q was not placed through this guard, and its record does not tell what it may still do", r.Order)
	}
	return r.Of.unread
}

// add adds what a write may still do to its market's book.
func (b *book) add(r *reservation) {
	long := r.Side == trading.Long
	if r.Exit {
		size := r.Left()
		if r.Of.whole {
			size = b.size.Abs()
		}
		if long {
			b.bought = b.bought.Add(size)
		} else {
			b.sold = b.sold.Add(size)
		}
		return
	}
	at, priced := r.Of.price.Get()
	if !priced {
		at = b.mark
	}
	l := layer{size: r.Left(), price: at, loss: exitLoss(r.Side, at, r.Of.stop, b.bounds)}
	worse := at.Sub(b.mark)
	if !long {
		worse = worse.Neg()
	}
	if r.Of.limit && worse.IsPositive() {
		l.loss = l.loss.Add(worse)
	}
	if long {
		b.buys = append(b.buys, l)
	} else {
		b.sells = append(b.sells, l)
	}
}

// request is the part of a write's body that the order does not have.
type request struct {
	TriggerPrice trading.Opt[decimal.Decimal] `json:"triggerPrice"`
	StartPrice   trading.Opt[decimal.Decimal] `json:"startPrice"`
	EndPrice     trading.Opt[decimal.Decimal] `json:"endPrice"`
}

// reservationOf is what an entry may do. The stop of what waits for a trigger or is
// carried out over time does not count: when it is set is not known.
func reservationOf(t *ticket, o trading.Write) (*reservation, error) {
	if o.Order == nil {
		return nil, fmt.Errorf("%s can add exposure of a size that is not known", o.Operation)
	}
	r := &reservation{Symbol: o.Order.Symbol, Side: o.Order.Side, Size: o.Order.Size, Waits: o.Operation != trading.OpOrder}
	var extra request
	if err := json.Unmarshal(t.body, &extra); err != nil {
		return nil, fmt.Errorf("the request of %s cannot be read: %w", o.Operation, err)
	}
	switch o.Operation {
	case trading.OpOrder:
		r.Of.stop = o.Order.StopLoss
	case trading.OpLimit:
		r.Of.stop = o.Order.StopLoss
		limit, ok := o.Order.LimitPrice.Value()
		if !ok {
			return nil, errors.New("the order has no limit price")
		}
		r.Of.price, r.Of.limit = trading.Some(limit), true
	case trading.OpConditional:
		if extra.TriggerPrice.IsZero() {
			return nil, errors.New("the order has no trigger price")
		}
		r.Of.price = extra.TriggerPrice
	case trading.OpLadder:
		from, a := extra.StartPrice.Get()
		to, b := extra.EndPrice.Get()
		if !a || !b {
			return nil, errors.New("the ladder has no prices")
		}
		r.Of.price, r.Of.limit = trading.Some(decimal.Max(from, to)), true
		if r.Side == trading.Short {
			r.Of.price = trading.Some(decimal.Min(from, to))
		}
	}
	return r, nil
}

// ticket is what the hooks keep of one call for the guard.
type ticket struct {
	body []byte

	mu          sync.Mutex
	reservation *reservation
	watcher     *watcher
	ended       bool
}

// ticketKey finds it in the context of the call; every protection has its own.
type ticketKey struct{ *Protection }

// Hooks tell the protection what became of the entries that its guard let pass. They need
// [Protection.Guard] in the same client.
func (p *Protection) Hooks() trading.Hooks {
	return trading.Hooks{
		CallStart: func(ctx context.Context, c trading.Call) context.Context {
			if !c.Write || p.watchers[c.Account] == nil {
				if ctx.Value(ticketKey{p}) != nil { // a read that the client makes for a write, in its context
					ctx = context.WithValue(ctx, ticketKey{p}, (*ticket)(nil))
				}
				return ctx
			}
			return context.WithValue(ctx, ticketKey{p}, &ticket{body: append([]byte(nil), c.Body...)})
		},
		AttemptDone: func(ctx context.Context, _ trading.Call, a trading.Attempt) {
			if t, ok := ctx.Value(ticketKey{p}).(*ticket); ok && t != nil && a.Status/100 == 2 {
				t.answered(a.Response)
			}
		},
		CallDone: func(ctx context.Context, _ trading.Call, d trading.Done) {
			if t, ok := ctx.Value(ticketKey{p}).(*ticket); ok && t != nil {
				t.done(d)
			}
		},
		Resolved: func(_ context.Context, r trading.Resolution) {
			if w := p.watchers[r.Intent.Account]; w != nil {
				w.resolved(r)
			}
		},
	}
}

// answered keeps the id of what waits with the service, on the disk too: of a run that is not known
// there, nothing can be judged after a start.
func (t *ticket) answered(body []byte) {
	t.mu.Lock()
	r, w := t.reservation, t.watcher
	t.mu.Unlock()
	if r == nil {
		return
	}
	w.mu.Lock()
	r.Answered(body)
	id := r.Order
	var err error
	if id != "" {
		err = w.keepReserved(true)
	}
	w.mu.Unlock()
	if err != nil {
		w.alert(fmt.Sprintf("the id of %s could not be written: %v", id, err))
	}
}

// end is the end of the call: nothing is reserved for it any more.
func (t *ticket) end() (*reservation, *watcher) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	return t.reservation, t.watcher
}

// done is how the call ended.
func (t *ticket) done(d trading.Done) {
	r, w := t.end()
	if r == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { _ = w.keepReserved(false) }() // without it the next run counts it for longer
	if d.Outcome != trading.Unknown {
		w.conclude(r, d.Outcome, nil)
		return
	}
	r.InDoubt(w.p.now().mono)
	var e *trading.WriteError
	if !errors.As(d.Err, &e) || e.Intent == "" {
		return
	}
	r.Of.intent = e.Intent
	if res, known := w.early[e.Intent]; known {
		w.conclude(r, res.Outcome, res.Answer)
	}
}

// conclude ends a reservation, or lets it wait for a look that shows it, by the name that the answer has. The lock is
// held.
func (w *watcher) conclude(r *reservation, outcome trading.Outcome, answer []byte) {
	delete(w.early, r.Of.intent)
	r.Answered(answer)
	switch outcome {
	case trading.NotApplied:
		w.reserved.Drop(r)
	case trading.Applied:
		r.Of.intent = ""
		r.Applied(w.p.now().mono)
		w.nudge()
	}
}

// hold keeps a reservation for the call. It returns false if the call has ended.
func (t *ticket) hold(r *reservation, w *watcher) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	r.Of.sent = w.p.now().wall
	t.reservation, t.watcher = r, w
	return true
}

// own is the reservation of an earlier send of the call; nil if there was none.
func (t *ticket) own() *reservation {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reservation
}

// mostEarly bounds how many outcomes are kept that came before the call had ended.
const mostEarly = 256

// resolved is the end of a write in doubt.
func (w *watcher) resolved(res trading.Resolution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.reserved.All() {
		if r.Of.intent == res.Intent.ID && r.Of.intent != "" {
			w.conclude(r, res.Outcome, res.Answer)
			_ = w.keepReserved(false) // as at the end of a call
			return
		}
	}
	if res.Outcome == trading.Unknown {
		return
	}
	if w.early == nil || len(w.early) == mostEarly {
		w.early = make(map[trading.IntentID]trading.Resolution)
	}
	w.early[res.Intent.ID] = res // its call has not ended yet
}

// elsewhere is of what rests on the account and was not reserved here.
func elsewhere(o *trading.RestingOrder) terms { return terms{price: o.LimitPrice, limit: true} }

// own counts what was reserved here. The lock is held.
func (w *watcher) own() (n int) {
	for _, r := range w.reserved.All() {
		if !r.Elsewhere {
			n++
		}
	}
	return n
}

// leave notes an exit: until a look shows it, an opposite order may open more than it
// seems to.
func (w *watcher) leave(t *ticket, o trading.Write) {
	if t == nil || t.own() != nil || o.Symbol == "" {
		return
	}
	r := &reservation{Symbol: o.Symbol, Exit: true, Waits: o.Operation != trading.OpOrder && o.Operation != trading.OpClose}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.Operation == trading.OpClose && w.look != nil:
		held, open := w.look.positions.In(o.Symbol)
		if !open {
			return
		}
		r.Of.whole, r.Side = true, trading.Short
		if held.Side == trading.Short {
			r.Side = trading.Long
		}
	case o.Order != nil:
		r.Side, r.Size = o.Order.Side, o.Order.Size
	default:
		return
	}
	if t.hold(r, w) {
		w.reserved.Add(r)
		_ = w.keepReserved(false) // nothing holds an exit up
	}
}

// Adopt reserves what writes may still do that earlier runs have left, as
// [trading.Client.Pending] lists them: without it those of a bot in another process are not counted
// until a look shows them, and what this protection itself has let pass counts for 45 minutes from then.
// Call it before the bot trades. The error names those that cannot be judged; while one is pending
// its account's entries are refused, for 45 minutes from its decision at the most.
func (p *Protection) Adopt(left ...trading.PendingWrite) error {
	var errs []error
	for i := range left {
		w := p.watchers[left[i].Account]
		if w == nil || left[i].Environment != trading.EnvLive || !left[i].Entry {
			continue
		}
		errs = append(errs, w.adopt(&left[i]))
	}
	for _, w := range p.watchers {
		w.mu.Lock()
		w.release()
		w.mu.Unlock()
	}
	return errors.Join(errs...)
}

func (w *watcher) adopt(left *trading.PendingWrite) error {
	var order struct {
		Side       trading.Side    `json:"side"`
		Size       decimal.Decimal `json:"size"`
		LimitPrice trading.Level   `json:"limitPrice"`
		StopLoss   trading.Level   `json:"stopLossPrice"`
	}
	err := json.Unmarshal(left.Body, &order)
	var r *reservation
	if err == nil {
		o := &trading.Order{Symbol: left.Symbol, Side: order.Side, Size: order.Size, LimitPrice: order.LimitPrice, StopLoss: order.StopLoss}
		r, err = reservationOf(&ticket{body: left.Body}, trading.Write{Operation: left.Operation, Order: o})
	}
	if err == nil && (!r.Size.IsPositive() || r.Symbol == "") {
		err = errors.New("it has no size, or no symbol")
	}
	if err != nil {
		err = fmt.Errorf("protect: pending write %s: %w", left.ID, err)
		r = &reservation{Symbol: left.Symbol, Of: terms{unread: err}}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r = w.find(r)
	now := w.p.now()
	r.Of.intent, r.Of.sent = left.ID, left.Decided
	r.InDoubt(now.mono - now.ago(left.Decided))
	return err
}
