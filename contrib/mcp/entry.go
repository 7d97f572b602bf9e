package mcp

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// previewView is a ticket, and what its order would do.
type previewView struct {
	*ticketView
	Price        string   `json:"price,omitempty"`
	Notional     string   `json:"notional,omitempty"`
	Fee          string   `json:"fee,omitempty"`
	LossAtStop   string   `json:"loss_at_stop,omitempty"`
	GainAtTarget string   `json:"gain_at_target,omitempty"`
	After        string   `json:"position_after,omitempty"`
	Warnings     []string `json:"warnings,omitempty"`
	Person       bool     `json:"a_person_approves"`
}

func wrong(advice string, example any) *refusal {
	r := refuse("bad_argument", advice)
	r.Example = example
	return r
}

// previewEntry makes a ticket of an order.
func (e *Engine) previewEntry(ctx context.Context, id trading.AccountID, args arguments) (any, *refusal) {
	a := action{Kind: cmp.Or(args["type"], args["kind"], "market"), Account: id, Symbol: args["symbol"]}
	var r *refusal
	if a.Order, r = orderOf(args, a.Kind); r != nil {
		return nil, r
	}
	if r := a.how(args); r != nil {
		return nil, r
	}
	switch {
	case id == "" && a.waits():
		return nil, refuse("live_only", "The paper account takes orders of type market and limit alone.")
	case id != "" && !a.Order.Leverage.IsPositive():
		return nil, wrong("leverage is missing.", orderExample)
	}
	t, j, r := e.preview(ctx, a, args["state"], args["adds_to"])
	if r != nil {
		return nil, r
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	v := &previewView{
		ticketView: e.view(t), Notional: t.write.Notional.String(), Fee: opt(j.Fee), LossAtStop: opt(j.LossAtStop),
		GainAtTarget: opt(j.GainAtTarget), Person: e.needsPerson(t),
	}
	if price, priced := j.Price.Price(); priced {
		v.Price = price.String()
	}
	if after, is := j.After.Get(); is {
		v.After = string(after.Side) + " " + after.Size.String()
	}
	for _, p := range j.Problems {
		v.Warnings = append(v.Warnings, string(p.Warning))
	}
	return v, nil
}

func orderOf(args arguments, kind string) (*trading.Order, *refusal) {
	o := &trading.Order{
		Symbol: args["symbol"], Side: trading.Side(args["side"]), Size: args.amount("size"), Leverage: args.amount("leverage"),
		LimitPrice: args.level("limit_price"), TakeProfit: args.level("take_profit"), StopLoss: args.level("stop_loss"),
	}
	limited := !o.LimitPrice.IsZero()
	switch kind {
	case "limit", "resting":
		if !limited {
			return nil, wrong("limit_price is missing.", orderExample)
		}
		o.Type = trading.LimitOrder
	case "conditional":
		if limited {
			o.Type = trading.LimitOrder
		}
	default:
		if limited {
			return nil, wrong("limit_price is for type limit, type resting and kind conditional.", orderExample)
		}
	}
	return o, nil
}

// how reads what a Pro order has beside the order.
func (a *action) how(args arguments) *refusal {
	needs := map[string][]string{
		"conditional": {"trigger"}, "twap": {"seconds"}, "chase_twap": {"seconds"}, "ladder": {"from", "to", "count"}, "swarm": {"count"},
	}[a.Kind]
	for _, name := range needs {
		if !args.amount(name).IsPositive() {
			return wrong(name+" is missing.", nil)
		}
	}
	const mostSeconds, mostOrders = 86400, 1000
	seconds, err := strconv.Atoi(args["seconds"])
	if args["seconds"] != "" && (err != nil || seconds > mostSeconds) {
		return wrong("seconds must be a whole number, at the most 86400.", nil)
	}
	count, err := strconv.Atoi(args["count"])
	if args["count"] != "" && (err != nil || count > mostOrders) {
		return wrong("count must be a whole number, at the most 1000.", nil)
	}
	duration := time.Duration(seconds) * time.Second
	switch a.Kind {
	case "conditional":
		a.Conditional = &trading.Conditional{Trigger: args.amount("trigger")}
	case "twap":
		a.TWAP = &trading.TWAP{Duration: duration}
	case "chase":
		a.Chase = &trading.Chase{To: args.level("to")}
	case "chase_twap":
		a.ChaseTWAP = &trading.ChaseTWAP{Duration: duration, To: args.level("to")}
	case "ladder":
		a.Ladder = &trading.Ladder{From: args.amount("from"), To: args.amount("to"), Rungs: count}
	case "swarm":
		a.Swarm = &trading.Swarm{Orders: count}
	}
	return nil
}

// previewChange makes a ticket of what adds no exposure.
func (e *Engine) previewChange(ctx context.Context, id trading.AccountID, args arguments) (any, *refusal) {
	a := action{Kind: args["change"], Account: id, Symbol: args["symbol"]}
	switch a.Kind {
	case "close":
		a.Percent = args.amount("percent")
		if a.Symbol == "" || a.Percent.LessThan(decimal.NewFromInt(1)) || a.Percent.GreaterThan(hundred) {
			return nil, wrong("close needs symbol, and percent from 1 to 100.", map[string]string{"change": "close", "symbol": "BTC", "percent": "50"})
		}
	case "levels":
		a.Levels = &trading.TPSL{StopLoss: args.level("stop_loss"), TakeProfit: args.level("take_profit")}
		if a.Symbol == "" || a.Levels.StopLoss.IsZero() && a.Levels.TakeProfit.IsZero() {
			return nil, wrong("levels needs symbol, and stop_loss or take_profit: a price, or clear.", map[string]string{"change": "levels", "symbol": "BTC", "stop_loss": "63500"})
		}
	case "cancel":
		a.OrderID, a.RunID = trading.OrderID(args["order"]), trading.RunID(args["run"])
		if (a.OrderID == "") == (a.RunID == "") || id == "" {
			return nil, wrong("cancel needs either order or run, of a live account.", map[string]string{"change": "cancel", "order": "ord_1"})
		}
	}
	t, _, r := e.preview(ctx, a, "", "")
	if r != nil {
		return nil, r
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return &previewView{ticketView: e.view(t), Person: e.needsPerson(t)}, nil
}
