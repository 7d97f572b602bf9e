package trading

import (
	"context"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/internal/transport/address"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Every request goes the same way: a read, a write, and what the client asks to find out about a write.
// The files of a call (do.go, carryout.go, stages.go, sending.go) alone know all of it, in this order:
//
//	key.go                  a write has its key, or its answer from before
//	resolve/baselines.go    the first entry on a declared account waits until a look can be its baseline (AwaitBaseline)
//	apikey.go               the API key, and the breaker of one that was refused
//	ratelimit.go            a place in the rate limits
//	turn.go                 on the sandbox, the one place for a writer
//	guard.go                of a write: halt, the account's state, pending writes, health, the program's own
//	resolve/lifecycle.go    an entry reads its baseline, and a write is in the journal (Driver.Before)
//	write.go, permit.go     the gate, with a connection there: may the first byte leave (writing.MayLeave)
//	attempt.go, listen.go   one attempt: request out, whole answer in (internal/transport), in time or late
//	answer.go               whose answer is it, and what does it say
//	internal/ledger         decided, once more, or in doubt
//	internal/resolve        what is in doubt is found out, what has ended leaves its trace
//
// A read passes the API key, the limit, the attempt, its answer and the retry. go-retryablehttp sends again.
// What it would do by itself is taken away: its log, its limits, its idea of what may be sent again, and its
// waits, which Close could not end. The request that it sees has neither key nor body, and so no GetBody.

// caller is what a handle needs to begin calls.
type caller struct {
	_        incomparable
	core     *core
	defaults *callOptions // never written to
}

// call is one API call. What only a write has is in write.
type call struct {
	request
	ctx   context.Context // the caller's, with what hooks have added
	core  *core
	write *writing // nil for a read, and for what the driver sends

	apiKey apiKey         // of the next attempt, or the last
	slot   limiter.Slot   // that the next send has
	gate   transport.Gate // of what changes the account; nil for none
	sends  int            // attempts so far
	wait   time.Duration  // before the next

	last    heard
	stopped error // why there is no further attempt, or none at all, where the last answer does not say it

	result  wire.Value // what a success is decoded into; nil if nobody wants it
	outcome Outcome
	once    bool // it is the driver's, which judges the answer
}

func (h caller) begin(ctx context.Context, op Operation, opts []CallOption) *call {
	e := spec.Find(op)
	var c *call
	if e.Write {
		both := new(struct {
			call
			writing
		})
		c = &both.call
		c.write = &both.writing
		c.write.request, c.write.decisions = &c.request, &h.core.decisions
	} else {
		c = new(call)
	}
	c.core, c.outcome, c.ctx = h.core, NotApplied, ctx
	if ctx == nil {
		c.ctx, c.stopped = context.Background(), checkContext(nil)
	}
	c.request = request{endpoint: e, env: e.Env, opts: h.defaults, url: h.core.urls[e], entry: e.Asks.Adds(false), began: time.Now()}
	if len(opts) > 0 {
		own := *h.defaults
		c.opts = &own
	}
	for _, opt := range opts {
		if opt == nil {
			c.stopped = errNilOption()
			break
		}
		if err := opt.applyCall(c.opts); err != nil {
			c.stopped = err
			break
		}
	}
	return c
}

// aim aims a read at its account, or by the one query parameter of its endpoint.
func (c *call) aim(name, value string) {
	var err error
	if _, below, inPath := strings.Cut(c.endpoint.Path, "{accountId}"); inPath {
		c.url, err = address.BelowAccount(c.core.urls[spec.Find(OpAccounts)], value, below)
	} else {
		c.url, err = address.WithQuery(c.core.urls[c.endpoint], name, value)
	}
	if c.stopped == nil {
		c.stopped = err
	}
}
