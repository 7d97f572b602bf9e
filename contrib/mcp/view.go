package mcp

import (
	"context"
	"time"

	"github.com/tradingapi/trading-go"
)

// ticketView is what a model reads of a ticket, or of an exit.
type ticketView struct {
	Ticket  string  `json:"ticket"`
	Phase   string  `json:"phase"`             // open, approval, in_flight, done or ended
	Outcome string  `json:"outcome,omitempty"` // of what was sent
	Code    string  `json:"code,omitempty"`
	Kind    string  `json:"kind"`
	Account string  `json:"account"`
	Symbol  string  `json:"symbol,omitempty"`
	Side    string  `json:"side,omitempty"`
	Size    string  `json:"size,omitempty"`
	Answer  *answer `json:"answer,omitempty"`
	Link    string  `json:"link,omitempty"` // where a person approves
	Expires int     `json:"expires_in_s,omitempty"`
	Ago     int     `json:"seconds_ago,omitempty"`
	Advice  string  `json:"advice,omitempty"`
}

// viewOf is a write that was sent. The caller has the lock.
func (e *Engine) viewOf(w *write) *ticketView {
	a := &w.Action
	v := &ticketView{Ticket: w.ID, Kind: a.Kind, Account: accountName(a.Account), Side: string(a.side()), Code: w.Code}
	if a.Symbol != "" {
		v.Symbol = name(a.Symbol)
	}
	if a.entry() {
		v.Size = a.Order.Size.String()
	} else if a.Kind == "close" {
		v.Size = a.Percent.String() + "%"
	}
	if _, most := e.now().since(w.Consumed); most > 0 {
		v.Ago = int(most / time.Second)
	}
	if w.Answer != nil {
		shown := *w.Answer
		if shown.Order != "" {
			shown.Order = name(shown.Order)
		}
		if shown.Run != "" {
			shown.Run = name(shown.Run)
		}
		v.Answer = &shown
	}
	v.Phase = "done"
	switch {
	case w.inFlight():
		v.Phase, v.Outcome, v.Code, v.Advice = "in_flight", "unknown", "in_flight", "It is under way. Call get_ticket until its outcome is known. Do not place it again."
	case !w.known():
		v.Outcome, v.Advice = "unknown", "It may have happened. The engine finds out: call get_ticket again. Do not place it again."
	case w.Outcome == trading.Applied:
		v.Outcome, v.Advice = "applied", "It happened."
	default:
		v.Outcome, v.Advice = "not_applied", "It did not happen, and will not. Call explain_code for the reason."
	}
	return v
}

// view is a ticket, sent or not. The caller has the lock.
func (e *Engine) view(t *ticket) *ticketView {
	if t.phase == used {
		return e.viewOf(t.write)
	}
	now := e.now()
	if t.expired(now) {
		t.end("ticket_expired")
	}
	v := e.viewOf(t.write)
	v.Phase, v.Outcome, v.Code, v.Ago, v.Answer = string(t.phase), "not_applied", t.why, 0, nil
	from, within := t.issued, executeWithin
	switch t.phase {
	case ended:
		v.Advice = "It has ended, and nothing was sent. Call account, and decide anew."
		return v
	case waiting:
		from, within = t.handed, approveWithin
		v.Link = e.page + "/approve/" + t.id
		v.Advice = "A person has to approve it, at the link or by the command trading approve. Nothing that you say approves it. Call get_ticket to see what became of it."
	default:
		v.Advice = "Nothing is sent yet: call execute."
		if e.needsPerson(t) {
			v.Advice = "Nothing is sent yet: call execute, and a person is asked for approval."
		}
	}
	_, most := now.since(from)
	v.Expires = int((within - most) / time.Second)
	return v
}

type positionView struct {
	Symbol     string `json:"symbol"`
	Side       string `json:"side"`
	Size       string `json:"size"`
	Entry      string `json:"entry"`
	Mark       string `json:"mark,omitempty"` // none while there is no price
	PnL        string `json:"unrealized_pnl,omitempty"`
	StopLoss   string `json:"stop_loss,omitempty"`
	TakeProfit string `json:"take_profit,omitempty"`
	Leverage   string `json:"leverage,omitempty"`
}

type orderView struct {
	ID     string `json:"id"`
	Symbol string `json:"symbol,omitempty"`
	Side   string `json:"side,omitempty"`
	Size   string `json:"size,omitempty"`
	Price  string `json:"price,omitempty"`
	Ticket string `json:"ticket,omitempty"` // that placed it
}

type accountView struct {
	Account   string         `json:"account"`
	Status    string         `json:"status"`
	Equity    string         `json:"equity"`
	Balance   string         `json:"balance"`
	LossRoom  string         `json:"room_above_loss_floor,omitempty"`
	Positions []positionView `json:"positions"`
	Orders    []orderView    `json:"orders"`
	Runs      []orderView    `json:"runs"`
	Writes    []*ticketView  `json:"writes"` // by these tools: the last ten minutes, and what was not shown before
	State     string         `json:"state,omitempty"`
}

// account looks at an account, and shows it with its writes and a state.
func (e *Engine) account(ctx context.Context, id trading.AccountID, _ arguments) (any, *refusal) {
	l, err := e.read(ctx, id)
	if err != nil {
		return nil, unread(err)
	}
	v := &accountView{
		Account: accountName(id), Status: name(string(l.state.Status)), Equity: l.state.Equity.String(), Balance: l.state.Balance.String(),
		Positions: []positionView{}, Orders: []orderView{}, Runs: []orderView{}, Writes: []*ticketView{},
	}
	if room, ok := l.state.LossRoom(); ok {
		v.LossRoom = room.String()
	}
	for i := range l.positions {
		p := &l.positions[i]
		row := positionView{
			Symbol: name(p.Symbol), Side: name(p.Side), Size: p.Size.String(), Entry: p.EntryPrice.String(), PnL: opt(p.UnrealizedPnL),
			StopLoss: level(p.StopLoss), TakeProfit: level(p.TakeProfit), Leverage: opt(p.Leverage),
		}
		if mark, priced := p.Mark.Price(); priced {
			row.Mark = mark.String()
		}
		v.Positions = append(v.Positions, row)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen(id, l)
	row := func(order, symbol string, side trading.Side) orderView {
		o := orderView{ID: name(order)}
		if symbol != "" {
			o.Symbol, o.Side = name(symbol), name(side)
		}
		if own := e.placed(id, order); own != nil {
			o.Ticket, o.Symbol, o.Side, o.Size = own.ID, name(own.Action.Symbol), string(own.Action.side()), own.Action.Order.Size.String()
		}
		return o
	}
	for i := range l.orders.Limits {
		o := &l.orders.Limits[i]
		r := row(string(o.ID), o.Symbol, o.Side)
		if size := opt(o.Size); size != "" {
			r.Size = size
		}
		r.Price = opt(o.LimitPrice)
		v.Orders = append(v.Orders, r)
	}
	for i := range l.orders.Runs {
		o := &l.orders.Runs[i]
		v.Runs = append(v.Runs, row(string(o.ID), o.Symbol, o.Side))
	}
	if e.config.Mode == Read {
		return v, nil
	}
	token, shown := e.newState(id, l)
	for _, w := range shown {
		v.Writes = append(v.Writes, e.viewOf(w))
	}
	v.State = token
	return v, nil
}
