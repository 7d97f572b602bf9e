package trading

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/ratelimit"
)

// writing is what only the call of a write has. What is known of the write itself, and outlives the call, is in
// of.
type writing struct {
	*request
	*decisions
	ctx     context.Context    // the call's
	of      *resolve.OpenWrite // nil before it has a key
	order   Order              // if placed
	placed  *Order             // the order that it places; nil if it does not
	unnamed resolve.Unnamed

	holdsTurn   bool // it holds the sandbox's one place for a writer
	doubt       bool // an attempt that ended may have been applied
	doubted     bool // there has been doubt, whether or not it is over
	mayHaveLeft bool // any byte of it
	forget      bool // it needs no resolution
	decided     bool // a late answer has decided it
	askedTwice  bool // the first send was left early, so that a second may go
	secondOver  bool // that has gone, or was left out

	listening []*transport.RoundTrip // that nobody waits for: the first and the newest
	heard     *heard                 // the late answer that has ended its sending

	found error // what resolving it came to, beside the answer
}

// errHeard is why a send does not leave, or is waited for no more.
var errHeard = errors.New("an answer to an earlier send has come")

func (w *writing) place(o Order) {
	w.order, w.placed, w.symbol, w.entry = o, &w.order, o.Symbol, w.endpoint.Asks.Adds(o.ReduceOnly)
}

// beforeSend has the journal take the write before its first byte, and each new key and send.
func (w *writing) beforeSend(sent bool) error {
	if !w.of.Ledger.Resolves {
		return nil
	}
	err := w.driver.Before(w.ctx, w.of, sent)
	switch {
	case err == nil:
		return nil
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case errors.Is(err, resolve.ErrTooOld):
		return w.tooOld()
	case w.second():
		return err
	case w.entry:
		return &GuardError{Kind: ErrJournal, Reason: "entries wait until it can be written", Err: err}
	case journal.IsFencing(err):
		return &GuardError{Kind: ErrJournal, Reason: "exits go out beside a journal that fails, and not beside one that is another's", Err: err}
	}
	w.driver.Missing(w.of, err)
	return nil
}

// sameKey refuses an entry whose API key was rotated since its last send: to the service it may be another
// holder's, which knows nothing of the idempotency key.
func (w *writing) sameKey(id string) error {
	if w.entry && w.of.APIKey != "" && w.of.APIKey != id {
		return &GuardError{Kind: ErrExpired, Reason: "the API key was replaced, and with another one the order may run again"}
	}
	return nil
}

// hear has the ledger take an answer in, and say whether to send once more, and after how long a wait.
// retryAfter is the wait that the refusal names to a caller who is given up on.
func (w *writing) hear(h *heard, said ledger.Answer) (wait, retryAfter time.Duration, more bool) {
	w.doubt = w.driver.Heard(w.of, h.Received, said, w.doubted)
	w.doubted = w.doubted || w.doubt
	wait, random, more := w.driver.NextSend(w.of)
	if errors.As(h.failed, new(*GuardError)) {
		return 0, 0, false // by the gate, which changes its mind no more
	}
	if random {
		wait = max(spread(wait), said.RetryAfter)
	}
	return wait, said.RetryAfter, more
}

// second reports whether the send that is next is the second of a write that asks twice, before the time of
// the first is over.
func (w *writing) second() bool { return w.askedTwice && !w.secondOver }

// nextKey moves on to the key that a stored refusal asks for.
func (w *writing) nextKey() {
	if !w.driver.WantsKey(w.of) {
		return
	}
	key := NewKey()
	if w.of.Ledger.Source == ledger.Derived {
		key = derived(w.of.Name, w.of.Try().Number+1)
	}
	w.driver.ChangeKey(w.of, key)
}

// MayLeave is the gate of a write: it refuses what was decided too long ago, since its
// price is gone, what a newer setting has replaced, what nobody waits for any more, and what a halt
// or the journal's lease does not allow.
// Other goroutines ask it too, so it reads only what no attempt changes.
func (w *writing) MayLeave() error {
	switch {
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case resolve.Elapsed(w.began) >= w.of.Ledger.SendTTL():
		return w.tooOld()
	case !w.of.MaySend():
		return errHeard
	case !w.driver.MayLeave(w.of):
		return &GuardError{Kind: ErrExpired, Reason: "a newer setting of the levels was sent"}
	default:
		return w.permit.allows(w.env, w.account, w.entry)
	}
}

// LeaveBy implements [transport.Leaser].
func (w *writing) LeaveBy() time.Time { return w.permit.leaveBy() }

// tooOld refuses a write that was decided too long ago.
func (w *writing) tooOld() error {
	return &GuardError{
		Kind:   ErrExpired,
		Reason: fmt.Sprintf("decided %s ago, may be sent for %s", resolve.Elapsed(w.began).Round(time.Millisecond), w.of.Ledger.SendTTL()),
	}
}

// intentID names a write, once it is tracked; empty for a read.
func (w *writing) intentID() IntentID {
	if w == nil || w.of == nil || !w.of.Tracked() {
		return ""
	}
	return w.of.Intent.ID
}

func (w *writing) failed(outcome Outcome, err error) error {
	e := &WriteError{Outcome: outcome, Operation: w.endpoint.Name, Account: w.account, Symbol: w.symbol, Err: err}
	if !w.forget {
		e.Intent = w.intentID()
	}
	e.NotSent = outcome == Unknown && !w.mayHaveLeft
	return e
}

// priority is that of its next send: of exits what gets out at once comes first.
func (w *writing) priority() ratelimit.Priority {
	if w.entry {
		return ratelimit.Entry
	}
	switch w.endpoint.Name {
	case OpClose, OpSandboxClose, OpOrder, OpSandboxOrder:
		return ratelimit.Close
	default:
		return ratelimit.Exit
	}
}

// ranTwice compares the position after an order that was sent again in doubt with
// what was known before it.
func (w *writing) ranTwice(result *OrderResult) Opt[bool] {
	if !w.doubted || result.Meta.Replayed || w.of == nil {
		return Opt[bool]{}
	}
	before, known := w.of.Before()
	if !known {
		return Opt[bool]{}
	}
	var after decimal.Decimal // flat, unless there is a position
	if p, open := result.Position.Get(); open {
		after = p.Signed()
	}
	once := w.order.Size
	if w.order.Side == Short {
		once = once.Neg()
	}
	switch moved := after.Sub(before); {
	case moved.Equal(once):
		return Some(false)
	case moved.Equal(once.Add(once)):
		return Some(true)
	default:
		return Opt[bool]{}
	}
}
