// Package trading is a client for a perpetual-futures trading API, for bots that
// hold real money.
//
// A [Client] is made with [New] or [FromEnv] and is safe for concurrent use. Its
// [Sandbox] is the paper account, and the market data for live bots too; its [Live]
// leads to the real accounts, each an [Account]. A strategy that takes a [Trader]
// runs on a paper account and on a real one.
//
// # Did it happen?
//
// Every failed write is a [WriteError] with an [Outcome]: applied, not applied, or
// unknown. [OutcomeOf] asks any error for it, [AdviceOf] says what to do next, and
// [errors.Is] with a [Code] or a [Kind] says why.
//
// Every write to a live account has an idempotency [Key], the same on every attempt. A
// write that can trade is in the journal ([WithJournal]) before its first byte leaves.
// Where an answer is lost, the client asks the service for its stored answer, and reads
// the account: so a lost reply normally ends as the write's real result, with
// [Meta.Replayed]. A call waits for that as long as [WithResolveTimeout] says, and
// returns [Unknown] if the outcome is not known then. The client goes on in the background:
// [Client.Pending] lists such writes, [Client.Resolve] waits for one, [Client.Recover]
// for those that an earlier run of the program left, and [Client.Acknowledge] notes what
// a person has found. While a write is pending, entries in its market are refused with
// [ErrPendingWrite]; exits pass.
//
// An account that nobody else trades is declared by [WithExclusiveAccounts]: then what
// it shows also proves that a write was executed. [WithClientOrderID] names an order, so
// that a program that starts again and decides the same does not place it twice.
//
// Asking for a stored answer can place the write after two or three accidents, which the
// README describes. The result then comes with [ErrLate], and the [Resolution] says Late,
// or MaybeLate where the answer to the question was lost. [WithoutProbe] never asks that
// way.
//
// # Numbers
//
// Money, sizes, prices and percents are decimals, exact from the wire to the wire.
// What may be missing is a type of its own that gives its value only together with
// whether there is one: [Mark] a price, [Level] an optional price of an order,
// [Opt] anything else. Missing is never zero.
//
// # Safety gates
//
// An entry is a write that can add exposure (an order, an edit of a run). An exit is one
// that cannot (a close, a cancel, a change of triggers, a reduce-only order). By default no entry is sent unless the service's
// health assessment, at most some seconds old, says that it is safe to trade; see
// [HealthGate], [Client.Halt] and [WithGuard]. Exits pass.
//
// # Time
//
// The context bounds a call, [WithAttemptTimeout] one attempt, [WithSendTTL] how long
// after the call began a write may still be sent, and [WithResolveTimeout] how long the
// call then waits for its outcome. A call returns as soon as its context ends. A call does
// not begin a wait that cannot end in time: it fails at once, and [RetryAfter] returns how
// long the wait would be.
//
// The service's rate limits are counted as sliding windows. Requests that wait are
// served by priority: exits, then the requests that resolve a write, then entries, and
// reads last; see [RateLimits], [WithPriority] and [Client.RateLimitUsage].
//
// # Around a strategy
//
// Other packages use this API alone: journal keeps writes in a file, watch delivers
// changes as events, risk computes what an order would do, flatten closes everything on an
// account, and record keeps an audit of every write through the [Hooks].
//
// # Tests
//
// Package tradingsim simulates the whole service, in process or on loopback, with
// faults and virtual time, and tradingtest joins a client to it.
package trading

import "runtime"

// Version is this client's version, as it stands in the User-Agent header.
const Version = "0.1.0"

// userAgent names the client, its platform and the program that uses it.
func userAgent(application string) string {
	agent := "trading-go/" + Version + " (" + runtime.Version() + "; " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	if application != "" {
		agent += " " + application
	}
	return agent
}
