package trading

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// The attempts of a call, and the policy of sending again.

// send sends until the ledger of a write, or the policy of a read, has enough, or the caller has.
func (c *call) send() {
	defer c.returnSlot(false)
	if c.stopped = c.pass(); c.stopped == nil {
		c.run()
	}
	if ended := c.ctx.Err(); ended != nil && c.last.failed != nil {
		c.stopped = ended
	}
	if c.write != nil && len(c.write.listening) > 0 {
		c.takeLate()
		c.preferHeard()
	}
}

// run makes attempts, each of which has passed the stages.
func (c *call) run() {
	r := runners.Get().(*runner)
	r.call = c
	r.shown = *(&http.Request{Method: c.endpoint.Method, URL: c.url, Header: noHeader}).WithContext(c.ctx)
	_, _ = r.client.Do(&retryablehttp.Request{Request: &r.shown}) //nolint:bodyclose // attemptOver has none
	r.call, r.shown = nil, http.Request{}
	runners.Put(r)
}

// runner is go-retryablehttp's client of one call, as long as that sends: nothing keeps it after that, so the
// next takes it over.
type runner struct {
	call   *call
	more   bool // what its last attempt came to allows another
	client retryablehttp.Client
	shown  http.Request
}

// runners are those that no call has.
var runners = sync.Pool{New: func() any {
	r := new(runner)
	r.client = retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: r},
		RetryMax:     math.MaxInt32, // the ledger counts
		CheckRetry:   func(context.Context, *http.Response, error) (bool, error) { return r.more, nil },
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return r.call.backOff() },
		PrepareRetry: func(*http.Request) error { return r.call.prepare() },
	}
	return r
}}

// RoundTrip is one attempt. What that came to is the call's to judge: an error, or a redirect, the library would
// take its own way.
func (r *runner) RoundTrip(*http.Request) (*http.Response, error) {
	r.more = r.call.attempt()
	return attemptOver, nil
}

// attemptOver and noHeader are never written to.
var (
	attemptOver = &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}
	noHeader    = http.Header{}
)

// attempt sends once, and returns whether to send once more. Key, body and header are the attempt's own.
func (c *call) attempt() (more bool) {
	c.sends++
	w, d := c.write, c.core.driver
	if w != nil {
		if w.of.Ledger.Without.Rotation {
			w.of.APIKey = c.apiKey.ID()
		}
		d.SendBegins(w.of)
	}
	ctx := c.ctx
	if len(c.core.hooks) > 0 {
		ctx = c.core.hooks.attemptStart(ctx, c.describe(), c.sends)
	}
	q := question{&c.request, c.result, c.metaSoFar()}
	sent := c.core.requestOf(&c.request, c.apiKey, q.meta.Key, c.gate)
	if w != nil && c.core.transport.Listens() {
		c.last = c.exchangeListened(ctx, &sent, &q)
	} else {
		c.last = c.core.hear(&q, c.core.transport.Send(ctx, &sent))
	}
	c.returnSlot(c.last.Written)
	if w != nil {
		c.core.usual.heard(&c.last)
	}
	more = c.again()
	if len(c.core.hooks) > 0 {
		c.core.hooks.attemptDone(ctx, c.describe(), c.attempted())
	}
	return more && c.ctx.Err() == nil
}

// again notes what the attempt that has just ended says, and whether to send once more.
func (c *call) again() bool {
	if !c.endpoint.Keyless {
		noteKey(&c.core.breaker, c.apiKey, &c.last)
	}
	if c.write == nil && !c.once && c.last.class == ledger.Success {
		return false
	}
	said := c.last.said()
	queued := said.Advice == ledger.WaitFirst && !c.endpoint.Keyless && closeLimit(c.core.limits, c.apiKey.ID(), c.endpoint.Class, &c.last, &said)
	if c.once { // the driver judges it
		c.outcome = OutcomeOf(c.last.failed)
		return false
	}
	return c.judge(said, queued)
}

// judge is the one policy: the ledger of a write, or what is known of a read, says whether an answer allows
// another send, and how long it waits. queued: that was a 429, whose limit is closed. A wait that the call would
// not survive ends it, and is named.
func (c *call) judge(said ledger.Answer, queued bool) (more bool) {
	var wait, retryAfter time.Duration // retryAfter: the wait that the refusal names to a caller who is given up on
	if c.write != nil {
		wait, retryAfter, more = c.write.hear(&c.last, said)
		c.outcome = c.write.of.Ledger.Outcome()
	} else {
		wait, retryAfter, more = rereads(&c.last, said.RetryAfter, c.opts.retry, c.sends)
	}
	if more && c.outlives(wait) {
		more, retryAfter = false, wait
	}
	if !more {
		if r := c.last.refusal; r != nil && r.RetryAfter.IsZero() && r.rule().Advice == AdviseWait {
			r.RetryAfter = Some(retryAfter)
		}
		return false
	}
	if c.wait = wait; queued || c.write != nil && c.write.second() { // the queue of the closed limit waits, by priority
		c.wait = 0
	}
	return c.write != nil || c.sends < c.opts.retry.Attempts
}

// outlives reports whether a wait would end after the write's TTL or the caller's deadline, so that waiting
// cannot help. A read without a deadline waits for the service's longest window, and no more.
func (c *call) outlives(wait time.Duration) bool {
	deadline, bounded := c.ctx.Deadline()
	switch {
	case bounded && time.Until(deadline) <= wait:
		return true
	case c.write != nil:
		return resolve.Elapsed(c.began)+wait >= c.opts.ttl.of(c.entry)
	default:
		return !bounded && wait > limiter.Window
	}
}

// backOff waits for the next attempt, unless the caller or the client goes first. go-retryablehttp, whose own
// wait Close could not end, has nothing left to wait for.
func (c *call) backOff() time.Duration {
	if c.wait <= 0 {
		return 0
	}
	if len(c.core.hooks) > 0 {
		c.core.hooks.waiting(c.ctx, c.describe(), Wait{For: c.wait, Reason: WaitBackoff})
	}
	c.await(c.wait)
	return 0
}

// await waits, unless the caller or the client goes first, or an answer to an earlier send ends the sending.
func (c *call) await(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var late <-chan struct{}
	if c.write != nil {
		late = c.write.of.LateCame()
	}
	for {
		select {
		case <-timer.C:
		case <-c.ctx.Done():
		case <-c.core.life.Closing.Done():
			c.stopped = ErrClosed
		case <-late:
			if !c.takeLate() && c.write.of.Ledger.Sending() {
				continue
			}
		}
		return
	}
}

func (c *call) prepare() error {
	if c.stopped == nil {
		c.stopped = c.ctx.Err()
	}
	switch {
	case c.stopped != nil:
	case c.write == nil:
		c.stopped = c.pass()
	default:
		return c.prepareWrite()
	}
	return c.stopped
}

// prepareWrite is prepare for a write: an answer to an earlier send can come meanwhile, and make the next one
// needless.
func (c *call) prepareWrite() error {
	w := c.write
	if w.second() {
		if err := c.pass(); err == nil && w.of.MaySend() {
			w.secondOver, c.alone = true, true // it and all later sends go on connections of their own
			return nil
		}
		// Without a place in the limits, or in the journal, it is left out.
		w.secondOver = true
		c.returnSlot(false)
		c.await(c.opts.attemptTimeout - time.Since(c.last.Sent))
	}
	for c.stopped == nil {
		c.takeLate()
		if !w.of.Ledger.Sending() || !w.of.Ledger.MaySend() {
			return errHeard
		}
		w.nextKey()
		err := w.of.UntilHeard(c.ctx, c.passUnder)
		if w.of.MaySend() || c.ctx.Err() != nil { // the stages have passed, or err says why not
			c.stopped = err
			return err
		}
		c.returnSlot(false) // an answer has ended the sending meanwhile: it is taken in next
	}
	return c.stopped
}

// passUnder is pass where an answer to an earlier send ends what may wait: the limits and the guards. The baseline,
// the journal and the gate go by the context of the caller alone, which is writing.ctx.
func (c *call) passUnder(ctx context.Context) error {
	whole := c.ctx
	defer func() { c.ctx = whole }()
	c.ctx = ctx
	return c.pass()
}
