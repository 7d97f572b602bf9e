package trading

import "strings"

// Operation is an endpoint as the contract writes it: method, space, path.
type Operation string

// The operations of the service, and of the sandbox.
const (
	// OpHealth is the safe-to-trade assessment.
	OpHealth Operation = "GET /health"
	// OpOpenAPI is the machine-readable description.
	OpOpenAPI Operation = "GET /openapi.json"
	// OpMe resolves a key to its owner.
	OpMe Operation = "GET /me"
	// OpSandboxState is the paper account; reading it fires triggers.
	OpSandboxState Operation = "GET /sandbox/account"
	// OpSandboxPositions are the paper account's positions; reading them fires triggers.
	OpSandboxPositions Operation = "GET /sandbox/positions"
	// OpSandboxTrades are the paper account's closed trades.
	OpSandboxTrades Operation = "GET /sandbox/trades"
	// OpMarkets is the tradeable universe.
	OpMarkets Operation = "GET /sandbox/markets"
	// OpPrices are the marks.
	OpPrices Operation = "GET /sandbox/prices"
	// OpSandboxOrder places an order on the paper account.
	OpSandboxOrder Operation = "POST /sandbox/orders"
	// OpSandboxClose closes a paper position, or part of it.
	OpSandboxClose Operation = "POST /sandbox/positions/close"
	// OpSandboxTriggers sets, edits and clears a paper position's triggers.
	OpSandboxTriggers Operation = "POST /sandbox/positions/tpsl"
	// OpSandboxReset wipes the paper account.
	OpSandboxReset Operation = "POST /sandbox/reset"
)

// endpoint is what the client has to know of an operation to send it. The
// method and path are the operation's own text.
type endpoint struct {
	op      Operation
	keyless bool        // the key never goes there
	env     Environment // whose key it takes; empty for either
	write   bool        // changes the account, so every failure carries an outcome
	maxBody int         // bytes of answer that can be right; more is refused unread
}

// How large an answer may be before it cannot be the service's: a list of
// 100,000 trades is below 32 MiB, and nothing else comes near 1 MiB.
const (
	smallAnswer = 1 << 20
	largeAnswer = 32 << 20
)

var (
	endpointHealth  = endpoint{op: OpHealth, keyless: true, maxBody: smallAnswer}
	endpointOpenAPI = endpoint{op: OpOpenAPI, keyless: true, maxBody: largeAnswer}
	endpointMe      = endpoint{op: OpMe, maxBody: smallAnswer}

	endpointSandboxState     = endpoint{op: OpSandboxState, env: EnvSandbox, maxBody: smallAnswer}
	endpointSandboxPositions = endpoint{op: OpSandboxPositions, env: EnvSandbox, maxBody: largeAnswer}
	endpointSandboxTrades    = endpoint{op: OpSandboxTrades, env: EnvSandbox, maxBody: largeAnswer}
	endpointMarkets          = endpoint{op: OpMarkets, env: EnvSandbox, maxBody: largeAnswer}
	endpointPrices           = endpoint{op: OpPrices, env: EnvSandbox, maxBody: largeAnswer}
	endpointSandboxOrder     = endpoint{op: OpSandboxOrder, env: EnvSandbox, write: true, maxBody: smallAnswer}
	endpointSandboxClose     = endpoint{op: OpSandboxClose, env: EnvSandbox, write: true, maxBody: smallAnswer}
	endpointSandboxTriggers  = endpoint{op: OpSandboxTriggers, env: EnvSandbox, write: true, maxBody: smallAnswer}
	endpointSandboxReset     = endpoint{op: OpSandboxReset, env: EnvSandbox, write: true, maxBody: smallAnswer}
)

// fixedEndpoints are those whose path has no variable part.
var fixedEndpoints = [...]*endpoint{
	&endpointHealth, &endpointOpenAPI, &endpointMe,
	&endpointSandboxState, &endpointSandboxPositions, &endpointSandboxTrades, &endpointMarkets, &endpointPrices,
	&endpointSandboxOrder, &endpointSandboxClose, &endpointSandboxTriggers, &endpointSandboxReset,
}

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
