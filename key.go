package trading

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/ledger/reliance"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// decisions gives writes their names and keys, and knows what was decided before.
type decisions struct {
	driver       *resolve.Driver
	relies       *reliance.Reliance
	permit       permit
	process      string        // names this client in the journal
	intents      atomic.Uint64 // counts its writes
	exclusive    []AccountID
	exclusiveAll bool
}

// decision is what a write begins with.
type decision struct {
	write   *resolve.OpenWrite // nil if it has taken nothing that it would have to let go
	earlier *resolve.OpenWrite // that has its name and is still on its way
	asked   uint64             // the drivers' last request before the journal was read: a later one is not repeated
	kept    *heard             // the answer from before
	outcome Outcome            // of the decision that has the key, whichever call sent it
	err     error
}

// decide gives a write its first key, and finds out whether it was placed before.
func (d *decisions) decide(ctx context.Context, r *request, order *Order, unnamed resolve.Unnamed) (is decision) {
	is.outcome = NotApplied
	w := &resolve.OpenWrite{Intent: d.intent(r), Traits: resolve.TraitsOf(r.endpoint)}
	if w.Traits.Levels {
		w.Setting = resolve.Setting{Unnamed: unnamed, Restores: r.opts.restores}
	}
	terms, try := d.terms(r, w.Traits), 1
	source := &r.opts.key
	if r.env != EnvLive && source.isNamed() {
		is.err = refuse(r.env, CodeBadRequest, "nothing was sent: WithClientOrderID and WithIdempotencyKey are for live writes, and the paper account executes a repeated order again: leave the %s out, and read the account before you repeat an order", source.what())
		return is
	}
	name := source.name(r.account, r.endpoint.Name)
	d.driver.Own(w, name)
	if name != "" {
		try = d.takeName(ctx, r, w, &terms, &is)
		if is.err != nil || is.earlier != nil || is.kept != nil {
			return is
		}
	}
	switch {
	case r.env != EnvLive:
	case source.given != "":
		w.SetKey(resolve.Try{Key: source.given, Number: try})
		terms.Source = ledger.Given
	case source.id != "":
		w.SetKey(resolve.Try{Key: derived(name, try), Number: try})
		terms.Source = ledger.Derived
		if !source.since.IsZero() && !terms.FirstUseKnown {
			w.NotBefore, terms.NotBefore = source.since, true
		}
	default:
		w.SetKey(resolve.Try{Key: NewKey(), Number: try})
	}
	w.Ledger = ledger.New(terms)
	if order != nil {
		w.Asked = w.Traits.Order(resolve.SideOf(string(order.Side)), order.Size, order.ReduceOnly)
	}
	is.write = w
	return is
}

// takeName takes a client order id, or a given key, and looks up what became of it before.
func (d *decisions) takeName(ctx context.Context, r *request, w *resolve.OpenWrite, terms *ledger.Terms, is *decision) (try int) {
	terms.FirstUseKnown = d.firstUseKnown(&r.opts.key)
	is.asked = d.driver.Requests()
	earlier, last, err := d.driver.Take(ctx, w)
	if earlier != nil {
		if is.earlier = earlier; !earlier.SameOrder(w) {
			is.earlier, is.err = nil, refuse(EnvLive, CodeIdempotencyKeyReused, "the %[1]s is in use by write %[2]s, which is another request: the decision was made before, so wait for that write, and do not take a new %[1]s for it", r.opts.key.what(), earlier.Intent.ID)
		}
		return 0
	}
	is.write = w // it has the name until the call lets it go
	switch {
	case err != nil && r.entry:
		is.outcome, is.err = Unknown, &GuardError{Kind: ErrJournal, Err: err}
		return 0
	case err != nil:
		terms.FirstUseKnown = false
		return 1
	case last == nil:
		return 1
	}
	terms.FirstUseKnown = terms.FirstUseKnown && last.FirstUseKnown
	return d.goOnBehind(r, last, w.Digest(), is)
}

// firstUseKnown reports whether the journal has every use of the client order id. Without a lease who
// says how old the id is cannot know that by the journal. Under a lease the journal knows from when
// on it is complete, and has every use of an id that is no older.
func (d *decisions) firstUseKnown(of *keySource) bool {
	switch {
	case !d.driver.Durable() || of.shared:
		return false
	case d.permit.Leaser == nil:
		return of.since.IsZero()
	default:
		return !of.since.Before(d.permit.CompleteFrom())
	}
}

// goOnBehind takes the answer of the write that had the name before, or returns the try that
// follows it.
func (d *decisions) goOnBehind(r *request, last *resolve.Final, digest []byte, is *decision) (try int) {
	given, a := r.opts.key.given != "", heard{key: last.Key, fromJournal: true}
	a.Received = last.At
	switch spent := last.Spent(d.relies.Now()); {
	case !bytes.Equal(last.Digest, digest):
		is.err = refuse(EnvLive, CodeIdempotencyKeyReused, "the %[1]s was used at %[2]s for another request (%[3]s): the decision was made before, so read the account, and do not take a new %[1]s for it",
			r.opts.key.what(), last.DecidedAt().Format(time.RFC3339), last.Outcome)
	case len(last.Answer) > 0: // of a success
		a.Status, a.Body = 200, last.Answer
		a.class = ledger.Success
		is.kept, is.outcome = &a, Applied
	case last.Outcome == ledger.Applied:
		is.outcome = Applied
		is.err = &GuardError{Kind: ErrDecided, Reason: fmt.Sprintf("resolved on %s by %s", last.At.Format(time.RFC3339), last.Evidence)}
	case spent && given && last.Refused != nil:
		a.Status, a.Body = last.Refused.Status, last.Refused.Body
		q := question{request: r, meta: Meta{Operation: r.endpoint.Name}}
		h := q.read(a)
		is.kept = &h
	case spent && given:
		is.err = refuse(EnvLive, CodeIdempotencyKeyReused, "this idempotency key is used up: another order must have another key")
	case spent:
		return last.Try + 1
	default:
		return last.Try
	}
	return 0
}

// intent is the write as it is before its first byte. Its id is the name of this client, which no other has, and
// a number.
func (d *decisions) intent(r *request) Intent {
	var room [64]byte
	id := append(append(room[:0], d.process...), '-')
	return Intent{
		ID:            IntentID(strconv.AppendUint(id, d.intents.Add(1), 10)),
		ClientOrderID: r.opts.key.id,
		Tag:           r.opts.tag,
		BaseURL:       d.permit.baseURL,
		Process:       d.process,
		Operation:     r.endpoint.Name,
		Environment:   r.env,
		Account:       r.account,
		Symbol:        r.symbol,
		Body:          r.body,
		Entry:         r.entry,
		Decided:       r.began,
		SendTTL:       r.opts.ttl.of(r.entry),
	}
}

func (d *decisions) terms(r *request, traits resolve.Traits) ledger.Terms {
	return ledger.Terms{
		Keyed:         r.env == EnvLive,
		Entry:         r.entry,
		Resolves:      traits.Resolves(),
		Idempotent:    r.all || r.endpoint.Name == OpCancelOrder || r.endpoint.Name == OpCancelRun,
		Lasting:       !traits.Waits,
		Exclusive:     d.isExclusive(r.account),
		TTL:           r.opts.ttl.of(r.entry),
		Attempt:       r.opts.attemptTimeout,
		NoProbe:       r.opts.withoutProbe,
		Without:       d.relies.Of(r.env == EnvLive),
		FirstUseKnown: true,
		Decided:       d.driver.Clocks.At(r.began),
		Retry:         r.opts.retry,
	}
}

// isExclusive reports whether nobody else trades an account.
func (d *decisions) isExclusive(id AccountID) bool {
	return d.exclusiveAll || slices.Contains(d.exclusive, id)
}
