package protect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

const (
	// accountAge is how old a look may be for an entry to be judged by it; its lag is in it.
	accountAge = 45 * time.Second
	// judgeWithin is how long an entry waits for reads that it is judged by.
	judgeWithin = 2 * time.Second
)

// Guard judges entries of a client on the accounts. The client needs [Protection.Hooks]
// too, and if it declares the accounts by [trading.WithExclusiveAccounts], the journal that
// Options.Client has. Exits pass, and so does everything on other accounts and on the paper account.
func (p *Protection) Guard() trading.Guard {
	return func(ctx context.Context, o trading.Write) error {
		w := p.watchers[o.Account]
		if o.Environment != trading.EnvLive || w == nil {
			return nil
		}
		if o.Entry && !p.options.WithoutFlatten {
			if err := p.client.CheckSharing(o); err != nil {
				w.refusal(err)
				return err
			}
		}
		t, _ := ctx.Value(ticketKey{p}).(*ticket)
		if !o.Entry {
			w.leave(t, o)
			return nil
		}
		err := w.admit(ctx, t, o)
		if err != nil {
			w.refusal(err)
		}
		return err
	}
}

// refusedEvery bounds how often the refusals of a bot that asks again and again are reported.
const refusedEvery = 10 * time.Second

// refusal reports a refused entry, and counts those that it does not report.
func (w *watcher) refusal(err error) {
	w.mu.Lock()
	now := w.p.now()
	quiet := !w.refusedAt.unset() && now.since(w.refusedAt) < refusedEvery
	untold := w.untold
	if w.untold++; !quiet {
		w.refusedAt, w.untold = now, 0
	}
	w.mu.Unlock()
	switch {
	case quiet:
	case untold > 0:
		w.tell(Refused, fmt.Sprintf("%v (and %d entries before it)", err, untold))
	default:
		w.tell(Refused, err.Error())
	}
}

// admit judges an entry, and reserves what it may do, under one lock.
func (w *watcher) admit(ctx context.Context, t *ticket, o trading.Write) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%w: a computation failed: %v", ErrNotJudged, fault)
		}
	}()
	if t == nil {
		return fmt.Errorf("%w: the client has the guard and not the hooks: give it Protection.Hooks too", ErrNotJudged)
	}
	if err := w.accepts(o); err != nil {
		return err
	}
	r, err := reservationOf(t, o)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotJudged, err)
	}
	if err := w.refresh(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrNotJudged, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.closed(); err != nil { // the state may have changed meanwhile
		return err
	}
	earlier := t.own()
	if err := w.judge(earlier, r); err != nil || earlier != nil {
		return err
	}
	if !t.hold(r, w) {
		return fmt.Errorf("%w: its call has ended", ErrNotJudged)
	}
	w.reserved.Add(r)
	if err := w.keepReserved(true); err != nil {
		w.reserved.Drop(r)
		return errUnkept(err)
	}
	w.follow()
	w.nudge() // something is on its way
	return nil
}

// accepts refuses what the state takes no entries in.
func (w *watcher) accepts(o trading.Write) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.closed()
	if err == nil || o.Order == nil || w.look == nil {
		return err
	}
	if held, open := w.look.positions.In(o.Symbol); open && held.Side != o.Order.Side {
		// Racing a close, an order that was to reduce would open.
		return fmt.Errorf("%w; to get out use a reduce-only order or a close", err)
	}
	return err
}

// refresh makes the facts young enough to judge an entry by.
func (w *watcher) refresh(ctx context.Context) error {
	if w.fresh() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, judgeWithin)
	defer cancel()
	select { // entries at once share one read
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if w.fresh() {
		return nil
	}
	w.mu.Lock()
	full := w.look == nil || w.p.now().since(w.look.began)+readLag > accountAge
	w.mu.Unlock()
	if full {
		l, err := w.read(ctx)
		if err != nil {
			return err
		}
		w.take(l)
	}
	if err := w.p.market.refresh(ctx, markAge-readLag); err != nil {
		return err
	}
	if !w.fresh() {
		return errors.New("the account and its marks could not be read in time")
	}
	return nil
}

func (w *watcher) fresh() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look != nil && w.p.now().since(w.look.began)+readLag <= accountAge && w.p.market.fresh(markAge-readLag)
}

// judge judges the account as it would be with one more order. own is the order's own
// reservation, if it was sent before. The lock is held.
func (w *watcher) judge(own, r *reservation) error {
	now := w.p.now()
	books, err := w.books(own, r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotJudged, err)
	}
	floor, known := w.record.Floors.predicted(w.look.state.Balance)
	if !known {
		return fmt.Errorf("%w: %w", ErrNotJudged, ErrNoFloor)
	}
	held, _ := w.holdings(now)
	difference := decimal.Min(w.look.state.Equity.Sub(w.look.computed), decimal.Zero)
	room := computedEquity(w.look.state.Balance, held).Add(difference).Sub(floor)
	x := worstOf(books)
	j, ok := judgeEntry(room, w.keep, x, w.p.market.variance(x.value))
	if !ok {
		return fmt.Errorf("%w: account %s has $%s above its floor; at worst $%s would be left, and $%s has to be; the positions would need $%s",
			ErrRoom, w.id, j.room.StringFixed(2), j.left.StringFixed(2), j.keep.StringFixed(2), j.need.StringFixed(2))
	}
	return nil
}

// books are the account's markets with everything that may come, and one order more. The
// lock is held.
func (w *watcher) books(own, order *reservation) ([]book, error) {
	held, _ := w.holdings(w.p.now())
	of := make(map[string]*book, len(held)+1)
	for _, h := range held {
		of[h.symbol] = &book{holding: h}
	}
	at := func(symbol string) (*book, error) {
		if b := of[symbol]; b != nil {
			return b, nil
		}
		mark, known := w.p.market.of(symbol)
		if !known || mark.missing {
			return nil, fmt.Errorf("%q has no price", symbol)
		}
		b := &book{holding: holding{symbol: symbol, mark: mark.value, bounds: w.p.market.bounds(symbol)}}
		of[symbol] = b
		return b, nil
	}
	for _, r := range append(slices.Clone(w.reserved.All()), order) {
		if r == own {
			continue
		}
		if err := unjudged(r); err != nil {
			return nil, err
		}
		b, err := at(r.Symbol)
		if err != nil {
			return nil, err
		}
		b.add(r)
	}
	books := make([]book, 0, len(of))
	for _, symbol := range sortedKeys(of) {
		books = append(books, *of[symbol])
	}
	return books, nil
}
