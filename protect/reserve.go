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
)

// reservation is what one write may still do to an account, until a look shows it or it
// is known to have done nothing.
type reservation struct {
	symbol string
	side   trading.Side
	size   decimal.Decimal
	filled decimal.Decimal              // of a run, as the last look shows it
	price  trading.Opt[decimal.Decimal] // that it fills at; none is the mark
	limit  bool                         // it fills at its price now, if the mark is better
	stop   trading.Level
	exit   bool // it only takes away
	whole  bool // an exit of as much as is held
	// unjudged is why it cannot be judged: while it is there, entries are refused.
	unjudged error

	id       string           // of what waits with the service, once the answer says it
	intent   trading.IntentID // while its outcome is not known
	left     bool             // an earlier run ended before its outcome was known
	answered instant          // when it was known to have been carried out
	forget   instant          // when it ends whatever is known; unset is never
}

// addTo adds it to its market's book.
func (r *reservation) addTo(b *book) {
	long := r.side == trading.Long
	if r.exit {
		size := r.size
		if r.whole {
			size = b.size.Abs()
		}
		if long {
			b.bought = b.bought.Add(size)
		} else {
			b.sold = b.sold.Add(size)
		}
		return
	}
	at, priced := r.price.Get()
	if !priced {
		at = b.mark
	}
	l := layer{size: r.size.Sub(r.filled), price: at, loss: exitLoss(r.side, at, r.stop, b.bounds)}
	worse := at.Sub(b.mark)
	if !long {
		worse = worse.Neg()
	}
	if r.limit && worse.IsPositive() {
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
	r := &reservation{symbol: o.Order.Symbol, side: o.Order.Side, size: o.Order.Size}
	var extra request
	if err := json.Unmarshal(t.body, &extra); err != nil {
		return nil, fmt.Errorf("the request of %s cannot be read: %w", o.Operation, err)
	}
	switch o.Operation {
	case trading.OpOrder:
		r.stop = o.Order.StopLoss
	case trading.OpLimit:
		r.stop = o.Order.StopLoss
		limit, ok := o.Order.LimitPrice.Value()
		if !ok {
			return nil, errors.New("the order has no limit price")
		}
		r.price, r.limit = trading.Some(limit), true
	case trading.OpConditional:
		if extra.TriggerPrice.IsZero() {
			return nil, errors.New("the order has no trigger price")
		}
		r.price = extra.TriggerPrice
	case trading.OpLadder:
		from, a := extra.StartPrice.Get()
		to, b := extra.EndPrice.Get()
		if !a || !b {
			return nil, errors.New("the ladder has no prices")
		}
		r.price, r.limit = trading.Some(decimal.Max(from, to)), true
		if r.side == trading.Short {
			r.price = trading.Some(decimal.Min(from, to))
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
	id          string
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
	id := idIn(body)
	if id == "" {
		return
	}
	t.mu.Lock()
	t.id = id
	r, w := t.reservation, t.watcher
	t.mu.Unlock()
	if r == nil {
		return
	}
	w.mu.Lock()
	r.id = id
	err := w.keepReserved(true)
	w.mu.Unlock()
	if err != nil {
		w.alert(fmt.Sprintf("the id of %s could not be written: %v", id, err))
	}
}

// idIn is the id of the resting order or of the run in an answer; empty without one.
func idIn(body []byte) string {
	var answer struct {
		RunID string `json:"runId"`
		Order struct {
			ID string `json:"id"`
		} `json:"order"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return ""
	}
	if answer.RunID != "" {
		return answer.RunID
	}
	return answer.Order.ID
}

// gone is how long after a write nothing of it can arrive any more.
const gone = 30 * time.Minute

// end is the end of the call: nothing is reserved for it any more. The id is that of what
// it left waiting.
func (t *ticket) end() (r *reservation, w *watcher, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	return t.reservation, t.watcher, t.id
}

// done is how the call ended.
func (t *ticket) done(d trading.Done) {
	r, w, id := t.end()
	if r == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { _ = w.keepReserved(false) }() // without it the next run counts it for longer
	r.id = id
	if d.Outcome != trading.Unknown {
		w.conclude(r, d.Outcome)
		return
	}
	var e *trading.WriteError
	if !errors.As(d.Err, &e) || e.Intent == "" {
		now := w.p.now()
		r.forget = instant{now.wall.Add(gone), now.mono + gone}
		return
	}
	r.intent = e.Intent
	if outcome, known := w.early[e.Intent]; known {
		w.conclude(r, outcome)
	}
}

// conclude ends a reservation, or lets it wait for a look that shows it. The lock is held.
func (w *watcher) conclude(r *reservation, outcome trading.Outcome) {
	delete(w.early, r.intent)
	switch outcome {
	case trading.NotApplied:
		delete(w.reserved, r)
	case trading.Applied:
		r.intent, r.answered = "", w.p.now()
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
	for r := range w.reserved {
		if r.intent == res.Intent.ID && r.intent != "" {
			if id := idIn(res.Answer); id != "" {
				r.id = id
			}
			w.conclude(r, res.Outcome)
			_ = w.keepReserved(false) // as at the end of a call
			return
		}
	}
	if res.Outcome == trading.Unknown {
		return
	}
	if w.early == nil || len(w.early) == mostEarly {
		w.early = make(map[trading.IntentID]trading.Outcome)
	}
	w.early[res.Intent.ID] = res.Outcome // its call has not ended yet
}

// shown ends the reservations that a look shows: begun a lag after the answer, and
// without the order or run that it left waiting. The lock is held.
func (w *watcher) shown(l *look) {
	waits := map[string]bool{}
	for i := range l.open.Limits {
		waits[string(l.open.Limits[i].ID)] = true
	}
	filled := map[string]decimal.Decimal{}
	for i := range l.open.Runs {
		run := &l.open.Runs[i]
		waits[string(run.ID)] = true
		filled[string(run.ID)], _ = run.Extra.Decimal("executedSize") // which the contract does not show
	}
	for r := range w.reserved {
		if done, runs := filled[r.id]; runs && !done.IsNegative() && done.LessThanOrEqual(r.size) {
			r.filled = done // it is in the positions, which are read after the runs
		}
		switch {
		case !r.forget.unset() && l.began.mono >= r.forget.mono:
			delete(w.reserved, r)
		case r.answered.unset() || l.began.mono-r.answered.mono < readLag:
		case r.id != "" && waits[r.id]:
		default:
			delete(w.reserved, r)
		}
	}
}

// leave notes an exit: until a look shows it, an opposite order may open more than it
// seems to.
func (w *watcher) leave(t *ticket, o trading.Write) {
	if t == nil || t.own() != nil || o.Symbol == "" {
		return
	}
	r := &reservation{symbol: o.Symbol, exit: true}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case o.Operation == trading.OpClose && w.look != nil:
		held, open := w.look.positions.In(o.Symbol)
		if !open {
			return
		}
		r.whole, r.side = true, trading.Short
		if held.Side == trading.Short {
			r.side = trading.Long
		}
	case o.Order != nil:
		r.side, r.size = o.Order.Side, o.Order.Size
	default:
		return
	}
	if t.hold(r, w) {
		w.reserved[r] = struct{}{}
		_ = w.keepReserved(false) // nothing holds an exit up
	}
}

// Adopt reserves what writes may still do that earlier runs have left, as
// [trading.Client.Pending] lists them: without it those of a bot in another process are not counted
// until a look shows them, and what this protection itself has let pass counts for half an hour.
// Call it before the bot trades. The error names those that cannot be judged; while one is pending
// its account's entries are refused.
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
	if err == nil && (!r.size.IsPositive() || r.symbol == "") {
		err = errors.New("it has no size, or no symbol")
	}
	if err != nil {
		err = fmt.Errorf("protect: pending write %s: %w", left.ID, err)
		r = &reservation{symbol: left.Symbol, unjudged: err}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.find(r).intent = left.ID
	return err
}
