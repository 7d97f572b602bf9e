package tradingsim

import (
	"net/http"
	"strings"
	"time"
)

// call is one request as the service sees it.
type call struct {
	*target
	header http.Header // as it was sent
	direct string      // the key in X-API-Key
	bearer string      // the key in Authorization
	keys   []string    // what it sends as Idempotency-Key
	body   []byte
	from   string // network address of the caller
	remote string // the caller's end of the connection

	id       int64     // of the request
	at       time.Time // when it arrived
	status   int       // of its answer, with when it was sent; zero without one
	answered time.Time
	entry    *Request // nil while nobody wants to know of it
	copied   bool     // a fault made it of the request

	terminal bool // done by a person, and by no request

	key     *apiKey // after authentication
	claim   string  // the name of the idempotency record it holds
	invalid bool    // its fields were refused

	instead    *refusal
	after      *refusal
	crash      bool
	crashAfter bool
	answer     *answer // once there is one
	sent       *answer // the one that went out, of the service or of something in front

	markMissing bool // it shows a market without a mark
}

// maxBody bounds a request; the contract names no limit.
const maxBody = 1 << 20

// received returns a header as a server gets it: a copy without API keys, each name in
// its canonical form, however the client wrote it.
func received(sent http.Header) http.Header {
	header := make(http.Header, len(sent))
	all := make([]string, 0, len(sent)+4) // most have one value
	for name, values := range sent {
		name = http.CanonicalHeaderKey(name)
		if name == "X-Api-Key" || name == "Authorization" {
			continue
		}
		if before, twice := header[name]; twice {
			header[name] = append(before, values...)
			continue
		}
		first := len(all)
		all = append(all, values...)
		header[name] = all[first:len(all):len(all)]
	}
	return header
}

// newCall reads everything about a request but its body.
func (s *Sim) newCall(r *http.Request, from string) *call {
	c := &call{target: s.targets.of(s.routes, r.Method, r.URL), header: r.Header, from: from, remote: from}
	if r.RemoteAddr != "" && from != inProcess {
		c.remote = r.RemoteAddr
	}
	c.readHeader()
	return c
}

// readHeader takes out what the service itself reads, however the client wrote the names.
func (c *call) readHeader() {
	for name, values := range c.header {
		switch {
		case len(values) == 0:
		case isName(name, "X-API-Key") && c.direct == "":
			c.direct = values[0]
		case isName(name, "Authorization") && c.bearer == "":
			if key, ok := strings.CutPrefix(values[0], "Bearer "); ok {
				c.bearer = key
			}
		case isName(name, "Idempotency-Key"):
			c.keys = append(c.keys, values...)
		}
	}
}

// isName reports whether a name in a header is the one wanted.
func isName(name, wanted string) bool {
	return len(name) == len(wanted) && strings.EqualFold(name, wanted)
}

// idempotencyKey is the first that a request sends; empty without one.
func (c *call) idempotencyKey() string {
	if len(c.keys) == 0 {
		return ""
	}
	return c.keys[0]
}

// copy is the same request once more, as a proxy sends it.
func (c *call) copy() *call {
	again := *c
	again.claim, again.invalid = "", false
	again.instead, again.after, again.crash, again.crashAfter = nil, nil, false, false
	again.answer, again.entry = nil, nil
	again.copied = true
	return &again
}
