package accounting

import "github.com/tradingapi/trading-go/internal/ledger"

// Verdict is the outcome and what it rests on.
type Verdict struct {
	Outcome ledger.Outcome
	Reason  Reason
	// Likely is the outcome that the facts suggest without proving it.
	Likely ledger.Outcome
}

// Reason says, in words, why a verdict is what it is.
type Reason string

// The reasons.
const (
	NoTrace    Reason = "the account shows no trace of the write"
	ReplayFits Reason = "no other course of the account's trades fits"
	OneNewID   Reason = "exactly one new order or run shows"
	LevelsSet  Reason = "the position has the levels of the write"
	LevelsNot  Reason = "the position has other levels, or is gone"

	WriteIncomplete Reason = "the write names no kind, symbol, side or size"
	NotHeld         Reason = "the write can still run"
	NoBaseline      Reason = "what the account held right before the write is not known, so that its trades prove nothing: " +
		"the write came within seconds of the start or of another write, or the account could not be read; " +
		"read the account, and acknowledge the write"
	AccountingEnded Reason = "the account was reset or its holder changed"
	MayBeReset      Reason = "somebody else may have reset the account, and what the write traded with it: see WithExclusiveAccounts"
	LookAgain       Reason = "reads may lag behind: read the account again"
	NothingShows    Reason = "an edit of a run shows in no read"
	ListIncomplete  Reason = "a list may no longer reach back to the baseline"
	RowUnreadable   Reason = "a new closed trade lacks its symbol, side or size"
	NotExclusive    Reason = "a trace fits, but somebody else may have left it: see WithExclusiveAccounts"
	PendingBeside   Reason = "a trace fits, but another pending write may have left it"
	BothFit         Reason = "the account's trades fit with the write and without it: a size that nothing else in the market has would have helped"
	NothingFits     Reason = "no course of the program's writes explains the account's trades: somebody else may trade it"
	TooManyOrders   Reason = "the account's trades allow more courses than are tried: fewer writes side by side would have helped"
	SizesTooFine    Reason = "the sizes of the account's trades have more decimal places than can be counted in"
	DoesNotFit      Reason = "the account changed, but not as the write would change it"
)
