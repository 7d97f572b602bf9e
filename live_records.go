package trading

import (
	"time"

	"github.com/shopspring/decimal"
)

// AccountInfo is a live account as the list of accounts shows it.
type AccountInfo struct {
	// ID names the account.
	ID AccountID
	// Status decides what the service accepts on the account.
	Status AccountStatus
	// EvalType and Phase say which evaluation it is in.
	EvalType EvalType
	Phase    int
	// Trial, Tournament and Archived are kinds of accounts; archived ones are listed too.
	Trial, Tournament, Archived bool
	// TournamentName is empty unless it is a tournament entry.
	TournamentName string
	// ChallengeSize, StartingBalance and CurrentBalance are in dollars.
	ChallengeSize, StartingBalance, CurrentBalance decimal.Decimal
	// FundedFrom is the challenge account that a funded account was issued from.
	FundedFrom AccountID
	// CreatedAt is when the account was issued.
	CreatedAt time.Time
	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// OpenOrders is what waits on an account: resting limits, and Pro runs that run.
type OpenOrders struct {
	// Limits rest until the market reaches them, whether or not the program runs.
	Limits []RestingOrder
	// Runs are the Pro orders that have not finished.
	Runs []Run
}

// RestingOrder is a resting limit order. The contract shows its id alone; the
// other fields are filled where the record uses the names of the request.
type RestingOrder struct {
	// ID names the order.
	ID OrderID
	// Symbol and Side are empty if the record does not tell.
	Symbol string
	Side   Side
	// Size, in base units, and LimitPrice are none if the record does not tell.
	Size, LimitPrice Opt[decimal.Decimal]
	// Extra holds every other member.
	Extra Extra `json:",omitempty"`
}

// Run is a Pro order, running or finished. The contract shows its id alone; the
// other fields are filled where the record uses the names of the request.
type Run struct {
	// ID names the run.
	ID RunID
	// Symbol and Side are empty if the record does not tell.
	Symbol string
	Side   Side
	// Extra holds every other member.
	Extra Extra `json:",omitempty"`
}

// FundingPayment is a funding payment of an account. The contract shows no field
// of it: everything is in Extra.
type FundingPayment struct {
	// Extra holds the record.
	Extra Extra
}

// LimitResult is a resting limit order that was accepted.
type LimitResult struct {
	// Order rests from now on, or has filled at once.
	Order RestingOrder
	// Meta tells how the answer came about.
	Meta Meta
	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// RunResult is a Pro order that was accepted.
type RunResult struct {
	// ID names the run, for [Account.EditRun] and [Account.CancelRun].
	ID RunID
	// Meta tells how the answer came about.
	Meta Meta
	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// Ack is a cancel, or an edit of a run, that was accepted.
type Ack struct {
	// Meta tells how the answer came about.
	Meta Meta
	// Extra holds the answer's members; the contract shows none of them.
	Extra Extra `json:",omitempty"`
}
