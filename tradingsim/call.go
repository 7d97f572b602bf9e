package tradingsim

import (
	"net/http"
	"net/url"
	"strings"
)

// call is one request as the service sees it.
type call struct {
	operation *operation // nil for a path that does not exist
	name      string     // what logs and faults call it
	path      string     // below the root, escaped, with the query
	legacy    string     // where a legacy path redirects to
	query     url.Values
	params    []string
	header    http.Header // without API keys
	direct    string      // the key in X-API-Key
	bearer    string      // the key in Authorization
	body      []byte
	from      string // network address of the caller
	remote    string // the caller's end of the connection

	id     int64 // of the request
	copied bool  // a fault made it of the request

	terminal bool // done by a person, and by no request

	key     *apiKey // after authentication
	claim   string  // the name of the idempotency record it holds
	invalid bool    // its fields were refused

	instead    *refusal
	after      *refusal
	crash      bool
	crashAfter bool
	answer     *answer // once there is one
}

const (
	root       = "/v1"
	legacyRoot = "/api/v1"
	// maxBody bounds a request; the contract names no limit.
	maxBody = 1 << 20
)

// received returns a header as a server gets it: a copy, each name in its
// canonical form, however the client wrote it.
func received(sent http.Header) http.Header {
	header := make(http.Header, len(sent))
	all := make([]string, 0, len(sent)+4) // most have one value
	for name, values := range sent {
		name = http.CanonicalHeaderKey(name)
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
	c := &call{header: received(r.Header), from: from, remote: from} // a call may outlive its request
	if r.RemoteAddr != "" && from != inProcess {
		c.remote = r.RemoteAddr
	}
	c.direct = c.header.Get("X-API-Key")
	if key, ok := strings.CutPrefix(c.header.Get("Authorization"), "Bearer "); ok {
		c.bearer = key
	}
	c.header.Del("X-API-Key")
	c.header.Del("Authorization")
	escaped := r.URL.EscapedPath()
	if below, ok := strings.CutPrefix(escaped, legacyRoot); ok && (below == "" || below[0] == '/') {
		c.legacy = root + below
		if r.URL.RawQuery != "" {
			c.legacy += "?" + r.URL.RawQuery
		}
	}
	below, inRoot := strings.CutPrefix(escaped, root)
	if inRoot {
		c.operation, c.params = s.routes.find(r.Method, below)
	}
	c.path = below
	if r.URL.RawQuery != "" {
		c.path += "?" + r.URL.RawQuery
		c.query = r.URL.Query()
	}
	c.name = r.Method + " " + below
	if c.operation != nil {
		c.name = c.operation.name
	}
	return c
}

// copy is the same request once more, as a proxy sends it.
func (c *call) copy() *call {
	again := *c
	again.claim, again.invalid = "", false
	again.instead, again.after, again.crash, again.crashAfter = nil, nil, false, false
	again.answer = nil
	again.copied = true
	return &again
}
