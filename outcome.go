package trading

import (
	"errors"
	"time"
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
		return bearer.outcomeOfCall()
	}
	return Unknown
}

// outcomeBearer is an error that remembers the outcome of the call it ended.
type outcomeBearer interface {
	error
	outcomeOfCall() Outcome
	setOutcomeOfCall(Outcome)
}

// readError is what ended a read before there was an answer and is not this
// client's own, such as the end of its context. It says that nothing was applied,
// which the bare error could not.
type readError struct{ error }

func (e readError) Error() string            { return causeText(e.error) }
func (e readError) Unwrap() error            { return e.error }
func (e readError) outcomeOfCall() Outcome   { return NotApplied }
func (e readError) setOutcomeOfCall(Outcome) {}

// RetryAfter returns how long until anything of the kind can work, as the
// service's Retry-After or an exhausted budget told, and whether err says so.
func RetryAfter(err error) (wait time.Duration, ok bool) {
	if refusal := (*Error)(nil); errors.As(err, &refusal) && refusal.RetryAfter > 0 {
		return refusal.RetryAfter, true
	}
	return 0, false
}
