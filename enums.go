package trading

import (
	"net/url"

	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
)

//go:generate env GOWORK=off go -C internal/tools run ./tables ../../openapi.json ../..

// Operation is an endpoint as the contract writes it: method, space, path.
type Operation = spec.Operation

// OpOpenAPI is the machine-readable description. It is the one operation that the
// description leaves out.
const OpOpenAPI Operation = "GET /openapi.json"

// endpointURLs joins the versioned root with the paths that have no variable part, once for
// the life of the client. All requests share them.
func endpointURLs(base *url.URL) map[*spec.Endpoint]*url.URL {
	urls := map[*spec.Endpoint]*url.URL{}
	for _, e := range spec.Endpoints() {
		if e.Fixed() {
			urls[e] = base.JoinPath(e.Path)
		}
	}
	return urls
}

// What the service sends is an open string: a value that this version does not
// know survives decoding and prints as it came. What only the caller sends is
// closed; see [OrderType].

// Environment is which of the two worlds a key, a call or an account belongs to.
type Environment = spec.Environment

// The environments.
const (
	EnvSandbox = spec.Sandbox // the paper account; keys begin with pk_test_
	EnvLive    = spec.Live    // real accounts and real money; keys begin with pk_live_
)

// Side is the direction of an order or a position. An order against an open
// position can shrink it, end it, or flip it to the other side.
type Side string

// The sides.
const (
	Long  Side = "long"  // gains when the price rises
	Short Side = "short" // gains when the price falls
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

// CloseCause is why a trade was closed: orderType of a trade on the wire.
type CloseCause string

// The causes.
const (
	CauseStopLoss   CloseCause = "stop_loss"   // a stop-loss that fired
	CauseTakeProfit CloseCause = "take_profit" // a take-profit that fired
	// CauseMarket is a close by hand, by an order that flipped the position, or
	// by the liquidation after a breach: the record does not distinguish them.
	CauseMarket CloseCause = "market"
)

// HealthStatus is the service's assessment of itself. It is about the whole
// platform: while it is [Healthy], a single market can still be unpriced.
type HealthStatus string

// The assessments.
const (
	Healthy     HealthStatus = "healthy"     // safe to trade
	Degraded    HealthStatus = "degraded"    // reachable, but the price feed or the risk loop is stale: hold off
	Unavailable HealthStatus = "unavailable" // a dependency that is down or cannot be judged: do not trade
)

// Feed is how fresh the service's prices are.
type Feed string

// The feeds.
const (
	FeedLive    Feed = "live"    // the only value under which prices can be trusted
	FeedStale   Feed = "stale"   // prices that are too old
	FeedUnknown Feed = "unknown" // freshness that could not be determined: not live
)

// Identifiers are types of their own, so that one cannot stand where another
// belongs: a run is not cancelled by the id of an order.

// AccountID names one live account. One live key reaches every account that its
// owner has, so each live call names its account.
type AccountID = pending.AccountID

// OrderID names a resting limit order.
type OrderID string

// RunID names a run: a Pro order that the service carries out over time.
type RunID string

// IntentID names a write of this program until its outcome is known, in errors, in
// [Client.Pending] and in the journal. The client generates it; the service never sees it.
type IntentID = pending.IntentID
