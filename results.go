package trading

import (
	"time"

	"github.com/shopspring/decimal"
)

// Fill is the execution of one order. Its price is the only authoritative one:
// every price that is read can be some seconds old. The entry price of the
// position afterwards is an average with what was there before.
type Fill struct {
	// Price is what the order paid or got.
	Price decimal.Decimal

	// Size is what was filled, in base units. Live only.
	Size Opt[decimal.Decimal]

	// Fee is the fee of this fill alone, in dollars. Live only: a paper fill
	// pays a fee too, and does not show it.
	Fee Opt[decimal.Decimal]

	// Repriced is as the sandbox reports it; the contract does not say more.
	// Sandbox only.
	Repriced Opt[bool]

	// MarkAge is how old the mark was that the order filled at. Sandbox only.
	MarkAge Opt[time.Duration]
}

// OrderResult is what an order did.
type OrderResult struct {
	// Action is what happened in the service's words, such as "opened". Empty
	// on the sandbox.
	Action string

	// Fill is the order's own execution.
	Fill Fill

	// Balance is the account's balance afterwards, in dollars.
	Balance decimal.Decimal

	// Position is the whole position afterwards, what was there before included;
	// none if the order ended it. Its Leverage is what the service made of the
	// one asked for. Whether it has the triggers that were asked for is to be
	// seen in its levels.
	Position Opt[Position]

	// Account is the account afterwards. Sandbox only.
	Account Opt[AccountState]

	// ExecutedTwice says whether an order that was sent again, and was not answered
	// by a replay, was executed both times, judged by its position against what was
	// known before. None if it was sent once, or if that is not known.
	// Live only. The contract leaves this open for a 5xx after the work whose
	// answer was lost; WithSendTTL(0) never sends again.
	ExecutedTwice Opt[bool]

	// Meta describes how the answer came about. If it is a replay, all of the above
	// is as it was when the order was first answered.
	Meta Meta

	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// CloseResult is what a close did. PnL and Fee are as the service reports them:
// on a live account rounded to cents and on a basis that the contract does not
// show. For accounting read the trades.
type CloseResult struct {
	// PnL is in dollars. On the sandbox it is realizedPnL, which in the trades
	// is gross.
	PnL decimal.Decimal

	// Fee is in dollars. Whether it covers the opening too, the contract does
	// not show.
	Fee decimal.Decimal

	// Balance is the account's balance afterwards, in dollars.
	Balance decimal.Decimal

	// Status is the account's status afterwards: a close can pass or fail the
	// account.
	Status AccountStatus

	// Sandbox is what only the sandbox reports.
	Sandbox Opt[SandboxClose]

	// Meta describes how the answer came about.
	Meta Meta

	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// SandboxClose is what the sandbox reports about a close and a live account does
// not.
type SandboxClose struct {
	// Pct is how much of the position was closed, in percent.
	Pct decimal.Decimal

	// ExitPrice is the price of the close.
	ExitPrice decimal.Decimal

	// Left is what is left of the position; none after a full close.
	Left Opt[Position]

	// Account is the account afterwards.
	Account AccountState
}

// Equal reports whether nothing differs between two closes.
func (c SandboxClose) Equal(other SandboxClose) bool {
	return c.Pct.Equal(other.Pct) &&
		c.ExitPrice.Equal(other.ExitPrice) &&
		c.Left.Equal(other.Left) &&
		c.Account.Equal(other.Account)
}

// TPSLResult is what became of a change of triggers.
type TPSLResult struct {
	// Position is the position afterwards, with its levels.
	Position Opt[Position]

	// Meta describes how the answer came about.
	Meta Meta

	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}
