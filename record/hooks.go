package record

import (
	"context"
	"errors"

	"github.com/tradingapi/trading-go"
)

// callKey finds the name that an audit gave to a call, in the call's context.
type callKey struct{ *Audit }

// Hooks returns the hooks that fill the audit. Each event is written before the
// client goes on; events of reads are not.
//
// What the client asks about a write in doubt are calls of their own, with the write's
// Key. A Resolved comes before the CallDone of a caller that waits for it, and after the
// CallDone of one that has left.
func (a *Audit) Hooks() trading.Hooks {
	return trading.Hooks{
		CallStart:    a.callStart,
		CallDone:     a.callDone,
		AttemptStart: a.attemptStart,
		AttemptDone:  a.attemptDone,
		Waiting:      a.waiting,
		Resolved:     a.resolved,
	}
}

func (a *Audit) callStart(ctx context.Context, c trading.Call) context.Context {
	if !c.Write {
		return ctx
	}
	e := Event{
		Kind: KindBegun, Call: a.newCall(), Environment: c.Environment, Entry: c.Entry,
		Tag: c.Tag, Priority: c.Priority.String(),
	}
	e.about(&c)
	e.Request, e.RequestSize = cut(c.Body, a.options.MaxBody)
	a.write(&e)
	return context.WithValue(ctx, callKey{a}, e.Call)
}

func (a *Audit) waiting(ctx context.Context, c trading.Call, w trading.Wait) {
	if !c.Write {
		return
	}
	e := Event{
		Kind: KindWait, Call: a.callOf(ctx), Priority: c.Priority.String(),
		For: w.For, Reason: w.Reason, Bucket: w.Bucket,
	}
	e.about(&c)
	a.write(&e)
}

func (a *Audit) attemptStart(ctx context.Context, c trading.Call, attempt int) context.Context {
	if c.Write {
		e := Event{Kind: KindSent, Call: a.callOf(ctx), Priority: c.Priority.String(), Attempt: attempt}
		e.about(&c)
		a.write(&e)
	}
	return ctx
}

func (a *Audit) attemptDone(ctx context.Context, c trading.Call, at trading.Attempt) {
	if !c.Write {
		return
	}
	e := attemptOf(&c, &at, a.options.MaxBody)
	e.Call = a.callOf(ctx)
	a.write(&e)
}

// attemptOf is how an attempt ended. Its bodies are the client's.
func attemptOf(c *trading.Call, at *trading.Attempt, most int) Event {
	e := Event{
		Kind: KindAttempt, Environment: c.Environment, Entry: c.Entry, Tag: c.Tag, Priority: c.Priority.String(),
		Attempt: at.Number, Key: at.Key, Status: at.Status, Code: at.Code,
		Replayed: at.Replayed, Written: at.Written, Took: max(at.Took, 0), Err: textOf(at.Err, most),
	}
	if c.Write {
		e.Outcome = at.Outcome.String()
	}
	e.about(c)
	e.Request, e.RequestSize = cut(at.Request, most)
	e.Response, e.ResponseSize = cut(at.Response, most)
	return e
}

func (a *Audit) callDone(ctx context.Context, c trading.Call, d trading.Done) {
	if !c.Write {
		return
	}
	e := Event{
		Kind: KindDone, Call: a.callOf(ctx), Outcome: d.Outcome.String(), Attempts: d.Attempts, Took: d.Took,
		Code: refusalIn(d.Err), Err: textOf(d.Err, a.options.MaxBody),
	}
	e.about(&c)
	a.durable(a.write(&e))
}

func (a *Audit) resolved(_ context.Context, r trading.Resolution) {
	in := &r.Intent
	e := Event{
		Kind: KindResolved, Intent: in.ID, Operation: in.Operation, Environment: in.Environment,
		Account: in.Account, Symbol: in.Symbol, Entry: in.Entry, Tag: in.Tag, Key: in.Key,
		Outcome: r.Outcome.String(), Evidence: r.Evidence.String(), Late: r.Late, MaybeLate: r.MaybeLate,
		Code: refusalIn(r.Err), Err: textOf(r.Err, a.options.MaxBody), Since: in.Decided.UTC().Round(0),
	}
	e.Request, e.RequestSize = cut(in.Body, a.options.MaxBody)
	e.Response, e.ResponseSize = cut(r.Answer, a.options.MaxBody)
	a.durable(a.write(&e))
}

// callOf returns the name of the call whose context it is.
func (a *Audit) callOf(ctx context.Context) string {
	name, _ := ctx.Value(callKey{a}).(string)
	return name
}

// refusalIn returns the code of a refusal, the service's or the client's own.
func refusalIn(err error) trading.Code {
	if refusal := (*trading.Error)(nil); errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}

func textOf(err error, most int) string {
	if err == nil {
		return ""
	}
	return cutText(err.Error(), most)
}
