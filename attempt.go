package trading

import (
	"net/http"
	"time"

	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/transport"
)

// exchanger makes requests, and reads their answers.
type exchanger struct {
	transport *transport.Transport
	userAgent []string
	scrubber  *secret.Scrubber
	heardDate func(header http.Header, sent, received time.Time) // of an answer of the service's
}

// requestOf is a request on the wire. gate judges a write right before its first byte.
func (x *exchanger) requestOf(r *request, apiKey apiKey, key Key, gate transport.Gate) transport.Outgoing {
	return transport.Outgoing{
		Method:   r.endpoint.Method,
		URL:      r.url,
		Header:   x.header(r, apiKey, key),
		Body:     r.body,
		Write:    r.endpoint.Write,
		Alone:    r.alone,
		MaxBody:  r.endpoint.MaxBody,
		MaxError: spec.SmallAnswer,
		Timeout:  r.opts.attemptTimeout,
		Gate:     gate,
	}
}

// hear reads what an answer says. The API key is taken out of all that comes back, before anything else
// sees it.
func (x *exchanger) hear(q *question, exchanged transport.Exchanged) heard {
	h := heard{Exchanged: exchanged, key: q.meta.Key}
	h.Header, h.Body = x.scrubber.Header(h.Header), x.scrubber.Bytes(h.Body)
	if h.Err != nil {
		h.Err = x.scrubber.Error(h.Err)
	}
	h = q.read(h)
	if (h.verdict.Documented || h.failed == nil) && !q.endpoint.Keyless {
		x.heardDate(h.Header, h.Sent, h.Received)
	}
	return h
}

// header returns the header of one attempt. Its values are shared and never
// written to: their capacity is their length, so that an append copies.
func (x *exchanger) header(r *request, apiKey apiKey, key Key) http.Header {
	h := make(http.Header, 5)
	h["Accept"] = contentJSON
	h["User-Agent"] = x.userAgent
	if r.body != nil {
		h["Content-Type"] = contentJSON
	}
	if !r.endpoint.Keyless {
		h["X-Api-Key"] = apiKey.Reveal()
		if !r.endpoint.Write {
			h["Cache-Control"] = noCache
		}
	}
	if key != "" {
		// Not in canonical form: net/http sends a POST with the canonical one
		// again by itself when a kept connection dies, and only the loop may do
		// that. On the wire the case does not matter.
		h["idempotency-key"] = []string{string(key)}
	}
	return h
}

var contentJSON, noCache = []string{"application/json"}, []string{"no-cache"}
