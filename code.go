package trading

// Code is the service's name for a refusal: the exact text of `error` in its
// body. Codes differ by case alone in places, so they are compared exactly.
// Each is an error, for use with [errors.Is]:
//
//	if errors.Is(err, trading.CodeMaxSlippage) { … }
//
// The set is open. A code that this version does not know arrives unchanged,
// matches Code("ITS_NAME"), and is treated by the class of its status.
type Code string

// Error returns the code as the service writes it.
func (c Code) Error() string { return string(c) }

// Kind gathers what means the same to a bot, across codes and environments.
// Kinds are errors as codes are:
//
//	errors.Is(err, trading.ErrNotMarketable) // order_not_marketable or NOT_MARKETABLE
type Kind string

// Error returns the kind as words.
func (k Kind) Error() string { return string(k) }

const (
	// ErrNoPrice is no_price, NO_PRICE, STALE_PRICE: there is no fresh price; it passes by itself.
	ErrNoPrice Kind = "no fresh price"
	// ErrNotMarketable is order_not_marketable, NOT_MARKETABLE: the market has not reached the limit.
	ErrNotMarketable Kind = "limit has not been reached"
	// ErrSlippage is MAX_SLIPPAGE, INSUFFICIENT_LIQUIDITY, GUARD_BAND: the fill would be too far away.
	ErrSlippage Kind = "fill would be too far away"
	// ErrRiskCap is every cap and the minimum order value.
	ErrRiskCap Kind = "risk cap"
	// ErrAccountLocked is account_locked, ACCOUNT_LOCKED.
	ErrAccountLocked Kind = "account is locked"
	// ErrLossLimit is DAILY_DRAWDOWN_BREACH, GLOBAL_DRAWDOWN_BREACH: never retry.
	ErrLossLimit Kind = "loss limit"
	// ErrKeyRefused is each 401, wrong_environment and api_access_denied.
	ErrKeyRefused Kind = "API key refused"
	// ErrUnhealthy is a write held back by the health gate.
	ErrUnhealthy Kind = "not safe to trade"
	// ErrHalted is a write held back by [Client.Halt].
	ErrHalted Kind = "halted"
	// ErrPendingWrite is an entry held back because the outcome of an earlier write in its market is not known yet; a [PendingError] names it.
	ErrPendingWrite Kind = "an earlier write is pending"
	// ErrJournal is an entry held back because the journal cannot take it.
	ErrJournal Kind = "the journal cannot be written"
	// ErrDecided means that a write with this client order id was executed before, and that
	// its answer is lost. Nothing was sent this time.
	ErrDecided Kind = "already carried out"
	// ErrExpired is a write that was not sent because it was decided too long ago; see [WithSendTTL].
	ErrExpired Kind = "too old to be sent"
	// ErrGuard is a write held back by a guard of the program's own.
	ErrGuard Kind = "refused by a guard"
)

// Outcome answers the first question about a failed write: did it happen?
type Outcome uint8

const (
	// Unknown: it may have been applied. Never take it for a failure. It is the
	// zero value, so that a forgotten outcome errs on the safe side.
	Unknown Outcome = iota
	// Applied: the service executed it.
	Applied
	// NotApplied: it was not executed and never will be.
	NotApplied
)

// String returns the outcome in words.
func (o Outcome) String() string {
	switch o {
	case Applied:
		return "applied"
	case NotApplied:
		return "not applied"
	default:
		return "unknown"
	}
}

// Advice answers the last question about a failed call: what now?
type Advice uint8

const (
	// AdviseNever: no retry helps; a person must act.
	AdviseNever Advice = iota
	// AdviseChange: the order is at fault, as it is or at this price; change it first.
	AdviseChange
	// AdviseNewKey: nothing was placed and the cause passes; send again, on a live
	// account under a new key, since the old one is spent: a refusal is stored under it,
	// or it was closed when the write was resolved.
	AdviseNewKey
	// AdviseSameKey: nothing is stored, or the first request still runs; send the same bytes under the same key.
	AdviseSameKey
	// AdviseWait: wait for [RetryAfter], or until the writes that a [PendingError] names
	// are resolved, then send the same again.
	AdviseWait
	// AdviseRead: look first, by Resolve or by reading the account; do not send again blindly.
	AdviseRead
)

// String returns the advice in words.
func (a Advice) String() string {
	switch a {
	case AdviseChange:
		return "change the request"
	case AdviseNewKey:
		return "send again under a new key"
	case AdviseSameKey:
		return "send again under the same key"
	case AdviseWait:
		return "wait, then send again"
	case AdviseRead:
		return "read first"
	default:
		return "do not retry"
	}
}

// Rule is one row of the table that the client's own retries follow.
type Rule struct {
	// Code is the refusal; empty in the rows for codes that this version does not know.
	Code Code
	// Status is the HTTP status; 0 stands for any below 500.
	Status int
	// Environment is where the row holds; empty for both.
	Environment Environment
	// Kind is the family that the code belongs to, if any.
	Kind Kind
	// Advice is what to do next.
	Advice Advice
	// Outcome is what the answer says of a write that nothing was doubtful about before.
	Outcome Outcome
	// Meaning says it in a sentence.
	Meaning string
}
