// Package trading is a client for a perpetual-futures trading API, for bots that
// hold real money.
//
// A [Client] is made with [New] or [FromEnv] and is safe for concurrent use. Its
// [Sandbox] is the paper account, and the market data for live bots too; its [Live]
// leads to the real accounts, each an [Account]. A strategy that takes a [Trader]
// runs on either.
//
// # Did it happen?
//
// Every failed write is a [WriteError] with an [Outcome]: applied, not applied, or
// unknown. [OutcomeOf] asks any error for it, [AdviceOf] says what to do next, and
// [errors.Is] with a [Code] or a [Kind] says why. What may have arrived is never
// sent again where that could place it twice.
//
// Every write to a live account goes out under an idempotency [Key], the same on
// every attempt, and what can trade is in the [Journal] before its first byte.
// [Account.Resolve] finds out about a write whose outcome is unknown, and
// [Client.Recover] about those that an earlier run of the program left; they never
// place. While a write is unknown, entries in its symbol are refused.
//
// # Numbers
//
// Money, sizes, prices and percents are decimals, exact from the wire to the wire.
// What may be missing is a type of its own that gives its value only together with
// whether there is one: [Mark] a price, [Level] an optional number of an order,
// [Opt] anything else. Missing is never zero.
//
// # Holding back
//
// An entry is a write that can add exposure (an order); an exit is one that cannot
// (a close, a change of triggers). By default no entry is sent unless the service's
// health assessment, at most some seconds old, says that it is safe to trade; see
// [HealthGate], [Client.Halt] and [WithGuard]. Exits pass.
//
// # Time
//
// The context bounds a call, [WithAttemptTimeout] one attempt, [WithLifetime] how
// long after its decision a write may still be sent, and [WithGrace] how long a
// write in flight runs on when its caller has left. A wait that cannot end in time
// is not begun: the call fails at once, and [RetryAfter] says how long it would be.
//
// The service's rate limits are counted as sliding windows, and requests that wait are
// served by priority: exits before what finds out the outcome of a write, that before
// entries, and reads last; see [RateLimits], [WithPriority] and [Client.RateLimitUsage].
//
// # Around a strategy
//
// What is built on this API alone stands in packages of its own: journal keeps
// intents in a file, watch tells what changes, risk works out what an order would
// do, flatten gets out of the market, and record keeps an audit of every write, by
// the [Hooks] that anybody can use.
//
// # Tests
//
// Package tradingsim simulates the whole service, in process or on loopback, with
// faults and virtual time, and tradingtest joins a client to it.
package trading
