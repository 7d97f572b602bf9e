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
	w := &resolve.Write{Intent: c.intent(), Kind: kindOf(c.endpoint), Unnamed: c.unnamed, Restores: string(c.opts.restores)}
	terms := c.terms()
	source := &c.opts.key
	if c.env != EnvLive {
		source = &keySource{}
	}
	name := source.name(c.account, c.endpoint.op)
	if name != "" {
		if earlier, err = c.takenBefore(&w.Intent, name, &terms); err != nil || earlier != nil || c.last.class == ledger.Success {
			return earlier, err
		}
	}
	switch {
	case c.env != EnvLive:
	case source.given != "":
		w.Intent.Key, terms.Source = string(source.given), ledger.Given
	case source.id != "":
		w.Intent.Key, terms.Source = string(derived(name, w.Intent.Try)), ledger.Derived
		terms.NotBefore, terms.Since = !source.since.IsZero(), c.core.driver.Clock.At(source.since).Service
	default:
		w.Intent.Key = string(NewKey())
	}
	w.Ledger = ledger.New(terms)
	if o := c.order; o != nil {
		w.Asked = w.Kind.Order(c.symbol, sideOf(o.Side), o.Size, o.ReduceOnly)
	}
	c.core.driver.Own(w, name)
	c.write = w
	return nil, nil
}

// takenBefore looks a client order id, or a given key, up.
func (c *call) takenBefore(in *resolve.Intent, name string, terms *ledger.Terms) (*resolve.Write, error) {
	d := c.core.driver
	terms.FirstUseKnown = d.Durable() && !c.core.sharedIDs && c.opts.key.since.IsZero()
	c.since = d.Requests()
	if err := d.Load(c); err != nil {
		return nil, c.unreadable(terms, err)
	}
	if w := d.Named(name); w != nil {
		return w, sameOrder(&w.Intent, in)
	}
	last, err := d.Last(c, name)
	switch {
	case err != nil:
		return nil, c.unreadable(terms, err)
	case last == nil:
		return nil, nil
	}
	terms.FirstUseKnown = terms.FirstUseKnown && last.FirstUseKnown
	if !bytes.Equal(last.Digest, resolve.Digest(c.body)) {
		return nil, refuse(EnvLive, CodeIdempotencyKeyReused, "the client order id was used at %s for another request (%s): the decision was made before, so read the account, and do not take a new id for it", last.At.Format(time.RFC3339), Outcome(last.Outcome))
	}
	in.Try = last.Try
	switch {
	case last.Outcome == ledger.Applied && len(last.Answer) > 0:
		a := attempt{key: Key(last.Key), stored: true}
		a.Status, a.Body, a.Received = 200, last.Answer, last.At
		c.last = heard{attempt: a, class: ledger.Success}
		c.outcome = Applied
		return nil, nil
	case last.Outcome == ledger.Applied:
		c.outcome = Applied
		return nil, &GuardError{Kind: ErrDecided, Reason: fmt.Sprintf("resolved on %s by %s", last.At.Format(time.RFC3339), last.Evidence)}
	case last.Dead && c.opts.key.given != "":
		return nil, refuse(EnvLive, CodeIdempotencyKeyReused, "a refusal is stored under this idempotency key: another order must have another key")
	case last.Dead:
		in.Try++
	}
	return nil, nil
}

// unreadable is a journal that cannot say whether the write was placed before.
func (c *call) unreadable(terms *ledger.Terms, err error) error {
	if c.entry {
		c.outcome = Unknown // of what was decided
		return &GuardError{Kind: ErrJournal, Err: err}
	}
	terms.FirstUseKnown = false
	return nil
}

// sameOrder refuses another order under an id that is on its way.
func sameOrder(taken, in *resolve.Intent) error {
	if taken.Operation == in.Operation && taken.Account == in.Account && bytes.Equal(taken.Body, in.Body) {
		return nil
	}
	return refuse(EnvLive, CodeIdempotencyKeyReused, "the client order id is in use by write %s, which is another request: the decision was made before, so wait for that write, and do not take a new id for it", taken.ID)
}

// intent is the write as it is before its first byte.
func (c *call) intent() resolve.Intent {
	return resolve.Intent{
		ID:            c.core.newIntentID(),
		ClientOrderID: c.opts.key.id,
		Try:           1,
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
		key = derived(w.Name, w.Intent.Try+1)
	}
	c.core.driver.ChangeKey(w, string(key))
}
