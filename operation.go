package trading

import (
	"slices"
	"strings"
)

//go:generate env GOWORK=off go -C internal/tools run ./tables ../../openapi.json ../..

// Operation is an endpoint as the contract writes it: method, space, path.
type Operation string

// OpOpenAPI is the machine-readable description. It is the one operation that the
// description leaves out.
const OpOpenAPI Operation = "GET /openapi.json"

// endpoint is what the client has to know of an operation to send it. The
// method and path are the operation's own text.
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

	refusals [][]refusal // the documented ones: its own, and those of all operations of its kind
}

// refusal is a code with a status that an operation documents. Status 0 is any 4xx.
type refusal struct {
	code   Code
	status int
}

// has reports whether the refusal is documented with a status.
func (r refusal) has(status int) bool {
	return r.status == status || r.status == 0 && status/100 == 4
}

// limit returns how many bytes an answer of a status can have: no error is long.
func (e *endpoint) limit(status int) int {
	if status >= 200 && status < 300 {
		return e.maxBody
	}
	return smallAnswer
}

// resolves reports whether it is found out what became of a write that is in doubt: of
// all that trade, and of live levels. On a live account they are journaled. A cancel shows
// in the list of open orders.
func (e *endpoint) resolves() bool { return e.trades || e.levels }

// documents reports whether the description gives the operation this refusal. What
// it does not give may come from an intermediary. Codes of the class "4xx" are
// documented with each status of that class.
func (e *endpoint) documents(code Code, status int) bool {
	return e.refuses(func(r refusal) bool { return r.code == code && r.has(status) })
}

// documentsStatus reports whether the description gives the operation any refusal
// with this status.
func (e *endpoint) documentsStatus(status int) bool {
	return e.refuses(func(r refusal) bool { return r.has(status) })
}

func (e *endpoint) refuses(is func(refusal) bool) bool {
	return slices.ContainsFunc(e.refusals, func(some []refusal) bool { return slices.ContainsFunc(some, is) })
}

// How large an answer may be before it cannot be the service's: a list of
// 100,000 trades is below 32 MiB, and nothing else comes near 1 MiB.
const (
	smallAnswer = 1 << 20
	largeAnswer = 32 << 20
)

// method returns the HTTP method of the operation.
func (o Operation) method() string {
	method, _, _ := strings.Cut(string(o), " ")
	return method
}

// path returns the path template of the operation, from the versioned root.
func (o Operation) path() string {
	_, path, _ := strings.Cut(string(o), " ")
	return path
}
