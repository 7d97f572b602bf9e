package resolve

import "context"

type exitingKey struct{}

// Exiting returns the context of a program that is getting out of the market: whatever it
// finds executed, it closes. So it may ask for a stored answer while entries are halted.
func Exiting(ctx context.Context) context.Context {
	return context.WithValue(ctx, exitingKey{}, true)
}

// IsExiting reports whether a context is that of a program that is getting out.
func IsExiting(ctx context.Context) bool { return ctx.Value(exitingKey{}) != nil }
