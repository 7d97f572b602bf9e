package ledger

import "time"

// Outcome answers the first question about a failed write: did it happen?
type Outcome uint8

// The outcomes. Unknown is the zero value, so that a forgotten outcome errs on the safe side.
const (
	Unknown    Outcome = iota // it may have been applied: never take it for a failure
	Applied                   // the service executed it
	NotApplied                // it was not executed and never will be
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

// FactKind is what a fact is about.
type FactKind uint8

// The facts of a write, apart from its [Terms]. A journal keeps them in order. A
// crash may take the last of them, and a journal that hangs any that is not durable. Written to disk before their byte leaves are
// KeyChanged, every SendBegun but the first under its key, FenceBegun and ProbeBegun; and
// Acknowledged before anybody learns of it.
const (
	// SendBegun: the bytes are about to leave under the present key.
	SendBegun FactKind = iota + 1
	// SendEnded: the send has its answer, or none.
	SendEnded
	// KeyChanged: the next send has another key.
	KeyChanged
	// SendingOver: the caller sends no more: its context has ended, a guard or a limit
	// holds the next send back, or the wait would be too long.
	SendingOver
	// FenceBegun and FenceEnded are of a request under the key that does nothing.
	FenceBegun
	FenceEnded
	// ProbeBegun and ProbeEnded are of the original bytes, asked once more.
	ProbeBegun
	ProbeEnded
	// Looked: the account was read, and Finding is what accounting made of it. At is
	// when the read began.
	Looked
	// Restarted: the process that had the write is gone, and another goes on. It stands
	// before the new process's facts, since each process has a monotonic clock of its own.
	Restarted
	// Asked: somebody wants to know, although nothing more would be done.
	Asked
	// Acknowledged: a person has found out what became of it, as Finding says.
	Acknowledged
	// Confirmed: a second, different question was asked about a refusal that turned the
	// write away before its route.
	Confirmed
	// SendHeard: the answer to a send came after the wait for it had ended as silence. It may
	// come at any time, also while a later send is under way and once the outcome is decided.
	SendHeard
)

// Fact is one thing that happened to the write.
type Fact struct {
	Kind FactKind `json:"k"`
	At   Instant  `json:"t"`
	// Answer is of SendEnded, SendHeard, FenceEnded, ProbeEnded and Confirmed.
	Answer Answer `json:"a,omitzero"`
	// OwnRoute is of FenceEnded: the fence went to the write's own route, since the
	// service keeps its keys by route.
	OwnRoute bool `json:"o,omitempty"`
	// Useless is of FenceEnded: what the service does with its keys is not understood, so
	// no fence proves anything, and only the account does.
	Useless bool `json:"u,omitempty"`
	// Finding is of Looked, and of Acknowledged.
	Finding Finding `json:"v,omitzero"`
	// Send is of SendEnded and SendHeard: the number of the send, from 1, as [Ledger.Sends] counted it when
	// it began; 0 where it is the last that began.
	Send int `json:"n,omitempty"`
}

// Finding is what a look at the account comes to.
type Finding struct {
	// Enough means that this look and the one before it, a read lag earlier, are enough: they agree, or
	// a course of trades explains both. Without that only a refusal that was replayed makes use of the outcome.
	Enough bool `json:"e,omitempty"`
	// Outcome is what the account shows. NotApplied means that no trace is there: the
	// ledger knows whether one could still come.
	Outcome Outcome `json:"o,omitempty"`
	// Stays means that time does not change the reason why the outcome is Unknown.
	Stays bool `json:"l,omitempty"`
}

// Class is whose answer it is.
type Class uint8

// The classes of an answer.
const (
	// Unsent: not a byte left.
	Unsent Class = iota + 1
	// Silence: bytes left, and no whole answer came.
	Silence
	// Success is the service's yes.
	Success
	// Refusal is the service's no, or its failure, under a documented code.
	Refusal
	// Foreign was written by something in front of the service, and proves nothing.
	Foreign
	// Unclear looks like the service's no, and is none that the contract gives; or it is a
	// redirect. The write may have run, and would run again if it were sent again.
	Unclear
)

// Answer is what one request came to.
type Answer struct {
	Class    Class  `json:"c"`
	Code     string `json:"e,omitempty"` // of a Refusal alone, as Says is
	Status   int    `json:"s,omitempty"`
	Replayed bool   `json:"r,omitempty"`
	// Says is what the refusal says of a write that nothing was doubtful about.
	Says Outcome `json:"o,omitempty"`
	// Confirm means that the request was turned away before its route, where something in
	// front turns away too: it says so only if a second, different question is answered in
	// the same way.
	Confirm bool `json:"q,omitempty"`
	// Advice is what the refusal asks for.
	Advice Resend `json:"d,omitempty"`
	// Price means that a fresh price is missing, which passes by itself.
	Price bool `json:"p,omitempty"`
	// InFront means that the request was refused before its idempotency key was
	// looked at: a rate limit, or the API key.
	InFront bool `json:"f,omitempty"`
	// RetryAfter is how long whoever answered asked to wait; 0 if it did not.
	RetryAfter time.Duration `json:"w,omitempty"`
}

// Resend is what a refusal asks for, as far as sending goes.
type Resend uint8

// The kinds of advice.
const (
	// End: sending the same again does not help.
	End Resend = iota
	// SameKey: nothing is stored, so the same bytes may go again under the same key.
	SameKey
	// NewKey: the refusal is stored, so the same bytes need another key.
	NewKey
	// WaitFirst: a rate limit.
	WaitFirst
)

// The codes that decide more than their advice does.
const (
	codeInFlight      = "idempotency_in_flight"
	codeUnavailable   = "idempotency_unavailable"
	codeResultUnknown = "idempotency_result_unknown"
	codeKeyReused     = "idempotency_key_reused"
	codeOrderNotFound = "order_not_found"
	codeNoAccount     = "account_not_found"
)
