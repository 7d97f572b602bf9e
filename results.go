package trading

import (
	"time"

	"github.com/shopspring/decimal"
)

// Fill is the execution of one order. Its price is the only authoritative one:
// every price that is read can be some seconds old. The entry price of the
// position afterwards is an average with what was there before.
type Fill struct {
	Price    decimal.Decimal      // what the order paid or got
	Size     Opt[decimal.Decimal] // what was filled, in base units; live only
	Fee      Opt[decimal.Decimal] // of this fill alone, in dollars; live only: a paper fill pays one too, and does not show it
	Repriced Opt[bool]            // as the sandbox reports it; the contract does not say more
	MarkAge  Opt[time.Duration]   // how old the mark was that the order filled at; sandbox only
}

// OrderResult is what an order did. If its Meta says that it is a replay, all else is as it
// was when the order was first answered.
type OrderResult struct {
	Action  string          // what happened in the service's words, such as "opened"; empty on the sandbox
	Fill    Fill            // the order's own execution
	Balance decimal.Decimal // the account's balance afterwards, in dollars

	// Position is the whole position afterwards, what was there before included;
	// none if the order ended it. Its Leverage is what the service made of the
	// one asked for. Whether it has the triggers that were asked for is to be
	// seen in its levels.
	Position Opt[Position]
	Account  Opt[AccountState] // the account afterwards; sandbox only

	// ExecutedTwice says whether an order that was sent again, and was not answered
	// by a replay, was executed both times, judged by its position against what was
	// known before. None if it was sent once, or if that is not known.
	// Live only. The contract leaves this open for a 5xx after the work whose
	// answer was lost; WithSendTTL(0) never sends again.
	ExecutedTwice Opt[bool]

	Meta  Meta  // how the answer came about
	Extra Extra `json:",omitempty"` // members that have no field here
}

// CloseResult is what a close did. PnL and Fee are as the service reports them:
// on a live account rounded to cents and on a basis that the contract does not
// show. For accounting read the trades.
type CloseResult struct {
	PnL     decimal.Decimal   // in dollars; on the sandbox realizedPnL, which in the trades is gross
	Fee     decimal.Decimal   // in dollars; whether it covers the opening too, the contract does not show
	Balance decimal.Decimal   // the account's balance afterwards, in dollars
	Status  AccountStatus     // the account's status afterwards: a close can pass or fail the account
	Sandbox Opt[SandboxClose] // what only the sandbox reports
	Meta    Meta              // how the answer came about
	Extra   Extra             `json:",omitempty"` // members that have no field here
}

// SandboxClose is what the sandbox reports about a close and a live account does
// not.
type SandboxClose struct {
	Pct       decimal.Decimal // how much of the position was closed, in percent
	ExitPrice decimal.Decimal // the price of the close
	Left      Opt[Position]   // what is left of the position; none after a full close
	Account   AccountState    // the account afterwards
}

// Equal reports whether nothing differs between two closes.
func (c SandboxClose) Equal(other SandboxClose) bool { return equalFields(c, other) }

// TPSLResult is what became of a change of triggers.
type TPSLResult struct {
	Position Opt[Position] // the position afterwards, with its levels
	Meta     Meta          // how the answer came about
	Extra    Extra         `json:",omitempty"` // members that have no field here
}

// LimitResult is a resting limit order that was accepted.
type LimitResult struct {
	Order RestingOrder // rests from now on, or has filled at once
	Meta  Meta         // how the answer came about
	Extra Extra        `json:",omitempty"` // members that have no field here
}

// RunResult is a Pro order that was accepted.
type RunResult struct {
	ID    RunID // names the run, for [Account.EditRun] and [Account.CancelRun]
	Meta  Meta  // how the answer came about
	Extra Extra `json:",omitempty"` // members that have no field here
}

// Ack is a cancel, or an edit of a run, that was accepted.
type Ack struct {
	Meta  Meta  // how the answer came about
	Extra Extra `json:",omitempty"` // the answer's members; the contract shows none of them
}
