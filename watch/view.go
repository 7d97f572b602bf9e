package watch

import (
	"slices"

	"github.com/tradingapi/trading-go"
)

// View is the sum of the events of a loop so far. The zero value is empty: with
// watches that are [Watch.WithSnapshot] it holds, after each event is applied, what the
// latest look has seen. A program that begins with a snapshot of its own fills it in
// first.
//
// A View belongs to one goroutine; [View.Clone] makes a copy for another.
type View struct {
	// Account is the account whose events are applied; empty for any. A loop that
	// watches several accounts keeps a View for each.
	Account trading.AccountID
	// State is the account's status and money.
	State trading.AccountState
	// Positions are the open ones, by market.
	Positions trading.Positions
	// Trades are the closed ones that were delivered, oldest first. They are only added to,
	// until the account is replaced: a program that runs for long cuts them as it likes.
	Trades []trading.Trade
	// Limits are the resting ones.
	Limits map[trading.OrderID]trading.RestingOrder
	// Runs are the running Pro orders.
	Runs map[trading.RunID]trading.Run
	// Marks are the prices; a market that lost its price is not there.
	Marks map[string]trading.Mark
	// Health is the last assessment that differed from the one before.
	Health *trading.Health
}

// Apply takes in an event. It reports whether that belonged to the view: a [Gap] and a
// [Tick] change nothing, and neither does an event of another account.
func (v *View) Apply(ev Event) bool {
	if account, ok := accountOf(ev); ok && v.Account != "" && v.Account != account {
		return false
	}
	switch ev := ev.(type) {
	case AccountReplaced:
		if v.Account != "" {
			v.Account = ev.New.ID
		}
		v.State, v.Positions, v.Trades = ev.New, nil, nil
	case AccountChanged:
		v.State = ev.New
	case StatusChanged:
		v.State.Status, v.State.Locked = ev.New, ev.Locked
	case TradeClosed:
		v.Trades = append(v.Trades, ev.Trade)
	case PositionOpened:
		v.hold(ev.Position)
	case PositionChanged:
		v.hold(ev.New)
	case PositionMarked:
		v.hold(ev.New)
	case PositionClosed:
		v.drop(ev.Old)
	case LimitPlaced:
		put(&v.Limits, ev.Order.ID, ev.Order)
	case LimitChanged:
		put(&v.Limits, ev.New.ID, ev.New)
	case LimitClosed:
		delete(v.Limits, ev.Order.ID)
	case RunStarted:
		put(&v.Runs, ev.Run.ID, ev.Run)
	case RunChanged:
		put(&v.Runs, ev.New.ID, ev.New)
	case RunFinished:
		delete(v.Runs, ev.Run.ID)
	case MarkChanged:
		put(&v.Marks, ev.Symbol, ev.New)
	case MarkLost:
		delete(v.Marks, ev.Symbol)
	case HealthChanged:
		v.Health = ev.New
	default:
		return false
	}
	return true
}

// accountOf returns the account that an event is about, as it was named before it.
func accountOf(ev Event) (id trading.AccountID, ok bool) {
	switch ev := ev.(type) {
	case AccountReplaced:
		return ev.Old.ID, true
	case AccountChanged:
		return ev.Account, true
	case StatusChanged:
		return ev.Account, true
	case TradeClosed:
		return ev.Account, true
	case PositionOpened:
		return ev.Account, true
	case PositionChanged:
		return ev.Account, true
	case PositionMarked:
		return ev.Account, true
	case PositionClosed:
		return ev.Account, true
	case LimitPlaced:
		return ev.Account, true
	case LimitChanged:
		return ev.Account, true
	case LimitClosed:
		return ev.Account, true
	case RunStarted:
		return ev.Account, true
	case RunChanged:
		return ev.Account, true
	case RunFinished:
		return ev.Account, true
	default:
		return "", false
	}
}

func (v *View) hold(p trading.Position) {
	at, held := slices.BinarySearchFunc(v.Positions, p, comparePositions)
	if held {
		v.Positions[at] = p
		return
	}
	v.Positions = slices.Insert(v.Positions, at, p)
}

func (v *View) drop(p trading.Position) {
	if at, held := slices.BinarySearchFunc(v.Positions, p, comparePositions); held {
		v.Positions = slices.Delete(v.Positions, at, at+1)
	}
}

func put[K comparable, T any](m *map[K]T, key K, value T) {
	if *m == nil {
		*m = make(map[K]T)
	}
	(*m)[key] = value
}
