// Package resolve keeps the writes whose outcome is not decided, and finds out what
// became of them: it knows what one asked for, what the journal has of it, what the
// ledger allows next, and when its turn is. Of the client it knows a [Host], by which it
// asks the service.
package resolve

import (
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
)

// Try is a key of a write, and which of its keys it is, from 1. Its JSON is in journals.
type Try struct {
	Key    pending.Key `json:"key,omitempty"`
	Number int         `json:"try,omitempty"`
}

func (w *OpenWrite) account() books.AccountKey {
	return books.AccountKey{Environment: w.Intent.Environment, ID: w.Intent.Account}
}

// intent is the write with its present key.
func (w *OpenWrite) intent() pending.Intent {
	in, t := w.Intent, w.Try()
	in.Key, in.Try = t.Key, t.Number
	return in
}

// Traits are what the client knows of an operation that writes.
type Traits struct {
	// Trades means that it can trade.
	Trades bool
	// Levels means that it sets the levels of a live position.
	Levels bool
	// Waits means that it leaves something that waits with the service: a resting order,
	// or a run. Run is a run.
	Waits, Run bool
	// Asks is what it asks for; 0 for an order, whose body says it.
	Asks accounting.ActKind
}

// TraitsOf is what is known of an operation. A write that this version does not know may trade.
func TraitsOf(e *spec.Endpoint) Traits {
	if e == nil {
		return Traits{Trades: true}
	}
	asks, run := e.Asks, e.Asks == spec.AsksRun
	return Traits{
		Trades: asks.Trades(), Levels: asks == spec.AsksLevels && e.Env == spec.Live, Run: run, Waits: run || asks == spec.AsksLimit,
		Asks: [...]accounting.ActKind{
			spec.AsksClose: accounting.Close, spec.AsksLimit: accounting.Limit, spec.AsksRun: accounting.Pro,
			spec.AsksRunEdit: accounting.EditRun, spec.AsksLevels: 0,
		}[asks],
	}
}

// Resolves reports whether it is found out what became of a write that is in doubt: of all that trade, and of
// live levels. On a live account they are journaled. A cancel shows in the list of open orders.
func (k Traits) Resolves() bool { return k.Trades || k.Levels }

// places are the parts of the account in which a write can show.
func (k Traits) places(in *pending.Intent) [2]pending.Place {
	if k.Levels { // levels are beside each other only
		return [2]pending.Place{{Environment: in.Environment + " levels", Account: in.Account, Symbol: in.Symbol}}
	}
	places := [2]pending.Place{{Environment: in.Environment, Account: in.Account, Symbol: in.Symbol}}
	if k.Asks == accounting.EditRun && in.Symbol == "" {
		places[0].Symbol = pending.AnyMarket
	}
	if k.Waits || k.Asks == accounting.EditRun {
		places[1] = pending.Place{Environment: in.Environment, Account: in.Account}
	}
	return places
}

// Evidence is what an outcome rests on. Its numbers are in journals.
type Evidence uint8

// The evidence.
const (
	ByNothing Evidence = iota
	ByAnswer
	ByReplay
	ByUnsent
	ByAccounting
	ByAcknowledged
)

// String returns the evidence in words.
func (e Evidence) String() string {
	switch e {
	case ByAnswer:
		return "its answer"
	case ByReplay:
		return "its stored answer"
	case ByUnsent:
		return "never sent"
	case ByAccounting:
		return "accounting"
	case ByAcknowledged:
		return "acknowledged"
	default:
		return "none"
	}
}

// OpenWrite is one write on its way: what it is, what is known of it, and who waits for
// it. The call that placed it owns it until it hands it to the driver. What is exported
// is the call's until then.
type OpenWrite struct {
	Intent pending.Intent // without its key, which changes
	// Name is the caller's own id of it; empty without one. Places are where it can show; an empty one counts for
	// nothing. Both are fixed before it is among the open writes.
	Name   string
	Places [2]pending.Place
	Ledger ledger.Ledger
	// Asked is what it asked for, if its call knows; else its bytes say it.
	Asked  accounting.Act
	Traits Traits
	// Unjournaled is why the journal does not have it.
	Unjournaled error
	// Setting is of a setting of levels.
	Setting Setting
	// Answer is the success, or the stored refusal, that decided it.
	Answer *Response
	// NotBefore is a time before which its key was not used, by this machine's clock; zero if its
	// caller named none.
	NotBefore time.Time
	// APIKey names the API key that it was sent with last, where that decides what an answer proves.
	APIKey string

	first Try                 // the first of them, in most writes the only one
	try   atomic.Pointer[Try] // the present one: others read it while the call changes it

	worker   *Driver // who works on it; nil if nobody does
	books    *books.Books
	booked   books.Booked // the write as they see it
	findings *findings    // nil before the first doubt
	beside   *books.Note  // of one that an earlier run left: what its journal says of the account; nil once the books have it
	newer    *newer       // of a setting of levels; nil if none is known to be newer

	keyInStore pending.Key // the key that the journal was given last, whether it took it; set without one too
	firstSend  time.Time
	received   atomic.Bool // a fence was answered that the service knows its key
	by         Evidence
	Left       bool                 // an earlier run began it
	open       bool                 // it is among the open writes; the registry's
	doubted    bool                 // it is in doubt; the registry's
	registered bool                 // its call, or a restart, has added it to them; stays so after its end
	journaled  bool                 // its journal knows it
	gap        bool                 // an exit beside it may be in no journal
	abandoned  bool                 // the client that began it has closed; the registry's
	marketOpen atomic.Bool          // nobody may ever find out, and it hides nothing: it stays in doubt, and keeps its places closed no longer
	over       bool                 // the call that sends it is
	heardLate  bool                 // an answer to a send that nobody waits for has decided it
	late       atomic.Pointer[late] // what came of such sends; nil where there are none
	handed     chan struct{}        // closed when it is over; nil where nobody can wait
}

// Own makes a write one of this client's. Its intent and kind are set; name is the
// caller's own id of it.
func (d *Driver) Own(w *OpenWrite, name string) {
	w.worker, w.books = d, d.Books
	w.Name, w.Places = name, w.Traits.places(&w.Intent)
	if name != "" {
		w.handed = make(chan struct{})
	}
}

// findings are what was found out about a write since it is in doubt.
type findings struct {
	reason  string // why it is Unknown
	lastErr error  // what the last step met
	blocked int    // steps in a row that an API key held up
	note    string // a person's
	looks   []*AccountLook
	denied  *Response // that turned it away before its route, and is not confirmed yet
}

// noting returns what was found out about it, to be added to.
func (w *OpenWrite) noting() *findings {
	if w.findings == nil {
		w.findings = new(findings)
	}
	return w.findings
}

// noted is what was found out about it: nothing before the first doubt.
func (w *OpenWrite) noted() findings {
	if w.findings == nil {
		return findings{}
	}
	return *w.findings
}

// Try is its present key.
func (w *OpenWrite) Try() Try {
	if t := w.try.Load(); t != nil {
		return *t
	}
	return Try{}
}

// SetKey gives it its first key.
func (w *OpenWrite) SetKey(t Try) {
	w.first = t
	w.try.Store(&w.first)
}

// Handed is closed when the call that sends a named write is over.
func (w *OpenWrite) Handed() <-chan struct{} { return w.handed }

// Tracked reports whether what becomes of it can be asked for by its id.
func (w *OpenWrite) Tracked() bool { return w.registered || w.Left }

// Before is the position before it; false if that is not known.
func (w *OpenWrite) Before() (decimal.Decimal, bool) { return w.books.Before(&w.booked) }
