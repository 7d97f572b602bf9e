package trading

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/ratelimit"
)

// A call as its result, the hooks and the log see it.

// saw shows the client's books what a read of an account saw, which is a touch of it.
func (c *call) saw(what any) {
	b, d, of, sent := c.core.books, c.core.driver, books.AccountKey{Environment: c.env, ID: c.account}, c.last.Sent
	var at books.Read // of what a cache has kept that is not known
	aged := transport.Aged(c.last.Header)
	if !aged {
		at = books.Read{Begun: sent, Ended: c.last.Received}
	}
	switch saw := what.(type) {
	case *AccountState:
		b.SawStatus(of, sent, string(saw.Status))
		if of == paperBook {
			b.SawPaper(of, sent, string(saw.ID), saw.Balance)
		}
	case AccountStatus:
		b.SawStatus(of, sent, string(saw))
	case []AccountInfo:
		for i := range saw {
			b.SawStatus(books.AccountKey{Environment: EnvLive, ID: saw[i].ID}, sent, string(saw[i].Status))
		}
	case []Position:
		b.SawPositions(of, at, heldPositions(saw))
	case []Trade:
		b.SawTrades(of, at, digestsOf(saw))
	case *OpenOrders:
		resting, running := restingOf(saw.Limits), runningOf(saw.Runs)
		b.SawOrders(of, at, resting, running)
		if !aged {
			d.SawWaiting(of, slices.Concat(resting, running), sent)
		}
	case []Run:
		b.SawFinished(of, at, endedOf(saw))
	}
	if c.account != "" && !c.endpoint.Write {
		d.Touch(of)
	}
}

// metaSoFar is what the call knows before there is an answer.
func (c *call) metaSoFar() Meta {
	m := Meta{Operation: c.endpoint.Name, Attempts: c.sends}
	if c.once {
		m.Key = c.opts.key.given
	}
	if w := c.write; w != nil && w.of != nil {
		m.Key, m.Unjournaled = w.of.Try().Key, w.of.Unjournaled
	}
	return m
}

func (c *call) meta() Meta {
	q := question{meta: c.metaSoFar()}
	return q.metaOf(&c.last)
}

func (c *call) priority() ratelimit.Priority {
	priority := ratelimit.Read
	switch {
	case c.opts.recovering:
		return ratelimit.Recovery
	case c.write != nil:
		priority = c.write.priority()
	}
	if c.write != nil && c.write.second() { // behind the first exits of others
		return ratelimit.Recovery
	}
	if c.opts.forExit && priority != ratelimit.Entry {
		priority = max(priority, ratelimit.Exit)
	}
	if c.write != nil && c.write.doubt {
		priority = max(priority, ratelimit.Recovery)
	}
	return priority
}

// describe is the call as hooks see it now.
func (c *call) describe() Call {
	return Call{
		Operation:   c.endpoint.Name,
		Environment: c.env,
		Account:     c.account,
		Symbol:      c.symbol,
		Priority:    c.priority(),
		Write:       c.endpoint.Write,
		Entry:       c.entry,
		Intent:      c.write.intentID(),
		Key:         c.metaSoFar().Key,
		Tag:         c.opts.tag,
		Body:        c.body,
	}
}

func (c *call) start() {
	if len(c.core.hooks) > 0 {
		c.ctx = c.core.hooks.callStart(c.ctx, c.describe())
	}
}

// attempted is how the last attempt ended, as hooks see it.
func (c *call) attempted() Attempt {
	last := &c.last
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

func (c *call) over(err error) {
	if c.core.log.to == nil && len(c.core.hooks) == 0 {
		return
	}
	of, d := c.describe(), Done{Err: err, Outcome: OutcomeOf(err), Attempts: c.sends, Took: time.Since(c.began)}
	if !c.once {
		c.core.log.ended(c.ctx, &of, &d, c.last.Status)
	}
	c.core.hooks.callDone(c.ctx, of, d)
}
