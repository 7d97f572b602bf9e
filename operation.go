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

// The operations of the live accounts.
const (
	// OpAccounts lists the accounts.
	OpAccounts Operation = "GET /accounts"
	// OpState is an account's balance, equity, floors, target and status.
	OpState Operation = "GET /accounts/{accountId}"
	// OpPositions are an account's open positions.
	OpPositions Operation = "GET /positions"
	// OpTrades are an account's closed trades.
	OpTrades Operation = "GET /trades"
	// OpOpenOrders are an account's resting limits and running runs.
	OpOpenOrders Operation = "GET /accounts/{accountId}/orders"
	// OpFinishedRuns are an account's finished Pro runs.
	OpFinishedRuns Operation = "GET /accounts/{accountId}/runs"
	// OpFunding are an account's funding payments.
	OpFunding Operation = "GET /accounts/{accountId}/funding"
	// OpOrder places an order that fills now.
	OpOrder Operation = "POST /orders"
	// OpLimit places an order that rests.
	OpLimit Operation = "POST /orders/limit"
	// OpCancelOrder cancels a resting order.
	OpCancelOrder Operation = "POST /orders/cancel"
	// OpClose closes a position, or part of it.
	OpClose Operation = "POST /positions/close"
	// OpTriggers sets and clears a position's triggers.
	OpTriggers Operation = "POST /positions/tpsl"
	// OpConditional is an order that waits for a trigger price.
	OpConditional Operation = "POST /orders/conditional"
	// OpLadder is a ladder of limits.
	OpLadder Operation = "POST /orders/ladder"
	// OpTWAP spreads an order over time.
	OpTWAP Operation = "POST /orders/twap"
	// OpChase follows the market with a limit.
	OpChase Operation = "POST /orders/chase"
	// OpChaseTWAP spreads an order over time, each clip a chase.
	OpChaseTWAP Operation = "POST /orders/chase-twap"
	// OpSwarm is a swarm of orders.
	OpSwarm Operation = "POST /orders/swarm"
	// OpEditRun edits a running TWAP.
	OpEditRun Operation = "POST /runs/edit"
	// OpCancelRun cancels a Pro run.
	OpCancelRun Operation = "POST /runs/cancel"
)

// endpoint is what the client has to know of an operation to send it. The
// method and path are the operation's own text.
type endpoint struct {
	op      Operation
	keyless bool        // the key never goes there
	env     Environment // whose key it takes; empty for either
	write   bool        // changes the account, so every failure carries an outcome
	trades  bool        // a write that can trade: on a live account it is journaled, the rest shows in a read
	pro     bool        // it begins a run
	class   string      // the per-user limit of a live write, besides the key's own
	maxBody int         // bytes of result that can be right; more is refused unread
}

// limit returns how many bytes an answer of a status can have: no error is long.
func (e *endpoint) limit(status int) int {
	if status >= 200 && status < 300 {
		return e.maxBody
	}
	return smallAnswer
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
	endpointSandboxOrder     = endpoint{op: OpSandboxOrder, env: EnvSandbox, write: true, trades: true, maxBody: smallAnswer}
	endpointSandboxClose     = endpoint{op: OpSandboxClose, env: EnvSandbox, write: true, trades: true, maxBody: smallAnswer}
	endpointSandboxTriggers  = endpoint{op: OpSandboxTriggers, env: EnvSandbox, write: true, maxBody: smallAnswer}
	endpointSandboxReset     = endpoint{op: OpSandboxReset, env: EnvSandbox, write: true, maxBody: smallAnswer}
)

var (
	endpointAccounts     = endpoint{op: OpAccounts, env: EnvLive, maxBody: largeAnswer}
	endpointState        = endpoint{op: OpState, env: EnvLive, maxBody: smallAnswer}
	endpointPositions    = endpoint{op: OpPositions, env: EnvLive, maxBody: largeAnswer}
	endpointTrades       = endpoint{op: OpTrades, env: EnvLive, maxBody: largeAnswer}
	endpointOpenOrders   = endpoint{op: OpOpenOrders, env: EnvLive, maxBody: largeAnswer}
	endpointFinishedRuns = endpoint{op: OpFinishedRuns, env: EnvLive, maxBody: largeAnswer}
	endpointFunding      = endpoint{op: OpFunding, env: EnvLive, maxBody: largeAnswer}

	endpointOrder       = endpoint{op: OpOrder, env: EnvLive, write: true, trades: true, class: "market-orders", maxBody: smallAnswer}
	endpointLimit       = endpoint{op: OpLimit, env: EnvLive, write: true, trades: true, class: "resting-limits", maxBody: smallAnswer}
	endpointClose       = endpoint{op: OpClose, env: EnvLive, write: true, trades: true, class: "closes", maxBody: smallAnswer}
	endpointConditional = endpoint{op: OpConditional, env: EnvLive, write: true, trades: true, pro: true, class: "conditional", maxBody: smallAnswer}
	endpointLadder      = endpoint{op: OpLadder, env: EnvLive, write: true, trades: true, pro: true, class: "ladder", maxBody: smallAnswer}
	endpointTWAP        = endpoint{op: OpTWAP, env: EnvLive, write: true, trades: true, pro: true, class: "twap", maxBody: smallAnswer}
	endpointChase       = endpoint{op: OpChase, env: EnvLive, write: true, trades: true, pro: true, class: "chase", maxBody: smallAnswer}
	endpointChaseTWAP   = endpoint{op: OpChaseTWAP, env: EnvLive, write: true, trades: true, pro: true, class: "chase-twap", maxBody: smallAnswer}
	endpointSwarm       = endpoint{op: OpSwarm, env: EnvLive, write: true, trades: true, pro: true, class: "swarm", maxBody: smallAnswer}
	endpointCancelOrder = endpoint{op: OpCancelOrder, env: EnvLive, write: true, class: "cancels", maxBody: smallAnswer}
	endpointTriggers    = endpoint{op: OpTriggers, env: EnvLive, write: true, class: "tpsl-changes", maxBody: smallAnswer}
	endpointEditRun     = endpoint{op: OpEditRun, env: EnvLive, write: true, class: "run-changes", maxBody: smallAnswer}
	endpointCancelRun   = endpoint{op: OpCancelRun, env: EnvLive, write: true, class: "run-changes", maxBody: smallAnswer}
)

// fixedEndpoints are those whose path has no variable part.
var fixedEndpoints = [...]*endpoint{
	&endpointHealth, &endpointOpenAPI, &endpointMe,
	&endpointSandboxState, &endpointSandboxPositions, &endpointSandboxTrades, &endpointMarkets, &endpointPrices,
	&endpointSandboxOrder, &endpointSandboxClose, &endpointSandboxTriggers, &endpointSandboxReset,
	&endpointAccounts, &endpointPositions, &endpointTrades,
	&endpointOrder, &endpointLimit, &endpointClose, &endpointCancelOrder, &endpointTriggers,
	&endpointConditional, &endpointLadder, &endpointTWAP, &endpointChase, &endpointChaseTWAP, &endpointSwarm,
	&endpointEditRun, &endpointCancelRun,
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

// endpointOf returns the fixed endpoint of an operation; nil if there is none.
func endpointOf(op Operation) *endpoint {
	for _, e := range fixedEndpoints {
		if e.op == op {
			return e
		}
	}
	return nil
}
