package verdict

import (
	"slices"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/spec"
)

// Proof is what an answer proves of a write about which nothing was in doubt before.
type Proof uint8

// The proofs.
const (
	// Nothing: something in front wrote it. The same may go again under the same key.
	Nothing Proof = iota
	// Ran: it was executed.
	Ran
	// DidNotRun: it was not executed. The rule of its code says whether to send again.
	DidNotRun
	// IfConfirmed: it was turned away before its route, where something in front can turn
	// away too. It was not executed if a second, different question is answered in the same
	// way.
	IfConfirmed
	// MayRun: the service says itself that it may run, or have run.
	MayRun
	// Unclear: it may have run, and would run again if it were sent again.
	Unclear
)

var proofs = [...]struct {
	class ledger.Class
	words string
}{
	Nothing:     {ledger.Foreign, "proves nothing; sent again under the same key"},
	Ran:         {ledger.Success, "it ran"},
	DidNotRun:   {ledger.Refusal, "it did not run"},
	IfConfirmed: {ledger.Refusal, "it did not run, if a second question gets the same answer; else resolved"},
	MayRun:      {ledger.Refusal, "it may run, or have run; resolved"},
	Unclear:     {ledger.Unclear, "it may have run; resolved"},
}

// String returns the proof in the words of the documentation.
func (p Proof) String() string { return proofs[p].words }

// Line is a row of the table: the first that an answer fits into judges it.
type Line struct {
	Status, Body, Code string
	Fresh, Replayed    Proof

	is func(Seen) bool
}

// rows is the table.
var rows = [...]Line{
	{"2xx", "a success", "", Ran, Ran, func(a Seen) bool { return !a.refusal && a.isSuccess() }},
	{"3xx", "any", "", Unclear, Unclear, func(a Seen) bool { return a.Status/100 == 3 }},
	{"5xx", "an error", "says that nothing was placed", DidNotRun, Unclear,
		func(a Seen) bool { return a.Status >= 500 && a.gives(spec.NotApplied) }},
	{"5xx", "an error", "any other, known or not", Unclear, Unclear,
		func(a Seen) bool { return a.Status >= 500 && a.refusal }},
	{"401, 403, 404", "an error", "of the key or the account", IfConfirmed, DidNotRun,
		func(a Seen) bool { return a.gives(spec.IfConfirmed) }},
	{"409", "an error", "says that the write runs, or failed part-way", MayRun, MayRun,
		func(a Seen) bool { return a.gives(spec.Unknown) }},
	{"4xx", "an error", "any other of this operation with this status", DidNotRun, DidNotRun,
		func(a Seen) bool { return a.gives(spec.NotApplied) }},
	{"4xx", "an error", "any other, known or not", Unclear, DidNotRun,
		func(a Seen) bool { return a.refusal }},
	{"any", "anything else", "", Nothing, Nothing, func(Seen) bool { return true }},
}

// Rows returns the table.
func Rows() []Line { return slices.Clone(rows[:]) }
