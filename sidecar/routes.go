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

// routes are all of them, by method and path.
var routes = byName(
	route{op: trading.OpHealth, keyless: true},
	route{op: trading.OpOpenAPI, keyless: true},
	route{op: trading.OpMe},
	route{op: trading.OpSandboxState, env: paper},
	route{op: trading.OpSandboxPositions, env: paper},
	route{op: trading.OpSandboxTrades, env: paper},
	route{op: trading.OpMarkets, env: paper},
	route{op: trading.OpPrices, env: paper},
	route{op: trading.OpSandboxOrder, env: paper, write: true, adds: true},
	route{op: trading.OpSandboxClose, env: paper, write: true, part: "pct"},
	route{op: trading.OpSandboxTPSL, env: paper, write: true},
	route{op: trading.OpSandboxReset, env: paper, write: true},
	route{op: trading.OpAccounts, env: live},
	route{op: trading.OpState, env: live},
	route{op: trading.OpPositions, env: live},
	route{op: trading.OpTrades, env: live},
	route{op: trading.OpOpenOrders, env: live},
	route{op: trading.OpFinishedRuns, env: live},
	route{op: trading.OpFunding, env: live},
	route{op: trading.OpOrder, env: live, write: true, class: "orders", adds: true},
	route{op: trading.OpLimit, env: live, write: true, class: "limits", adds: true, waits: true},
	route{op: trading.OpCancelOrder, env: live, write: true, class: "cancels"},
	route{op: trading.OpClose, env: live, write: true, class: "closes", part: "closePercent"},
	route{op: trading.OpTPSL, env: live, write: true, class: "levels"},
	route{op: trading.OpConditional, env: live, write: true, class: "conditional", pro: true, adds: true, waits: true},
	route{op: trading.OpLadder, env: live, write: true, class: "ladder", pro: true, adds: true, waits: true},
	route{op: trading.OpTWAP, env: live, write: true, class: "twap", pro: true, adds: true, waits: true},
	route{op: trading.OpChase, env: live, write: true, class: "chase", pro: true, adds: true, waits: true},
	route{op: trading.OpChaseTWAP, env: live, write: true, class: "chase-twap", pro: true, adds: true, waits: true},
	route{op: trading.OpSwarm, env: live, write: true, class: "swarm", pro: true, adds: true, waits: true},
	route{op: trading.OpEditRun, env: live, write: true, class: "runs", adds: true, waits: true},
	route{op: trading.OpCancelRun, env: live, write: true, class: "runs"},
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
