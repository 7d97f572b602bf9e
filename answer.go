package trading

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/internal/verdict"
	"github.com/tradingapi/trading-go/internal/wire"
)

// attempt is how one send ended, without secrets.
type attempt struct {
	transport.Exchanged
	key    Key
	stored bool // the answer is the journal's
}

// replayed reports whether the answer is the stored one of an earlier request.
func (a *attempt) replayed() bool { return a.stored || transport.Replayed(a.Header) }

// askedToWait is how long whoever answered, the service or something in front, asks to wait
// because it is busy, and whether it does.
func (a *attempt) askedToWait() (wait time.Duration, asked bool) {
	if a.Status != http.StatusTooManyRequests && a.Status != http.StatusServiceUnavailable {
		return 0, false
	}
	return transport.RetryAfter(a.Header, a.Received)
}

// limitEnds is how long the rate limit lasts that a 429 of the service speaks of. One that does
// not say lasts for a whole window.
func (a *attempt) limitEnds() time.Duration {
	if wait, asked := a.askedToWait(); asked {
		return wait
	}
	if of, ok := transport.RateLimitOf(a.Header); ok && !of.Reset.IsZero() {
		return min(max(of.Reset.Sub(transport.Dated(a.Header, a.Received)), 0), limiter.Window)
	}
	return limiter.Window
}

// heard is what an attempt says.
type heard struct {
	attempt attempt
	verdict verdict.Ruling // of an answer that came
	refusal *Error         // what has the shape of the service's no; nil otherwise
	err     error          // nil after a success
	class   ledger.Class
	decoded bool // the result holds the answer
}

// question is what an answer is judged by.
type question struct {
	endpoint *spec.Endpoint
	env      Environment
	result   wire.Value // what a success is decoded into; nil if nobody wants it
	fresh    bool       // one that a cache has kept is none of the service's
	meta     Meta       // without what the answer adds
}

// read says what an attempt came to; whose answer it is, package verdict says.
func (q *question) read(a attempt) heard {
	h := heard{attempt: a}
	switch {
	case a.Err != nil && !a.Written:
		h.class = ledger.Unsent
		if h.err = a.Err; !errors.As(a.Err, new(*GuardError)) { // of the gate
			h.err = &TransportError{Meta: q.metaOf(&a), Err: a.Err}
		}
		return h
	case a.Err != nil:
		h.class = ledger.Silence
		h.err = &TransportError{Meta: q.metaOf(&a), Written: true, Err: a.Err}
		return h
	}
	judged := verdict.Seen{Endpoint: q.endpoint, Env: q.env, Status: a.Status, Replayed: a.replayed()}
	reason := "not JSON"
	if q.fresh && transport.Aged(a.Header) {
		reason = "an answer that a cache has kept"
	} else if a.TooLarge {
		reason = fmt.Sprintf("a body above %d bytes", q.endpoint.Limit(a.Status))
	} else if shape, err := q.shape(&h); err == nil {
		judged.Shape, judged.JSON = shape, true
		reason = "JSON without the service's shape"
		if a.Status >= 300 {
			reason = "an error without the service's shape"
		}
	}
	h.verdict = verdict.Of(judged)
	h.class = h.verdict.Said.Class
	switch {
	case h.class == ledger.Success:
	case h.verdict.Refusal:
		h.refusal = q.refusalOf(&a, judged.Shape)
		h.err = h.refusal
	case a.Status/100 == 3:
		h.err = &RedirectError{Meta: q.metaOf(&a), Location: location(a.Header)}
	default:
		h.err = &GatewayError{Meta: q.metaOf(&a), Snippet: snippet(a.Body), Reason: reason}
	}
	return h
}

// metaOf adds what an answer says to the facts of the call.
func (q *question) metaOf(a *attempt) Meta {
	m := q.meta
	m.Status, m.Header, m.Body = a.Status, a.Header, a.Body
	m.Key, m.Replayed = a.key, a.replayed()
	m.Sent, m.Received = a.Sent, a.Received
	if m.Header != nil {
		if wait, asked := transport.RetryAfter(m.Header, m.Received); asked {
			m.RetryAfter = Some(wait)
		}
	}
	return m
}

// shape is the form of the answer. What looks like the result is read as it at
// once, so that a long list is gone through once and not twice; anything else is
// only looked over.
func (q *question) shape(h *heard) (wire.Shape, error) {
	if q.result != nil && h.attempt.Status >= 200 && h.attempt.Status < 300 {
		if shape, err := wire.Answer(h.attempt.Body, q.result); err == nil {
			h.decoded = true
			return shape, nil
		}
	}
	return wire.Envelope(h.attempt.Body)
}

// refusalOf decodes the service's error body. Only code and message make it one,
// so a member that does not decode is kept as it came and loses nothing.
func (q *question) refusalOf(a *attempt, shape wire.Shape) *Error {
	e := &Error{
		Code:    Code(shape.Error),
		Status:  a.Status,
		Message: shape.Message,
		Meta:    q.metaOf(a),
		env:     q.env,
	}
	e.RetryAfter = e.Meta.RetryAfter
	var body api.Error
	if err := wire.Unmarshal(a.Body, &body); err != nil {
		e.Extra = looseMembers(a.Body)
		return e
	}
	e.Reason = textOf(body.Reason)
	e.Symbol = textOf(body.Symbol)
	e.EstSlippagePct = optOf(body.EstSlippagePct)
	e.MaxSlippagePct = optOf(body.MaxSlippagePct)
	e.Extra = body.Extra
	return e
}

// said is what the ledger needs of it.
func (h *heard) said() ledger.Answer {
	a := h.verdict.Said
	a.Class = h.class
	if a.Replayed {
		return a // what a stored answer asked for is of the past
	}
	if a.Advice == ledger.WaitFirst {
		a.RetryAfter = h.attempt.limitEnds()
	} else {
		a.RetryAfter, _ = h.attempt.askedToWait()
	}
	return a
}

// answer is the same for the driver. result is what a success was decoded into.
func (h *heard) answer(said ledger.Answer, result wire.Value) resolve.Answer {
	a := resolve.Answer{Answer: said, Key: h.attempt.key, Body: h.attempt.Body, Received: h.attempt.Received, Err: h.err, Heard: h}
	if h.refusal != nil {
		a.Refusal = h.refusal
	}
	if h.decoded {
		a.Decoded = result
	}
	return a
}

// rereads is the policy of a read, which does no harm: whether it is sent again, after how long a wait, and
// how long a call that gives up would have waited.
func rereads(h *heard, asked time.Duration, r ledger.Bounds, sends int) (wait, named time.Duration, more bool) {
	_, busy := h.attempt.askedToWait()
	switch {
	case h.refusal != nil:
		rule := h.refusal.rule()
		if rule.Advice == AdviseWait {
			asked = h.attempt.limitEnds()
		}
		// To a read a missing price is an answer, and not one that is worth waiting for
		// unasked.
		if rule.Advice != AdviseWait && (rule.Advice != AdviseResolve || h.attempt.Status < 500) {
			return 0, 0, false
		}
	case h.class == ledger.Unclear: // a redirect
		return 0, 0, false
	case h.class == ledger.Foreign && h.attempt.Status < 500 && !busy:
		return 0, 0, false // by something in front: once more where it says that it failed, or when to come again
	}
	wait = max(spread(r.Backoff(sends)), asked)
	return wait, wait, !r.FailFast || asked == 0
}

// spread takes a random part of a wait, from its upper half, so that callers who
// failed together do not come back together.
func spread(wait time.Duration) time.Duration {
	if wait <= 0 {
		return 0
	}
	return wait/2 + rand.N(wait/2+1)
}

// looseMembers keeps the members of a refusal whose extras have another type
// than documented.
func looseMembers(body []byte) Extra {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil
	}
	delete(members, "error")
	delete(members, "message")
	return members
}

// location names a redirect's target without what could hold a secret.
func location(header http.Header) string {
	target, err := url.Parse(header.Get("Location"))
	if err != nil {
		return ""
	}
	target.User, target.RawQuery, target.Fragment = nil, "", ""
	return target.String()
}

// snippet returns the beginning of a body, cut between runes.
func snippet(body []byte) string {
	return wire.CutText(string(body[:min(len(body), snippetSize+utf8.UTFMax)]), snippetSize)
}

// checked is an answer to a read that also has to be the one that was asked for: a
// cache or a gateway can return the answer to another request.
type checked struct {
	wire.Value
	check func() error
}

// DecodeWire implements [wire.Value].
func (v checked) DecodeWire(d *wire.Decoder) error {
	if err := v.Value.DecodeWire(d); err != nil {
		return err
	}
	return v.check()
}

// sameName requires that a member names what was asked for.
func sameName(member, got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s is %q: it must be %q, which was asked for", member, got, want)
}

// sameOptName is [sameName] for a member that may be missing.
func sameOptName(member string, got wire.Nullable[string], want string) error {
	text, ok := got.Get()
	if !ok {
		return nil
	}
	return sameName(member, text, want)
}

// checkDescription requires the members that every OpenAPI description has.
func checkDescription(members map[string]json.RawMessage) error {
	if _, ok := Extra(members).Text("openapi"); !ok {
		return errors.New("openapi must be a string")
	}
	if paths := members["paths"]; len(paths) == 0 || paths[0] != '{' {
		return errors.New("paths must be an object")
	}
	return nil
}

// healthAnswer reads a health assessment, and requires that its body and its status
// agree: the service answers 200 only when it is safe to trade. The status is that of
// the last answer when the body is read.
func healthAnswer(answer *api.Health, status *int) checked {
	return checked{answer, func() error {
		healthy := answer.OK && HealthStatus(answer.Status) == Healthy
		if healthy && *status == http.StatusServiceUnavailable {
			return errors.New("status healthy comes with HTTP status 503, which means not safe to trade")
		}
		return nil
	}}
}
