package tradingsim

import (
	"net/url"
	"strings"
	"time"
)

// operation is one row of the contract's endpoint index.
type operation struct {
	name    string // "POST /sandbox/orders": method and path below the root
	env     environment
	write   bool
	special func(*Sim, *call) *answer // answers by itself, outside the usual envelope
	run     func(*Sim, *call) (any, *refusal)
	prepare func(*Sim, *call) (job, *refusal) // a live write, in two steps
	class   string                            // of the limit that the terminal shares
	pro     bool                              // has the limit of a Pro type

	requests int           // so far
	room     int           // for the body of the next answer
	lag      time.Duration // of a read, behind what it shows
}

// routes are the operations of a simulation.
type routes struct {
	byName    map[string]*operation
	templated []*operation // those with a parameter in their path
}

func newRoutes() routes {
	r := routes{byName: map[string]*operation{}}
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
		{name: "POST /sandbox/positions/tpsl", env: sandboxEnv, write: true, run: (*Sim).sandboxTPSL},
		{name: "POST /sandbox/reset", env: sandboxEnv, write: true, run: (*Sim).sandboxReset},

		{name: "GET /accounts", env: liveEnv, run: (*Sim).liveAccounts},
		{name: "GET /accounts/{accountId}", env: liveEnv, run: (*Sim).liveAccount},
		{name: "GET /positions", env: liveEnv, run: (*Sim).livePositions},
		{name: "GET /trades", env: liveEnv, run: (*Sim).liveTrades},
		{name: "GET /accounts/{accountId}/orders", env: liveEnv, run: (*Sim).liveOrders},
		{name: "GET /accounts/{accountId}/runs", env: liveEnv, run: (*Sim).liveRuns},
		{name: "GET /accounts/{accountId}/funding", env: liveEnv, run: (*Sim).liveFunding},
		{name: "POST /orders", env: liveEnv, write: true, class: "market", prepare: (*Sim).prepareOrder},
		{name: "POST /orders/limit", env: liveEnv, write: true, class: "limit", prepare: (*Sim).prepareLimit},
		{name: "POST /orders/cancel", env: liveEnv, write: true, class: "cancel", prepare: (*Sim).prepareCancel},
		{name: "POST /positions/close", env: liveEnv, write: true, class: "close", prepare: (*Sim).prepareClose},
		{name: "POST /positions/tpsl", env: liveEnv, write: true, class: "tpsl", prepare: (*Sim).prepareTPSL},
		{name: "POST /orders/conditional", env: liveEnv, write: true, class: "conditional", pro: true, prepare: preparePro("conditional")},
		{name: "POST /orders/ladder", env: liveEnv, write: true, class: "ladder", pro: true, prepare: preparePro("ladder")},
		{name: "POST /orders/twap", env: liveEnv, write: true, class: "twap", pro: true, prepare: preparePro("twap")},
		{name: "POST /orders/chase", env: liveEnv, write: true, class: "chase", pro: true, prepare: preparePro("chase")},
		{name: "POST /orders/chase-twap", env: liveEnv, write: true, class: "chase-twap", pro: true, prepare: preparePro("chase-twap")},
		{name: "POST /orders/swarm", env: liveEnv, write: true, class: "swarm", pro: true, prepare: preparePro("swarm")},
		{name: "POST /runs/edit", env: liveEnv, write: true, class: "runs", prepare: (*Sim).prepareRunEdit},
		{name: "POST /runs/cancel", env: liveEnv, write: true, class: "runs", prepare: (*Sim).prepareRunCancel},
	} {
		r.byName[o.name] = o
		if strings.Contains(o.name, "{") {
			r.templated = append(r.templated, o)
		}
	}
	return r
}

// find finds the operation of a request below the root, and the parameters in
// its path. Segments are matched as they were escaped, so an id cannot turn one
// endpoint into another.
func (r routes) find(method, escapedPath string) (o *operation, params []string) {
	name := method + " " + escapedPath
	if o, ok := r.byName[name]; ok && !strings.Contains(name, "{") {
		return o, nil
	}
	parts := strings.Split(name, "/")
	for _, o := range r.templated {
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
