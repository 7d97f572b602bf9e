package watch

import (
	"fmt"
	"time"
)

// Error is a look that failed, or of which a part failed.
type Error struct {
	// Watch names the watch, such as "account acc_1".
	Watch string
	// Failures is how many looks in a row have failed.
	Failures int
	// Again is how long until the next look; 0 if there is none.
	Again time.Duration
	// Ends means that this cannot heal by itself, and that the loop ends.
	Ends bool
	// Err is the cause; never nil.
	Err error
}

// hopelessError ends a loop that cannot begin.
func hopelessError(watch string, err error) *Error {
	return &Error{Watch: watch, Failures: 1, Ends: true, Err: err}
}

// Error says what was looked at, and what failed.
func (e *Error) Error() string {
	if e.Ends {
		return fmt.Sprintf("watching %s ends: %v", e.Watch, e.Err)
	}
	return fmt.Sprintf("watching %s: %v", e.Watch, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
