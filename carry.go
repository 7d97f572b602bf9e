package trading

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Every call goes the same way, and this file is the only one that knows all of it:
//
//	key.go                  what the caller got wrong is refused; which key it has
//	  stages.go             the API key, a place in the rate limits, the guards: what every send passes
//	  guard.go              halt, the account's state, pending writes, health
//	internal/resolve        a write is in the journal before its first byte
//	attempt.go              one attempt: request out, whole answer in (internal/transport)
//	answer.go               whose answer is it, and what does it say
//	internal/ledger         decided, once more, or in doubt
//	internal/resolve        what is in doubt is found out, what has ended leaves its trace

// do carries the call out and decodes its answer into result, which may be nil.
func (c *call) do(result wire.Value) error {
	c.result = result
	c.hookStart()
	switch {
	case c.stopped != nil: // by what the caller got wrong
	case !c.endpoint.keyless && c.core.keyless(c.env) != nil:
		c.stopped = c.core.keyless(c.env)
	case c.endpoint.write:
		c.carryOut()
	default:
		c.send()
		c.returnSlot(false)
	}
	return c.end()
}

// carryOut is a write, from its key to its outcome.
func (c *call) carryOut() {
	if !c.core.enter() { // Close waits for it
		c.stopped = ErrClosed
		if c.env == EnvLive && c.opts.key != (keySource{}) {
			c.outcome = Unknown // of what was decided: an earlier run may have sent it
		}
		return
	}
	defer c.core.leave()
	defer c.letGo()
	if !c.decide() || c.last.attempt.stored { // it has its answer from before
		return
	}
	c.send()
	c.returnSlot(false)
	c.releaseWriter()
	c.conclude()
	if c.outcome == NotApplied && c.opts.key != (keySource{}) && !c.kept() {
		c.outcome = Unknown // of what was decided
		if why := c.found; why != nil {
			c.found = fmt.Errorf("%w: %w", errMayBeOthers, why)
		} else {
			c.found = errMayBeOthers
		}
	}
}

// kept reports whether nobody else can have placed what the call did not: another process could, under the
// same client order id, if it has held the journal's lease. That is waited for as an outcome is.
func (c *call) kept() bool {
	if c.core.lease == nil || c.env != EnvLive {
		return true
	}
	ctx, cancel := context.WithTimeout(c.Context, c.opts.patience(c.entry))
	defer cancel()
	defer context.AfterFunc(c.core.closing, cancel)()
	return c.core.lease.Kept(ctx)
}

// letGo gives back what a write has taken and has not used, also where one of the program's
// guards panics.
func (c *call) letGo() {
	c.returnSlot(false)
	c.releaseWriter()
	if c.write != nil {
		c.core.driver.LetGo(c.write)
	}
}

// decide gives the write its key, or joins the write that has the client order id
// already. It returns false if the call is over.
func (c *call) decide() bool {
	for {
		earlier, err := c.chooseKey()
		if earlier == nil && err == nil {
			return true
		}
		if err == nil { // the same client order id is on its way already
			err = c.join(earlier)
		}
		if c.stopped = err; !errors.Is(err, errConcluded) {
			return false
		}
		c.stopped = nil
	}
}

// send sends until the ledger, or the caller's context, has enough.
func (c *call) send() {
	if err := c.admit(); err != nil {
		c.stopped = err
		return
	}
	c.core.loop.Run(c)
	if ended := c.Err(); ended != nil && c.last.err != nil {
		c.stopped = ended
	}
}

// admit takes one send through the stages, and again where the service has closed
// the rate limit while the guards were asked.
func (c *call) admit() error {
	for {
		if err := c.pass(); err != nil {
			c.returnSlot(false)
			return err
		}
		if !c.limitClosed() {
			return nil
		}
		c.returnSlot(false)
	}
}

// pass asks the stages, in this order. Guards follow what can wait, since a wait
// would outlive what they saw. What ages is judged after all of them, with the connection
// there: by [call.MayLeave].
func (c *call) pass() error {
	for _, stage := range [...]func(*call) error{
		(*call).stillOpen,
		(*call).awaitBaseline,
		(*call).takeKey,
		(*call).checkBreaker,
		(*call).waitForLimit,
		(*call).holdWriter,
		(*call).askGuards,
		(*call).noteInJournal,
	} {
		if err := stage(c); err != nil {
			return err
		}
	}
	return nil
}

// Send makes one attempt. It is the loop's.
func (c *call) Send() {
	c.sends++
	if c.write != nil {
		if c.write.Ledger.Without.Rotation {
			c.write.APIKey = c.apiKey.ID()
		}
		c.core.driver.SendBegins(c.write)
	}
	c.lastCtx = c.hookSend(c.Context)
	q := c.question()
	c.last = c.core.exchange(c.lastCtx, &c.request, c.apiKey, c.key(), &q, c.gate(), false)
	c.returnSlot(c.last.attempt.Written)
	if c.write != nil {
		c.core.driver.SendEnded(c.write, c.last.attempt.Received)
	}
}

// Again notes what the attempt that has just ended says, and asks whether to send
// once more. It is the loop's.
func (c *call) Again() bool {
	c.noteKey()
	again := c.readAgain
	if c.write != nil {
		again = c.writeAgain
	}
	more := again()
	c.hookSent()
	return more && c.Err() == nil
}

// writeAgain asks the ledger.
func (c *call) writeAgain() bool {
	w, said := c.write, c.last.said()
	c.doubt = c.core.driver.Heard(w, c.last.attempt.Received, said, c.doubted)
	c.outcome, c.doubted = Outcome(w.Ledger.Outcome()), c.doubted || c.doubt
	queued := c.closeLimit(&said)
	wait, random, more := c.core.driver.NextSend(w)
	if c.last.err != nil && errors.As(c.last.err, new(*GuardError)) {
		return false // by the gate, which changes its mind no more
	}
	if !more {
		c.nameWait(said.RetryAfter)
		return false
	}
	c.wait = wait
	if random {
		c.wait = max(spread(wait), said.RetryAfter)
	}
	return c.waits(queued)
}

// readAgain decides for a read, which does no harm.
func (c *call) readAgain() bool {
	said := c.last.said()
	queued := c.closeLimit(&said)
	_, asked := c.last.attempt.askedToWait()
	switch {
	case c.last.class == ledger.Success:
		return false
	case c.last.refusal != nil:
		rule := c.last.refusal.rule()
		if rule.Advice == AdviseWait {
			said.RetryAfter = c.last.attempt.limitEnds()
		}
		// To a read a missing price is an answer, and not one that is worth waiting for
		// unasked.
		if rule.Advice != AdviseWait && (rule.Advice != AdviseResolve || c.last.attempt.Status < 500) {
			return false
		}
	case c.last.class == ledger.Unclear: // a redirect
		return false
	case c.last.class == ledger.Foreign && c.last.attempt.Status < 500 && !asked:
		return false // by something in front: once more where it says that it failed, or when to come again
	}
	c.wait = max(spread(ledger.Retry{MinWait: c.opts.retry.MinWait, MaxWait: c.opts.retry.MaxWait}.Backoff(c.sends)), said.RetryAfter)
	if c.opts.failFast && said.RetryAfter > 0 {
		c.nameWait(c.wait)
		return false
	}
	return c.waits(queued) && c.sends < c.opts.retry.Attempts
}

// waits reports whether the call may wait for its next send. Where its rate limit is
// closed, the queue waits, by priority.
func (c *call) waits(queued bool) bool {
	if c.outlives(c.wait) {
		c.nameWait(c.wait)
		return false
	}
	if queued {
		c.wait = 0
	}
	return true
}

// Prepare waits, and takes the next send through the stages. It is the loop's.
func (c *call) Prepare() error {
	if c.wait > 0 {
		c.hookWait(c.wait, WaitBackoff, "")
	}
	err := c.pause(c.wait)
	if err == nil && c.write != nil {
		c.nextKey()
	}
	if err == nil {
		err = c.admit()
	}
	if err != nil {
		c.stopped = err
	}
	return err
}

// conclude ends the sending of a write, and waits for what becomes of it while that
// is in doubt.
func (c *call) conclude() {
	w := c.write
	if w == nil {
		return // it came to no key
	}
	d := c.core.driver
	d.SendingOver(c.Context, w, c.opts.patience(c.entry))
	c.outcome, c.left, c.forget = Outcome(w.Ledger.Outcome()), w.Ledger.Sent(), w.Ledger.Forget()
	last := c.last.answer(c.last.said(), c.result)
	if d.Conclude(w, &last) {
		return
	}
	c.waitFor(w) // from here on the write is the driver's
}

// waitFor waits until it is known what became of a write, as long as the caller
// does.
func (c *call) waitFor(w *resolve.Write) {
	ctx := c.Context
	patience := c.opts.patience(c.entry)
	if redirect := (*RedirectError)(nil); errors.As(c.last.err, &redirect) {
		patience = 0 // nothing is found out at an address that redirects
	}
	if ctx.Err() == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, patience, errPatience)
		defer cancel()
	}
	r, known := c.core.driver.Wait(ctx, w)
	if !known {
		// What the client asked meanwhile, and was answered, is not this call's.
		c.outcome = Unknown
		c.found = fmt.Errorf("%w%s", ErrUndetermined, strings.TrimPrefix(r.Why.Error(), ErrUndetermined.Error()))
		if c.stopped == nil {
			c.stopped = c.Err()
		}
		return
	}
	c.outcome, c.forget = Outcome(r.Outcome), r.Outcome == ledger.Unknown
	if w.Answer != nil && c.outcome == Applied {
		c.last = *w.Answer.Heard.(*heard)
		c.stopped, c.found = nil, nil
		if r.Late {
			c.found = ErrLate
		}
		return
	}
	if r.Err != c.last.err { //nolint:errorlint // else the call has it already
		c.found = r.Err
	}
}

// errPatience is why a call waits no longer.
var errPatience = errors.New("the call waits no longer (WithResolveTimeout)")

// join takes the outcome of a write that was placed before under the same client
// order id, and asks about it.
func (c *call) join(w *resolve.Write) error {
	select {
	case <-w.Handed():
	case <-c.Done():
		c.outcome = Unknown
		return c.Err()
	}
	if !c.core.driver.IsOpen(w) {
		return errConcluded
	}
	c.write, c.left = w, true
	c.core.driver.Ask(w, c.since)
	c.waitFor(w)
	return nil
}

// refused ends the call before anything is sent.
func (c *call) refused(err error) error {
	c.hookStart()
	c.stopped = err
	return c.end()
}

// end turns what the call has come to into its result or its error.
func (c *call) end() error {
	if c.opts.meta != nil {
		m := c.meta()
		m.Intent, m.Settled = c.intentID(), c.settled()
		*c.opts.meta = m
	}
	err := c.failure()
	if err == nil || c.late() {
		if unreadable := c.read(); unreadable != nil {
			err = unreadable
		}
	}
	if err != nil {
		err = c.carryOutcome(err)
	}
	c.core.log.call(c, err)
	c.hookDone(c.hookCall(), Done{Err: err, Outcome: OutcomeOf(err), Attempts: c.sends})
	return err
}

// failure joins why the call stopped, how its last attempt failed, and what
// resolving it came to.
func (c *call) failure() error {
	err := c.stopped
	for _, more := range [...]error{c.last.err, c.found} {
		switch {
		case more == nil:
		case err == nil:
			err = more
		default:
			err = fmt.Errorf("%w: %w", err, more)
		}
	}
	return err
}

// settled reports whether the last answer is the service's, and is what the call came to.
func (c *call) settled() bool {
	switch {
	case c.stopped != nil, c.found != nil && !c.late():
		return false
	case c.last.class == ledger.Success:
		return !c.endpoint.write || c.outcome == Applied
	default:
		return c.last.refusal != nil && (c.outcome == NotApplied || c.forget) // of an earlier use of its key nothing is known
	}
}

// late reports whether the call has a result beside its error.
func (c *call) late() bool { return errors.Is(c.found, ErrLate) }

// read decodes the answer of a call that succeeded.
func (c *call) read() error {
	if c.result == nil || c.last.decoded {
		return nil
	}
	if err := wire.Unmarshal(c.last.attempt.Body, c.result); err != nil {
		return &DecodeError{Meta: c.meta(), Err: err}
	}
	return nil
}

// carryOutcome puts the call's outcome into the error, and around it where it is a
// write's or has no room for it.
func (c *call) carryOutcome(err error) error {
	bearer := outcomeBearer(nil)
	bears := errors.As(err, &bearer)
	if bears {
		bearer.setOutcomeOfCall(c.outcome)
	}
	if !c.endpoint.write {
		if bears {
			return err
		}
		return readError{err}
	}
	e := &WriteError{Outcome: c.outcome, Operation: c.endpoint.op, Account: c.account, Symbol: c.symbol, Err: err}
	if c.write != nil && c.write.Tracked() && !c.forget {
		e.Intent = IntentID(c.write.Intent.ID)
	}
	e.NotSent = c.outcome == Unknown && !c.left
	return e
}
