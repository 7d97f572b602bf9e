package sidecar

import (
	"net/url"
	"strings"

	"github.com/tradingapi/trading-go"
)

// route is an operation of the contract as a bot reaches it.
type route struct {
	op      trading.Operation
	env     trading.Environment // whose key it takes; empty for either
	keyless bool                // it takes none
	write   bool
	adds    bool   // a write that can add exposure, unless it is reduce-only
	waits   bool   // what it places rests or runs
	part    string // the member that says how much a close closes
	class   string // of a live write: the limit that it counts against
	pro     bool   // a Pro order, which has a lower one
}

const (
	live  = trading.EnvLive
	paper = trading.EnvSandbox
)

func byName(all ...route) map[string]route {
	named := make(map[string]route, len(all))
	for _, r := range all {
		named[string(r.op)] = r
	}
	return named
}

// find returns the route of a path below the root, and the account in it. Segments are
// compared as they are escaped, so that an id cannot turn one operation into another.
func find(method, escaped string) (r route, account string, ok bool) {
	name := method + " " + escaped
	if r, ok = routes[name]; ok && !strings.Contains(name, "{") {
		return r, "", true
	}
	rest, below := strings.CutPrefix(escaped, "/accounts/")
	if !below {
		return route{}, "", false
	}
	id, what, more := strings.Cut(rest, "/")
	if more {
		what = "/" + what
	}
	account, err := url.PathUnescape(id)
	if err != nil || account == "" {
		return route{}, "", false
	}
	r, ok = routes[method+" /accounts/{accountId}"+what]
	return r, account, ok
}
