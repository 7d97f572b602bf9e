// Package trading is a client for a perpetual-futures trading API, for bots that
// hold real money. Every order happens once or not at all, and the program finds
// out which.
//
//	client, err := trading.FromEnv()
//	…
//	defer client.Close()
//	bought, err := client.Live.Account("acc_1").PlaceOrder(ctx, trading.Order{
//		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2"),
//	})
//	if trading.OutcomeOf(err) == trading.Unknown {
//		// Do not place it again: the client finds out. See Resolve and Pending.
//	}
//
// A [Client] is safe for concurrent use. Its [Sandbox] is the paper account, and the
// market data for live bots too. Its [Live] leads to the real accounts, each an
// [Account]. A strategy that takes a [Trader] runs on either.
//
// # Outcomes
//
// Every failed write is a [WriteError] with an [Outcome]: applied, not applied, or
// unknown. [OutcomeOf] asks any error for it, [AdviceOf] says what to do next, in steps
// that docs/errors.md explains, and [errors.Is] with a [Code] or a [Kind] says why. A
// lost reply normally ends as the write's real result. Where it does not, entries in that market are refused with
// [ErrPendingWrite] until the outcome is known: by [Client.Resolve], by [Client.Recover]
// after a restart, or by [Client.Acknowledge] from a person. A bot that trades real
// money sets [WithJournal] and [WithExclusiveAccounts], and names its decisions with
// [WithClientOrderID].
//
// # Numbers
//
// Money, sizes, prices and percents are decimals of github.com/shopspring/decimal, exact
// from the wire to the wire. [Dec] makes one of text.
// What may be missing gives its value only together with whether there is one: [Mark] a
// price, [Level] an optional price of an order, [Opt] anything else. Missing is never
// zero.
//
// # Safety gates
//
// An entry is a write that can add exposure. An exit is one that cannot: a close, a
// cancel, a change of levels, a reduce-only order. No entry is sent unless the service
// says that it is safe to trade: see [HealthGate], [Client.Halt] and [WithGuard]. Exits
// pass.
//
// # Time
//
// The context bounds a call, [WithAttemptTimeout] one attempt, [WithSendTTL] how long a
// write may still be sent, and [WithResolveTimeout] how long the call then waits for its
// outcome. Rate limits are counted as sliding windows and served by priority, exits
// first: see [RateLimits] and [Client.RateLimitUsage].
//
// # Other packages
//
// journal keeps writes in a file, watch delivers changes as events, risk computes what an
// order would do, flatten closes everything, record keeps an audit, tradingsim simulates
// the service, and tradingtest joins a client to it. The guides are in the folder docs.
package trading

import "runtime"

// Version is this client's version, as it stands in the User-Agent header.
const Version = "0.2.0"

// userAgent names the client, its platform and the program that uses it.
func userAgent(application string) string {
	agent := "trading-go/" + Version + " (" + runtime.Version() + "; " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	if application != "" {
		agent += " " + application
	}
	return agent
}
