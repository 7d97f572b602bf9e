package flatten

import (
	"fmt"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// Report is what was done and seen. It grows by some rows each round, so one that
// runs for days is large.
type Report struct {
	// Account is the account; empty for the paper account.
	Account trading.AccountID
	// Flat means that the last two looks prove it.
	Flat bool
	// Began and Ended are when the flattening did; Ended is zero if it never began.
	Began, Ended time.Time
	// Steps are in the order in which they ended.
	Steps []Step
	// Looks are those that succeeded, oldest first.
	Looks []Look
	// Pending are the entries whose outcome was not known at the end: one that is executed
	// afterwards is exposure again.
	Pending []trading.PendingWrite
}

// Action is what a step did.
type Action string

// The actions.
const (
	CancelRun   Action = "cancel run"   // one of a running Pro order
	CancelLimit Action = "cancel limit" // one of a resting limit
	Close       Action = "close"        // one of a position
	// Read is a look that failed, or an account's state that was asked for after a refusal.
	Read Action = "read"
)

// Step is a call that was made, and what became of it.
type Step struct {
	// Account is the account; empty for the paper account.
	Account trading.AccountID
	// At is when it began.
	At time.Time
	// Do is what it did.
	Do Action
	// Target is the id of a run or a limit, the symbol of a position, or the
	// operation of a read.
	Target string
	// Outcome of a read is NotApplied: there is nothing to apply. An unknown one is
	// answered by the next look, and a close is resolved with Err.
	Outcome trading.Outcome
	// Err is nil if it was accepted.
	Err error
	// Meta describes how the answer came about. Its Unjournaled is set where a close
	// went out that the journal could not take.
	Meta trading.Meta
}

// String is a line for an operator.
func (s Step) String() string {
	text := fmt.Sprintf("%s %s", s.Do, s.Target)
	if s.Do != Read {
		text += ": " + s.Outcome.String()
	}
	if s.Err != nil {
		text += ": " + s.Err.Error()
	}
	if s.Meta.Unjournaled != nil {
		text += " (not in the journal: " + s.Meta.Unjournaled.Error() + ")"
	}
	return text
}

// Look is what one look found of what is to be flattened.
type Look struct {
	// Account is the account; empty for the paper account.
	Account trading.AccountID
	// Began is before the first read, Ended after the last. Reads lag, so what
	// they show is older.
	Began, Ended time.Time
	// Positions are open.
	Positions []trading.Position
	// Limits rest. The paper account has none.
	Limits []trading.RestingOrder
	// Runs run. The paper account has none.
	Runs []trading.Run
}

// Empty reports whether it found nothing.
func (l Look) Empty() bool { return len(l.Positions)+len(l.Limits)+len(l.Runs) == 0 }

// String lists what it found.
func (l Look) String() string {
	var found []string
	for _, run := range l.Runs {
		found = append(found, fmt.Sprintf("run %s%s", run.ID, in(run.Symbol)))
	}
	for _, limit := range l.Limits {
		found = append(found, fmt.Sprintf("limit %s%s", limit.ID, in(limit.Symbol)))
	}
	for _, p := range l.Positions {
		found = append(found, fmt.Sprintf("%s %s %s", p.Side, p.Size, p.Symbol))
	}
	if found == nil {
		return "nothing"
	}
	return strings.Join(found, ", ")
}

func in(symbol string) string {
	if symbol == "" {
		return ""
	}
	return " in " + symbol
}

// Proof returns the two looks that prove the account flat, if it is.
func (r *Report) Proof() (first, second Look, ok bool) {
	if !r.Flat || len(r.Looks) < 2 {
		return Look{}, Look{}, false
	}
	return r.Looks[len(r.Looks)-2], r.Looks[len(r.Looks)-1], true
}

// Left returns what the last look found; ok is false if no look succeeded.
func (r *Report) Left() (l Look, ok bool) {
	if len(r.Looks) == 0 {
		return Look{}, false
	}
	return r.Looks[len(r.Looks)-1], true
}

// String sums it up in a line.
func (r *Report) String() string {
	what := fmt.Sprintf("%s after %d steps and %d looks in %s", name(r.Account), len(r.Steps), len(r.Looks),
		r.Ended.Sub(r.Began).Round(time.Millisecond))
	if first, second, ok := r.Proof(); ok {
		return fmt.Sprintf("flat: %s; nothing seen at %s and at %s", what,
			first.Ended.Format(time.TimeOnly), second.Began.Format(time.TimeOnly))
	}
	for i := range r.Pending {
		what += fmt.Sprintf("; pending: %s %s %s", r.Pending[i].Operation, r.Pending[i].Symbol, r.Pending[i].ID)
	}
	left, seen := r.Left()
	if !seen {
		return "NOT PROVEN FLAT: " + what + "; it could not be looked at"
	}
	return fmt.Sprintf("NOT PROVEN FLAT: %s; last seen at %s: %s", what, left.Began.Format(time.TimeOnly), left)
}

func name(id trading.AccountID) string {
	if id == "" {
		return "the paper account"
	}
	return "account " + string(id)
}

func newReport(id trading.AccountID) *Report { return &Report{Account: id} }
