package mcp

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
)

const (
	// lag is how long a read may not show what was done.
	lag = 5 * time.Second
	// lastSend is how long after its fact an entry may have been sent.
	lastSend = 15 * time.Second
	// unknownFor is how long a write of unknown outcome counts whole: nothing arrives later.
	unknownFor = 35 * time.Minute
	// readWithin bounds the reads that an entry is judged by.
	readWithin = 8 * time.Second
)

// look is an account as one answer's reads show it.
type look struct {
	began     Moment
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

// rest is an order or a run that looks have shown to wait.
type rest struct {
	account trading.AccountID
	symbol  string
	side    trading.Side
	size    decimal.Decimal
	risk    decimal.Decimal
	missing *Moment // the first look that does not show it
}

// seen takes over what a look shows of what waits. Of one that is gone the size counts until a look
// that began five seconds after the first without it: it may have filled. It returns false if the
// account has something whose size is not known.
func (e *Engine) seen(account trading.AccountID, l *look) (judged bool) {
	shown, judged := map[string]bool{}, true
	waits := func(id string, as rest, sized bool) {
		shown[id] = true
		if own := e.placed(account, id); own != nil {
			own.whole = false // from now on the order itself counts
			as.symbol, as.side, as.size, as.risk, sized = own.Action.Symbol, own.Action.side(), own.Action.Order.Size, own.Risk, true
		}
		if !sized || as.symbol == "" || as.side == "" {
			judged = false
			return
		}
		as.account = account
		e.resting[string(account)+" "+id] = &as
	}
	for i := range l.orders.Limits {
		o := &l.orders.Limits[i]
		size, sized := o.Size.Get()
		if price, is := o.LimitPrice.Get(); is {
			waits(string(o.ID), rest{symbol: o.Symbol, side: o.Side, size: size, risk: size.Mul(price)}, sized)
		} else {
			waits(string(o.ID), rest{}, false)
		}
	}
	for i := range l.orders.Runs {
		waits(string(l.orders.Runs[i].ID), rest{}, false)
	}
	for key, r := range e.resting {
		switch {
		case r.account != account || shown[key[len(account)+1:]]:
		case r.missing == nil:
			r.missing = &l.began
		case l.began.past(*r.missing, lag):
			delete(e.resting, key)
		}
	}
	for _, w := range e.writes { // what waited and was never shown: it has filled, or was cancelled
		if w.whole && w.known() && w.Action.Account == account && l.began.past(*w.Ended, 2*lag) {
			w.whole = false
		}
	}
	return judged
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

// worst is how large the position on a side may be, in base units: the worse of the read and the own
// last answer until a read that began five seconds after it, and whole whatever is under way or
// rests. An opposite position makes up for nothing.
func (e *Engine) worst(a *action, l *look) decimal.Decimal {
	size := decimal.Zero
	if p, open := l.positions.In(a.Symbol); open && p.Side == a.Order.Side {
		size = p.Size
	}
	coming := decimal.Zero
	for _, w := range e.writes {
		if !w.Action.entry() || w.Action.Account != a.Account || w.Action.Symbol != a.Symbol || w.Action.Order.Side != a.Order.Side || !w.mayRun() {
			continue
		}
		fresh := w.Ended == nil || !l.began.past(*w.Ended, lag)
		switch {
		case w.Action.waits():
			if w.whole {
				coming = coming.Add(w.Action.Order.Size)
			}
		case fresh && w.known() && w.Answer != nil && w.Answer.After.IsPositive():
			size = decimal.Max(size, w.Answer.After)
		case fresh || !w.known() && !l.began.past(*w.Sent, unknownFor):
			coming = coming.Add(w.Action.Order.Size)
		}
	}
	for _, r := range e.resting {
		if r.account == a.Account && r.symbol == a.Symbol && r.side == a.Order.Side {
			coming = coming.Add(r.size)
		}
	}
	return size.Add(coming)
}

// openRisk is what the account may lose at its stops, in dollars: a position without a stop all of
// its value, and what is under way or rests what it was bound to.
func (e *Engine) openRisk(account trading.AccountID, l *look) decimal.Decimal {
	sum := decimal.Zero
	for i := range l.positions {
		p := &l.positions[i]
		price, priced := p.Mark.Price()
		if !priced {
			price = p.EntryPrice
		}
		sum = sum.Add(lossAt(p.Side, price, p.Size, p.StopLoss))
	}
	for _, w := range e.writes {
		recent := w.Sent != nil && (w.Ended == nil || !l.began.past(*w.Ended, lag) || !w.known() && !l.began.past(*w.Sent, unknownFor))
		if w.Action.entry() && w.Action.Account == account && w.mayRun() && (w.whole || recent && !w.Action.waits()) {
			sum = sum.Add(w.Risk)
		}
	}
	for _, r := range e.resting {
		if r.account == account {
			sum = sum.Add(r.risk)
		}
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
