package trading

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/transport"
)

// Nobody hangs up on a write while anybody waits for its outcome: the end of an attempt's time ends the
// waiting, and not the listening. A success that comes late decides at once, whatever else was sent; a refusal
// once each send has its own answer and did nothing.

// asksAfter is how long an exit that changes nothing when it runs twice waits for its first answer, at least,
// before it asks once more.
const asksAfter = time.Second

var errAskedTwice = errors.New("no answer has come yet, so the request is sent once more")

// waitsFor is how long the attempt that begins now is waited for, and why no longer.
func (c *call) waitsFor() (time.Duration, error) {
	if c.sends == 1 && c.asksTwice() {
		if soon := max(asksAfter, 4*c.core.usual.get()); soon < c.opts.attemptTimeout {
			return soon, errAskedTwice
		}
	}
	return c.opts.attemptTimeout, transport.ErrTimeout
}

// asksTwice reports whether a write without an answer goes once more, over a connection of its own, while the
// first is listened to.
func (c *call) asksTwice() bool {
	return c.write.of.Ledger.AsksTwice() && c.core.driver.AsksTwice(c.write.of)
}

// exchangeListened sends a write, and waits for its answer: for the time of the attempt, as long as its caller
// waits, and until an earlier send has decided the write.
func (c *call) exchangeListened(ctx context.Context, sent *transport.Outgoing, q *question) heard {
	w := c.write
	number := w.of.Ledger.Sends()
	patience, why := c.waitsFor()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	a := c.core.transport.Begin(ctx, sent) // which has the processor once this waits
	for {
		ends := why
		select {
		case <-a.Over():
			return c.core.hear(q, a.Exchanged())
		case <-w.of.LateCame():
			if !c.takeLate() || w.of.Ledger.Sending() {
				continue
			}
			ends = errHeard
		case <-timer.C:
		case <-c.ctx.Done():
			ends = context.Cause(c.ctx)
		}
		if !a.Leave(ends) { // it is over, or about to be
			<-a.Over()
			return c.core.hear(q, a.Exchanged())
		}
		c.listen(a, number, q)
		unheard := heard{key: q.meta.Key}
		unheard.Sent, unheard.Received, unheard.Err, unheard.Written = a.Began(), time.Now(), ends, true
		w.askedTwice = w.askedTwice || errors.Is(ends, errAskedTwice)
		return q.read(unheard)
	}
}

// listen goes on with an attempt that nobody waits for.
func (c *call) listen(a *transport.RoundTrip, number int, q *question) {
	w, x, d := c.write, &c.core.exchanger, c.core.driver
	if n := len(w.listening); n > 1 {
		w.listening[n-1].Abort()
		w.listening = w.listening[:n-1]
	}
	w.listening = append(w.listening, a)
	w.of.Listen()
	later, of, r := *q, w.of, c.request
	later.request, later.result = &r, nil // which are its caller's
	closing := c.core.life.Closing
	if !c.core.life.Go(func() {
		defer context.AfterFunc(closing, a.Abort)()
		<-a.Over()
		if h := x.hear(&later, a.Exchanged()); h.class != ledger.Silence {
			d.HeardLate(of, number, h.answer(nil))
		} else {
			of.WakeCall() // which may wait for nothing else
		}
	}) {
		a.Abort()
	}
}

// takeLate takes in what has come to earlier sends of a write, and reports whether that has decided it, or
// ended its sending: then it is what the call has come to.
func (c *call) takeLate() bool {
	w := c.write
	ends := c.core.driver.TakeLate(w.of)
	w.doubt = w.of.Ledger.InDoubt()
	if ends == nil {
		return false
	}
	last := *ends.Heard.(*heard)
	c.core.usual.heard(&last)
	w.heard, w.decided = &last, w.of.Ledger.Outcome() != Unknown
	return true
}

// preferHeard has the call come to a late answer that has decided its write, or that is newer than the last.
func (c *call) preferHeard() {
	w, last := c.write, &c.last
	if w.heard == nil {
		return
	}
	if w.decided || last.class == ledger.Silence || last.class == ledger.Unsent || w.heard.Received.After(last.Received) {
		c.last = *w.heard
	}
	if w.decided {
		c.stopped = nil
	}
	c.outcome = w.of.Ledger.Outcome()
}

// stopListening is for the end of a call. What is decided by a success needs no other answer, and a connection
// that gave none is not used again.
func (c *call) stopListening() {
	for _, a := range c.write.listening {
		if c.outcome == Applied {
			a.Retire()
			a.Abort()
		}
	}
	if c.outcome != Applied {
		c.core.listeners.add(c.write.listening)
	}
}

// listenOn waits for a late answer to a write that nobody else finds out about, as long as the call does.
func (c *call) listenOn() {
	w := c.write
	timer := time.NewTimer(c.opts.patience.of(c.entry))
	defer timer.Stop()
	for c.outcome == Unknown && slices.ContainsFunc(w.listening, isUnderWay) {
		select {
		case <-w.of.LateCame():
			c.takeLate()
			c.preferHeard()
		case <-timer.C:
			return
		case <-c.ctx.Done():
			return
		case <-c.core.life.Closing.Done():
			return
		}
	}
}
