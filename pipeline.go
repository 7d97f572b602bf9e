package trading

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Every call goes the same way, a file a stage:
//
//	validate.go   what the caller got wrong is refused here
//	pipeline.go   the stages below, before every send, the first and each other
//	  apikey.go     the key, which may have been rotated
//	  apikey.go     a refused key is not tried on and on
//	  ratelimit.go  it has a place in the rate limits, or waits in line
//	  guard.go      health, halt, and the program's own guards
//	  intent.go     the intent is in the journal, under each new key
//	  lifetime.go   a decision that is too old is not sent
//	transport.go  one attempt: request out, whole answer in
//	classify.go   whose answer is it, and what does it say
//	retry.go      settled, or once more
//
// The loop around them is go-retryablehttp's, and it is the only one.

// caller is what a handle needs to begin calls.
type caller struct {
	core     *core
	defaults callOptions
}

// call is one API call, from its options to its settlement. It is the context of
// its own requests, which is how go-retryablehttp's hooks find it; so the
// context in it is not kept beyond the call.
type call struct {
	context.Context
	core     *core
	endpoint *endpoint
	env      Environment
	opts     callOptions
	apiKey   apiKey // of the next attempt, or the last
	url      *url.URL
	outer    http.Request // what go-retryablehttp sees
	body     []byte       // encoded once; every attempt sends these bytes
	account  AccountID
	symbol   string
	order    *Order
	began    time.Time
	entry    bool // a write that can add exposure

	// A live write goes out under an idempotency key, and one that can trade is
	// in the journal.
	rekey       bool // the next attempt needs another key
	resumed     bool // the intent is pending since another call
	key         Key
	keySends    int // attempts under this key
	try         int
	decision    string
	intent      IntentID    // empty until it is in the journal
	open        *openIntent // the intent among those that are not settled
	journaled   Key         // the key that the journal has
	unjournaled error       // why an exit went out without the journal
	baseline    *Baseline

	claims [2]Claim // on the rate limits
	place  place    // what the next send holds of them
	flight flight
	sends  int // attempts so far
	prices int // of those, refused for want of a price
	last   attempt
	wait   time.Duration // before the next attempt

	writer  bool // it holds the sandbox's one place for a writer
	answer  answer
	outcome Outcome
	doubt   bool // an earlier attempt may have been applied
	doubted bool // there has been doubt, whether or not it was settled
	// The key may have been sent before this call, in a number of ways that it
	// cannot know.
	begunInDoubt bool
	heard        heard
	failure      error  // how the last attempt failed; nil after a success
	refusal      *Error // the same, if the service refused
	stopped      error  // why there is no further attempt, where failure does not say it
	invalid      error  // what was wrong before anything was sent

	result  wire.Value // what a success is decoded into; nil if nobody wants it
	decoded bool       // it holds the last answer
}

// begin starts a call to an endpoint without variable parts.
func (h caller) begin(ctx context.Context, e *endpoint, opts []CallOption) *call {
	noContext := checkContext(ctx)
	if noContext != nil {
		ctx = context.Background()
	}
	c := &call{Context: ctx, invalid: noContext, core: h.core, endpoint: e, env: e.env, opts: h.defaults, began: time.Now(), outcome: NotApplied}
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
	c.url = h.core.urls[e]
	return c
}

type callContextKey struct{}

// Value finds the call itself, besides what the caller's context holds.
func (c *call) Value(key any) any {
	if key == (callContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// callOf returns the call whose request this context belongs to.
func callOf(ctx context.Context) *call { return ctx.Value(callContextKey{}).(*call) }

// do carries the call out and decodes its answer into result, which may be nil.
func (c *call) do(result wire.Value) error {
	c.result = result
	c.hookStart()
	if c.invalid == nil {
		c.invalid = c.addFields()
	}
	switch {
	case c.invalid != nil:
		c.stopped = c.invalid
	case !c.endpoint.keyless && c.core.keys(c.env).isZero():
		c.stopped = refuse(c.env, CodeMissingAPIKey, "the client was given no %s key", c.env)
	case c.endpoint.write && c.Context.Done() != nil:
		told := c.hookCall()
		if left := c.fly(); left != nil {
			told.Intent = left.Intent
			c.hookDone(told, Done{Err: left, Outcome: Unknown, Attempts: c.flight.taken()})
			return left
		}
	case c.endpoint.write:
		c.stay()
	default:
		c.run()
	}
	c.resolveNow()
	return c.settle()
}

// run sends until the call is settled or nothing more may be sent.
func (c *call) run() {
	defer c.releaseWriter()
	defer c.leavePlace(false)
	defer c.settleIntent()
	if err := c.chooseKey(); err != nil {
		c.stopped = err
		return
	}
	if c.answer == answerSuccess {
		return // the journal has the answer
	}
	if err := c.admit(); err != nil {
		c.stopped = err
		return
	}
	resp, err := c.core.http.Do(&retryablehttp.Request{Request: c.request()})
	if err == nil {
		_ = resp.Body.Close() // empty: the attempt has read the real one
	}
	if ended := c.Err(); ended != nil && c.failure != nil {
		c.stopped = ended
	}
}

// admit takes one send through the stages, and again where the service has closed
// the rate limit while the guards were asked.
func (c *call) admit() error {
	for {
		if err := c.passStages(); err != nil {
			c.leavePlace(false)
			return err
		}
		if !c.budgetClosed() {
			return nil
		}
		c.leavePlace(false)
	}
}

// passStages asks the stages, in this order. Guards follow what can wait, since a
// wait would outlive what they saw; the lifetime is judged last, right before the
// first byte.
func (c *call) passStages() error {
	for _, stage := range [...]func(*call) error{
		(*call).stillOpen,
		(*call).takeKey,
		(*call).checkBreaker,
		(*call).waitForBudget,
		(*call).holdWriter,
		(*call).askGuards,
		(*call).writeIntent,
		(*call).checkLifetime,
	} {
		if err := stage(c); err != nil {
			return err
		}
	}
	return nil
}

// refused ends the call before anything is sent.
func (c *call) refused(err error) error {
	c.hookStart()
	c.stopped = err
	return c.settle()
}

// request is what go-retryablehttp sends again and again. It has no header and no
// body: each attempt sets its own. Nor has it a Host, beside which http.Client
// would copy the URL.
func (c *call) request() *http.Request {
	c.outer = *bareRequests[c.endpoint.op.method()].WithContext(c)
	c.outer.URL = c.url
	return &c.outer
}

// bareRequests are what requests are copied from, by method. They are never
// written to.
var bareRequests = map[string]*http.Request{
	http.MethodGet:  {Method: http.MethodGet, Header: http.Header{}},
	http.MethodPost: {Method: http.MethodPost, Header: http.Header{}},
}

// settle turns what the call has come to into its result or its error.
func (c *call) settle() error {
	if c.opts.meta != nil {
		*c.opts.meta = c.meta()
	}
	err := c.stopped
	switch {
	case err != nil && c.failure != nil:
		err = fmt.Errorf("%w: %w", err, c.failure)
	case err == nil:
		err = c.failure
	}
	if err == nil {
		err = c.read()
	}
	if err != nil {
		err = c.carryOutcome(err)
	}
	c.core.log.call(c, err)
	c.hookDone(c.hookCall(), Done{Err: err, Outcome: OutcomeOf(err), Attempts: c.sends})
	return err
}

// read decodes the answer of a call that succeeded.
func (c *call) read() error {
	if c.result == nil || c.decoded {
		return nil
	}
	if err := wire.Unmarshal(c.last.body, c.result); err != nil {
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
	write := c.writeError(c.outcome, err)
	write.Intent = c.intent
	return write
}

// writeError is the error of a write. What it takes of the call is fixed before
// the first attempt.
func (c *call) writeError(outcome Outcome, err error) *WriteError {
	write := &WriteError{Outcome: outcome, Operation: c.endpoint.op, Account: c.account, Symbol: c.symbol, Err: err}
	if outcome == Unknown && c.endpoint.trades && c.env == EnvSandbox {
		write.sandbox = &Intent{
			Operation:   c.endpoint.op,
			Environment: EnvSandbox,
			Symbol:      c.symbol,
			Body:        c.body,
			Entry:       c.entry,
			Created:     c.began,
			Baseline:    optAt(c.baseline),
		}
	}
	return write
}

// meta returns the facts of the last answer.
func (c *call) meta() Meta {
	m := Meta{
		Operation: c.endpoint.op,
		Status:    c.last.status,
		Header:    c.last.header,
		Body:      c.last.body,
		Key:       c.last.key,
		Replayed:  c.last.replayed(),
		Attempts:  c.sends,
		Sent:      c.last.sent,
		Received:  c.last.received,
	}
	m.Unjournaled = c.unjournaled
	if m.Header != nil {
		m.RateLimit = parseRateLimit(m.Header)
		m.RetryAfter = parseRetryAfter(m.Header, m.Received)
	}
	return m
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
