package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
)

// The exit codes.
const (
	Done        = 0   // what was asked is done
	NotApplied  = 1   // it is not done, and nothing was changed
	Usage       = 2   // the command line or the environment cannot be meant
	Unknown     = 3   // a write may have been applied: look first
	Refused     = 4   // refused locally: nothing was sent
	NotFlat     = 5   // an account is not proven flat
	Breaking    = 6   // the service's description has a change that can break a bot, or it answers otherwise than it did
	Unsound     = 8   // a check of the doctor failed, or a drill
	Interrupted = 130 // interrupted, and nothing is pending
)

// codedError is an error that has an exit code of its own.
type codedError struct {
	error
	code int
}

func (e codedError) Unwrap() error { return e.error }

// WithCode gives an error the exit code.
func WithCode(code int, err error) error { return codedError{err, code} }

// Misuse is an error of the command line or of the environment.
func Misuse(format string, args ...any) error {
	return WithCode(Usage, fmt.Errorf(format, args...))
}

// Status returns the exit code of an error.
func Status(err error) int {
	var coded codedError
	var write *trading.WriteError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, flatten.ErrNotFlat):
		return NotFlat
	case errors.As(err, &write):
		return statusOfWrite(write)
	case errors.Is(err, trading.ErrUndetermined), errors.As(err, new(*trading.PendingError)):
		return Unknown
	case errors.Is(err, context.Canceled):
		return Interrupted
	case refusedLocally(err):
		return Refused
	default:
		return NotApplied
	}
}

func statusOfWrite(w *trading.WriteError) int {
	switch {
	case w.Outcome == trading.Applied:
		return Done
	case w.Outcome == trading.Unknown:
		return Unknown
	case errors.Is(w, context.Canceled):
		return Interrupted
	case refusedLocally(w):
		return Refused
	default:
		return NotApplied
	}
}

// refusedLocally reports whether the client refused to send.
func refusedLocally(err error) bool {
	var refusal *trading.Error
	if errors.As(err, &refusal) {
		return refusal.Local
	}
	return errors.As(err, new(*trading.GuardError)) || errors.As(err, new(*trading.OptionError))
}
