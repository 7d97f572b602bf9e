package trading

import (
	"context"
	"errors"
	"time"

	"github.com/tradingapi/trading-go/internal/resolve"
)

// What an error says: whether the write happened, what to do now, and when.

// OutcomeOf returns what became of the write that returned err: [Applied] for
// nil, [NotApplied] for the error of a read (nothing to apply), [Unknown] for an
// error that is not this client's.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Applied
	}
	// A WriteError speaks for the whole call, so it is asked first; one of the
	// others taken out of its wrapper carries the same outcome with it.
	if write := (*WriteError)(nil); errors.As(err, &write) {
		return write.Outcome
	}
	if bearer := outcomeBearer(nil); errors.As(err, &bearer) {
		return *bearer.outcomeOfCall()
	}
	if errors.As(err, new(resolve.NotExecuted)) {
		return NotApplied
	}
	return Unknown
}

// RetryAfter returns how long until anything of the kind can work, as the
// Retry-After of whoever answered or a full rate limit says, and whether err says so.
func RetryAfter(err error) (wait time.Duration, ok bool) {
	if refusal := (*Error)(nil); errors.As(err, &refusal) && !refusal.RetryAfter.IsZero() {
		return refusal.RetryAfter.Get()
	}
	if edge := (*GatewayError)(nil); errors.As(err, &edge) {
		return edge.Meta.RetryAfter.Get()
	}
	return 0, false
}

// AdviceOf returns what to do about err. What became of the write stands above its code: while
// that is [Unknown] the advice is [AdviseResolve], or [AdviseRead] where nothing can be asked, and
// what happened is not sent again.
func AdviceOf(err error) Advice {
	if err == nil {
		return AdviseNever
	}
	switch OutcomeOf(err) {
	case Unknown:
		return adviceInDoubt(err)
	case Applied:
		return AdviseRead // executed, late, or its answer could not be read
	}
	var (
		guard     *GuardError
		refusal   *Error
		transport *TransportError
		edge      *GatewayError
	)
	switch {
	case errors.Is(err, ErrPendingWrite):
		return AdviseResolve // of the writes that it names
	case errors.As(err, new(resolve.NotExecuted)):
		return AdviseNewKey // whatever its sends met
	case errors.As(err, &guard) && guard.Kind != ErrAccountLocked:
		return AdviseNewKey // whatever the guard met; nothing was sent, and it may pass later
	case errors.As(err, &refusal):
		if advice := refusal.rule().Advice; advice != AdviseResolve {
			return advice
		}
		return AdviseNewKey // it did not happen all the same, or it was a read
	case errors.As(err, &transport):
		return AdviseSameKey
	case errors.As(err, &edge):
		return AdviseSameKey // to a read, by something in front, which passes
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return AdviseSameKey // the caller left before anything was sent
	default:
		return AdviseNever
	}
}

// adviceInDoubt is that of a write whose outcome is not known.
func adviceInDoubt(err error) Advice {
	write := (*WriteError)(nil)
	switch isWrite := errors.As(err, &write); {
	case isWrite && write.Intent == "" && write.NotSent:
		return AdviseSameKey // an earlier use of the id is not known; the same id finds out
	case isWrite && write.Intent != "":
		return AdviseResolve
	case !isWrite && (errors.Is(err, ErrUndetermined) || errors.As(err, new(*PendingError))):
		return AdviseResolve // of Resolve, Recover or Close
	default:
		return AdviseRead // nothing finds out about it but the account
	}
}
