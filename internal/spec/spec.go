// Package spec is the contract as tables: what each operation is and refuses, and what
// each code means under each status. They are generated from openapi.json and never
// written to.
package spec

import (
	"slices"
	"strings"
)

// Operation is an endpoint as the contract writes it: method, space, path.
type Operation string

// Environment is which of the two worlds a key, a call or an account belongs to.
type Environment string

// The environments.
const (
	Sandbox Environment = "sandbox"
	Live    Environment = "live"
)

// Endpoint is what the client has to know of an operation to send it.
type Endpoint struct {
	Name         Operation
	Method, Path string // the path is a template, from the versioned root

	Keyless bool        // the key never goes there
	Env     Environment // whose key it takes; empty for either
	Write   bool        // changes the account, so every failure carries an outcome
	Asks    Asks        // what a write asks for
	Class   string      // the limit of a live write for each user, besides the key's own
	MaxBody int         // bytes of answer that can be right; more is refused unread

	refusals [][]refusal // its own, and those of all operations of its kind
}

// refusal is a code with a status that an operation documents; status 0 is any 4xx.
type refusal struct {
	code   string
	status int
}

// How large an answer may be before it cannot be the service's: a list of 100,000 trades
// is below 32 MiB, and nothing else comes near 1 MiB.
const (
	SmallAnswer = 1 << 20
	LargeAnswer = 32 << 20
)

// Limit returns how many bytes an answer of a status can have: no error is long.
func (o *Endpoint) Limit(status int) int {
	if status >= 200 && status < 300 {
		return o.MaxBody
	}
	return SmallAnswer
}

// Health is the path of the assessment of the service, Description that of the description of the API.
const (
	Health      = "/health"
	Description = "/openapi.json"
)

// openAPI is the one operation that the description leaves out: the description itself.
var openAPI = Endpoint{Name: "GET /openapi.json", Method: "GET", Path: Description, Keyless: true, MaxBody: LargeAnswer,
	refusals: [][]refusal{refusalsOfAll, {{"unavailable", 503}}}}

// Endpoints returns all of them.
func Endpoints() []*Endpoint { return append([]*Endpoint{&openAPI}, endpoints...) }

// Find returns the endpoint of an operation; nil if there is none.
func Find(o Operation) *Endpoint { return byName[o] }

var byName = func() map[Operation]*Endpoint {
	all := map[Operation]*Endpoint{}
	for _, e := range Endpoints() {
		all[e.Name] = e
	}
	return all
}()

// Documents reports whether the description gives the operation this refusal. What it
// does not give may come from something in front. A code that may have any 4xx has one
// with which the operation refuses something else as well.
func (o *Endpoint) Documents(code string, status int) bool {
	return o.refuses(func(r refusal) bool {
		return r.code == code && (r.status == status || r.status == 0 && status/100 == 4 && o.refuses(func(r refusal) bool { return r.status == status }))
	})
}

func (o *Endpoint) refuses(is func(refusal) bool) bool {
	return slices.ContainsFunc(o.refusals, func(some []refusal) bool { return slices.ContainsFunc(some, is) })
}

// Fixed reports whether the path has no variable part.
func (o *Endpoint) Fixed() bool { return !strings.Contains(o.Path, "{") }

// Asks is what a write asks the service for.
type Asks uint8

// What writes ask for.
const (
	AsksNothing Asks = iota // that can change a position: a cancel, a reset; or it is a read
	AsksOrder               // one that fills now
	AsksClose               // of a position, or of part of it
	AsksLimit               // an order that rests
	AsksRun                 // a Pro order, which the service carries out over time
	AsksRunEdit             // of a Pro order that runs
	AsksLevels              // of a position: take-profit and stop
)

// Trades reports whether it can open, change or close a position, at once or later.
func (a Asks) Trades() bool { return a != AsksNothing && a != AsksLevels }

// Adds reports whether it can add exposure, which an order that is reduce-only cannot. An edit
// of a run can, whatever the run is: its body does not say.
func (a Asks) Adds(reduceOnly bool) bool {
	switch a {
	case AsksNothing, AsksClose, AsksLevels:
		return false
	case AsksRunEdit:
		return true
	default: // also what a later version asks for
		return !reduceOnly
	}
}
