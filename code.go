package trading

import (
	"iter"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/spec"
)

// Code is the service's name for a refusal: the exact text of `error` in its
// body. Codes differ by case alone in places, so they are compared exactly.
// Each is an error, for use with [errors.Is]:
//
//	if errors.Is(err, trading.CodeMaxSlippage) { … }
//
// The set is open. A code that this version does not know arrives unchanged,
// matches Code("ITS_NAME"), and is treated by the class of its status. To a write it proves
// nothing until the service repeats it as its stored answer.
type Code = spec.Code

// Kind gathers what means the same to a bot, across codes and environments.
// Kinds are errors as codes are:
//
//	errors.Is(err, trading.ErrNotMarketable) // order_not_marketable or NOT_MARKETABLE
type Kind string

// Error returns the kind as words.
func (k Kind) Error() string { return string(k) }

// The kinds.
const (
	ErrNoPrice       Kind = spec.NoPrice       // no_price, NO_PRICE, STALE_PRICE: there is no fresh price; it passes by itself
	ErrNotMarketable Kind = spec.NotMarketable // order_not_marketable, NOT_MARKETABLE: the market has not reached the limit
	ErrSlippage      Kind = spec.Slippage      // MAX_SLIPPAGE, INSUFFICIENT_LIQUIDITY, GUARD_BAND: the fill would be too far away
	ErrRiskCap       Kind = spec.RiskCap       // every cap and the minimum order value
	ErrAccountLocked Kind = spec.AccountLocked // account_locked, ACCOUNT_LOCKED
	ErrLossLimit     Kind = spec.LossLimit     // DAILY_DRAWDOWN_BREACH, GLOBAL_DRAWDOWN_BREACH: never retry
	ErrKeyRefused    Kind = spec.KeyRefused    // each 401, wrong_environment and api_access_denied

	ErrUnhealthy Kind = "not safe to trade"             // a write held back by the health gate
	ErrHalted    Kind = "halted"                        // a write held back by [Client.Halt]
	ErrJournal   Kind = "the journal cannot be written" // an entry held back because the journal cannot take it
	ErrGuard     Kind = "refused by a guard"            // a write held back by a guard of the program's own
	ErrExpired   Kind = "too old to be sent"            // a write that was not sent because it was decided too long ago; see [WithSendTTL]

	// ErrPendingWrite is an entry held back because the outcome of an earlier write in its
	// market is not known yet; a [PendingError] names it.
	ErrPendingWrite Kind = "an earlier write is pending"
	// ErrDecided means that a write with this client order id was executed before, and that
	// its answer is lost. Nothing was sent this time.
	ErrDecided Kind = "already carried out"
)

// Outcome answers the first question about a failed write: did it happen?
type Outcome = ledger.Outcome

// The outcomes. Unknown is the zero value, so that a forgotten outcome errs on the safe side.
const (
	Unknown    = ledger.Unknown    // it may have been applied: never take it for a failure
	Applied    = ledger.Applied    // the service executed it
	NotApplied = ledger.NotApplied // it was not executed and never will be
)

// Advice answers the last question about a failed call: what now? docs/errors.md has the steps
// of each; a bot that takes them and no other orders nothing twice.
type Advice = spec.Advice

// The advices.
const (
	// AdviseNever: it did not happen, and no retry helps; drop it, and alert a person.
	AdviseNever = spec.Never
	// AdviseChange: it did not happen, and the order is at fault, as it is or at this price;
	// change it or drop it.
	AdviseChange = spec.Change
	// AdviseNewKey: it did not happen, and the cause passes. Wait, then decide anew. A key of
	// [WithIdempotencyKey] is used up, since a refusal is stored under it, or it was closed when
	// the write was resolved; an id of [WithClientOrderID] is not.
	AdviseNewKey = spec.NewKey
	// AdviseSameKey: it did not happen, the cause passes, and nothing is stored. Wait, then send
	// the same again, under the same id or key if it has one.
	AdviseSameKey = spec.SameKey
	// AdviseWait: it did not happen, since a limit is full. Wait for [RetryAfter], then send the
	// same again.
	AdviseWait = spec.Wait
	// AdviseRead: it happened, or its order or run may be gone. Do not send it again: decide anew,
	// from a read of the account that begins five seconds later.
	AdviseRead = spec.Read
	// AdviseResolve: nobody knows yet whether it happened, or an earlier write in its market that a
	// [PendingError] names. Do not send it again: find out by Resolve or ResolveID, and then decide
	// anew, from a read of the account that begins five seconds later. A read alone does not
	// say it: the order may still be on its way.
	AdviseResolve = spec.Resolve
)

// Rule is one row of the table that the client's own retries follow.
type Rule struct {
	Code        Code        // the refusal; empty in the rows for codes that this version does not know
	Status      int         // the HTTP status; 0 stands for any below 500
	Environment Environment // where the row holds; empty for both
	Kind        Kind        // the family that the code belongs to, if any
	Advice      Advice      // what to do next
	Outcome     Outcome     // what the answer says of a write that nothing was doubtful about before
	Meaning     string      // says it in a sentence
}

// Rules yields the whole table, in the order of the contract. The client's retries, the
// documentation and the tests read the same rows.
func Rules() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, rule := range spec.Rules() {
			if !yield(ruleOf(rule)) {
				return
			}
		}
	}
}

func ruleOf(r spec.CodeRule) Rule {
	outcome, advice := NotApplied, r.Advice
	switch {
	case r.Outcome == spec.Unknown:
		outcome, advice = Unknown, AdviseResolve
	case advice == AdviseSameKey && r.Env == EnvSandbox:
		advice = AdviseNewKey // it has no keys, and the write that is in flight may be this very order
	}
	return Rule{Code(r.Code), r.Status, r.Env, Kind(r.Kind), advice, outcome, r.Meaning}
}
