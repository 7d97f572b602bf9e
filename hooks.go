package trading

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
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
	// Resolved is called for each write that was in doubt, once its outcome is known, and for any with
	// Contradicted set if a later answer says otherwise: that is for a person. A call that
	// gives up at that moment is done later, as one whose outcome is not known. The client
	// waits a second for it, and then resolves other writes beside it. It must not call
	// [Client.Close], which would wait for it; [Client.Resolve] and [Client.Recover] wait that second.
	Resolved func(ctx context.Context, r Resolution)
	// NotExclusive is called with the first sign that somebody else trades an account of
	// [WithExclusiveAccounts]. It is not taken for exclusive any longer, until
	// [Client.DeclareExclusive].
	NotExclusive func(account AccountID, sign string)
	// ProfileIgnored is called once if the profile of [Recovery] does not count, by [New], or
	// no longer.
	ProfileIgnored func(why error)
}

// Call describes a call to hooks.
type Call struct {
	Operation    Operation          // the endpoint
	Environment  Environment        // sandbox or live; empty where no key is sent
	Account      AccountID          // the live account; empty where there is none
	Symbol       string             // the market; empty where there is none
	Priority     ratelimit.Priority // of the call's next request in the rate limits
	Write, Entry bool               // the call changes the account; it can add exposure
	Intent       IntentID           // names the write, once it is tracked
	Key          Key                // the idempotency key of the next send, or the last; empty where there is none
	Tag          string             // the caller's name for the decision

	// Body is what is sent, the same bytes with every attempt; nil for reads, and
	// for what was refused before it was encoded. It is the client's, and must be
	// copied to be kept.
	Body []byte
}

// Attempt is how one send ended. The API key is in none of it.
type Attempt struct {
	Number int  // counts from 1
	Key    Key  // the idempotency key; empty on the sandbox and for reads
	Status int  // the HTTP status, 0 without an answer
	Code   Code // the refusal's; empty unless the service refused

	Request, Response []byte // the bodies: they are the client's, and must be copied to be kept

	Replayed bool          // the service repeated its stored answer
	Written  bool          // any of the request may have left
	Outcome  Outcome       // what is known of a write after it
	Err      error         // why there is no answer
	Sent     time.Time     // when it began
	Took     time.Duration // how long it lasted
}

// Done is how a call ended.
type Done struct {
	Err      error         // what the caller got
	Outcome  Outcome       // a write's
	Attempts int           // counts the sends
	Took     time.Duration // how long the call lasted, waits included
}

// WaitReason says what a call waits for.
type WaitReason string

// The reasons.
const (
	WaitRateLimit WaitReason = "rate limit" // a rate limit that is full, or that the service has closed
	WaitBackoff   WaitReason = "backoff"    // before sending again
)

// Wait is a wait that begins.
type Wait struct {
	For    time.Duration // how long, as far as it is known: in a rate limit it can be longer
	Reason WaitReason    // why
	Bucket string        // the rate limit, where it is one
}

// hooks are those of all options, in their order.
type hooks []Hooks

func (all hooks) callStart(ctx context.Context, of Call) context.Context {
	for i := range all {
		if start := all[i].CallStart; start != nil {
			if with := start(ctx, of); with != nil {
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

func (all hooks) attemptStart(ctx context.Context, of Call, attempt int) context.Context {
	for i := range all {
		if start := all[i].AttemptStart; start != nil {
			if with := start(ctx, of, attempt); with != nil {
				ctx = with
			}
		}
	}
	return ctx
}

func (all hooks) attemptDone(ctx context.Context, of Call, a Attempt) {
	for i := range all {
		if done := all[i].AttemptDone; done != nil {
			done(ctx, of, a)
		}
	}
}

func (all hooks) waiting(ctx context.Context, of Call, w Wait) {
	for i := range all {
		if waiting := all[i].Waiting; waiting != nil {
			waiting(ctx, of, w)
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

// ended logs how a call ended.
func (l logger) ended(ctx context.Context, c *Call, d *Done, status int) {
	if l.to == nil {
		return
	}
	level, text := slog.LevelDebug, "call"
	switch {
	case d.Err == nil:
	case c.Write && d.Outcome == Unknown:
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
		slog.String("operation", string(c.Operation)),
		slog.Int("attempts", d.Attempts),
		slog.Duration("took", d.Took),
	}
	add := func(there bool, attr slog.Attr) {
		if there {
			attrs = append(attrs, attr)
		}
	}
	add(c.Account != "", slog.String("account", string(c.Account)))
	add(c.Intent != "", slog.String("intent", string(c.Intent)))
	add(c.Symbol != "", slog.String("symbol", c.Symbol))
	add(c.Tag != "", slog.String("tag", c.Tag))
	add(status != 0, slog.Int("status", status))
	add(c.Write, slog.String("outcome", d.Outcome.String()))
	if d.Err != nil {
		attrs = append(attrs, slog.String("err", d.Err.Error()))
		if refusal := (*Error)(nil); errors.As(d.Err, &refusal) {
			attrs = append(attrs, slog.String("code", string(refusal.Code)))
		}
	}
	l.to.LogAttrs(ctx, level, text, attrs...)
}

// warn logs what is the matter outside any call.
func (l logger) warn(text string, attrs ...slog.Attr) {
	if l.to != nil {
		l.to.LogAttrs(context.Background(), slog.LevelWarn, text, attrs...)
	}
}

// rateLimitStore logs a call of the rate limit store that failed: the client counts by
// itself meanwhile.
func (l logger) rateLimitStore(call string, err error) {
	l.warn("rate limit store failed", slog.String("call", call), slog.String("err", err.Error()))
}

// newJournal logs that the journal holds nothing of earlier runs.
func (l logger) newJournal() { l.warn("journal opened anew: nothing is known of earlier runs") }

// notJournaled logs a record that the journal did not take: the next run finds out
// about the write again.
func (l logger) notJournaled(in *Intent, err error) {
	l.warn("journal not written", slog.String("operation", string(in.Operation)), slog.String("account", string(in.Account)),
		slog.String("intent", string(in.ID)), slog.String("err", err.Error()))
}
