package trading

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Hooks are functions that the client calls, for metrics, traces and records. A member
// that is nil costs nothing. Many goroutines call hooks at once. A hook runs in the
// middle of its call: while it blocks, the call waits.
//
// Requests that resolve a write in doubt are calls of their own, of one attempt each,
// with the write's key.
type Hooks struct {
	// CallStart is called for each call that begins. The context that it returns is
	// the call's from then on, and must come from ctx; nil keeps ctx.
	CallStart func(ctx context.Context, c Call) context.Context
	// CallDone is called once for each call, when it has ended.
	CallDone func(ctx context.Context, c Call, d Done)
	// AttemptStart is called for each send, right before its first byte. The context
	// that it returns is the request's, and must come from ctx; nil keeps ctx.
	AttemptStart func(ctx context.Context, c Call, attempt int) context.Context
	// AttemptDone is called for each send, when it has ended.
	AttemptDone func(ctx context.Context, c Call, a Attempt)
	// Waiting is called for each wait before it begins.
	Waiting func(ctx context.Context, c Call, w Wait)
	// Resolved is called for each write that was in doubt, once its outcome is known. While
	// it blocks, the client resolves no other write. It must not call [Client.Resolve],
	// [Client.Recover] or [Client.Close], which would wait for it.
	Resolved func(ctx context.Context, r Resolution)
}

// Call describes a call to hooks.
type Call struct {
	// Operation is the endpoint.
	Operation Operation
	// Environment is sandbox or live; empty where no key is sent.
	Environment Environment
	// Account is the live account, Symbol the market; empty where there is none.
	Account AccountID
	Symbol  string
	// Priority is that of the call's next request in the rate limits.
	Priority Priority
	// Write means that the call changes the account, Entry that it can add exposure.
	Write, Entry bool
	// Intent names the write, once it is tracked.
	Intent IntentID
	// Key is the idempotency key of the next send, or the last; empty where there is
	// none.
	Key Key
	// Tag is the caller's name for the decision.
	Tag string
	// Body is what is sent, the same bytes with every attempt; nil for reads, and
	// for what was refused before it was encoded. It is the client's, and must be
	// copied to be kept.
	Body []byte
}

// Attempt is how one send ended. The API key is in none of it.
type Attempt struct {
	// Number counts from 1.
	Number int
	// Key is the idempotency key; empty on the sandbox and for reads.
	Key Key
	// Status is the HTTP status, 0 without an answer.
	Status int
	// Code is the refusal's; empty unless the service refused.
	Code Code
	// Request and Response are the bodies. They are the client's, and must be
	// copied to be kept.
	Request, Response []byte
	// Replayed means that the service repeated its stored answer.
	Replayed bool
	// Written means that any of the request may have left.
	Written bool
	// Outcome is what is known of a write after it.
	Outcome Outcome
	// Err is why there is no answer.
	Err error
	// Sent is when it began, Took how long it lasted.
	Sent time.Time
	Took time.Duration
}

// Done is how a call ended.
type Done struct {
	// Err is what the caller got.
	Err error
	// Outcome is a write's.
	Outcome Outcome
	// Attempts counts the sends.
	Attempts int
	// Took is how long the call lasted, waits included.
	Took time.Duration
}

// WaitReason says what a call waits for.
type WaitReason string

// The reasons.
const (
	// WaitRateLimit is for a rate limit that is full, or that the service has closed.
	WaitRateLimit WaitReason = "rate limit"
	// WaitBackoff is before sending again.
	WaitBackoff WaitReason = "backoff"
)

// Wait is a wait that begins.
type Wait struct {
	// For is how long, as far as it is known: in a rate limit it can be longer.
	For time.Duration
	// Reason is why.
	Reason WaitReason
	// Bucket names the rate limit, where it is one.
	Bucket string
}

// hooks are those of all options, in their order. The call is described only to a hook
// that there is.
type hooks []Hooks

func (all hooks) callStart(ctx context.Context, of func() Call) context.Context {
	for i := range all {
		if start := all[i].CallStart; start != nil {
			if with := start(ctx, of()); with != nil {
				ctx = with
			}
		}
	}
	return ctx
}

func (all hooks) callDone(ctx context.Context, of Call, d Done) {
	for i := range all {
		if done := all[i].CallDone; done != nil {
			done(ctx, of, d)
		}
	}
}

func (all hooks) attemptStart(ctx context.Context, of func() Call, attempt int) context.Context {
	for i := range all {
		if start := all[i].AttemptStart; start != nil {
			if with := start(ctx, of(), attempt); with != nil {
				ctx = with
			}
		}
	}
	return ctx
}

func (all hooks) attemptDone(ctx context.Context, of func() Call, a Attempt) {
	for i := range all {
		if done := all[i].AttemptDone; done != nil {
			done(ctx, of(), a)
		}
	}
}

func (all hooks) waiting(ctx context.Context, of func() Call, w Wait) {
	for i := range all {
		if waiting := all[i].Waiting; waiting != nil {
			waiting(ctx, of(), w)
		}
	}
}

func (all hooks) resolved(ctx context.Context, r Resolution) {
	for i := range all {
		if resolved := all[i].Resolved; resolved != nil {
			resolved(context.WithoutCancel(ctx), r)
		}
	}
}

// logger writes a line a call, of facts from a fixed list: no key, no header and
// no body can get into it. Without a logger it does nothing.
type logger struct{ to *slog.Logger }

// callFacts are what is logged of a call.
type callFacts struct {
	operation   Operation
	symbol, tag string
	write       bool
	attempts    int
	status      int
	took        time.Duration
}

// ended logs how a call ended.
func (l logger) ended(ctx context.Context, c callFacts, err error) {
	level, text := slog.LevelDebug, "call"
	switch {
	case err == nil:
	case c.write && OutcomeOf(err) == Unknown:
		level, text = slog.LevelWarn, "write of unknown outcome"
	default:
		level, text = slog.LevelInfo, "call failed"
	}
	// The caller's context may have ended; the line is about that.
	ctx = context.WithoutCancel(ctx)
	if !l.to.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", string(c.operation)),
		slog.Int("attempts", c.attempts),
		slog.Duration("took", c.took),
	}
	if c.symbol != "" {
		attrs = append(attrs, slog.String("symbol", c.symbol))
	}
	if c.tag != "" {
		attrs = append(attrs, slog.String("tag", c.tag))
	}
	if c.status != 0 {
		attrs = append(attrs, slog.Int("status", c.status))
	}
	if c.write {
		attrs = append(attrs, slog.String("outcome", OutcomeOf(err).String()))
	}
	if err != nil {
		attrs = append(attrs, slog.String("err", err.Error()))
		if refusal := (*Error)(nil); errors.As(err, &refusal) {
			attrs = append(attrs, slog.String("code", string(refusal.Code)))
		}
	}
	l.to.LogAttrs(ctx, level, text, attrs...)
}

// rateLimitStore logs a call of the rate limit store that failed: the client counts by
// itself meanwhile.
func (l logger) rateLimitStore(call string, err error) {
	if l.to == nil {
		return
	}
	l.to.LogAttrs(context.Background(), slog.LevelWarn, "rate limit store failed",
		slog.String("call", call), slog.String("err", err.Error()))
}

// newJournal logs that the journal holds nothing of earlier runs.
func (l logger) newJournal() {
	if l.to == nil {
		return
	}
	l.to.LogAttrs(context.Background(), slog.LevelWarn, "journal opened anew: nothing is known of earlier runs")
}

// notJournaled logs a record that the journal did not take: the next run finds out
// about the write again.
func (l logger) notJournaled(in *Intent, err error) {
	if l.to == nil {
		return
	}
	l.to.LogAttrs(context.Background(), slog.LevelWarn, "journal not written",
		slog.String("operation", string(in.Operation)),
		slog.String("intent", string(in.ID)),
		slog.String("err", err.Error()))
}
