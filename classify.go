package trading

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// answer is whose answer it is.
type answer uint8

const (
	answerNone     answer = iota // no answer, or not all of one
	answerSuccess                // the service's, done
	answerRefusal                // the service's, refused
	answerForeign                // written by something in front: proves nothing
	answerRedirect               // an address to go elsewhere: proves nothing
)

// classify tells the service's answers from those of whatever stands in front of
// it, and leaves why the attempt failed in c.failure.
func (c *call) classify() {
	c.answer, c.failure, c.refusal, c.decoded = answerNone, nil, nil, false
	last := &c.last
	switch {
	case last.err != nil:
		c.failure = &TransportError{Meta: c.meta(), Written: last.written, Err: last.err}
		return
	case last.status >= 300 && last.status < 400:
		c.answer = answerRedirect
		c.failure = &RedirectError{Meta: c.meta(), Location: c.location()}
		return
	case last.tooLarge:
		c.foreign(fmt.Sprintf("a body above %d bytes", c.endpoint.limit(last.status)))
		return
	}

	shape, err := c.shape()
	switch {
	case err != nil:
		c.foreign("not JSON")
	case shape.HasError && shape.HasMessage:
		c.answer = answerRefusal
		c.refusal = c.refusalOf(shape)
		c.failure = c.refusal
	case c.isSuccess(shape):
		c.answer = answerSuccess
	case last.status >= 200 && last.status < 300:
		c.foreign("JSON without the service's shape")
	default:
		c.foreign("an error without the service's shape")
	}
}

// shape tells the form of the last answer. What looks like the result is read as
// it at once, so that a long list is gone through once and not twice; anything
// else is only looked over.
func (c *call) shape() (wire.Shape, error) {
	if c.result != nil && c.last.status >= 200 && c.last.status < 300 {
		if shape, err := wire.Answer(c.last.body, c.result); err == nil {
			c.decoded = true
			return shape, nil
		}
	}
	return wire.Envelope(c.last.body)
}

// isSuccess reports whether well-formed JSON is the service's own yes: for a
// write the member that says so on a 2xx, for a read any 2xx, for health also
// the 503 by which it says that trading is not safe.
func (c *call) isSuccess(shape wire.Shape) bool {
	ok := c.last.status >= 200 && c.last.status < 300
	switch {
	case c.endpoint == &endpointHealth:
		return shape.Object && (ok || c.last.status == http.StatusServiceUnavailable)
	case !ok:
		return false
	case c.endpoint == &endpointOpenAPI: // nothing decodes it, so its shape is judged here
		return shape.Object && !shape.HasError
	case !c.endpoint.write:
		return !shape.HasError
	case c.env == EnvLive:
		return shape.Success
	default:
		return shape.OK
	}
}

func (c *call) foreign(reason string) {
	c.answer = answerForeign
	c.failure = &EdgeError{Meta: c.meta(), Snippet: snippet(c.last.body), Reason: reason}
}

// refusalOf decodes the service's error body. Only code and message make it one,
// so a member that does not decode is kept as it came and loses nothing.
func (c *call) refusalOf(shape wire.Shape) *Error {
	e := &Error{
		Code:    Code(shape.Error),
		Status:  c.last.status,
		Message: shape.Message,
		Meta:    c.meta(),
		env:     c.env,
	}
	e.RetryAfter = e.Meta.RetryAfter
	var body api.Error
	if err := wire.Unmarshal(c.last.body, &body); err != nil {
		e.Extra = looseMembers(c.last.body)
		return e
	}
	e.Reason = textOf(body.Reason)
	e.Symbol = textOf(body.Symbol)
	e.EstSlippagePct = optOf(body.EstSlippagePct)
	e.MaxSlippagePct = optOf(body.MaxSlippagePct)
	e.Extra = body.Extra
	return e
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
func (c *call) location() string {
	target, err := url.Parse(c.last.header.Get("Location"))
	if err != nil {
		return ""
	}
	target.User, target.RawQuery, target.Fragment = nil, "", ""
	return target.String()
}

const snippetSize = 256

// snippet returns the beginning of a body, cut between runes.
func snippet(body []byte) string {
	if len(body) > snippetSize {
		body = body[:snippetSize]
		for len(body) > 0 && !utf8.RuneStart(body[len(body)-1]) {
			body = body[:len(body)-1]
		}
		if n := len(body); n > 0 && !utf8.FullRune(body[n-1:]) {
			body = body[:n-1]
		}
	}
	return string(body)
}
