package trading

import (
	"net/url"
	"strings"

	"github.com/tradingapi/trading-go/internal/spec"
)

//go:generate env GOWORK=off go -C internal/tools run ./tables ../../openapi.json ../..

// Operation is an endpoint as the contract writes it: method, space, path.
type Operation string

// OpOpenAPI is the machine-readable description. It is the one operation that the
// description leaves out.
const OpOpenAPI Operation = "GET /openapi.json"

func (o Operation) method() string {
	method, _, _ := strings.Cut(string(o), " ")
	return method
}

// endpoint is what the client has to know of an operation to send it.
type endpoint struct {
	op      Operation
	keyless bool        // the key never goes there
	env     Environment // whose key it takes; empty for either
	write   bool        // changes the account, so every failure carries an outcome
	trades  bool        // a write that can trade
	pro     bool        // it begins a run
	levels  bool        // a live write of trigger levels
	class   string      // the per-user limit of a live write, besides the key's own
	maxBody int         // bytes of answer that can be right; more is refused unread

	spec *spec.Operation
}

// endpoints are all of them. Nothing changes them.
var endpoints = func() map[Operation]*endpoint {
	all := map[Operation]*endpoint{}
	for _, o := range spec.Operations() {
		op := Operation(o.Method + " " + o.Path)
		all[op] = &endpoint{op, o.Keyless, Environment(o.Env), o.Write, o.Asks.Trades(), o.Asks == spec.AsksRun, o.Asks == spec.AsksLevels && o.Env == string(EnvLive), o.Class, o.MaxBody, &o}
	}
	return all
}()

// endpointOf returns the endpoint of an operation; nil if there is none.
func endpointOf(op Operation) *endpoint { return endpoints[op] }

// resolves reports whether it is found out what became of a write that is in doubt: of
// all that trade, and of live levels. On a live account they are journaled. A cancel shows
// in the list of open orders.
func (e *endpoint) resolves() bool { return e.trades || e.levels }

// limit returns how many bytes an answer of a status can have: no error is long.
func (e *endpoint) limit(status int) int {
	if status >= 200 && status < 300 {
		return e.maxBody
	}
	return spec.SmallAnswer
}

// endpointURLs joins the versioned root with the paths that have no variable part, once for
// the life of the client. All requests share them.
func endpointURLs(base *url.URL) map[*endpoint]*url.URL {
	urls := make(map[*endpoint]*url.URL, len(endpoints))
	for _, e := range endpoints {
		if e.spec.Fixed() {
			urls[e] = base.JoinPath(e.spec.Path)
		}
	}
	return urls
}
