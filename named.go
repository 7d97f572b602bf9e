package trading

import (
	"bytes"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// chooseKey gives a write its first key, and finds out whether it was placed before.
// It returns the earlier write if that is still on its way.
func (c *call) chooseKey() (earlier *write, err error) {
	w := &write{worker: c.core.driver, books: c.core.books, intent: c.intent(), unnamed: c.unnamed, restores: c.opts.restores}
	terms := c.terms()
	source := &c.opts.key
	if c.env != EnvLive {
		source = &keySource{}
	}
	w.Name = source.name(c.account, c.endpoint.op)
	if w.Name != "" {
		if earlier, err = c.takenBefore(w, &terms); err != nil || earlier != nil || c.last.class == ledger.Success {
			return earlier, err
		}
	}
	switch {
	case c.env != EnvLive:
	case source.given != "":
		w.intent.Key, terms.Source = source.given, ledger.Given
	case source.id != "":
		w.intent.Key, terms.Source = derived(w.Name, w.intent.Try), ledger.Derived
		terms.Since = source.since
	default:
		w.intent.Key = NewKey()
	}
	if w.Name != "" {
		w.handed = make(chan struct{})
	}
	w.Entry.ID, w.Places, w.Write = string(w.intent.ID), w.intent.places(), w
	w.ledger = ledger.New(terms)
	if c.order != nil {
		w.asked = askedOfOrder(&w.intent, c.order)
		w.side = w.asked.Side
	}
	c.write = w
	return nil, nil
}

// takenBefore looks a client order id, or a given key, up.
func (c *call) takenBefore(w *write, terms *ledger.Terms) (*write, error) {
	terms.FirstUseKnown = c.core.store.durable() && !c.core.sharedIDs && c.opts.key.since.IsZero()
	c.since = c.core.pending.requests.Load()
	if err := c.core.load(c); err != nil {
		return nil, c.unreadable(terms, err)
	}
	for _, e := range c.core.pending.Named(w.Name) {
		return e.Write, sameOrder(&e.Write.intent, w)
	}
	last, err := c.core.store.last(c, w.Name)
	switch {
	case err != nil:
		return nil, c.unreadable(terms, err)
	case last == nil:
		return nil, nil
	}
	terms.FirstUseKnown = terms.FirstUseKnown && last.FirstUseKnown
	if !bytes.Equal(last.Digest, digestOfBody(c.body)) {
		return nil, refuse(EnvLive, CodeIdempotencyKeyReused, "the client order id was used at %s for another request (%s): the decision was made before, so read the account, and do not take a new id for it", last.At.Format(time.RFC3339), last.Outcome)
	}
	w.intent.Try = last.Try
	switch {
	case last.Outcome == Applied && len(last.Answer) > 0:
		a := attempt{key: last.Key, stored: true}
		a.Status, a.Body, a.Received = 200, last.Answer, last.At
		c.last = heard{attempt: a, class: ledger.Success}
		c.outcome = Applied
		return nil, nil
	case last.Outcome == Applied:
		c.outcome = Applied
		return nil, &GuardError{Kind: ErrDecided, Reason: fmt.Sprintf("resolved on %s by %s", last.At.Format(time.RFC3339), last.Evidence)}
	case last.Dead && c.opts.key.given != "":
		return nil, refuse(EnvLive, CodeIdempotencyKeyReused, "a refusal is stored under this idempotency key: another order must have another key")
	case last.Dead:
		w.intent.Try++
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
func sameOrder(in *Intent, w *write) error {
	if in.Operation == w.intent.Operation && in.Account == w.intent.Account && bytes.Equal(in.Body, w.intent.Body) {
		return nil
	}
	return refuse(EnvLive, CodeIdempotencyKeyReused, "the client order id is in use by write %s, which is another request: the decision was made before, so wait for that write, and do not take a new id for it", in.ID)
}

// intent is the write as it is before its first byte.
func (c *call) intent() Intent {
	return Intent{
		ID:            c.core.newIntentID(),
		ClientOrderID: c.opts.key.id,
		Try:           1,
		Tag:           c.opts.tag,
		BaseURL:       c.core.baseURL,
		Process:       c.core.process,
		Operation:     c.endpoint.op,
		Environment:   c.env,
		Account:       c.account,
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
		Lasting:       !leavesWaiting(c.endpoint.op),
		Exclusive:     c.core.isExclusive(c.account),
		TTL:           c.opts.ttlOf(c.entry),
		NoProbe:       c.core.withoutProbe,
		FirstUseKnown: true,
		Decided:       c.core.clock.at(c.began),
		Retry: ledger.Retry{
			Attempts: r.Attempts, PriceAttempts: r.PriceAttempts,
			MinWait: r.MinWait, MaxWait: r.MaxWait, FailFast: c.opts.failFast,
		},
	}
}

// nextKey moves on to the key that a stored refusal asks for.
func (c *call) nextKey() {
	w := c.write
	step := w.ledger.Next(c.core.clock.now(), ledger.Limits{})
	if step.Do != ledger.Rekey {
		return
	}
	w.intent.Try++
	if w.ledger.Source == ledger.Derived {
		w.intent.Key = derived(w.Name, w.intent.Try)
	} else {
		w.intent.Key = NewKey()
	}
	w.ledger.Note(ledger.Fact{Kind: ledger.KeyChanged, At: c.core.clock.now()})
}
