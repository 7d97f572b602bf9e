package contract

import "strings"

// reference has a row for each endpoint, from the index of the reference, its table of rate
// limits and its pages: method, path, kind of key, the parameter beside the key of live writes,
// the schemas of request and answer, and the per-user limit of a live write. It leaves out GET
// /openapi.json, which serves the file and is not in it.
var reference = []struct {
	id, method, path, key string
	parameter             string
	takes, answers        string
	limitClass            string
	perMinute             int
}{
	{"getHealth", "GET", "/health", "none", "", "", "Health", "", 0},
	{"getMe", "GET", "/me", "any", "", "", "Identity", "", 0},
	{"getSandboxAccount", "GET", "/sandbox/account", "test", "", "", "SandboxAccountResponse", "", 0},
	{"listSandboxPositions", "GET", "/sandbox/positions", "test", "", "", "SandboxPositionsResponse", "", 0},
	{"listSandboxTrades", "GET", "/sandbox/trades", "test", "", "", "SandboxTradesResponse", "", 0},
	{"listMarkets", "GET", "/sandbox/markets", "test", "", "", "SandboxMarketsResponse", "", 0},
	{"getPrices", "GET", "/sandbox/prices", "test", "query symbol optional", "", "SandboxPricesResponse", "", 0},
	{"placeSandboxOrder", "POST", "/sandbox/orders", "test", "", "SandboxOrderRequest", "SandboxOrderResponse", "", 0},
	{"closeSandboxPosition", "POST", "/sandbox/positions/close", "test", "", "SandboxCloseRequest", "SandboxCloseResponse", "", 0},
	{"setSandboxTPSL", "POST", "/sandbox/positions/tpsl", "test", "", "SandboxTPSLRequest", "SandboxTPSLResponse", "", 0},
	{"resetSandbox", "POST", "/sandbox/reset", "test", "", "", "SandboxResetResponse", "", 0},
	{"listAccounts", "GET", "/accounts", "live", "", "", "AccountsResponse", "", 0},
	{"getAccount", "GET", "/accounts/{accountId}", "live", "path accountId required", "", "AccountResponse", "", 0},
	{"listPositions", "GET", "/positions", "live", "query accountId required", "", "PositionsResponse", "", 0},
	{"listTrades", "GET", "/trades", "live", "query accountId required", "", "TradesResponse", "", 0},
	{"listAccountOrders", "GET", "/accounts/{accountId}/orders", "live", "path accountId required", "", "AccountOrdersResponse", "", 0},
	{"listAccountRuns", "GET", "/accounts/{accountId}/runs", "live", "path accountId required", "", "AccountRunsResponse", "", 0},
	{"listFunding", "GET", "/accounts/{accountId}/funding", "live", "path accountId required", "", "FundingResponse", "", 0},
	{"placeOrder", "POST", "/orders", "live", "", "OrderRequest", "OrderResponse", "market-orders", 150},
	{"placeLimitOrder", "POST", "/orders/limit", "live", "", "LimitOrderRequest", "LimitOrderResponse", "resting-limits", 150},
	{"cancelOrder", "POST", "/orders/cancel", "live", "", "CancelOrderRequest", "OrderCancelResponse", "cancels", 150},
	{"closePosition", "POST", "/positions/close", "live", "", "ClosePositionRequest", "PositionCloseResponse", "closes", 150},
	{"setTPSL", "POST", "/positions/tpsl", "live", "", "TPSLRequest", "TPSLResponse", "tpsl-changes", 150},
	{"placeConditional", "POST", "/orders/conditional", "live", "", "ConditionalOrderRequest", "RunResponse", "conditional", 20},
	{"placeLadder", "POST", "/orders/ladder", "live", "", "LadderOrderRequest", "RunResponse", "ladder", 20},
	{"placeTwap", "POST", "/orders/twap", "live", "", "TwapOrderRequest", "RunResponse", "twap", 20},
	{"placeChase", "POST", "/orders/chase", "live", "", "ChaseOrderRequest", "RunResponse", "chase", 20},
	{"placeChaseTwap", "POST", "/orders/chase-twap", "live", "", "ChaseTwapOrderRequest", "RunResponse", "chase-twap", 20},
	{"placeSwarm", "POST", "/orders/swarm", "live", "", "SwarmOrderRequest", "RunResponse", "swarm", 20},
	{"editRun", "POST", "/runs/edit", "live", "", "EditRunRequest", "RunEditResponse", "run-changes", 150},
	{"cancelRun", "POST", "/runs/cancel", "live", "", "CancelRunRequest", "RunCancelResponse", "run-changes", 150},
}

// members of each schema, copied from the tables of the reference: name, type,
// "null" where the reference allows it, and "?" where the member can be
// missing. "[]" is a list of the component, "{}" a map. What the reference
// names but does not show in full is as tolerant as its text.
var members = map[string]string{
	"Error": `error string, message string, reason string ?, symbol string ?,
		estSlippagePct number null ?, maxSlippagePct number null ?`,
	"Health":   `ok boolean, status string, feed string, service string, version string, asOf integer, cacheSeconds number`,
	"Identity": `userId string, environment string, keyId string`,

	"SandboxAccount": `id string, environment string, balance number, equity number, unrealizedPnL number,
		profitTarget number, dailyLossFloor number, globalLossFloor number, profitSplit number, status string, isLocked boolean`,
	"SandboxPosition": `symbol string, side string, size number, leverage number, entryPrice number,
		markPrice number null, notionalValue number, marginRequired number, unrealizedPnL number null,
		takeProfitPrice number null, stopLossPrice number null, openedAt string`,
	"SandboxFill": `price number, repriced boolean, ageMs number`,
	"ClosedTrade": `realizedPnL number, fee number, exitPrice number, orderType string,
		symbol string ?, side string ?, size number ?, entryPrice number ?, openedAt Timestamp ?, closedAt Timestamp ?`,
	"Market": `symbol string, label string, category string, maxLeverage number, markPrice number null`,

	"SandboxAccountResponse":   `ok boolean ?, account SandboxAccount`,
	"SandboxPositionsResponse": `ok boolean ?, positions []SandboxPosition`,
	"SandboxTradesResponse":    `ok boolean ?, trades []ClosedTrade`,
	"SandboxMarketsResponse":   `ok boolean ?, markets []Market`,
	"SandboxPrice":             `ok boolean ?, symbol string, price number`,
	"SandboxPriceMap":          `ok boolean ?, prices {}number`,

	"SandboxOrderRequest": `symbol string, side Side, size number, leverage number ?, orderType string ?, limitPrice number ?,
		takeProfitPrice number ?, stopLossPrice number ?, expectedPrice number ?, maxSlippagePct number ?`,
	"SandboxOrderResponse": `ok boolean, fill SandboxFill, position SandboxPosition null, account SandboxAccount`,
	"SandboxCloseRequest":  `symbol string, pct number ?`,
	"SandboxClose":         `symbol string, pct number, exitPrice number, realizedPnL number, fee number`,
	"SandboxCloseResponse": `ok boolean, closed SandboxClose, position SandboxPosition null, account SandboxAccount`,
	"SandboxTPSLRequest":   `symbol string, takeProfitPrice number null ?, stopLossPrice number null ?, closePct number null ?`,
	"SandboxTPSLResponse":  `ok boolean, position SandboxPosition`,
	"SandboxResetResponse": `ok boolean, account SandboxAccount`,

	"LiveAccount": `id string, status string, isTrial boolean, isTournament boolean, tournamentName string ?,
		challengeSize number, startingBalance number, currentBalance number, evalType string, phase integer,
		archived boolean, createdAt Timestamp, fundedFromAccountId string ?`,
	"LiveAccountDetail": `id string ?, status string, phase integer ?, balance number, equity number,
		profitTarget number ?, dailyLossFloor number ?, globalLossFloor number ?`,
	"LivePosition": `symbol string, side string, size number, leverage number ?, entryPrice number,
		markPrice number null ?, notionalValue number ?, marginRequired number ?, unrealizedPnL number null ?,
		takeProfitPrice number null ?, stopLossPrice number null ?, openedAt Timestamp ?`,
	"LiveFill":       `price number, size number, fee number`,
	"RestingOrder":   `id string`,
	"Run":            `runId string`,
	"FundingPayment": ``,

	"AccountsResponse":      `accounts []LiveAccount`,
	"AccountResponse":       `account LiveAccountDetail`,
	"PositionsResponse":     `positions []LivePosition`,
	"TradesResponse":        `trades []ClosedTrade`,
	"AccountOrdersResponse": `orders []RestingOrder, runs []Run`,
	"AccountRunsResponse":   `history []Run`,
	"FundingResponse":       `funding []FundingPayment`,

	"OrderRequest":            orderFields,
	"LimitOrderRequest":       strings.Replace(orderFields, "limitPrice number ?", "limitPrice number", 1),
	"ProOrderRequest":         orderFields,
	"ConditionalOrderRequest": orderFields + `, triggerPrice number, execKind ExecKind ?`,
	"LadderOrderRequest":      orderFields + `, startPrice number, endPrice number, totalOrders integer, sizeSkew ProSetting ?`,
	"TwapOrderRequest":        orderFields + `, durationMs integer, randomizeSize ProSetting ?, randomizeTime ProSetting ?`,
	"ChaseOrderRequest":       orderFields + `, chaseTo number ?`,
	"ChaseTwapOrderRequest":   orderFields + `, durationMs integer, chaseTo number ?`,
	"SwarmOrderRequest": orderFields + `, totalOrders integer, aggression ProSetting ?,
		slippageBps ProSetting ?, irregular ProSetting ?`,
	"CancelOrderRequest":   `accountId string, orderId string`,
	"ClosePositionRequest": `accountId string, symbol string, closePercent number ?`,
	"TPSLRequest":          `accountId string, symbol string, takeProfitPrice number null ?, stopLossPrice number null ?`,
	"EditRunRequest":       `accountId string, runId string, totalSize number`,
	"CancelRunRequest":     `accountId string, runId string`,

	"OrderResponse":         `success boolean, action string, fill LiveFill, position LivePosition null, newBalance number`,
	"LimitOrderResponse":    `success boolean, order RestingOrder`,
	"OrderCancelResponse":   `success boolean, orderId string ?, order RestingOrder ?`,
	"PositionCloseResponse": `success boolean, pnl string, fee string, newBalance string, status string`,
	"TPSLResponse":          `success boolean, position LivePosition ?`,
	"RunResponse":           `success boolean, runId string`,
	"RunEditResponse":       `success boolean, runId string ?, run Run ?`,
	"RunCancelResponse":     `success boolean, runId string ?, run Run ?`,
}

// orderFields are the fields of POST /orders, which every live order takes.
const orderFields = `accountId string, symbol string, side Side, size number, leverage number,
	orderType OrderType ?, limitPrice number ?, reduceOnly boolean ?, takeProfitPrice number ?,
	stopLossPrice number ?, expectedPrice number ?, maxSlippagePct number ?`

// choices are the components that are no objects.
var choices = []string{"SandboxPricesResponse", "Timestamp", "ProSetting", "Side", "OrderType", "ExecKind"}
