package mcp

import (
	"context"

	"github.com/tradingapi/trading-go"
)

// loosening judges a change: whether it loosens, and whether the market is as the preview saw it.
func (e *Engine) loosening(ctx context.Context, t *ticket, first bool) *refusal {
	a := &t.write.Action
	if a.Kind == "close" { // a part of a position: it only takes away
		return nil
	}
	now := e.now()
	e.mu.Lock()
	last, fresh := uint64(0), false
	for _, w := range e.writes {
		if w.Action.Account == a.Account && w.Sent != nil && (w.Action.Symbol == a.Symbol || w.Action.Symbol == "") {
			last = max(last, w.tick)
			fresh = fresh || w.Ended == nil || !now.past(*w.Ended, lag)
		}
	}
	own := e.placed(a.Account, string(a.OrderID)+string(a.RunID))
	e.mu.Unlock()
	changed := refuse("position_changed", "Something changed in this market after the preview. Preview anew.")
	switch {
	case first:
		t.tick = last
	case last > t.tick && a.Kind == "levels":
		return changed
	}
	if a.Kind == "cancel" {
		t.loosens = own == nil || !own.Adds
		return nil
	}
	if fresh && e.config.Approve == ApproveEntries {
		return refuse("too_soon", "A read does not show yet which levels the position has. Preview again in five seconds.")
	}
	positions, err := trader(e.client, a.Account).Positions(ctx)
	if err != nil {
		return unread(err)
	}
	p, open := positions.In(a.Symbol)
	if !open {
		return refuse("no_position", "There is no position in this market.")
	}
	if first && a.Account != "" { // both levels are sent, so both are bound
		if a.Levels.StopLoss.IsZero() {
			a.Levels.StopLoss = levelOr(p.StopLoss)
		}
		if a.Levels.TakeProfit.IsZero() {
			a.Levels.TakeProfit = levelOr(p.TakeProfit)
		}
	}
	loosens := widens(&p, a.Levels.StopLoss)
	if !first && loosens && !t.loosens {
		return changed
	}
	t.loosens = loosens
	return nil
}

func levelOr(l trading.Level) trading.Level {
	if l.IsZero() {
		return trading.Clear
	}
	return l
}

// widens reports whether a stop is taken away, or set farther off.
func widens(p *trading.Position, stop trading.Level) bool {
	before, had := p.StopLoss.Value()
	after, has := stop.Value()
	switch {
	case stop.IsZero() || !had:
		return false
	case !has:
		return true
	case p.Side == trading.Short:
		return after.GreaterThan(before)
	default:
		return after.LessThan(before)
	}
}
