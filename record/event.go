package record

import (
	"time"

	"github.com/tradingapi/trading-go"
)

// Kind says what a line of an audit is about.
type Kind string

// What happens to a write, in this order. KindResolved comes before KindDone where the
// caller waits for it, else after it.
const (
	// KindBegun: a call has begun. Nothing has been sent, and nothing may ever be.
	KindBegun Kind = "begun"
	// KindWait: it waits, for a place in a rate limit or before sending again.
	KindWait Kind = "wait"
	// KindSent: an attempt is about to be sent. Without the KindAttempt that belongs
	// to it, the process ended while it was under way.
	KindSent Kind = "sent"
	// KindAttempt: how an attempt ended, and what is known of the write since.
	KindAttempt Kind = "attempt"
	// KindDone: what the caller got.
	KindDone Kind = "done"
	// KindResolved: the outcome of a write that was in doubt is known.
	KindResolved Kind = "resolved"
)

// What happens to the audit itself.
const (
	// KindSegment begins each file, and carries the chain on from the file before.
	KindSegment Kind = "segment"
	// KindOpened: a process has opened the audit.
	KindOpened Kind = "opened"
	// KindResumed: the audit can be written again, after a time in which it could not.
	KindResumed Kind = "resumed"
	// KindClosed: the audit was closed. A KindOpened without one before it follows a
	// crash.
	KindClosed Kind = "closed"
)

// Event is a line of an audit, or an attempt that a flight recorder holds. Members that its kind does not have are zero.
type Event struct {
	// Seq counts the lines of all files, from 1; a flight recorder has none.
	Seq uint64 `json:"seq,omitempty"`
	// At is when it happened, by this machine's clock.
	At time.Time `json:"at"`
	// Kind is what happened.
	Kind Kind `json:"event"`

	// Call joins the lines of one call. KindResolved lacks it: there Intent and Key join.
	Call string `json:"call,omitempty"`
	// Intent names the write in its client and in the journal. It gets one right before
	// it is sent, so KindBegun lacks it; a write whose outcome nobody can ask for has
	// none.
	Intent trading.IntentID `json:"intent,omitempty"`
	// Operation, Account and Symbol say what the write is.
	Operation trading.Operation `json:"operation,omitempty"`
	Account   trading.AccountID `json:"account,omitempty"`
	Symbol    string            `json:"symbol,omitempty"`
	// Environment is sandbox or live (KindBegun, KindAttempt, KindResolved).
	Environment trading.Environment `json:"environment,omitempty"`
	// Entry means that it can add exposure (KindBegun, KindAttempt, KindResolved).
	Entry bool `json:"entry,omitempty"`
	// Tag is the caller's name for the decision (KindBegun, KindAttempt, KindResolved).
	Tag string `json:"tag,omitempty"`
	// Priority is its priority in the rate limits.
	Priority string `json:"priority,omitempty"`

	// Attempt counts the sends of the call, from 1 (KindSent, KindAttempt). An attempt
	// that was called off before its first byte has no KindSent.
	Attempt int `json:"attempt,omitempty"`
	// Key is the idempotency key.
	Key trading.Key `json:"key,omitempty"`
	// Status is the HTTP status, 0 without an answer.
	Status int `json:"status,omitempty"`
	// Code is the refusal's.
	Code trading.Code `json:"code,omitempty"`
	// Outcome is "applied", "not applied" or "unknown" (KindAttempt of a write, KindDone,
	// KindResolved).
	Outcome string `json:"outcome,omitempty"`
	// Replayed means that the service repeated its stored answer.
	Replayed bool `json:"replayed,omitempty"`
	// Written means that any of the request may have left.
	Written bool `json:"written,omitempty"`
	// Took is how long the attempt or the call lasted, in nanoseconds.
	Took time.Duration `json:"tookNs,omitempty"`
	// Request is the body to be sent (KindBegun) or sent, Response the answer's.
	Request  Body `json:"request,omitempty"`
	Response Body `json:"response,omitempty"`
	// RequestSize and ResponseSize are the length of the whole, where it was cut.
	RequestSize  int `json:"requestSize,omitempty"`
	ResponseSize int `json:"responseSize,omitempty"`
	// Holder is whose keys the audit is of, if its program said so (KindSegment,
	// KindOpened).
	Holder string `json:"holder,omitempty"`
	// Err is the error in words.
	Err string `json:"err,omitempty"`

	// For is how long a wait is, as far as it is known, in nanoseconds; Reason and
	// Bucket are what it is for (KindWait).
	For    time.Duration      `json:"forNs,omitempty"`
	Reason trading.WaitReason `json:"reason,omitempty"`
	Bucket string             `json:"bucket,omitempty"`
	// Attempts counts all sends of a call (KindDone).
	Attempts int `json:"attempts,omitempty"`
	// Evidence is what the outcome rests on, in words (KindResolved).
	Evidence string `json:"evidence,omitempty"`
	// Late means that the question for the stored answer placed the write, MaybeLate
	// that it may have (KindResolved).
	Late      bool `json:"late,omitempty"`
	MaybeLate bool `json:"maybeLate,omitempty"`

	// Format is that of the file (KindSegment).
	Format int `json:"format,omitempty"`
	// Torn is what the file before ends in, after its last whole line (KindSegment).
	Torn *Torn `json:"torn,omitempty"`
	// Since is when the audit could first not be written. Held counts the events that
	// were kept meanwhile, and follow; Lost those that were not (KindResumed). Of
	// KindResolved, Since is when the write was begun.
	Since time.Time `json:"since,omitzero"`
	Held  int       `json:"held,omitempty"`
	Lost  int       `json:"lost,omitempty"`
}

// Torn is the beginning of a line whose writer did not get to its end.
type Torn struct {
	// How much of the line there is, and its hash in hexadecimal.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// sent is when an attempt began.
func (e *Event) sent() time.Time { return e.At.Add(-e.Took) }

// about fills in the call that an event is about.
func (e *Event) about(c *trading.Call) {
	e.Intent, e.Operation, e.Account, e.Symbol = c.Intent, c.Operation, c.Account, c.Symbol
}

// maxName bounds names, which come from the program and from the service.
const maxName = 1 << 10

// bound cuts what no right value comes near.
func (e *Event) bound() {
	e.Intent = trading.IntentID(cutText(string(e.Intent), maxName))
	e.Account = trading.AccountID(cutText(string(e.Account), maxName))
	e.Symbol = cutText(e.Symbol, maxName)
	e.Tag = cutText(e.Tag, maxName)
	e.Key = trading.Key(cutText(string(e.Key), maxName))
	e.Code = trading.Code(cutText(string(e.Code), maxName))
	e.Bucket = cutText(e.Bucket, maxName)
}

// clone returns the event with bodies of its own: those of a call are the client's.
func (e *Event) clone() Event {
	c := *e
	c.Request = append(Body(nil), e.Request...)
	c.Response = append(Body(nil), e.Response...)
	return c
}

// bytes is about how much memory the event holds.
func (e *Event) bytes() int {
	const fixed = 768
	return fixed + len(e.Request) + len(e.Response) + len(e.Err) +
		len(e.Account) + len(e.Symbol) + len(e.Tag) + len(e.Key) + len(e.Code) + len(e.Bucket)
}
