// Package tradingsim simulates the whole trading service: the sandbox and the
// live environment, every rule, every refusal, every limit of the contract.
// It is a test double for trading bots, and it needs nothing but Go.
//
//	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
//	client := &http.Client{Transport: sim.Transport()}
//	// … point the bot at sim.URL() with sim.SandboxKey() or sim.LiveKey()
//
// A simulation made by [New] is reached through [Sim.Transport], in process: no
// socket and no goroutine, so a bot runs unmodified inside a testing/synctest
// bubble and a month passes in seconds. [Start] also serves on loopback, for
// bots in another process or another language.
//
// Marks come from the test ([WithMark], [Sim.SetMark]), from a seeded walk
// ([RandomWalk]) or from a recording ([ReadCSV]). [Sim.Fault] breaks chosen
// calls: lost before or after execution, delayed, truncated, masked, repeated.
// [Sim.Ledger] tells what was really executed, whatever the bot was told, and
// [Sim.Report] what a run came to: the equity curve of each account, its
// drawdown, trades and fees, and the requests and refusals, as values and as CSV.
//
// Most refusals come about as they would with the service: by a wrong field, a
// cap ([WithCaps]), a floor ([WithAccount], [WithSandbox]). Some need a hand:
//
//   - asset_disabled, market_paused, ASSET_NOTIONAL_CAP, MAX_SLIPPAGE and
//     INSUFFICIENT_LIQUIDITY: [Sim.SetMarket]
//   - STALE_PRICE, NO_PRICE, order_rejected, fill_rejected, cap_exceeded and
//     equity_unavailable: [Sim.SetFillError]
//   - no_price: [Sim.SetMark] with ""
//   - concurrent_request and idempotency_in_flight: [Delay]
//   - idempotency_result_unknown: [Crash]
//   - revoked_api_key and api_access_denied: [Sim.RevokeKey], [Sim.SetAccess]
//   - any other, at any moment: [Fail]
//
// Where the contract leaves room, the simulation takes one interpretation; a bot must
// come out right under the others too, which [WithInterpretation] switches on.
//
// Money is exact: amounts are decimals from the request to the answer. Numbers
// that a test writes are therefore text, and a number that cannot be read, or
// an unknown name, panics: it is a mistake in the test, not in the bot.
package tradingsim

//go:generate go run ./internal/copyspec ../openapi.json openapi.json
