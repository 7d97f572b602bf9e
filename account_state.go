package trading

import (
	"github.com/shopspring/decimal"
)

// AccountState is a live or paper account as one read saw it, some seconds old.
// Amounts are in dollars. ProfitTarget and the floors are absolute levels of
// equity: an account of 10000 that may lose 500 has its floor at 9500.
type AccountState struct {
	ID            AccountID            // names the account
	Environment   Environment          // the sandbox or live
	Status        AccountStatus        // decides what the service accepts on the account
	Locked        bool                 // of a paper account, true after a breach: only a reset unlocks it; of a live one, read Status
	Balance       decimal.Decimal      // the money of the account without its open positions
	Equity        decimal.Decimal      // balance and unrealized PnL together: the loss limits and the target are judged by it
	UnrealizedPnL Opt[decimal.Decimal] // the gross PnL of the open positions

	// ProfitTarget is the equity at which the account passes, once the taker
	// fees to close every position are deducted. A pass closes the book.
	ProfitTarget    Opt[decimal.Decimal]
	DailyLossFloor  Opt[decimal.Decimal] // the equity at or below which the day's loss limit is breached
	GlobalLossFloor Opt[decimal.Decimal] // the equity at or below which the account's loss limit is breached
	ProfitSplit     Opt[decimal.Decimal] // the trader's share of the profit, as a fraction: 0.8 is 80 percent

	Phase Opt[int] // of the challenge
	Extra Extra    `json:",omitempty"` // members that have no field here
}

// LossRoom returns how far the equity is above the higher of the loss floors, in
// dollars. The breach is at 0, not only below: at exactly the floor the account
// is lost.
//
// ok is false if no floor is known. If one of the two is not known, the room is
// the one above the other.
func (s AccountState) LossRoom() (room decimal.Decimal, ok bool) {
	for _, floor := range []Opt[decimal.Decimal]{s.DailyLossFloor, s.GlobalLossFloor} {
		level, known := floor.Get()
		if !known {
			continue
		}
		if above := s.Equity.Sub(level); !ok || above.LessThan(room) {
			room, ok = above, true
		}
	}
	return room, ok
}

// TargetGap returns how far the equity is below the profit target, in dollars;
// negative above it. The account passes a little later than at 0, since the
// service deducts the taker fees to close every position first. ok is false if
// the target is not known.
func (s AccountState) TargetGap() (gap decimal.Decimal, ok bool) {
	target, ok := s.ProfitTarget.Get()
	if !ok {
		return decimal.Decimal{}, false
	}
	return target.Sub(s.Equity), true
}

// Equal reports whether nothing differs between two states.
func (s AccountState) Equal(other AccountState) bool { return equalFields(s, other) }

// AccountStatus is what an account is in, and decides what the service accepts
// on it. Live and sandbox accounts have vocabularies of their own, which differ
// by case. A status that this version does not know allows exits and no entry.
type AccountStatus string

// The statuses.
const (
	StatusActive    AccountStatus = "ACTIVE"    // a live trial, challenge or tournament entry: everything is accepted
	StatusPurchased AccountStatus = "PURCHASED" // a legacy value that means the same as [StatusActive]
	StatusFunded    AccountStatus = "FUNDED"    // a live funded account: everything is accepted
	StatusPassed    AccountStatus = "PASSED"    // a live account that reached its target: closes, levels and ReduceOnly orders only
	StatusFailed    AccountStatus = "FAILED"    // a live account that broke a rule: nothing is accepted
	StatusExpired   AccountStatus = "EXPIRED"   // a tournament account past its end: nothing is accepted

	StatusSandboxActive AccountStatus = "active" // a paper account that trades
	StatusSandboxLocked AccountStatus = "locked" // a paper account after a breach: nothing is accepted until it is reset
	StatusSandboxPassed AccountStatus = "passed" // a paper account that reached its target; the contract does not show what it accepts
)

// AllowsEntry reports whether the service accepts new exposure on an account in
// this status. It is false for a status that this version does not know.
func (s AccountStatus) AllowsEntry() bool {
	switch s {
	case StatusActive, StatusPurchased, StatusFunded, StatusSandboxActive:
		return true
	default:
		return false
	}
}

// AllowsExit reports whether the service may accept closes, trigger levels and
// ReduceOnly orders on an account in this status. It is false only where the
// contract says that nothing is accepted, so it is true for a status that this
// version does not know: the way out is never blocked on a guess.
func (s AccountStatus) AllowsExit() bool {
	switch s {
	case StatusFailed, StatusExpired, StatusSandboxLocked:
		return false
	default:
		return true
	}
}
