package pending

import "context"

type leavingKey struct{}

// Leaving returns the context of a program that is getting out of the market: whatever it
// finds executed, it closes. So it may ask for a stored answer while entries are halted.
func Leaving(ctx context.Context) context.Context {
	return context.WithValue(ctx, leavingKey{}, true)
}

// IsLeaving reports whether a context is that of a program that is getting out.
func IsLeaving(ctx context.Context) bool { return ctx.Value(leavingKey{}) != nil }
