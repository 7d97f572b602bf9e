package tradingsim

import (
	"net/url"
	"strings"
)

// operation is one row of the contract's endpoint index.
type operation struct {
	name    string // "POST /sandbox/orders": method and path below the root
	env     environment
	write   bool
	special func(*Sim, *call) *answer // answers by itself, outside the usual envelope
	run     func(*Sim, *call) (any, *refusal)
}

var operations = map[string]*operation{}

// templated are the operations with a parameter in their path.
var templated []*operation

func init() {
	for _, o := range []*operation{
		{name: "GET /health", env: keyless, special: (*Sim).serveHealth},
		{name: "GET /openapi.json", env: keyless, special: (*Sim).serveDescription},
		{name: "GET /me", env: anyEnv, run: (*Sim).me},

		{name: "GET /sandbox/account", env: sandboxEnv, run: (*Sim).sandboxAccount},
		{name: "GET /sandbox/positions", env: sandboxEnv, run: (*Sim).sandboxPositions},
		{name: "GET /sandbox/trades", env: sandboxEnv, run: (*Sim).sandboxTrades},
		{name: "GET /sandbox/markets", env: sandboxEnv, run: (*Sim).sandboxMarkets},
		{name: "GET /sandbox/prices", env: sandboxEnv, run: (*Sim).sandboxPrices},
		{name: "POST /sandbox/orders", env: sandboxEnv, write: true, run: (*Sim).sandboxOrder},
		{name: "POST /sandbox/positions/close", env: sandboxEnv, write: true, run: (*Sim).sandboxClose},
		{name: "POST /sandbox/positions/tpsl", env: sandboxEnv, write: true, run: (*Sim).sandboxTriggers},
		{name: "POST /sandbox/reset", env: sandboxEnv, write: true, run: (*Sim).sandboxReset},
	} {
		operations[o.name] = o
		if strings.Contains(o.name, "{") {
			templated = append(templated, o)
		}
	}
}

// route finds the operation of a request below the root, and the parameters in
// its path. Segments are matched as they were escaped, so an id cannot turn one
// endpoint into another.
func route(method, escapedPath string) (o *operation, params []string) {
	name := method + " " + escapedPath
	if o, ok := operations[name]; ok && !strings.Contains(name, "{") {
		return o, nil
	}
	parts := strings.Split(name, "/")
	for _, o := range templated {
		if params, ok := matchTemplate(strings.Split(o.name, "/"), parts); ok {
			return o, params
		}
	}
	return nil, nil
}

func matchTemplate(template, parts []string) (params []string, ok bool) {
	if len(template) != len(parts) {
		return nil, false
	}
	for i, t := range template {
		if !strings.HasPrefix(t, "{") {
			if t != parts[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil || value == "" {
			return nil, false
		}
		params = append(params, value)
	}
	return params, true
}
