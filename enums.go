package trading

import "github.com/tradingapi/trading-go/ratelimit"

// What the service sends is an open string: a value that this version does not
// know survives decoding and prints as it came. What only the caller sends is
// closed; see [OrderType] and [ExecKind].

// Environment is which of the two worlds a key, a call or an account belongs to.
type Environment string

const (
	// EnvSandbox is the paper account; keys begin with pk_test_.
	EnvSandbox Environment = "sandbox"
	// EnvLive is real accounts and real money; keys begin with pk_live_.
	EnvLive Environment = "live"
)

// Side is the direction of an order or a position. An order against an open
// position can shrink it, end it, or flip it to the other side.
type Side string

const (
	// Long gains when the price rises.
	Long Side = "long"
	// Short gains when the price falls.
	Short Side = "short"
)

// Opposite returns the other side. A side that is neither [Long] nor [Short]
// has none and is returned as it is: it stays one that is refused.
func (s Side) Opposite() Side {
	switch s {
	case Long:
		return Short
	case Short:
		return Long
	default:
		return s
	}
}

// valid reports whether the service takes s in an order; anything else is
// bad_side.
func (s Side) valid() bool { return s == Long || s == Short }

// CloseCause is why a trade was closed: orderType of a trade on the wire.
type CloseCause string

const (
	// CauseStopLoss is a stop-loss that fired.
	CauseStopLoss CloseCause = "stop_loss"
	// CauseTakeProfit is a take-profit that fired.
	CauseTakeProfit CloseCause = "take_profit"
	// CauseMarket is a close by hand, by an order that flipped the position, or
	// by the liquidation after a breach: the record does not distinguish them.
	CauseMarket CloseCause = "market"
)

// EvalType is the kind of challenge that an account belongs to.
type EvalType string

const (
	// EvalOneStep is a challenge of one phase.
	EvalOneStep EvalType = "1-step"
	// EvalTwoStep is a challenge of two phases.
	EvalTwoStep EvalType = "2-step"
	// EvalGauntlet is the gauntlet.
	EvalGauntlet EvalType = "gauntlet"
	// EvalHyper is the hyper challenge.
	EvalHyper EvalType = "hyper"
)

// HealthStatus is the service's assessment of itself. It is about the whole
// platform: while it is [Healthy], a single market can still be unpriced.
type HealthStatus string

const (
	// Healthy is safe to trade.
	Healthy HealthStatus = "healthy"
	// Degraded is reachable, but the price feed or the risk loop is stale: hold
	// off.
	Degraded HealthStatus = "degraded"
	// Unavailable is a dependency that is down or cannot be judged: do not trade.
	Unavailable HealthStatus = "unavailable"
)

// Feed is how fresh the service's prices are.
type Feed string

const (
	// FeedLive is the only value under which prices can be trusted.
	FeedLive Feed = "live"
	// FeedStale is prices that are too old.
	FeedStale Feed = "stale"
	// FeedUnknown is freshness that could not be determined: not live.
	FeedUnknown Feed = "unknown"
)

// Identifiers are types of their own, so that one cannot stand where another
// belongs: a run is not cancelled by the id of an order.

// AccountID names one live account. One live key reaches every account that its
// owner has, so each live call names its account.
type AccountID string

// OrderID names a resting limit order.
type OrderID string

// RunID names a run: a Pro order that the service carries out over time.
type RunID string

// IntentID names a write of this program until its outcome is known, in errors, in
// [Client.Pending] and in the journal. The client generates it; the service never sees it.
type IntentID string

// Priority orders the calls that wait for a rate limit. The highest is served first,
// and within a priority whoever came first.
type Priority = ratelimit.Priority

// The priorities, lowest first. They are those of package ratelimit.
const (
	// PriorityRead is for reads, such as polling.
	PriorityRead = ratelimit.Read
	// PriorityEntry is for writes that can add exposure.
	PriorityEntry = ratelimit.Entry
	// PriorityRecovery is for finding out the outcome of a write. It may use half of
	// the reserve, and holds at most a third of a limit.
	PriorityRecovery = ratelimit.Recovery
	// PriorityExit is for closes, cancels, triggers and reduce-only orders, and for the
	// reads that they need. It may use the whole reserve.
	PriorityExit = ratelimit.Exit
)
