package trading

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// chooseKey gives a write its first key, and finds out whether it was placed before.
// It returns the earlier write if that is still on its way.
func (c *call) chooseKey() (earlier *resolve.Write, err error) {
	w := &resolve.Write{Intent: c.intent(), Kind: kindOf(c.endpoint)}
	if w.Kind.Levels {
		w.Setting = &resolve.Setting{Unnamed: c.unnamed, Restores: string(c.opts.restores)}
	}
	terms, try := c.terms(), 1
	source := &c.opts.key
	if c.env != EnvLive {
		if source.id != "" {
			return nil, refuse(c.env, CodeBadRequest, "nothing was sent: WithClientOrderID is for live writes, and the paper account executes a repeated order again: leave the id out, and read the account before you repeat an order")
		}
		source = &keySource{}
	}
	name := source.name(c.account, c.endpoint.op)
	c.core.driver.Own(w, name)
	if name != "" {
		if try, earlier, err = c.takeName(w, &terms); err != nil || earlier != nil || c.last.attempt.stored {
			return earlier, err
		}
	}
	switch {
	case c.env != EnvLive:
	case source.given != "":
		w.SetKey(resolve.Try{Key: string(source.given), Number: try})
		terms.Source = ledger.Given
	case source.id != "":
		w.SetKey(resolve.Try{Key: string(derived(name, try)), Number: try})
		terms.Source = ledger.Derived
		if since := source.since; !since.IsZero() && !terms.FirstUseKnown {
			w.NotBefore, terms.NotBefore = &since, true
		}
	default:
		w.SetKey(resolve.Try{Key: string(NewKey()), Number: try})
	}
	w.Ledger = ledger.New(terms)
	if o := c.placed(); o != nil {
		w.Asked = w.Kind.Order(c.symbol, sideOf(o.Side), o.Size, o.ReduceOnly)
	}
	c.write = w
	return nil, nil
}

// takeName takes a client order id, or a given key, and looks up what became of it before.
func (c *call) takeName(w *resolve.Write, terms *ledger.Terms) (try int, earlier *resolve.Write, err error) {
	d := c.core.driver
	terms.FirstUseKnown = c.firstUseKnown()
	c.since = d.Requests()
	earlier, last, err := d.Take(c, w)
	if earlier != nil {
		return 0, earlier, c.sameOrder(&earlier.Intent, &w.Intent)
	}
	c.write = w // it has the name until the call lets it go
	switch {
	case err != nil && c.entry:
		c.outcome = Unknown // of what was decided
		return 0, nil, &GuardError{Kind: ErrJournal, Err: err}
	case err != nil:
		terms.FirstUseKnown = false
		return 1, nil, nil
	case last == nil:
		return 1, nil, nil
	}
	terms.FirstUseKnown = terms.FirstUseKnown && last.FirstUseKnown
	try, err = c.goOnBehind(last, &w.Intent)
	return try, nil, err
}

// firstUseKnown reports whether the journal has every use of the client order id. Without a lease who
// says how old the id is cannot know that by the journal. Under a lease the journal knows from when
// on it is complete, and has every use of an id that is no older.
func (c *call) firstUseKnown() bool {
	since := c.opts.key.since
	switch {
	case !c.core.driver.Durable() || c.core.sharedIDs || c.opts.key.shared:
		return false
	case c.core.lease == nil:
		return since.IsZero()
	default:
		return !since.Before(c.core.lease.CompleteFrom())
	}
}

// goOnBehind takes the answer of the write that had the name before, or returns the try that
// follows it.
func (c *call) goOnBehind(last *resolve.Final, in *resolve.Intent) (try int, err error) {
	switch {
	case !bytes.Equal(last.Digest, in.Digest()):
		return 0, refuse(EnvLive, CodeIdempotencyKeyReused, "the %[1]s was used at %[2]s for another request (%[3]s): the decision was made before, so read the account, and do not take a new %[1]s for it",
			c.opts.key.what(), last.DecidedAt().Format(time.RFC3339), Outcome(last.Outcome))
	case last.Outcome == ledger.Applied && len(last.Answer) > 0:
		a := attempt{key: Key(last.Key), stored: true}
		a.Status, a.Body, a.Received = 200, last.Answer, last.At
		c.last = heard{attempt: a, class: ledger.Success}
		c.outcome = Applied
	case last.Outcome == ledger.Applied:
		c.outcome = Applied
		return 0, &GuardError{Kind: ErrDecided, Reason: fmt.Sprintf("resolved on %s by %s", last.At.Format(time.RFC3339), last.Evidence)}
	case last.Spent(c.core.relies.Now().Without) && c.opts.key.given != "" && last.Refused != nil:
		a := attempt{key: Key(last.Key), stored: true}
		a.Status, a.Body, a.Received = last.Refused.Status, last.Refused.Body, last.At
		q := c.question()
		c.last = q.read(a)
		c.last.attempt.stored = true
	case last.Spent(c.core.relies.Now().Without) && c.opts.key.given != "":
		return 0, refuse(EnvLive, CodeIdempotencyKeyReused, "this idempotency key is used up: another order must have another key")
	case last.Spent(c.core.relies.Now().Without):
		return last.Try + 1, nil
	}
	return last.Try, nil
}

// sameOrder refuses another order under an id that is on its way.
func (c *call) sameOrder(taken, in *resolve.Intent) error {
	if taken.SameOrder(in) {
		return nil
	}
	return refuse(EnvLive, CodeIdempotencyKeyReused, "the %[1]s is in use by write %[2]s, which is another request: the decision was made before, so wait for that write, and do not take a new %[1]s for it", c.opts.key.what(), taken.ID)
}

// intent is the write as it is before its first byte.
func (c *call) intent() resolve.Intent {
	return resolve.Intent{
		ID:            c.core.newIntentID(),
		ClientOrderID: c.opts.key.id,
		Tag:           c.opts.tag,
		BaseURL:       c.core.baseURL,
		Process:       c.core.process,
		Operation:     string(c.endpoint.op),
		Environment:   string(c.env),
		Account:       string(c.account),
		Symbol:        c.symbol,
		Body:          c.body,
		Entry:         c.entry,
		Decided:       c.began,
		SendTTL:       c.opts.ttlOf(c.entry),
	}
}

// terms are what the ledger goes by.
func (c *call) terms() ledger.Terms {
	r := c.opts.retry
	return ledger.Terms{
		Keyed:         c.env == EnvLive,
		Entry:         c.entry,
		Resolves:      c.endpoint.resolves(),
		Lasting:       !kindOf(c.endpoint).Waits,
		Exclusive:     c.core.isExclusive(c.account),
		TTL:           c.opts.ttlOf(c.entry),
		Attempt:       c.opts.attemptTimeout,
		NoProbe:       c.core.withoutProbe,
		Without:       c.core.relies.Of(c.env == EnvLive),
		FirstUseKnown: true,
		Decided:       c.core.driver.Clock.At(c.began),
		Retry: ledger.Retry{
			Attempts: r.Attempts, PriceAttempts: r.PriceAttempts,
			MinWait: r.MinWait, MaxWait: r.MaxWait, FailFast: c.opts.failFast,
		},
	}
}

// nextKey moves on to the key that a stored refusal asks for.
func (c *call) nextKey() {
	w := c.write
	if !c.core.driver.WantsKey(w) {
		return
	}
	key := NewKey()
	if w.Ledger.Source == ledger.Derived {
		key = derived(w.Name, w.Try().Number+1)
	}
	c.core.driver.ChangeKey(w, string(key))
}
