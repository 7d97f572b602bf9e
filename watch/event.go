package watch

import (
	"time"

	"github.com/tradingapi/trading-go"
)

// Event is something that changed between two looks: one of the types of this
// package that end in what happened. At is when the look was done that showed it,
// by the clock of this machine. More types may be added in a minor version.
//
// Loops over a watch that is [Watch.Shared] get the same values: do not change what
// they refer to.
type Event interface{ event() }

// PositionOpened is a position that was not there, or one on the other side of a
// market than before.
type PositionOpened struct {
	// When the look was done, the account, and the position as it showed.
	At       time.Time
	Account  trading.AccountID
	Position trading.Position
}

// PositionChanged is a position whose size, entry, leverage or triggers changed.
type PositionChanged struct {
	// When the look was done, the account, and the position in the look before and in this one.
	At       time.Time
	Account  trading.AccountID
	Old, New trading.Position
}

// PositionMarked is a position whose value alone changed: its mark, notional, margin
// or unrealized PnL, or a member that this version does not know.
type PositionMarked struct {
	// When the look was done, the account, and the position in the look before and in this one.
	At       time.Time
	Account  trading.AccountID
	Old, New trading.Position
}

// PositionClosed is a position that is gone. One that was flipped is closed, and the
// new one opened.
type PositionClosed struct {
	// When the look was done that no longer showed it, and the account.
	At      time.Time
	Account trading.AccountID
	// Old is the position as it was last seen.
	Old trading.Position
	// Trades are the trades that could be matched with it, oldest first: of its
	// market and side, and first seen by this look, or shortly before without a change
	// of position to explain them. Each has a TradeClosed too. The list of
	// trades can lag, so there may be none: its TradeClosed then comes later.
	Trades []trading.Trade
	// Cause is why, as far as this look shows.
	Cause Cause
}

// TradeClosed is a closed trade, delivered once. The trades of one look come oldest first.
type TradeClosed struct {
	// When the look was done that first showed it, the account, and the trade.
	At      time.Time
	Account trading.AccountID
	Trade   trading.Trade
}

// StatusChanged is an account that was locked, has passed, failed, or is back. A pass
// has closed its positions; see also [trading.AccountStatus.AllowsEntry].
type StatusChanged struct {
	// When the look was done, the account, and its status in the look before and in this one.
	At       time.Time
	Account  trading.AccountID
	Old, New trading.AccountStatus
	// Locked is isLocked of a paper account.
	Locked bool
}

// AccountChanged is an account whose money or rules changed: balance, equity, floors,
// target, phase. While a position is open that is nearly every look.
type AccountChanged struct {
	// When the look was done, the account, and its state in the look before and in this one.
	At       time.Time
	Account  trading.AccountID
	Old, New trading.AccountState
}

// AccountReplaced is a paper account that was reset, by whomever, or deleted after
// thirty days without a write. Nothing that was known of the one before holds: its
// positions were not closed, they are gone, and have no PositionClosed. What
// the new one has follows as events.
//
// Another id is proof. A reset keeps the id; it is inferred from a lock or a pass that
// is undone, from a list of trades that begins anew with another balance, or from an
// untouched account where there was one with positions.
type AccountReplaced struct {
	// When the look was done, the new account, the last state of the old and the first of the new.
	At       time.Time
	Account  trading.AccountID // the new one
	Old, New trading.AccountState
}

// Gap says that changes between two times may be missing from the events, because
// looks failed, or because the list of closed trades does not reach back to the look
// before. The events that follow it deliver what is there at To all the same.
type Gap struct {
	// The last look before and the first after.
	From, To time.Time
	// Watch names the watch, such as "account acc_1".
	Watch string
	// Reason explains it to a person.
	Reason string
}

// MarkChanged is a market whose price moved, or that has a price again; Old is then
// unpriced.
type MarkChanged struct {
	// When the look was done, the market, and its price in the look before and in this one.
	At       time.Time
	Symbol   string
	Old, New trading.Mark
}

// MarkLost is a market that has no price now. MarkChanged brings it back.
type MarkLost struct {
	// When the look was done, the market, and the last price that it had.
	At     time.Time
	Symbol string
	Last   trading.Mark
}

// HealthChanged is another assessment of the service: of its status or its feed, not
// merely a later one. Old is nil at the start.
type HealthChanged struct {
	// When the look was done, and the assessment in the look before and in this one.
	At       time.Time
	Old, New *trading.Health
}

// LimitPlaced is a resting limit that was not there.
type LimitPlaced struct {
	// When the look was done, the account, and the record of the limit.
	At      time.Time
	Account trading.AccountID
	Order   trading.RestingOrder
}

// LimitChanged is a resting limit whose record changed.
type LimitChanged struct {
	// When the look was done, the account, and the record in the look before and in this one.
	At       time.Time
	Account  trading.AccountID
	Old, New trading.RestingOrder
}

// LimitClosed is a resting limit that rests no more: filled, cancelled or dropped. The
// contract shows no sign of it; positions and trades do, and [Fills] goes by them.
type LimitClosed struct {
	// When the look was done, the account, and the record when last seen.
	At      time.Time
	Account trading.AccountID
	Order   trading.RestingOrder
}

// RunStarted is a running Pro order that was not there.
type RunStarted struct {
	// When the look was done, the account, and the record of the run.
	At      time.Time
	Account trading.AccountID
	Run     trading.Run
}

// RunChanged is a running Pro order whose record changed.
type RunChanged struct {
	// When the look was done, the account, and the record in the look before and in this one.
	At       time.Time
	Account  trading.AccountID
	Old, New trading.Run
}

// RunFinished is a Pro order that runs no more, whatever ended it. Run is its record
// among the finished ones, or the last one seen if they do not show it yet.
type RunFinished struct {
	// When the look was done, the account, and the record.
	At      time.Time
	Account trading.AccountID
	Run     trading.Run
}

// Tick is time that has passed.
type Tick struct {
	At time.Time // when the interval ended
}

func (PositionOpened) event()  {}
func (PositionChanged) event() {}
func (PositionMarked) event()  {}
func (PositionClosed) event()  {}
func (TradeClosed) event()     {}
func (StatusChanged) event()   {}
func (AccountChanged) event()  {}
func (AccountReplaced) event() {}
func (Gap) event()             {}
func (MarkChanged) event()     {}
func (MarkLost) event()        {}
func (HealthChanged) event()   {}
func (LimitPlaced) event()     {}
func (LimitChanged) event()    {}
func (LimitClosed) event()     {}
func (RunStarted) event()      {}
func (RunChanged) event()      {}
func (RunFinished) event()     {}
func (Tick) event()            {}

// Cause is why a position was closed, as far as one look shows. The trade itself says
// "market" of a close by hand, a flip, a liquidation and a pass alike; the account's
// status and what is open in the market now distinguish these.
type Cause string

const (
	// CauseUnknown is a position that is gone before any trade of it shows.
	CauseUnknown Cause = ""
	// CauseStopLoss is a stop-loss that fired.
	CauseStopLoss Cause = "stop_loss"
	// CauseTakeProfit is a take-profit that fired.
	CauseTakeProfit Cause = "take_profit"
	// CauseMarket is a close by hand, by whomever, or one that looks like it.
	CauseMarket Cause = "market"
	// CauseFlip is an order that ended the position and opened the other side.
	CauseFlip Cause = "flip"
	// CauseLiquidation is the close that follows the breach of a loss floor.
	CauseLiquidation Cause = "liquidation"
	// CausePass is the close that follows when an account passes.
	CausePass Cause = "pass"
)
