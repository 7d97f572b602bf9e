package mcp

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
	"github.com/tradingapi/trading-go/risk"
)

const (
	// lag is how long a read may not show what was done.
	lag = claims.Lag
	// lastSend is how long after its fact an entry may have been sent.
	lastSend = 15 * time.Second
	// readWithin bounds the reads that an entry is judged by.
	readWithin = 8 * time.Second
)

// look is an account as one answer's reads show it.
type look struct {
	began     Moment
	ended     Moment // of the orders and the positions
	orders    trading.OpenOrders
	positions trading.Positions
	state     *trading.AccountState
}

// read looks at an account: first what waits, then the positions, so that what is filled between the
// two counts twice.
func (e *Engine) read(ctx context.Context, id trading.AccountID) (*look, error) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	l := &look{began: e.now()}
	if id != "" {
		open, err := e.client.Live.Account(id).OpenOrders(ctx)
		if err != nil {
			return nil, err
		}
		l.orders = *open
	}
	var err error
	if l.positions, err = trader(e.client, id).Positions(ctx); err != nil {
		return nil, err
	}
	l.ended = e.now()
	l.state, err = trader(e.client, id).State(ctx)
	return l, err
}

// trader is an account; "" is the paper account.
func trader(c *trading.Client, id trading.AccountID) trading.Trader {
	if id == "" {
		return c.Sandbox
	}
	return c.Live.Account(id)
}

// claimsOf are the claims of an account. The caller has the lock.
func (e *Engine) claimsOf(account trading.AccountID) *claims.Set[*write] {
	if e.claims[account] == nil {
		e.claims[account] = &claims.Set[*write]{Elsewhere: func(o *trading.RestingOrder) *write {
			size, _ := o.Size.Get()
			price, _ := o.LimitPrice.Get()
			return &write{Risk: size.Mul(price)}
		}}
	}
	return e.claims[account]
}

// begins lets an entry claim what it may add, from its first byte. The caller has the lock.
func (e *Engine) begins(w *write) {
	if !w.Action.entry() {
		return
	}
	o := w.Action.Order
	w.claim = &claims.Claim[*write]{Of: w, Symbol: o.Symbol, Side: o.Side, Size: o.Size, Waits: w.Action.waits()}
	e.claimsOf(w.Action.Account).Add(w.claim)
}

// learns takes over what is known of a write that claims. The caller has the lock.
func (e *Engine) learns(w *write) {
	c := w.claim
	switch {
	case c == nil || w.Ended == nil:
	case !w.known():
		c.InDoubt(e.up(*w.Ended))
	case w.Outcome != trading.Applied:
		e.claimsOf(w.Action.Account).Drop(c)
	default:
		if a := w.Answer; a != nil {
			c.Order, c.After = cmp.Or(a.Order, a.Run), a.After
		}
		c.Applied(e.up(*w.Ended))
	}
}

// up is a moment by the clock of this machine that nobody sets: never too early, and no later than a send of a
// moment ago ends, whatever the other clock was set to.
func (e *Engine) up(m Moment) time.Duration {
	now := e.now()
	ago, _ := now.since(m)
	return now.Up - max(ago, -lastSend)
}

// seen takes over what a look shows of an account. It returns false if there is something of which it is
// not known how much it may add, or lose. The caller has the lock.
func (e *Engine) seen(account trading.AccountID, l *look) (judged bool) {
	set := e.claimsOf(account)
	set.See(claims.Snapshot{Began: l.began.Up, Ended: l.ended.Up, Open: &l.orders, Positions: l.positions})
	_, unsized := set.Unsized("")
	return !unsized && !slices.ContainsFunc(set.All(), func(c *claims.Claim[*write]) bool {
		return c.Elsewhere && c.Of.Risk.IsZero() // its price is not known
	})
}

// placed is the own write that left an order or a run with the service.
func (e *Engine) placed(account trading.AccountID, id string) *write {
	for _, w := range e.writes {
		if w.Answer != nil && w.Action.Account == account && id != "" && (w.Answer.Order == id || w.Answer.Run == id) {
			return w
		}
	}
	return nil
}

// openRisk is what the account may lose at its stops, in dollars: a position without a stop all of
// its value, and what is under way or rests what it was bound to.
func (e *Engine) openRisk(account trading.AccountID) decimal.Decimal {
	set, sum := e.claimsOf(account), decimal.Zero
	held := set.Positions()
	for i := range held {
		p := &held[i]
		price, priced := p.Mark.Price()
		if !priced {
			price = p.EntryPrice
		}
		sum = sum.Add(lossAt(p.Side, price, p.Size, p.StopLoss))
	}
	for _, c := range set.All() {
		sum = sum.Add(c.Of.Risk)
	}
	return sum
}

// lossAt is what a position loses from a price to its stop.
func lossAt(side trading.Side, price, size decimal.Decimal, stop trading.Level) decimal.Decimal {
	loss, is := risk.ToStop(side, price, stop)
	if !is {
		loss = price
	}
	return decimal.Max(decimal.Zero, loss).Mul(size)
}

// counted adds up what the day and the hour have of an account, entries that did not happen left
// out.
func (e *Engine) counted(account trading.AccountID, now Moment) (day decimal.Decimal, hour int) {
	for _, w := range e.writes {
		if !w.Action.entry() || w.Action.Account != account || w.known() && w.Outcome == trading.NotApplied {
			continue
		}
		if !now.past(w.Consumed, 24*time.Hour) {
			day = day.Add(w.Notional)
		}
		if !now.past(w.Consumed, time.Hour) {
			hour++
		}
	}
	return day, hour
}
