package trading

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// A write, from its key to its outcome.

func (c *call) carryOut() {
	if !c.core.life.Enter() { // Close waits for it
		c.stopped = ErrClosed
		if c.env == EnvLive && c.opts.key != (keySource{}) {
			c.outcome = Unknown // of the decision that has the key: an earlier run may have sent it
		}
		return
	}
	defer c.core.life.Leave()
	defer c.letGo()
	if !c.decide() || c.last.fromJournal { // it has its answer from before
		return
	}
	c.gate, c.write.ctx = c.write, c.ctx
	c.send()
	if c.write.holdsTurn {
		c.giveTurnBack()
	}
	c.conclude()
	if c.outcome == NotApplied && c.opts.key != (keySource{}) && !c.kept() {
		c.outcome = Unknown // of the decision that has the key
		if why := c.write.found; why != nil {
			c.write.found = fmt.Errorf("%w: %w", errMayBeOthers, why)
		} else {
			c.write.found = errMayBeOthers
		}
	}
}

// kept reports whether the lease of the journal was kept, so that no other process can have placed what the
// call did not, under the same client order id. It waits for that as long as for an outcome.
func (c *call) kept() bool {
	if c.core.permit.Leaser == nil || c.env != EnvLive {
		return true
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.opts.patience.of(c.entry))
	defer cancel()
	defer context.AfterFunc(c.core.life.Closing, cancel)()
	return c.core.permit.Kept(ctx)
}

// letGo gives back what a write has taken and has not used, also where one of the program's
// guards panics.
func (c *call) letGo() {
	if c.write.holdsTurn {
		c.giveTurnBack()
	}
	if c.write.of != nil {
		c.core.driver.LetGo(c.write.of)
	}
	if len(c.write.listening) > 0 {
		c.stopListening()
	}
}

// decide gives the write its key, or joins the write that has the client order id
// already. It returns false if the call is over.
func (c *call) decide() bool {
	for {
		d := c.core.decisions.decide(c.ctx, &c.request, c.write.placed, c.write.unnamed)
		if d.write != nil {
			c.write.of = d.write
		}
		if d.kept != nil {
			c.last = *d.kept
		}
		if d.outcome != NotApplied {
			c.outcome = d.outcome
		}
		if d.earlier == nil && d.err == nil {
			return true
		}
		if d.err == nil { // the same client order id is on its way already
			d.err = c.join(d.earlier, d.asked)
		}
		if !errors.Is(d.err, errConcluded) {
			c.stopped = d.err
			return false
		}
	}
}

// join takes the outcome of a write that was placed before under the same client
// order id, and asks about it.
func (c *call) join(earlier *resolve.OpenWrite, asked uint64) error {
	select {
	case <-earlier.Handed():
	case <-c.ctx.Done():
		c.outcome = Unknown
		return c.ctx.Err()
	}
	if !c.core.driver.IsOpen(earlier) {
		return errConcluded
	}
	c.write.of, c.write.mayHaveLeft = earlier, true
	c.core.driver.Ask(earlier, asked)
	c.waitFor(earlier)
	return nil
}

// errConcluded: the earlier write has ended, so what it came to is looked up.
var errConcluded = errors.New("the earlier write has ended")

// conclude ends the sending of a write, and waits for what becomes of it while that
// is in doubt.
func (c *call) conclude() {
	w, d := c.write, c.core.driver
	of := w.of
	d.SendingOver(c.ctx, of, c.opts.patience.of(c.entry))
	c.outcome, c.write.mayHaveLeft, c.write.forget = of.Ledger.Outcome(), of.Ledger.Sent(), of.Ledger.Forget()
	if !of.Ledger.Resolves && c.outcome == Unknown && len(w.listening) > 0 {
		c.listenOn()
	}
	last := c.last.answer(c.result)
	if d.Conclude(of, &last) {
		return
	}
	c.waitFor(of) // from here on the write is the driver's
}

// waitFor waits until it is known what became of a write, as long as the caller
// does.
func (c *call) waitFor(of *resolve.OpenWrite) {
	ctx := c.ctx
	patience := c.opts.patience.of(c.entry)
	if redirect := (*RedirectError)(nil); errors.As(c.last.failed, &redirect) {
		patience = 0 // nothing is found out at an address that redirects
	}
	if ctx.Err() == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, patience, errPatience)
		defer cancel()
	}
	r, known := c.core.driver.Wait(ctx, of)
	if !known {
		// What the client asked meanwhile, and was answered, is not this call's.
		c.outcome = Unknown
		c.write.found = fmt.Errorf("%w%s", ErrUndetermined, strings.TrimPrefix(r.Why.Error(), ErrUndetermined.Error()))
		if c.stopped == nil {
			c.stopped = c.ctx.Err()
		}
		return
	}
	c.outcome, c.write.forget = r.Outcome, r.Outcome == ledger.Unknown
	if of.Answer != nil && c.outcome == Applied {
		c.last = *of.Answer.Heard.(*heard)
		c.stopped, c.write.found = nil, nil
		if r.Late {
			c.write.found = ErrLate
		}
		return
	}
	if r.Err != c.last.failed { //nolint:errorlint // else the call has it already
		c.write.found = r.Err
	}
}

// errPatience is why a call waits no longer.
var errPatience = errors.New("the call waits no longer (WithResolveTimeout)")
