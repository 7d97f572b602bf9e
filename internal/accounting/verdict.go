package accounting

import "github.com/shopspring/decimal"

// Outcome is what became of a write.
type Outcome uint8

const (
	Unknown Outcome = iota
	Applied
	NotApplied
)

// Verdict is the outcome and what it rests on.
type Verdict struct {
	Outcome Outcome
	Reason  Reason
	// V is the volume that may be the write's, in units of its size.
	V decimal.Decimal
	// Rows are the new rows that may be the write's.
	Rows []Row
	// Likely is the outcome that the facts suggest without proving it.
	Likely Outcome
}

// Reason says why a verdict is what it is.
type Reason uint8

const (
	NoReason Reason = iota
	// Decided.
	NoTrace
	FlatSymbol
	VolumeFits
	RowsFit
	OneNewID
	// Unknown.
	NotHeld
	NoBaseline
	AccountingEnded
	LookAgain
	NothingShows
	ListIncomplete
	RowUnreadable
	OwnRowMissing
	Contradiction
	NotExclusive
	PendingWrite
	StatusChanged
	OrdersRested
	OwnWriteUnclear
	DoesNotFit
)

func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return "unknown reason"
}

var reasons = [...]string{
	NoReason:        "no reason",
	NoTrace:         "the account shows no trace of the write",
	FlatSymbol:      "the symbol is flat, and nothing closed since the write",
	VolumeFits:      "the traded volume is that of the write",
	RowsFit:         "the closed trades and the position are those of the write",
	OneNewID:        "exactly one new order or run shows",
	NotHeld:         "the write can still run",
	NoBaseline:      "no baseline from before the write, and the symbol does not prove absence by itself",
	AccountingEnded: "the account was reset or its holder changed",
	LookAgain:       "another write of this program was too recent: read the account again",
	NothingShows:    "an edit of a run shows in no read",
	ListIncomplete:  "the list of closed trades or finished runs does not reach back to the baseline",
	RowUnreadable:   "a new closed trade lacks its symbol, side or size",
	OwnRowMissing:   "the closed trade of another write of this program is missing",
	Contradiction:   "the position and the closed trades contradict each other",
	NotExclusive:    "a trace fits, but another program or person may have traded: see WithExclusiveAccounts",
	PendingWrite:    "a trace fits, but another pending write may have left it",
	StatusChanged:   "a trace fits, but the status of the account changed or is not known",
	OrdersRested:    "a trace fits, but an older order or run may have left it",
	OwnWriteUnclear: "what another write of this program traded is not clear",
	DoesNotFit:      "the account changed, but not as the write would change it",
}
