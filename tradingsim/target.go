package tradingsim

import (
	"net/url"
	"strings"
	"sync"
)

const (
	root       = "/v1"
	legacyRoot = "/api/v1"
)

// target is what a method and a URL name.
type target struct {
	operation *operation // nil for a path that does not exist
	name      string     // what logs and faults call it
	path      string     // below the root, escaped, with the query
	legacy    string     // where a legacy path redirects to
	query     url.Values
	params    []string
}

// targets remembers what was asked for: a bot asks for the same few a million times. What
// it returns is shared, and never written to.
type targets struct {
	mu   sync.Mutex
	seen map[address]*target
}

// address is a method, and what makes the URLs of one host differ.
type address struct{ method, path, rawPath, query string }

const (
	maxTargets = 1000
	maxAddress = 300 // bytes
)

func (t *targets) of(r routes, method string, u *url.URL) *target {
	at := address{method, u.Path, u.RawPath, u.RawQuery}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.seen[at]; ok {
		return known
	}
	found := newTarget(r, method, u)
	if len(method)+len(u.Path)+len(u.RawPath)+len(u.RawQuery) > maxAddress {
		return found
	}
	if t.seen == nil || len(t.seen) >= maxTargets {
		t.seen = map[address]*target{}
	}
	t.seen[at] = found
	return found
}

func newTarget(r routes, method string, u *url.URL) *target {
	t := &target{}
	escaped := u.EscapedPath()
	if below, ok := strings.CutPrefix(escaped, legacyRoot); ok && (below == "" || below[0] == '/') {
		t.legacy = root + below
		if u.RawQuery != "" {
			t.legacy += "?" + u.RawQuery
		}
	}
	below, inRoot := strings.CutPrefix(escaped, root)
	if inRoot {
		t.operation, t.params = r.find(method, below)
	}
	t.path = below
	if u.RawQuery != "" {
		t.path += "?" + u.RawQuery
		t.query = u.Query()
	}
	t.name = method + " " + below
	if t.operation != nil {
		t.name = t.operation.name
	}
	return t
}
