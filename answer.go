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
	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/internal/verdict"
	"github.com/tradingapi/trading-go/internal/wire"
)

// heard is how one send ended, without secrets, and what that says.
type heard struct {
	transport.Exchanged
	key         Key
	verdict     verdict.Ruling // of an answer that came
	refusal     *Error         // what has the shape of the service's no; nil otherwise
	failed      error          // nil after a success
	class       ledger.Class
	fromJournal bool // the answer is the journal's
	decoded     bool // the result holds the answer
}

// replayed reports whether the answer is the stored one of an earlier request.
func (h *heard) replayed() bool { return h.fromJournal || transport.Replayed(h.Header) }

// askedToWait is how long whoever answered, the service or something in front, asks to wait
// because it is busy, and whether it does.
func (h *heard) askedToWait() (wait time.Duration, asked bool) {
	if h.Status != http.StatusTooManyRequests && h.Status != http.StatusServiceUnavailable {
		return 0, false
	}
	return transport.RetryAfter(h.Header, h.Received)
}

// limitEnds is how long the rate limit lasts that a 429 of the service speaks of. One that does
// not say lasts for a whole window.
func (h *heard) limitEnds() time.Duration {
	if wait, asked := h.askedToWait(); asked {
		return wait
	}
	if _, ends, ok := transport.RateLimitOf(h.Header); ok && !ends.IsZero() {
		return min(max(ends.Sub(transport.Dated(h.Header, h.Received)), 0), limiter.Window)
	}
	return limiter.Window
}

// question is what an answer is judged by.
type question struct {
	*request
	result wire.Value // what a success is decoded into; nil if nobody wants it
	meta   Meta       // without what the answer adds
}

// read says what an attempt came to; whose answer it is, package verdict says.
func (q *question) read(h heard) heard {
	switch {
	case h.Err != nil && !h.Written:
		h.class = ledger.Unsent
		if h.failed = h.Err; !errors.As(h.Err, new(*GuardError)) { // of the gate
			h.failed = &TransportError{Meta: q.metaOf(&h), Err: h.Err}
		}
		return h
	case h.Err != nil:
		h.class = ledger.Silence
		h.failed = &TransportError{Meta: q.metaOf(&h), Written: true, Err: h.Err}
		return h
	}
	judged := verdict.Seen{Endpoint: q.endpoint, Env: q.env, Status: h.Status, Replayed: h.replayed()}
	reason := "not JSON"
	if q.opts.recovering && transport.Aged(h.Header) { // one that a cache has kept is none of the service's
		reason = "an answer that a cache has kept"
	} else if h.TooLarge {
		reason = fmt.Sprintf("a body above %d bytes", q.endpoint.Limit(h.Status))
	} else if shape, err := q.shape(&h); err == nil {
		judged.Shape, judged.JSON = shape, true
		reason = "JSON without the service's shape"
		if h.Status >= 300 {
			reason = "an error without the service's shape"
		}
	}
	h.verdict = verdict.Of(judged)
	h.class = h.verdict.Said.Class
	switch {
	case h.class == ledger.Success:
	case h.verdict.Refusal:
		h.refusal = q.refusalOf(&h, judged.Shape)
		h.failed = h.refusal
	case h.Status/100 == 3:
		h.failed = &RedirectError{Meta: q.metaOf(&h), Location: location(h.Header)}
	default:
		h.failed = &GatewayError{Meta: q.metaOf(&h), Snippet: snippet(h.Body), Reason: reason}
	}
	return h
}

// metaOf adds what an answer says to the facts of the call.
func (q *question) metaOf(h *heard) Meta {
	m := q.meta
	m.Status, m.Header, m.Body = h.Status, h.Header, h.Body
	m.Key, m.Replayed = h.key, h.replayed()
	m.Sent, m.Received = h.Sent, h.Received
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
	if q.result != nil && h.Status/100 == 2 {
		if shape, err := wire.Answer(h.Body, q.result); err == nil {
			h.decoded = true
			return shape, nil
		}
	}
	return wire.Envelope(h.Body)
}

// refusalOf decodes the service's error body. Only code and message make it one,
// so a member that does not decode is kept as it came and loses nothing.
func (q *question) refusalOf(h *heard, shape wire.Shape) *Error {
	e := &Error{
		Code:    Code(shape.Error),
		Status:  h.Status,
		Message: shape.Message,
		Meta:    q.metaOf(h),
		env:     q.env,
	}
	e.RetryAfter = e.Meta.RetryAfter
	var body api.Error
	if err := wire.Unmarshal(h.Body, &body); err != nil {
		e.Extra = looseMembers(h.Body)
		return e
	}
	e.Reason = textOf(body.Reason)
	e.Symbol = textOf(body.Symbol)
	e.EstSlippagePct = optOf(body.EstSlippagePct)
	e.MaxSlippagePct = optOf(body.MaxSlippagePct)
	e.Extra = body.Extra
	return e
}

// noteKey trips the breaker of a key that was refused, and resets it when one works.
// A 429 may come from in front of the key, and a 5xx from anywhere: they say
// nothing of it.
func noteKey(breaker *secret.Breaker, key apiKey, last *heard) {
	refusal, own := last.refusal, last.verdict.Documented
	switch {
	case own && (refusal.Status == http.StatusUnauthorized || refusal.Code == CodeAPIAccessDenied):
		breaker.Trip(key, string(refusal.Code), refusal.Message)
	case last.class == ledger.Success || own && refusal.Status < 500 && refusal.Status != http.StatusTooManyRequests:
		breaker.Reset(key)
	}
}

// said is what the ledger needs of it.
func (h *heard) said() ledger.Answer {
	a := h.verdict.Said
	a.Class = h.class
	if a.Replayed {
		return a // what a stored answer asked for is of the past
	}
	if a.Advice == ledger.WaitFirst {
		a.RetryAfter = h.limitEnds()
	} else {
		a.RetryAfter, _ = h.askedToWait()
	}
	return a
}

// answer is the same for the driver. result is what a success was decoded into.
func (h *heard) answer(result wire.Value) resolve.Response {
	a := resolve.Response{Answer: h.said(), Key: h.key, Body: h.Body, Received: h.Received, Err: h.failed, Heard: h}
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
func rereads(h *heard, asked time.Duration, r ledger.Bounds, sends int) (wait, retryAfter time.Duration, more bool) {
	_, busy := h.askedToWait()
	switch {
	case h.refusal != nil:
		rule := h.refusal.rule()
		if rule.Advice == AdviseWait {
			asked = h.limitEnds()
		}
		// To a read a missing price is an answer, and not one that is worth waiting for
		// unasked.
		if rule.Advice != AdviseWait && (rule.Advice != AdviseResolve || h.Status < 500) {
			return 0, 0, false
		}
	case h.class == ledger.Unclear: // a redirect
		return 0, 0, false
	case h.class == ledger.Foreign && h.Status < 500 && !busy:
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
