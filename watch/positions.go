package watch

import (
	"cmp"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// comparePositions orders positions as looks and views have them.
func comparePositions(a, b trading.Position) int {
	return cmp.Or(cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.Side, b.Side))
}

// positionsSince returns what changed of the positions, given the trades of the same look.
// Closed ones come first, so that a program that sums up never counts both sides of a
// flip.
func (is *accountLook) positionsSince(events []Event, before *accountLook, delivered []trading.Trade) []Event {
	var was trading.Positions
	if before != nil {
		was = before.positions
	}
	account := is.state.ID
	var opened []Event
	for pair := range pairs(was, is.positions) {
		switch {
		case pair.is == nil:
			events = append(events, is.closed(before, *pair.was, delivered))
		case pair.was == nil:
			opened = append(opened, PositionOpened{is.at, account, *pair.is})
		case !continues(*pair.was, *pair.is):
			events = append(events, is.closed(before, *pair.was, delivered))
			opened = append(opened, PositionOpened{is.at, account, *pair.is})
		case pair.was.Equal(*pair.is):
		case valueAlone(*pair.was, *pair.is):
			opened = append(opened, PositionMarked{is.at, account, *pair.was, *pair.is})
		default:
			opened = append(opened, PositionChanged{is.at, account, *pair.was, *pair.is})
		}
	}
	return append(events, opened...)
}

// pair is a place, market and side, before and after.
type pair struct{ was, is *trading.Position }

// pairs walks two ordered lists together.
func pairs(was, is trading.Positions) func(yield func(pair) bool) {
	return func(yield func(pair) bool) {
		i, j := 0, 0
		for i < len(was) || j < len(is) {
			var p pair
			order := 0
			switch {
			case i == len(was):
				order = 1
			case j == len(is):
				order = -1
			default:
				order = comparePositions(was[i], is[j])
			}
			if order <= 0 {
				p.was = &was[i]
				i++
			}
			if order >= 0 {
				p.is = &is[j]
				j++
			}
			if !yield(p) {
				return
			}
		}
	}
}

// continues reports whether a position is the one from before, and not another that
// was opened in its place. A record that does not say when it was opened is taken for the same.
func continues(was, is trading.Position) bool {
	return was.OpenedAt.IsZero() || is.OpenedAt.IsZero() || was.OpenedAt.Equal(is.OpenedAt)
}

// valueAlone reports whether nothing differs but what follows from prices, or what this
// version does not know.
func valueAlone(was, is trading.Position) bool {
	is.Mark, is.Notional, is.Margin, is.UnrealizedPnL = was.Mark, was.Notional, was.Margin, was.UnrealizedPnL
	is.Extra = was.Extra
	return is.Equal(was)
}

// closed is the event of a position that is gone, with the trades that belong to it.
func (is *accountLook) closed(before *accountLook, was trading.Position, delivered []trading.Trade) PositionClosed {
	ev := PositionClosed{At: is.at, Account: is.state.ID, Old: was}
	for _, early := range before.early {
		if belongs(early.trade, was) {
			ev.Trades = append(ev.Trades, early.trade)
		}
	}
	for _, trade := range delivered {
		if belongs(trade, was) {
			ev.Trades = append(ev.Trades, trade)
		}
	}
	ev.Cause = is.cause(before, was, ev.Trades)
	return ev
}

// belongs reports whether a trade can be of a position.
func belongs(t trading.Trade, p trading.Position) bool {
	if t.Symbol != p.Symbol || t.Side != p.Side {
		return false
	}
	if p.OpenedAt.IsZero() {
		return true
	}
	if !t.OpenedAt.IsZero() && t.OpenedAt.Sub(p.OpenedAt).Abs() >= time.Second { // two records may round differently
		return false
	}
	return t.ClosedAt.IsZero() || !t.ClosedAt.Before(p.OpenedAt)
}

// cause distinguishes the closes that a trade calls "market" alike.
func (is *accountLook) cause(before *accountLook, was trading.Position, trades []trading.Trade) Cause {
	cause := CauseUnknown
	if n := len(trades); n > 0 {
		cause = Cause(trades[n-1].Cause)
	}
	if cause != CauseMarket && cause != CauseUnknown {
		return cause
	}
	status, changed := is.state.Status, before.state.Status != is.state.Status
	switch {
	case is.state.Locked, status == trading.StatusSandboxLocked, status == trading.StatusFailed:
		return CauseLiquidation // nothing else can close a position now
	case status == trading.StatusSandboxPassed, status == trading.StatusPassed && changed:
		return CausePass
	case cause == CauseMarket && is.holds(was.Symbol, was.Side.Opposite()):
		return CauseFlip
	default:
		return cause
	}
}

func (is *accountLook) holds(symbol string, side trading.Side) bool {
	return slices.ContainsFunc(is.positions, func(p trading.Position) bool {
		return p.Symbol == symbol && p.Side == side
	})
}

// unexplained returns the trades that showed lately while their position was still as
// before.
func unexplained(was, is *accountLook, delivered []trading.Trade) []earlyTrade {
	if len(is.early) == 0 && len(delivered) == 0 {
		return nil
	}
	var shrunk trading.Positions
	for pair := range pairs(was.positions, is.positions) {
		if p := pair.was; p != nil && (pair.is == nil || !continues(*p, *pair.is) || pair.is.Size.LessThan(p.Size)) {
			shrunk = append(shrunk, *p)
		}
	}
	explained := func(t trading.Trade) bool {
		return slices.ContainsFunc(shrunk, func(p trading.Position) bool { return belongs(t, p) })
	}
	var early []earlyTrade
	for _, e := range is.early {
		if is.at.Sub(e.seen) < readLag && !explained(e.trade) {
			early = append(early, e)
		}
	}
	for _, t := range delivered {
		if !explained(t) {
			early = append(early, earlyTrade{t, is.at})
		}
	}
	return early
}
