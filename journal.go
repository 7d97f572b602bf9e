package trading

import (
	"context"
	"iter"
	"time"

	"github.com/shopspring/decimal"
)

// Journal remembers intents, so that a program that is killed in the middle of
// an order knows afterwards which orders it may have placed. Any implementation
// has to pass journaltest. The default keeps intents in memory, which covers
// everything but the end of the process.
//
// An intent that cannot be written is an entry that is not sent; an exit goes
// out all the same, and its [Meta] says so.
//
// Once its context has ended a method fails with the context's error; what is to
// be settled all the same takes a context that has not. A journal keeps and gives
// out memory of its own: neither the caller's nor the reader's bytes are shared.
type Journal interface {
	// Begin makes an intent durable before it returns. A second Begin with the
	// same ID replaces the intent: it goes on under another key, or its key has
	// been fenced. It is pending until it is settled; once it is settled, Begin
	// fails with [ErrSettled]. An intent without an ID is refused.
	Begin(ctx context.Context, in Intent) error

	// Settle closes an intent for good: the first settlement stands, and later
	// ones change nothing and are no errors. An intent that the journal does not
	// know is [ErrUnknownIntent]. What was settled long ago may have been forgotten.
	Settle(ctx context.Context, id IntentID, s Settlement) error

	// Pending yields the intents that are not settled, in the order of their first
	// Begin. An error ends it. The loop may write to the journal: what it begins is
	// not yielded for certain, and what it settles may be.
	Pending(ctx context.Context) iter.Seq2[Intent, error]

	// Decision returns the intents of a decision, in the order of their first Begin,
	// for as long as the journal keeps what is settled: 30 days from the settlement,
	// unless it was told otherwise. The empty decision has none.
	Decision(ctx context.Context, decision string) ([]Entry, error)
}

// Intent is a write that the program decided on, from before its first byte to
// its settlement.
type Intent struct {
	// ID names the intent in this journal.
	ID IntentID
	// Decision names what was decided, for [WithDecision]; empty otherwise.
	Decision string
	// Try counts the keys of the intent or its decision, from 1: a key whose
	// refusal is stored is dead, and the next try has the next key.
	Try int
	// Key is the idempotency key of this try.
	Key Key
	// Tag is the caller's name for it.
	Tag string
	// BaseURL is the service that it was for.
	BaseURL string
	// Process names the run of the program that began it.
	Process string
	// Operation, Environment, Account and Symbol say what it is.
	Operation   Operation
	Environment Environment
	Account     AccountID
	Symbol      string
	// Body is what is sent, byte for byte.
	Body []byte
	// Entry means that it can add exposure.
	Entry bool
	// Created is when the call began, and Expires when its lifetime ends:
	// nothing is sent after that.
	Created, Expires time.Time
	// Fenced means that its key has been spent, or is about to be, on a request
	// that does nothing: Body is not sent under it any more.
	Fenced bool
	// Beside means that another write of the program was open at the same time and
	// shows in the same part of the account: a change there may be of either.
	Beside bool
	// Baseline is what was known of the account before it.
	Baseline Opt[Baseline]
}

// Baseline is what was known of an account's symbol before a write, to compare
// later readings with.
type Baseline struct {
	// At is when it was read.
	At time.Time
	// Size is the position in base units, negative for a short, and EntryPrice
	// its average entry.
	Size, EntryPrice decimal.Decimal
	// Orders and Runs are the ids of what rests and runs, in order.
	Orders []OrderID
	Runs   []RunID
	// Finished are the ids of the runs that have ended, in order; known for Pro
	// orders only.
	Finished []RunID
	// Trades are digests of the closed trades in the symbol.
	Trades []uint64
	// Armed means that the position had a trigger, or may have had one: it could
	// change by itself.
	Armed bool
}

// Settlement is how an intent ended.
type Settlement struct {
	// Outcome is Applied or NotApplied.
	Outcome Outcome
	// At is when it was settled.
	At time.Time
	// Basis is what it rests on.
	Basis Basis
	// Spent means that the key of its try can never run anything again: the next
	// try of the decision has the next key.
	Spent bool
	// Code is the refusal, if there was one.
	Code Code
	// Answer is the service's answer, for a decision that is asked for again.
	Answer []byte
	// Note is what a person or the client has to say about it.
	Note string
}

// Entry is an intent and how it ended; none while it is pending.
type Entry struct {
	// What was to be sent, and how it ended.
	Intent     Intent
	Settlement Opt[Settlement]
}

// Basis is what a verdict rests on.
type Basis uint8

const (
	// BasisNone: nothing is decided.
	BasisNone Basis = iota
	// BasisAnswer: the service answered the write itself.
	BasisAnswer
	// BasisReplay: the service repeated its stored answer.
	BasisReplay
	// BasisUnsent: not a byte of it can have arrived.
	BasisUnsent
	// BasisFence: its key was spent on a request that does nothing, and the
	// account shows no trace of it.
	BasisFence
	// BasisReads: the account shows it, and nobody else trades the account.
	BasisReads
	// BasisPerson: somebody has looked, and acknowledged it.
	BasisPerson
)

// String returns the basis in words.
func (b Basis) String() string {
	switch b {
	case BasisAnswer:
		return "its answer"
	case BasisReplay:
		return "its answer, repeated"
	case BasisUnsent:
		return "never sent"
	case BasisFence:
		return "fenced, and no trace"
	case BasisReads:
		return "reads"
	case BasisPerson:
		return "acknowledged"
	default:
		return "nothing"
	}
}
