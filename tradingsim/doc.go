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
// ([RandomWalk]) or from a recording ([ReadCSV]). [Sim.Fault] breaks chosen calls, and
// [Sim.SetLag] lets each kind of read show an older state. [Sim.Terminal] and
// [Sim.Trade] do what another person does on the account, which is none of the bot's
// requests.
//
// [Sim.Ledger] lists what was really executed, whatever the bot was answered, and
// [Sim.Executed] what one key has done. [Sim.Report] is what a run came to: the equity
// curve of each account, its drawdown, trades and fees, and the requests and refusals,
// as values and as CSV.
//
// [Sim.Requests] says of each request what was planned for it and whether its answer
// arrived, and each execution names the request that it came from. [Sim.Watch] shows all
// of that as it happens, and [WithLog] writes it to a file, without a bound. Package
// [github.com/tradingapi/trading-go/tradingsim/control] offers the same from outside, to a
// person at a page and to programs in any language.
//
// # Faults
//
// Each is planned for a call, and [Together] joins several:
//
//   - never arrives: [RefuseConnection], [DropRequest], [GatewayError], [GatewayJSON], [Raw]
//   - arrives later: [ArriveLate]; a second time: [Repeat], [LateCopy]
//   - refused: [Fail], [RateLimit]
//   - works for a while: [Delay], or [Hang] where the caller is gone at once; it executes
//     after that, or ends as [Fail], [FailAfter], [Crash] or [CrashAfter] say
//   - fails after the work: [FailAfter], [CrashAfter]
//   - executed, and the answer never comes: [DropResponse], [TruncateResponse]; comes
//     late: [DelayResponse]; is another's: [GatewayErrorAfter], [GatewayJSONAfter],
//     [RawAfter]
//
// # Refusals
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
// # Interpretations
//
// Where the contract leaves room, the simulation takes one interpretation; a bot must
// come out right under the others too. [Interpretations] lists what changes under
// each, and [WithInterpretation] switches it on. Those that decide what becomes of an
// order:
//
//   - All routes share one set of idempotency keys; under 49 each has its own.
//   - A request is the same by its bytes; under 9 by what they mean.
//   - A different request under a key in flight meets 422; under 10 it meets 409.
//   - An overdue claim is released before a different request is compared with it;
//     under 50 such a request meets 422 all the same.
//   - A refused body is stored under its key; under 13 it is not, and under 51 fields
//     and symbol are judged before the key.
//   - After a 5xx that came after the work, the key runs again; under 12 its result is
//     unknown.
//   - Closed trades show symbol, side, size, leverage and times; under 53 none of them,
//     and [WithoutTradeFields] chooses.
//   - A live close takes 1 to 100 percent; under 54 anything above 0.
//   - A pass leaves a live account its positions with their levels, and the reduceOnly
//     orders and runs; the others end. Under 55 everything is closed.
//
// Money is exact: amounts are decimals from the request to the answer. Numbers
// that a test writes are therefore text, and a number that cannot be read, or
// an unknown name, panics: it is a mistake in the test, not in the bot.
package tradingsim

//go:generate go run ./internal/copyspec ../openapi.json openapi.json
