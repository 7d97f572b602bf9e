// Package spec is the contract as tables: what each operation is and refuses, and what
// each code means under each status. They are generated from openapi.json and never
// written to.
package spec

import (
	"slices"
	"strings"
)

// Operation is an endpoint.
type Operation struct {
	Method, Path string // the path is a template, from the versioned root

	Keyless bool   // the key never goes there
	Env     string // whose key it takes, "sandbox" or "live"; empty for either
	Write   bool   // changes the account
	Asks    Asks   // what a write asks for
	Class   string // the limit of a live write for each user, besides the key's own
	MaxBody int    // bytes of answer that can be right

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

// openAPI is the one operation that the description leaves out: the description itself.
var openAPI = Operation{Method: "GET", Path: "/openapi.json", Keyless: true, MaxBody: LargeAnswer,
	refusals: [][]refusal{refusalsOfAll, {{"unavailable", 503}}}}

// Operations returns all of them.
func Operations() []Operation { return append([]Operation{openAPI}, operations...) }

// Documents reports whether the description gives the operation this refusal. What it
// does not give may come from something in front. A code that may have any 4xx has one
// with which the operation refuses something else as well.
func (o *Operation) Documents(code string, status int) bool {
	return o.refuses(func(r refusal) bool {
		return r.code == code && (r.status == status || r.status == 0 && status/100 == 4 && o.refusesWith(status))
	})
}

func (o *Operation) refusesWith(status int) bool {
	return o.refuses(func(r refusal) bool { return r.status == status })
}

// Health reports whether it is the assessment of the service, and Description whether it
// is that of the API.
func (o *Operation) Health() bool { return o.Path == "/health" }

// Description is described with [Operation.Health].
func (o *Operation) Description() bool { return o.Path == openAPI.Path }

func (o *Operation) refuses(is func(refusal) bool) bool {
	return slices.ContainsFunc(o.refusals, func(some []refusal) bool { return slices.ContainsFunc(some, is) })
}

// Fixed reports whether the path has no variable part.
func (o *Operation) Fixed() bool { return !strings.Contains(o.Path, "{") }
