package trading

import "fmt"

// OptionError is an option, or another argument, that cannot be meant: [New] and
// [Client.With] return it, and so does the call that it was given to, which sends
// nothing.
type OptionError struct {
	// Option is its function, such as "WithRetry", or the argument's name.
	Option string
	// Reason says what is wrong with it.
	Reason string
	// Err is the refusal beneath, such as that of a key; may be nil.
	Err error
}

// Error names the option and the rule.
func (e *OptionError) Error() string {
	if e.Err != nil {
		return "trading: " + e.Option + ": " + causeText(e.Err)
	}
	return "trading: " + e.Option + ": " + printable(e.Reason, mostMessage)
}

// Unwrap returns the refusal beneath.
func (e *OptionError) Unwrap() error { return e.Err }

// invalid is an option that is refused.
func invalid(option, format string, args ...any) error {
	return &OptionError{Option: option, Reason: fmt.Sprintf(format, args...)}
}

// invalidFor is an option that is refused for a reason with a code of its own.
func invalidFor(option string, err error) error {
	return &OptionError{Option: option, Reason: err.Error(), Err: err}
}

// errNilOption is that of an option that is nil.
func errNilOption() error { return invalid("opts", "nil option") }

// checkContext refuses a nil context, which would end in a panic of the standard
// library's.
func checkContext(ctx any) error {
	if ctx == nil {
		return invalid("ctx", "the context is nil; without one of the caller's own, pass context.Background()")
	}
	return nil
}

// checkAccountIDs wants at least one account id, and no empty one.
func checkAccountIDs(option string, ids []AccountID) error {
	if len(ids) == 0 {
		return invalid(option, "no account id is given")
	}
	for i, id := range ids {
		if err := checkID("account", string(id)); err != nil {
			return invalid(option, "account id %d of %d: %s", i+1, len(ids), err.Message)
		}
	}
	return nil
}
