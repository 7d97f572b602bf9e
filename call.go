package trading

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/internal/transport/address"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Every request goes the same way: a read, a write, and what the client asks to find out about a write.
// This file alone knows all of it, in this order:
//
//	key.go                  a write has its key, or its answer from before
//	apikey.go               the API key, and the breaker of one that was refused
//	ratelimit.go            a place in the rate limits
//	guard.go                of a write: halt, the account's state, pending writes, health, the program's own
//	internal/resolve        a write is in the journal before its first byte
//	attempt.go              one attempt: request out, whole answer in (internal/transport)
//	answer.go               whose answer is it, and what does it say
//	internal/ledger         decided, once more, or in doubt
//	internal/resolve        what is in doubt is found out, what has ended leaves its trace
//
// A read passes the API key, the limit, the attempt, its answer and the retry. go-retryablehttp sends again.
// What it would do by itself is taken away: its log, its limits, its idea of what may be sent again, and its
// waits, which Close could not end. The request that it sees has neither key nor body, and so no GetBody.

// caller is what a handle needs to begin calls.
type caller struct {
	core     *core
	defaults callOptions
}

// call is one API call. What only a write has is in write.
type call struct {
	request
	ctx   context.Context // the caller's, with what hooks have added
	core  *core
	write *writing // nil for a read

	apiKey apiKey         // of the next attempt, or the last
	slot   limiter.Slot   // that the next send has
	gate   transport.Gate // of what changes the account; nil for none
	once   bool           // it is the driver's, which judges the answer
	sends  int            // attempts so far
	wait   time.Duration  // before the next

	last    heard
	lastCtx context.Context // of the last attempt, for the hooks
	outcome Outcome
	stopped error // why there is no further attempt, or none at all, where the last answer does not say it

	result wire.Value // what a success is decoded into; nil if nobody wants it
}

// begin starts a call to an endpoint.
func (h caller) begin(ctx context.Context, e *endpoint, opts []CallOption) *call {
	var c *call
	if e.write {
		both := new(struct {
			call
			writing
		})
		c = &both.call
		c.write = &both.writing
		c.write.request, c.write.driver, c.write.lease = &c.request, h.core.driver, &h.core.lease
	} else {
		c = new(call)
	}
	c.core, c.outcome, c.ctx = h.core, NotApplied, ctx
	if ctx == nil {
		c.ctx, c.stopped = context.Background(), checkContext(nil)
	}
	c.request = request{endpoint: e, env: e.env, opts: h.defaults, url: h.core.urls[e], entry: e.entry, began: time.Now()}
	for _, opt := range opts {
		if opt == nil {
			c.stopped = errNilOption()
			break
		}
		if err := opt.applyCall(&c.opts); err != nil {
			c.stopped = err
			break
		}
	}
	c.began = c.began.Add(-c.opts.age)
	return c
}

// aim aims the call at an address below the base URL.
func (c *call) aim(at *url.URL, err error) {
	if err != nil && c.stopped == nil {
		c.stopped = err
	}
	c.url = at
}

// aimAtAccount aims the call at a path below its account.
func (c *call) aimAtAccount(rest string) {
	c.aim(address.BelowAccount(c.core.urls[endpointOf(OpAccounts)], string(c.account), rest))
}

// aimByQuery adds the one query parameter of the call's endpoint.
func (c *call) aimByQuery(name, value string) {
	c.aim(address.WithQuery(c.core.urls[c.endpoint], name, value))
}

// check refuses the call if anything is wrong with what the caller gave.
func (c *call) check(faults ...*check.Fault) error {
	for _, f := range faults {
		if f != nil {
			return c.refused(local(c.env, f))
		}
	}
	return nil
}

// refused ends the call before anything is sent.
func (c *call) refused(err error) error {
	c.start()
	c.stopped = err
	return c.end()
}

// do carries the call out and decodes its answer into result, which may be nil.
func (c *call) do(result wire.Value) error {
	c.result = result
	c.start()
	if c.stopped == nil && !c.endpoint.keyless {
		c.stopped = c.core.keyless(c.env)
	}
	switch {
	case c.stopped != nil: // by what the caller got wrong
	case c.write != nil:
		c.carryOut()
	default:
		c.send()
	}
	return c.end()
}

// post sends a request and reads its answer.
func (c *call) post(body []byte, answer wire.Value) error {
	if c.body = c.opts.body; c.body == nil {
		c.body = body
	}
	return c.do(answer)
}

// acknowledge carries out a write whose answer the contract does not show.
func (c *call) acknowledge(body []byte) (*Ack, error) {
	var members wire.Members
	if err := c.post(body, &members); err != nil {
		return nil, err
	}
	return ackOf(members, c.meta()), nil
}

// carryOut is a write, from its key to its outcome.
func (c *call) carryOut() {
	if !c.core.life.Enter() { // Close waits for it
		c.stopped = ErrClosed
		if c.env == EnvLive && c.opts.key != (keySource{}) {
			c.outcome = Unknown // of what was decided: an earlier run may have sent it
		}
		return
	}
	defer c.core.life.Leave()
	defer c.letGo()
	if !c.decide() || c.last.attempt.stored { // it has its answer from before
		return
	}
	c.gate, c.write.ctx = c.write, c.ctx
	c.send()
	c.giveTurnBack()
	c.conclude()
	if c.outcome == NotApplied && c.opts.key != (keySource{}) && !c.kept() {
		c.outcome = Unknown // of what was decided
		if why := c.write.found; why != nil {
			c.write.found = fmt.Errorf("%w: %w", errMayBeOthers, why)
		} else {
			c.write.found = errMayBeOthers
		}
	}
}

// kept reports whether nobody else can have placed what the call did not: another process could, under the
// same client order id, if it has held the journal's lease. That is waited for as an outcome is.
func (c *call) kept() bool {
	if c.core.lease.Leaser == nil || c.env != EnvLive {
		return true
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.opts.patience(c.entry))
	defer cancel()
	defer context.AfterFunc(c.core.life.Closing(), cancel)()
	return c.core.lease.Kept(ctx)
}

// letGo gives back what a write has taken and has not used, also where one of the program's
// guards panics.
func (c *call) letGo() {
	c.giveTurnBack()
	if c.write.of != nil {
		c.core.driver.LetGo(c.write.of)
	}
}

// decide gives the write its key, or joins the write that has the client order id
// already. It returns false if the call is over.
func (c *call) decide() bool {
	for {
		d := c.core.decisions.decide(c.ctx, &c.request, c.write.placed(), c.write.unnamed)
		if d.write != nil {
			c.write.of = d.write
		}
		if d.since != 0 {
			c.write.since = d.since
		}
		if d.stored != nil {
			c.last = *d.stored
		}
		if d.outcome != NotApplied {
			c.outcome = d.outcome
		}
		if d.earlier == nil && d.err == nil {
			return true
		}
		if d.err == nil { // the same client order id is on its way already
			d.err = c.join(d.earlier)
		}
		if !errors.Is(d.err, errConcluded) {
			c.stopped = d.err
			return false
		}
	}
}

// join takes the outcome of a write that was placed before under the same client
// order id, and asks about it.
func (c *call) join(earlier *resolve.Write) error {
	select {
	case <-earlier.Handed():
	case <-c.ctx.Done():
		c.outcome = Unknown
		return c.ctx.Err()
	}
	if !c.core.driver.IsOpen(earlier) {
		return errConcluded
	}
	c.write.of, c.write.left = earlier, true
	c.core.driver.Ask(earlier, c.write.since)
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
	d.SendingOver(c.ctx, of, c.opts.patience(c.entry))
	c.outcome, c.write.left, c.write.forget = of.Ledger.Outcome(), of.Ledger.Sent(), of.Ledger.Forget()
	last := c.last.answer(c.last.said(), c.result)
	if d.Conclude(of, &last) {
		return
	}
	c.waitFor(of) // from here on the write is the driver's
}

// waitFor waits until it is known what became of a write, as long as the caller
// does.
func (c *call) waitFor(of *resolve.Write) {
	ctx := c.ctx
	patience := c.opts.patience(c.entry)
	if redirect := (*RedirectError)(nil); errors.As(c.last.err, &redirect) {
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
	if r.Err != c.last.err { //nolint:errorlint // else the call has it already
		c.write.found = r.Err
	}
}

// errPatience is why a call waits no longer.
var errPatience = errors.New("the call waits no longer (WithResolveTimeout)")

// send sends until the ledger of a write, or the policy of a read, has enough, or the caller has.
func (c *call) send() {
	defer c.returnSlot(false)
	if c.stopped = c.pass(); c.stopped == nil {
		c.run()
	}
	if ended := c.ctx.Err(); ended != nil && c.last.err != nil {
		c.stopped = ended
	}
}

// pass takes one send of the call through the stages. Guards follow what can wait, since a wait would outlive
// what they saw. What ages is judged after all of them, with the connection there: by [writing.MayLeave].
func (c *call) pass() error {
	for w := c.write; ; {
		switch {
		case c.core.life.Closing().Err() != nil:
			return ErrClosed
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		}
		if w != nil {
			if err := w.awaitBaseline(); err != nil {
				return err
			}
		}
		err := c.takeKey()
		if err == nil && (w == nil || c.entry) && !c.endpoint.keyless { // exits may try at any time
			err = checkBreaker(&c.core.breaker, c.env, c.apiKey)
		}
		if err == nil {
			err = c.takeSlot()
		}
		if err == nil && w != nil && c.env == EnvSandbox {
			err = c.takeTurn()
		}
		if err == nil && w != nil {
			err = c.askGuards()
		}
		if err == nil && w != nil {
			err = w.beforeSend(c.sends > 0)
		}
		if err != nil || w == nil || !c.core.limits.Closed(c.apiKey.ID(), c.endpoint.class) {
			return err
		}
		c.returnSlot(false) // the service has closed the limit while the guards were asked
	}
}

// takeTurn takes the sandbox's one place for a writer: the service refuses a second with concurrent_request.
func (c *call) takeTurn() (err error) {
	if !c.write.holdsTurn {
		err = c.core.sandboxWriter.take(c.ctx, !c.entry, c.core.life.Closing().Done())
		c.write.holdsTurn = err == nil
	}
	return err
}

// giveTurnBack gives it back.
func (c *call) giveTurnBack() {
	if c.write.holdsTurn {
		c.core.sandboxWriter.giveBack()
		c.write.holdsTurn = false
	}
}

// askGuards asks the guards, before every send.
func (c *call) askGuards() error {
	w := c.write.asGuardsSee()
	if c.core.isExclusive(c.account) {
		w.books = c.core.books
	}
	err := askGuards(c.ctx, c.core.guards, w)
	if errors.Is(err, ErrPendingWrite) { // which may wait for the health
		c.core.gate.ahead(c.ctx, w)
	}
	return err
}

// passOnce takes a request of the driver's through what it needs, at once or not at all. No breaker holds it
// up, and no guard.
func (c *call) passOnce() error {
	if err := c.takeKey(); err != nil {
		return err
	}
	return c.takeSlot()
}

// takeKey gets the API key for the next attempt.
func (c *call) takeKey() (err error) {
	if c.endpoint.keyless {
		return nil
	}
	c.apiKey, err = c.core.keys(c.env).current(c.ctx, c.env)
	c.core.scrubber.Know(string(c.env), c.apiKey)
	if err == nil && c.write != nil {
		err = c.write.sameKey(c.apiKey.ID())
	}
	return err
}

// takeSlot gets the next send its place in the rate limits. A wait that the call would not survive is refused
// at once, with its length.
func (c *call) takeSlot() error {
	if c.endpoint.keyless {
		return nil
	}
	needs := limiter.Ask{
		Key:      c.apiKey.ID(),
		Class:    c.endpoint.class,
		Priority: c.priority(),
		Hold:     2 * c.opts.attemptTimeout, // the guards may ask for the health first
		FailFast: c.opts.failFast,
	}
	if c.write != nil {
		c.write.bound(&needs, c.sends == 0)
	}
	if len(c.core.hooks) > 0 {
		needs.Waiting = func(wait time.Duration, bucket string) {
			c.core.hooks.waiting(c.ctx, c.describe(), Wait{For: wait, Reason: WaitRateLimit, Bucket: bucket})
		}
	}
	slot, err := c.core.limits.Take(c.ctx, &needs)
	c.slot = slot
	if err != nil {
		err = limitError(c.env, err)
	}
	return err
}

// returnSlot ends the call's slot, if it has one.
func (c *call) returnSlot(sent bool) {
	slot := c.slot
	c.slot = limiter.Slot{}
	c.core.limits.Return(slot, sent)
}

// run makes attempts, each of which has passed the stages.
func (c *call) run() {
	r := runners.Get().(*runner)
	r.call = c
	r.shown = *(&http.Request{Method: c.endpoint.spec.Method, URL: c.url, Header: noHeader}).WithContext(c.ctx)
	_, _ = r.client.Do(&retryablehttp.Request{Request: &r.shown}) //nolint:bodyclose // attemptOver has none
	r.call, r.shown = nil, http.Request{}
	runners.Put(r)
}

// runner is go-retryablehttp's client of one call, as long as that sends: nothing keeps it after that, so the
// next takes it over.
type runner struct {
	call   *call
	client retryablehttp.Client
	shown  http.Request
}

// runners are those that no call has.
var runners = sync.Pool{New: func() any {
	r := new(runner)
	r.client = retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: r},
		RetryMax:     math.MaxInt32, // the ledger counts
		CheckRetry:   func(context.Context, *http.Response, error) (bool, error) { return r.call.again(), nil },
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return r.call.backOff() },
		PrepareRetry: func(*http.Request) error { return r.call.prepare() },
	}
	return r
}}

// RoundTrip is one attempt. What that came to is the call's to judge: an error, or a redirect, the library would
// take its own way.
func (r *runner) RoundTrip(*http.Request) (*http.Response, error) {
	r.call.attempt()
	return attemptOver, nil
}

// attemptOver and noHeader are never written to.
var (
	attemptOver = &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}
	noHeader    = http.Header{}
)

// attempt sends once. Key, body and header are the attempt's own.
func (c *call) attempt() {
	c.sends++
	if c.write != nil {
		c.write.leaves(c.apiKey.ID())
	}
	ctx := c.ctx
	if len(c.core.hooks) > 0 {
		ctx = c.core.hooks.attemptStart(ctx, c.describe(), c.sends)
		c.lastCtx = ctx
	}
	q := question{endpoint: c.endpoint, env: c.env, result: c.result, fresh: c.opts.recovering, meta: c.facts()}
	c.last = c.core.exchange(ctx, &c.request, c.apiKey, q.meta.Key, &q, c.gate)
	c.returnSlot(c.last.attempt.Written)
	if c.write != nil {
		c.core.driver.SendEnded(c.write.of, c.last.attempt.Received)
	}
}

// again notes what the attempt that has just ended says, and whether to send once more.
func (c *call) again() bool {
	if !c.endpoint.keyless {
		noteKey(&c.core.breaker, c.apiKey, &c.last)
	}
	more := false
	switch {
	case c.once:
		c.judgeOnce()
	case c.write != nil || c.last.class != ledger.Success:
		more = c.judge()
	}
	if c.lastCtx != nil {
		c.core.hooks.attemptDone(c.lastCtx, c.describe(), c.attempted())
	}
	return more && c.ctx.Err() == nil
}

// judgeOnce notes what the answer to a request of the driver's says.
func (c *call) judgeOnce() {
	said := c.last.said()
	_ = c.closeLimit(&said)
	c.outcome = OutcomeOf(c.last.err)
}

// closeLimit closes the rate limit that a 429 of the service names.
func (c *call) closeLimit(said *ledger.Answer) bool {
	return !c.endpoint.keyless && closeLimit(c.core.limits, c.apiKey.ID(), c.endpoint.class, &c.last.attempt, said)
}

// judge is the one policy: the ledger of a write, or what is known of a read, says whether an answer allows
// another send, and how long it waits. A wait that the call would not survive ends it, and is named.
func (c *call) judge() (more bool) {
	said := c.last.said()
	queued := c.closeLimit(&said)
	var wait, named time.Duration // named: of a call that gives up
	if c.write != nil {
		wait, named, more = c.write.hear(&c.last, said)
		c.outcome = c.write.of.Ledger.Outcome()
	} else {
		wait, named, more = rereads(&c.last, said.RetryAfter, c.opts.bounds(), c.sends)
	}
	if more && c.outlives(wait) {
		more, named = false, wait
	}
	if !more {
		c.nameWait(named)
		return false
	}
	if c.wait = wait; queued { // the queue of the closed limit waits, by priority
		c.wait = 0
	}
	return c.write != nil || c.sends < c.opts.retry.Attempts
}

// nameWait says in the refusal how long waiting would have taken.
func (c *call) nameWait(wait time.Duration) {
	if r := c.last.refusal; r != nil && r.RetryAfter.IsZero() && r.rule().Advice == AdviseWait {
		r.RetryAfter = Some(wait)
	}
}

// outlives reports whether a wait would end after the write's TTL or the caller's deadline, so that waiting
// cannot help. A read without a deadline waits for the service's longest window, and no more.
func (c *call) outlives(wait time.Duration) bool {
	deadline, bounded := c.ctx.Deadline()
	switch {
	case bounded && time.Until(deadline) <= wait:
		return true
	case c.write != nil:
		return ledger.Elapsed(c.began)+wait >= c.opts.ttlOf(c.entry)
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
	timer := time.NewTimer(c.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	case <-c.core.life.Closing().Done():
		c.stopped = ErrClosed
	}
	return 0
}

// prepare takes the next attempt through the stages.
func (c *call) prepare() error {
	if c.stopped == nil {
		c.stopped = c.ctx.Err()
	}
	if c.stopped == nil && c.write != nil {
		c.write.nextKey()
	}
	if c.stopped == nil {
		c.stopped = c.pass()
	}
	return c.stopped
}

// end turns what the call has come to into its result or its error: why the call stopped, how its last attempt
// failed, and what resolving a write came to.
func (c *call) end() error {
	if c.opts.meta != nil {
		m := c.meta()
		m.Intent, m.Settled = c.intentID(), c.settled()
		*c.opts.meta = m
	}
	err := joined(c.stopped, c.last.err)
	if c.write != nil {
		err = joined(err, c.write.found)
	}
	if late := err != nil && errors.Is(err, ErrLate); (late || err == nil) && c.result != nil && !c.last.decoded {
		if wrong := wire.Unmarshal(c.last.attempt.Body, c.result); wrong != nil {
			err = &DecodeError{Meta: c.meta(), Err: wrong}
		}
	}
	if err != nil {
		err = c.carryOutcome(err)
	}
	c.over(err)
	return err
}

// joined is an error and one more; either may be nil.
func joined(err, more error) error {
	switch {
	case more == nil:
		return err
	case err == nil:
		return more
	default:
		return fmt.Errorf("%w: %w", err, more)
	}
}

// settled reports whether the last answer is the service's, and is what the call came to.
func (c *call) settled() bool {
	w := c.write
	switch {
	case c.stopped != nil, w != nil && w.found != nil && !errors.Is(w.found, ErrLate):
		return false
	case c.last.class == ledger.Success:
		return w == nil || c.outcome == Applied
	default:
		return c.last.refusal != nil && (c.outcome == NotApplied || w != nil && w.forget) // of an earlier use of its key nothing is known
	}
}

// carryOutcome puts the call's outcome into the error, and around it where it is a
// write's or has no room for it.
func (c *call) carryOutcome(err error) error {
	bearer := outcomeBearer(nil)
	bears := errors.As(err, &bearer)
	if bears {
		bearer.setOutcomeOfCall(c.outcome)
	}
	switch {
	case c.write != nil:
		return c.write.failed(c.outcome, err)
	case bears:
		return err
	default:
		return readError{err}
	}
}

// saw shows the client's books what a read of an account saw.
func (c *call) saw(what any) { sees(c.core.books, bookOf(c.env, c.account), &c.last.attempt, what) }

// facts are what the call knows before there is an answer.
func (c *call) facts() Meta {
	m := Meta{Operation: c.endpoint.op, Attempts: c.sends}
	if c.once {
		m.Key = c.opts.key.given
	}
	if w := c.write; w != nil && w.of != nil {
		m.Key, m.Unjournaled = w.key(), w.of.Unjournaled
	}
	return m
}

// meta returns the facts of the last answer.
func (c *call) meta() Meta {
	q := question{meta: c.facts()}
	m := q.metaOf(&c.last.attempt)
	if m.Replayed {
		m.ResolvedAfter = ledger.Elapsed(c.began)
	}
	return m
}

// priority returns the priority of the next send.
func (c *call) priority() Priority {
	priority := PriorityRead
	switch {
	case c.opts.recovering:
		return PriorityRecovery
	case c.write != nil:
		priority = c.write.priority()
	}
	if asked, ok := c.opts.priority.Get(); ok && priority != PriorityEntry {
		priority = max(priority, asked)
	}
	if c.write != nil && c.write.doubt {
		priority = max(priority, PriorityRecovery)
	}
	return priority
}

// describe is the call as hooks see it now.
func (c *call) describe() Call {
	return Call{
		Operation:   c.endpoint.op,
		Environment: c.env,
		Account:     c.account,
		Symbol:      c.symbol,
		Priority:    c.priority(),
		Write:       c.endpoint.write,
		Entry:       c.entry,
		Intent:      c.intentID(),
		Key:         c.facts().Key,
		Tag:         c.opts.tag,
		Body:        c.body,
	}
}

func (c *call) intentID() IntentID {
	if c.write == nil {
		return ""
	}
	return c.write.intentID()
}

// start reports to the hooks that the call begins.
func (c *call) start() {
	if len(c.core.hooks) > 0 {
		c.ctx = c.core.hooks.callStart(c.ctx, c.describe())
	}
}

// attempted is how the last attempt ended, as hooks see it.
func (c *call) attempted() Attempt {
	last := &c.last.attempt
	a := Attempt{
		Number:   c.sends,
		Key:      last.key,
		Status:   last.Status,
		Request:  c.body,
		Response: last.Body,
		Replayed: last.replayed(),
		Written:  last.Written,
		Outcome:  c.outcome,
		Err:      last.Err,
		Sent:     last.Sent,
		Took:     last.Received.Sub(last.Sent),
	}
	if c.last.refusal != nil {
		a.Code = c.last.refusal.Code
	}
	return a
}

// over reports to the log and to the hooks how the call ended.
func (c *call) over(err error) {
	if c.core.log.to == nil && len(c.core.hooks) == 0 {
		return
	}
	of, d := c.describe(), Done{Err: err, Outcome: OutcomeOf(err), Attempts: c.sends, Took: time.Since(c.began)}
	if !c.once {
		c.core.log.ended(c.ctx, &of, &d, c.last.attempt.Status)
	}
	c.core.hooks.callDone(c.ctx, of, d)
}

// only is the error of a method whose result is in the Meta.
func only[T any](_ T, err error) error { return err }

func errNoOperation(op Operation) error {
	return invalid("op", "it is %q: it must be an operation of the contract", string(op))
}
