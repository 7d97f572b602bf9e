package main

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// The account's terms, in dollars.
var (
	opening     = decimal.NewFromInt(equity)
	dailyShare  = decimal.New(95, -2)
	globalFloor = decimal.NewFromInt(equity * 90 / 100)
	target      = decimal.NewFromInt(equity * 110 / 100)
	takerRate   = decimal.New(45, -5)
	makerRate   = decimal.New(15, -5)
)

// fate is what became of an account, judged each second.
type fate struct {
	Lost   bool
	Passed bool
	// Cause is how a lost account was lost: by a jump beyond the assumed shock, while it
	// was blind, or by drifting.
	Cause  string
	Equity decimal.Decimal // at the end, or when it was lost
	Lowest decimal.Decimal
}

// holding is an exact position.
type holding struct{ size, cost decimal.Decimal }

// ledger is the money of an account, kept from what was executed.
type ledger struct {
	balance decimal.Decimal
	held    map[string]*holding
}

// fill books one execution.
func (l *ledger) fill(e tradingsim.Execution) {
	size := e.Size
	if e.Side == "short" {
		size = size.Neg()
	}
	rate := takerRate
	if e.Actor == "service" && (e.Operation == "POST /orders/limit" || e.Operation == "POST /orders/ladder") {
		rate = makerRate
	}
	l.balance = l.balance.Sub(e.Size.Mul(e.Price).Mul(rate))
	h := l.held[e.Symbol]
	if h == nil {
		h = &holding{}
		l.held[e.Symbol] = h
	}
	if h.size.Sign()*size.Sign() < 0 { // what it closes
		closed := decimal.Min(h.size.Abs(), size.Abs())
		cost := h.cost.Mul(closed).DivRound(h.size.Abs(), 12)
		got := closed.Mul(e.Price).Mul(decimal.NewFromInt(int64(h.size.Sign())))
		l.balance = l.balance.Add(got.Sub(cost))
		signed := closed.Mul(decimal.NewFromInt(int64(size.Sign())))
		h.cost, h.size, size = h.cost.Sub(cost), h.size.Add(signed), size.Sub(signed)
	}
	h.size, h.cost = h.size.Add(size), h.cost.Add(size.Mul(e.Price))
}

// worth is the equity at a second, and the gross notional.
func (l *ledger) worth(p *path, second int) (equity, gross decimal.Decimal) {
	equity = l.balance
	for _, s := range symbols {
		h := l.held[s.name]
		if h == nil || h.size.IsZero() {
			continue
		}
		value := h.size.Mul(dollars(p.prices[s.name][second]))
		equity, gross = equity.Add(value).Sub(h.cost), gross.Add(value.Abs())
	}
	return equity, gross
}

// judge replays what was executed, second by second. With movingFloor the daily floor
// moves with the balance that a UTC day begins with.
func judge(p *path, executed []tradingsim.Execution, movingFloor bool) fate {
	l := &ledger{balance: opening, held: map[string]*holding{}}
	daily := opening.Mul(dailyShare)
	f := fate{Lowest: opening}
	day := p.start.YearDay()
	next := 0
	for second := range p.prices[symbols[0].name] {
		at := p.start.Add(time.Duration(second) * time.Second)
		if movingFloor && at.YearDay() != day {
			day, daily = at.YearDay(), l.balance.Mul(dailyShare)
		}
		for next < len(executed) && executed[next].At.Before(at.Add(time.Second)) {
			if executed[next].Filled && executed[next].Account != "" {
				l.fill(executed[next])
			}
			next++
		}
		equity, gross := l.worth(p, second)
		f.Equity, f.Lowest = equity, decimal.Min(f.Lowest, equity)
		if equity.LessThanOrEqual(decimal.Max(daily, globalFloor)) {
			f.Lost, f.Cause = true, p.cause(second)
			return f
		}
		if equity.Sub(gross.Mul(takerRate)).GreaterThanOrEqual(target) {
			f.Passed = true
			return f
		}
	}
	return f
}

// cause names the largest move of a second among the last twenty: within that time a
// protection has seen it and closed.
func (p *path) cause(second int) string {
	largest := int64(0)
	for n := max(second-20, 1); n <= second; n++ {
		for _, s := range symbols {
			last, now := p.prices[s.name][n-1], p.prices[s.name][n]
			largest = max(largest, (now-last)*10_000/last, (last-now)*10_000/last)
		}
	}
	if largest > 50 {
		return fmt.Sprintf("jump of %d bps", largest/10*10)
	}
	return "drift"
}
