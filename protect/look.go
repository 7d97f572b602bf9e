package protect

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
)

// look is what one look at an account has read. What waits is read first and the positions
// after it: what fills between the two shows in the second.
type look struct {
	began     instant
	ended     instant // of the orders and the positions
	state     *trading.AccountState
	positions trading.Positions
	open      *trading.OpenOrders
	health    *trading.Health
	computed  decimal.Decimal // equity by the marks of that time
	torn      bool            // the two equities disagree, or a market had no mark
}

// read looks once. It is no look unless every read succeeded.
func (w *watcher) read(ctx context.Context) (*look, error) {
	l := &look{began: w.p.now()}
	health := make(chan error, 1)
	go func() {
		var err error
		l.health, err = w.p.client.Health(ctx, trading.WithAttemptTimeout(readWithin), trading.WithRetry(trading.Retry{Attempts: 1}))
		health <- err
	}()
	err := w.readAccount(ctx, l)
	if unhealthy := <-health; unhealthy != nil {
		l.health = nil // no assessment is none that says it is safe
	}
	if err != nil {
		return nil, fmt.Errorf("account %s could not be looked at: %w", w.id, err)
	}
	return l, nil
}

func (w *watcher) readAccount(ctx context.Context, l *look) (err error) {
	if l.open, err = w.account.OpenOrders(ctx, reading()...); err != nil {
		return err
	}
	if l.positions, err = w.account.Positions(ctx, reading()...); err != nil {
		return err
	}
	l.ended = w.p.now()
	l.state, err = w.account.State(ctx, reading()...)
	return err
}

// take makes a look the newest, unless a later one came first, and ends the reservations
// that it shows.
func (w *watcher) take(l *look) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.look != nil && l.began.mono < w.look.began.mono {
		return
	}
	w.look = l
	w.reserved.See(claims.Snapshot{Began: l.began.mono, Ended: l.ended.mono, Open: l.open, Positions: l.positions})
	w.follow()
	held, assumed := w.holdings(w.p.now())
	l.computed = computedEquity(l.state.Balance, held)
	l.torn = assumed || disagree(l.state.Equity, l.computed, grossOf(held))
}

// follow shows the market what the account holds, or may come to hold. The lock is held.
func (w *watcher) follow() {
	all := map[string]struct{}{}
	for i := range w.look.positions {
		all[w.look.positions[i].Symbol] = struct{}{}
	}
	for _, r := range w.reserved.All() {
		if r.Symbol != "" {
			all[r.Symbol] = struct{}{}
		}
	}
	now := sortedKeys(all)
	w.p.market.follow(w.followed, now)
	w.followed = now
}

// holdings are the positions of the newest look at the marks of now. assumed means that
// the mark of one is not known, and was moved against it. The lock is held.
func (w *watcher) holdings(now instant) (held []holding, assumed bool) {
	for i := range w.look.positions {
		p := &w.look.positions[i]
		h := holding{symbol: p.Symbol, size: p.Signed(), entry: p.EntryPrice, stop: p.StopLoss, bounds: w.p.market.bounds(p.Symbol)}
		mark, known := w.markOf(p)
		age := now.since(mark.at) + readLag
		switch {
		case !known: // there never was one
			h.mark, assumed = adverse(p.EntryPrice, h.size, h.bounds, time.Hour), true
		case mark.missing || age > markAge:
			h.mark, assumed = adverse(mark.value, h.size, h.bounds, age), true
		default:
			h.mark = mark.value
		}
		held = append(held, h)
	}
	return held, assumed
}

// markOf is the mark of a position: the market's, or the position's own where that is
// younger and the market's is missing.
func (w *watcher) markOf(p *trading.Position) (mark price, known bool) {
	mark, known = w.p.market.of(p.Symbol)
	own, priced := p.Mark.Price()
	if !priced || known && !mark.missing && w.look.began.since(mark.at) < markAge-readLag {
		return mark, known
	}
	return price{value: own, at: w.look.began, changed: w.look.began}, true
}

// good reports whether a look shows an account as it is: all reads succeeded, the
// service says that its prices are live, and the marks of what is held have changed within
// a minute.
func (w *watcher) good(l *look, now instant) (ok bool, why string) {
	if !l.health.Safe() {
		if l.health == nil {
			return false, "health could not be read"
		}
		return false, fmt.Sprintf("status %s, feed %s", l.health.Status, l.health.Feed)
	}
	for i := range l.positions {
		p := &l.positions[i]
		mark, known := w.p.market.of(p.Symbol)
		switch {
		case !known || mark.missing:
			return false, p.Symbol + " has no mark"
		case now.since(mark.changed) > stillAfter:
			return false, fmt.Sprintf("the mark of %s has not changed for %s", p.Symbol, now.since(mark.changed).Round(time.Second))
		}
	}
	return true, ""
}
