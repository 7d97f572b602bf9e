package trading

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Every call goes the same way, and this file is the only one that knows all of it:
//
//	validate.go, named.go   what the caller got wrong is refused; which key it has
//	call.go                 the stages below, before every send
//	  internal/secret         the key, which may have been rotated or refused
//	  ratelimit.go            it has a place in the rate limits, or waits for one
//	  guard.go                health, halt, pending writes, the program's own guards
//	  store.go                a write is in the journal before its first byte
//	internal/transport      one attempt: request out, whole answer in
//	answer.go               whose answer is it, and what does it say
//	internal/ledger         settled, once more, or in doubt
//	driver.go               what is in doubt is found out

// caller is what a handle needs to begin calls.
type caller struct {
	core     *core
	defaults callOptions
}

// request is what is fixed before the first send, and how each attempt sends it.
type request struct {
	endpoint *endpoint
	env      Environment
	opts     callOptions
	url      *url.URL
	body     []byte // encoded once; every attempt sends these bytes
	account  AccountID
	symbol   string
	order    *Order
	entry    bool // a write that can add exposure
	unnamed  unnamedLevels
	began    time.Time
	sent     transport.Request // of the last attempt
}

// call is one API call. It is the context of its own requests, which is how the
// loop that sends finds it; so the context in it is not kept beyond the call.
type call struct {
	context.Context
	request
	core *core

	apiKey apiKey       // of the next attempt, or the last
	ask    limiter.Ask  // for a slot in the rate limits
	slot   limiter.Slot // that the next send has
	writer bool         // it holds the sandbox's one place for a writer
	room   http.Request // what the loop sees
	write  *write       // nil for a read
	askKey Key          // of a request of the driver
	since  uint64       // the number of the drivers' last request before the journal was read

	sends   int // attempts so far
	wait    time.Duration
	last    heard
	lastCtx context.Context // of the last attempt, for the hooks

	outcome Outcome
	doubt   bool  // an attempt that ended may have been applied
	doubted bool  // there has been doubt, whether or not it is over
	left    bool  // any byte of a write may have left
	forget  bool  // the write needs no resolution
	invalid error // what was wrong before anything was sent
	stopped error // why there is no further attempt, where the last answer does not say it
	found   error // what resolving it came to, beside the answer

	result wire.Value // what a success is decoded into; nil if nobody wants it
}

// begin starts a call to an endpoint.
func (h caller) begin(ctx context.Context, e *endpoint, opts []CallOption) *call {
	noContext := checkContext(ctx)
	if noContext != nil {
		ctx = context.Background()
	}
	c := &call{Context: ctx, invalid: noContext, core: h.core, outcome: NotApplied}
	c.request = request{endpoint: e, env: e.env, opts: h.defaults, url: h.core.urls[e], began: time.Now()}
	for _, opt := range opts {
		if opt == nil {
			c.invalid = errNilOption()
			break
		}
		if err := opt.applyCall(&c.opts); err != nil {
			c.invalid = err
			break
		}
	}
	return c
}

// Value finds the call itself, besides what the caller's context holds.
func (c *call) Value(key any) any {
	if key == (transport.SenderKey{}) {
		return transport.Sender(c)
	}
	return c.Context.Value(key)
}

// do carries the call out and decodes its answer into result, which may be nil.
func (c *call) do(result wire.Value) error {
	c.result = result
	c.hookStart()
	switch {
	case c.invalid != nil:
		c.stopped = c.invalid
	case !c.endpoint.keyless && c.core.keys(c.env).isZero():
		c.stopped = refuse(c.env, CodeMissingAPIKey, "no %s API key configured", c.env)
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
	for {
		if !c.takeName() {
			return
		}
		if c.last.class == ledger.Success { // it was carried out before
			return
		}
		c.send()
		c.returnSlot(false)
		if !errors.Is(c.stopped, errTaken) {
			break
		}
		c.stopped, c.write = nil, nil
	}
	c.releaseWriter()
	c.conclude()
}

// takeName gives the write its key, or joins the write that has the client order id
// already. It returns false if the call is over.
func (c *call) takeName() bool {
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
	c.core.loop.Run(c, &c.room, c.endpoint.op.method(), c.url)
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
// would outlive what they saw; the age is judged last, right before the first byte.
func (c *call) pass() error {
	for _, stage := range [...]func(*call) error{
		(*call).stillOpen,
		(*call).takeKey,
		(*call).checkBreaker,
		(*call).waitForLimit,
		(*call).holdWriter,
		(*call).askGuards,
		(*call).noteInJournal,
		(*call).checkAge,
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
	if w := c.write; w != nil {
		if c.sends == 1 {
			w.firstSend = time.Now()
		}
		w.ledger.Note(ledger.Fact{Kind: ledger.SendBegun, At: c.core.clock.now()})
		c.core.books.SendBegan(bookOf(c.env, c.account))
	}
	ctx, cancel := context.WithTimeoutCause(c.Context, c.opts.attemptTimeout, transport.ErrTimeout)
	defer cancel()
	c.lastCtx = c.hookSend(ctx)
	c.last = c.core.exchange(c.lastCtx, &c.request, c.apiKey, c.key(), c.question())
	c.returnSlot(c.last.attempt.Written)
	if c.write != nil {
		c.core.books.SendEnded(bookOf(c.env, c.account), c.last.attempt.Received)
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
	w := c.write
	said := c.last.said()
	fact := ledger.Fact{Kind: ledger.SendEnded, At: c.core.clock.at(c.last.attempt.Received), Answer: said}
	w.ledger.Note(fact)
	c.outcome, c.doubt = outcomeOf(w.ledger.Outcome()), w.ledger.InDoubt()
	if !c.doubt && c.doubted {
		c.core.pending.Clear(&w.Entry) // its own doubt is over, and would hold it back
	}
	if c.doubt {
		c.doubted = true
		c.core.inDoubt(w)
		c.core.store.note(w, fact)
	}
	if said.Advice == ledger.WaitFirst && !c.last.attempt.replayed() { // a stored 429 is of the past
		c.closeLimit(said.RetryAfter)
	}
	step := w.ledger.Next(c.core.clock.now(), ledger.Limits{})
	if step.Do != ledger.Send && step.Do != ledger.Rekey {
		c.nameWait(said.RetryAfter)
		return false
	}
	c.wait = c.core.clock.until(step.At)
	if step.Spread {
		c.wait = max(spread(c.wait), said.RetryAfter)
	}
	if c.outlives(c.wait) {
		c.nameWait(c.wait)
		return false
	}
	if said.Advice == ledger.WaitFirst && !c.last.attempt.replayed() {
		c.wait = 0 // the queue waits for the rate limit, by priority
	}
	return true
}

// readAgain decides for a read, which does no harm.
func (c *call) readAgain() bool {
	asked := c.askedToWait()
	c.wait = max(spread(c.opts.retry.backoff(c.sends)), asked)
	switch c.last.class {
	case ledger.Refusal:
		rule := c.last.refusal.rule()
		// To a read a missing price is an answer, and not one that is worth waiting for
		// unasked.
		if rule.Advice != AdviseWait && (rule.Advice != AdviseRead || c.last.attempt.Status < 500) {
			return false
		}
		if c.opts.failFast && asked > 0 && rule.Advice != AdviseWait {
			return false
		}
		if rule.Advice == AdviseWait {
			c.wait = max(c.wait, retryAfter(&c.last.attempt))
			if !c.endpoint.keyless {
				c.closeLimit(c.wait)
			}
			if c.opts.failFast || c.outlives(c.wait) {
				c.nameWait(c.wait)
				return false
			}
			if !c.endpoint.keyless {
				c.wait = 0
			}
		}
	case ledger.Foreign: // by something in front: once more where it says that it failed, or when to come again
		if c.last.attempt.Status < 500 && asked == 0 || c.opts.failFast && asked > 0 {
			return false
		}
	case ledger.Success:
		return false
	}
	return c.sends < c.opts.retry.Attempts && !c.outlives(c.wait)
}

// askedToWait is how long a read has to wait because whoever answered it, the service or
// something in front, is busy and says for how long.
func (c *call) askedToWait() time.Duration {
	a := &c.last.attempt
	if a.Status != http.StatusTooManyRequests && a.Status != http.StatusServiceUnavailable {
		return 0
	}
	return a.askedToWait()
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
	if w.ledger.Sending() {
		fact := ledger.Fact{Kind: ledger.SendingOver, At: c.core.clock.now()}
		w.ledger.Note(fact)
		if w.ledger.InDoubt() {
			c.core.store.note(w, fact)
		}
	}
	c.outcome, c.left, c.forget = outcomeOf(w.ledger.Outcome()), w.ledger.Sent(), w.ledger.Forget()
	if w.ledger.Done() {
		c.core.concluded(w, &c.last, c.result)
		w.handOver()
		return
	}
	c.core.inDoubt(w)
	c.core.driver.adopt(w)
	w.handOver()
	c.waitFor(w) // from here on the write is the driver's
}

// waitFor waits until it is known what became of a write, as long as the caller
// does.
func (c *call) waitFor(w *write) {
	ctx := c.Context
	if patience := c.opts.patience(c.entry); ctx.Err() == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	r, known := c.core.driver.waitOf(ctx, w)
	if !known {
		// What the client asked meanwhile, and was answered, is not this call's.
		c.outcome = Unknown
		c.found = fmt.Errorf("%w%s", ErrUndetermined, strings.TrimPrefix(r.Err.Error(), ErrUndetermined.Error()))
		if c.stopped == nil {
			c.stopped = c.Err()
		}
		return
	}
	c.outcome = r.Outcome
	if w.answer != nil && r.Outcome == Applied {
		c.last = *w.answer
		c.stopped, c.found = nil, nil
		if r.Late {
			c.found = ErrLate
		}
		return
	}
	c.found = r.Err
}

// join takes the outcome of a write that was placed before under the same client
// order id, and asks about it.
func (c *call) join(w *write) error {
	select {
	case <-w.handed:
	case <-c.Done():
		c.outcome = Unknown
		return c.Err()
	}
	if c.core.pending.Find(w.Entry.ID) == nil {
		return errConcluded
	}
	c.write, c.left = w, true
	c.core.ownerOf(w).driver.ask(w, c.since)
	c.waitFor(w)
	return nil
}

// errTaken: another call was the first to take the client order id.
var errTaken = errors.New("the client order id is on its way already")

// errConcluded: the earlier write has ended, so what it came to is looked up.
var errConcluded = errors.New("the earlier write has ended")

// question is what the next answer is judged by.
func (c *call) question() *question {
	return &question{endpoint: c.endpoint, env: c.env, result: c.result, meta: c.facts()}
}

// key is the idempotency key of the next send, or the last; empty where there is none.
func (c *call) key() Key {
	if c.write == nil {
		return c.askKey
	}
	return c.write.intent.Key
}

// facts are what the call knows before there is an answer.
func (c *call) facts() Meta {
	m := Meta{Operation: c.endpoint.op, Key: c.key(), Attempts: c.sends}
	if c.write != nil {
		m.Unjournaled = c.write.unjournaled
	}
	return m
}

// meta returns the facts of the last answer.
func (c *call) meta() Meta {
	q := question{meta: c.facts()}
	m := q.metaOf(&c.last.attempt)
	if m.Replayed {
		m.ResolvedAfter = elapsed(c.began)
	}
	return m
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
		*c.opts.meta = c.meta()
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
	borne := errors.As(err, &bearer)
	if borne {
		bearer.setOutcomeOfCall(c.outcome)
	}
	if !c.endpoint.write {
		if borne {
			return err
		}
		return readError{err}
	}
	e := &WriteError{Outcome: c.outcome, Operation: c.endpoint.op, Account: c.account, Symbol: c.symbol, Err: err}
	if c.write != nil {
		if c.write.tracked() && !c.forget {
			e.Intent = c.write.intent.ID
		}
	}
	e.NotSent = c.outcome == Unknown && !c.left
	return e
}

// pause waits, unless the caller or the client goes first.
func (c *call) pause(d time.Duration) error {
	if d <= 0 {
		return c.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.Done():
		return c.Err()
	case <-c.core.closing.Done():
		return ErrClosed
	}
}

// stillOpen refuses what comes after Close, or after the caller has left.
func (c *call) stillOpen() error {
	if c.core.closing.Err() != nil {
		return ErrClosed
	}
	return c.Err()
}

// checkAge refuses to send a write that was decided too long ago: its price is
// gone. A TTL of 0 sends once and never again.
func (c *call) checkAge() error {
	if !c.endpoint.write {
		return nil
	}
	ttl := c.opts.ttlOf(c.entry)
	if c.sends == 0 && ttl == 0 {
		return nil
	}
	if c.sends > 0 && c.endpoint.levels && c.core.levels.superseded(c.write) {
		return &GuardError{Kind: ErrExpired, Reason: "a newer setting of the levels was sent"}
	}
	if age := elapsed(c.began); age >= ttl {
		return &GuardError{
			Kind:   ErrExpired,
			Reason: fmt.Sprintf("decided %s ago, may be sent for %s", age.Round(time.Millisecond), ttl),
		}
	}
	return nil
}

// outlives reports whether a wait would end after the write's TTL or the caller's
// deadline, so that waiting cannot help.
func (c *call) outlives(wait time.Duration) bool {
	if deadline, ok := c.Deadline(); ok && time.Until(deadline) <= wait {
		return true
	}
	return c.endpoint.write && elapsed(c.began)+wait >= c.opts.ttlOf(c.entry)
}

// nameWait says in the refusal how long waiting would have taken.
func (c *call) nameWait(wait time.Duration) {
	if r := c.last.refusal; r != nil && r.RetryAfter == 0 && r.rule().Advice == AdviseWait {
		r.RetryAfter = wait
	}
}

// holdWriter takes the sandbox's one place for a writer: the service refuses a
// second with concurrent_request.
func (c *call) holdWriter() error {
	if !c.endpoint.write || c.env != EnvSandbox || c.writer {
		return nil
	}
	select {
	case c.core.sandboxWriter <- struct{}{}:
		c.writer = true
		return nil
	case <-c.Done():
		return c.Err()
	case <-c.core.closing.Done():
		return ErrClosed
	}
}

func (c *call) releaseWriter() {
	if c.writer {
		<-c.core.sandboxWriter
		c.writer = false
	}
}
