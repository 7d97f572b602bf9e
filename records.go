package trading

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Market is one market that can be traded, as GET /sandbox/markets lists it. A
// listed market can still be disabled or unpriced.
type Market struct {
	// Symbol is the name to give in orders, exactly as it stands here.
	Symbol string

	// Label is the name to show to people.
	Label string

	// Category is the group that the market belongs to.
	Category string

	// MaxLeverage is the cap that the leverage of an order is clamped to. It is
	// the one to rely on: a market can have a lower cap than its category.
	MaxLeverage decimal.Decimal

	// Mark is the current price, some seconds old.
	Mark Mark

	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// Position is an open position as one read saw it, some seconds old.
type Position struct {
	// Symbol is the market.
	Symbol string

	// Side is [Long] or [Short].
	Side Side

	// Size is in base units and positive on either side; see [Position.Signed].
	Size decimal.Decimal

	// Leverage is the one in force, after the service clamped what was asked. None
	// if the record does not say, which the contract leaves open on a live account.
	Leverage Opt[decimal.Decimal]

	// EntryPrice is the average of all fills that added to the position.
	EntryPrice decimal.Decimal

	// Mark is the current price. It is unpriced if the service did not have one
	// on this read.
	Mark Mark

	// Notional is the value of the position in dollars; none if the record does
	// not show it.
	Notional Opt[decimal.Decimal]

	// Margin is what the position binds of the account, in dollars; none if the
	// record does not say.
	Margin Opt[decimal.Decimal]

	// UnrealizedPnL is in dollars and before fees. There is none while the
	// market is unpriced, which is not a PnL of 0.
	UnrealizedPnL Opt[decimal.Decimal]

	// TakeProfit is the level set, [Clear] if there is none, and absent if the
	// record does not say.
	TakeProfit Level `json:",omitzero"`

	// StopLoss is the level set, [Clear] if there is none, and absent if the
	// record does not say. In the sandbox it fires only when the account or
	// its positions are read.
	StopLoss Level `json:",omitzero"`

	// OpenedAt is when the position was opened; the zero time if the record
	// does not show.
	OpenedAt time.Time

	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// Signed returns the size with a sign, in base units: negative for a [Short],
// positive for anything else.
func (p Position) Signed() decimal.Decimal {
	if p.Side == Short {
		return p.Size.Neg()
	}
	return p.Size
}

// Equal reports whether nothing differs between two positions, marks and PnL
// included.
func (p Position) Equal(other Position) bool {
	return p.Symbol == other.Symbol &&
		p.Side == other.Side &&
		p.Size.Equal(other.Size) &&
		p.Leverage.Equal(other.Leverage) &&
		p.EntryPrice.Equal(other.EntryPrice) &&
		p.Mark.Equal(other.Mark) &&
		p.Notional.Equal(other.Notional) &&
		p.Margin.Equal(other.Margin) &&
		p.UnrealizedPnL.Equal(other.UnrealizedPnL) &&
		p.TakeProfit.Equal(other.TakeProfit) &&
		p.StopLoss.Equal(other.StopLoss) &&
		p.OpenedAt.Equal(other.OpenedAt) &&
		p.Extra.equal(other.Extra)
}

// Positions are the open positions of an account. The contract promises no order.
type Positions []Position

// In returns the position in a market; open is false if there is none. One read
// proves little: it can be some seconds old.
func (ps Positions) In(symbol string) (p Position, open bool) {
	for _, p := range ps {
		if p.Symbol == symbol {
			return p, true
		}
	}
	return Position{}, false
}

// UnrealizedPnL returns the sum over all positions, in dollars and before fees.
// ok is false, and the sum 0, if it is not known of one of them: a sum that
// counted an unpriced position as 0 could hide any loss.
func (ps Positions) UnrealizedPnL() (sum decimal.Decimal, ok bool) {
	for _, p := range ps {
		pnl, ok := p.UnrealizedPnL.Get()
		if !ok {
			return decimal.Decimal{}, false
		}
		sum = sum.Add(pnl)
	}
	return sum, true
}

// Trade is a closed trade. It has two names of its own, because those on the wire
// mislead: realizedPnL is GrossPnL, and fee, which covers opening and closing, is
// RoundTripFee. What was earned is [Trade.NetPnL].
type Trade struct {
	// Symbol is the market.
	Symbol string

	// Side is the side of the position that was closed.
	Side Side

	// Cause is why it was closed.
	Cause CloseCause

	// Size is what was closed, in base units.
	Size Opt[decimal.Decimal]

	// EntryPrice is the average entry of what was closed.
	EntryPrice Opt[decimal.Decimal]

	// ExitPrice is the price of the close. After a trigger it can differ from
	// the level: a gap fills behind it.
	ExitPrice decimal.Decimal

	// GrossPnL is in dollars, before fees.
	GrossPnL decimal.Decimal

	// RoundTripFee is the fees for opening and closing together, in dollars.
	RoundTripFee decimal.Decimal

	// OpenedAt is when the position was opened; the zero time if the record
	// does not show.
	OpenedAt time.Time

	// ClosedAt is when it was closed; the zero time if the record does not say.
	ClosedAt time.Time

	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// NetPnL returns what the trade earned, in dollars: the gross PnL less the fees
// of the round trip, each once.
func (t Trade) NetPnL() decimal.Decimal { return t.GrossPnL.Sub(t.RoundTripFee) }

// Equal reports whether nothing differs between two trades. Trades have no ids in
// the contract, so two equal ones can still be two trades.
func (t Trade) Equal(other Trade) bool {
	return t.Symbol == other.Symbol &&
		t.Side == other.Side &&
		t.Cause == other.Cause &&
		t.Size.Equal(other.Size) &&
		t.EntryPrice.Equal(other.EntryPrice) &&
		t.ExitPrice.Equal(other.ExitPrice) &&
		t.GrossPnL.Equal(other.GrossPnL) &&
		t.RoundTripFee.Equal(other.RoundTripFee) &&
		t.OpenedAt.Equal(other.OpenedAt) &&
		t.ClosedAt.Equal(other.ClosedAt) &&
		t.Extra.equal(other.Extra)
}

// The contract's fee schedule, as fractions of notional in units of 1e-5.
const (
	takerFee = 45 // 4.5 bps
	makerFee = 15 // 1.5 bps
	feeUnit  = 100_000
)

// TakerFee returns the fee of a fill that takes its price, in dollars: 4.5 bps of
// the notional value. Market orders, limits that fill at once, closes and
// triggers all pay it. The sign of the notional does not matter.
func TakerFee(notional decimal.Decimal) decimal.Decimal {
	return notional.Abs().Mul(decimal.New(takerFee, -5))
}

// MakerFee returns the fee of a resting limit order that fills, in dollars: 1.5
// bps of the notional value. The sign of the notional does not matter.
func MakerFee(notional decimal.Decimal) decimal.Decimal {
	return notional.Abs().Mul(decimal.New(makerFee, -5))
}

// RoundTripFee returns the fees for getting in and out at the market, in dollars.
// Each half is 4.5 bps of what is traded then: the two notional values differ by
// what the price moved.
func RoundTripFee(atOpen, atClose decimal.Decimal) decimal.Decimal {
	return TakerFee(atOpen).Add(TakerFee(atClose))
}

// BreakEven returns the exit price at which a position that was opened at entry
// earns just the taker fees of getting in and out: it loses before it and gains
// beyond it. That is entry * 1.00045 / 0.99955 for a long and entry * 0.99955 /
// 1.00045 for a short.
//
// The fraction rarely has an end. It is cut eight digits behind the last digit of
// entry, and away from entry, so that closing exactly there never loses. A
// position that was opened by a resting limit breaks even a little earlier.
//
// ok is false if side is neither [Long] nor [Short] or entry is not a positive
// price.
func BreakEven(side Side, entry decimal.Decimal) (exit decimal.Decimal, ok bool) {
	if !side.valid() || !entry.IsPositive() || !wire.Writable(entry) {
		return decimal.Decimal{}, false
	}
	const more, less = feeUnit + takerFee, feeUnit - takerFee
	places := max(0, -entry.Exponent()) + 8
	if side == Short {
		// QuoRem cuts toward zero, which is away from the entry of a short.
		exit, _ = entry.Mul(decimal.NewFromInt(less)).QuoRem(decimal.NewFromInt(more), places)
		return exit, true
	}
	exit, rest := entry.Mul(decimal.NewFromInt(more)).QuoRem(decimal.NewFromInt(less), places)
	if !rest.IsZero() {
		exit = exit.Add(decimal.New(1, -places))
	}
	return exit, true
}

// NarrowestBracket returns how far from entry a take-profit must at least be so
// that it does not lose money after the fees of the round trip: the distance from
// entry to [BreakEven], which is about 9 bps of it. A narrower bracket loses on
// every outcome. The distance is exact for a fill at the level; a trigger fills
// at the price that it finds. After adding to a position, its average entry
// counts.
//
// ok is false if side is neither [Long] nor [Short] or entry is not a positive
// price.
func NarrowestBracket(side Side, entry decimal.Decimal) (distance decimal.Decimal, ok bool) {
	exit, ok := BreakEven(side, entry)
	if !ok {
		return decimal.Decimal{}, false
	}
	return exit.Sub(entry).Abs(), true
}

// AccountInfo is a live account as the list of accounts shows it.
type AccountInfo struct {
	// ID names the account.
	ID AccountID
	// Status decides what the service accepts on the account.
	Status AccountStatus
	// EvalType and Phase say which evaluation it is in.
	EvalType EvalType
	Phase    int
	// Trial, Tournament and Archived are kinds of accounts; archived ones are listed too.
	Trial, Tournament, Archived bool
	// TournamentName is empty unless it is a tournament entry.
	TournamentName string
	// ChallengeSize, StartingBalance and CurrentBalance are in dollars.
	ChallengeSize, StartingBalance, CurrentBalance decimal.Decimal
	// FundedFrom is the challenge account that a funded account was issued from.
	FundedFrom AccountID
	// CreatedAt is when the account was issued.
	CreatedAt time.Time
	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// OpenOrders is what waits on an account: resting limits, and Pro runs that run.
type OpenOrders struct {
	// Limits rest until the market reaches them, whether or not the program runs.
	Limits []RestingOrder
	// Runs are the Pro orders that have not finished.
	Runs []Run
}

// RestingOrder is a resting limit order. The contract shows its id alone; the
// other fields are filled where the record uses the names of the request.
type RestingOrder struct {
	// ID names the order.
	ID OrderID
	// Symbol and Side are empty if the record does not say.
	Symbol string
	Side   Side
	// Size, in base units, and LimitPrice are none if the record does not say.
	Size, LimitPrice Opt[decimal.Decimal]
	// Extra holds every other member.
	Extra Extra `json:",omitempty"`
}

// Run is a Pro order, running or finished. The contract shows its id alone; the
// other fields are filled where the record uses the names of the request.
type Run struct {
	// ID names the run.
	ID RunID
	// Symbol and Side are empty if the record does not say.
	Symbol string
	Side   Side
	// Extra holds every other member.
	Extra Extra `json:",omitempty"`
}

// FundingPayment is a funding payment of an account. The contract shows no field
// of it: everything is in Extra.
type FundingPayment struct {
	// Extra holds the record.
	Extra Extra
}

// LimitResult is a resting limit order that was accepted.
type LimitResult struct {
	// Order rests from now on, or has filled at once.
	Order RestingOrder
	// Meta describes how the answer came about.
	Meta Meta
	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// RunResult is a Pro order that was accepted.
type RunResult struct {
	// ID names the run, for [Account.EditRun] and [Account.CancelRun].
	ID RunID
	// Meta describes how the answer came about.
	Meta Meta
	// Extra holds members that have no field here.
	Extra Extra `json:",omitempty"`
}

// Ack is a cancel, or an edit of a run, that was accepted.
type Ack struct {
	// Meta describes how the answer came about.
	Meta Meta
	// Extra holds the answer's members; the contract shows none of them.
	Extra Extra `json:",omitempty"`
}

// Health is the service's assessment of itself, made at AsOf and reused for
// CacheFor. It is platform-wide: a single market can still have no price.
type Health struct {
	// OK is true only when Status is Healthy.
	OK bool
	// Status is healthy, degraded or unavailable.
	Status HealthStatus
	// Feed is how fresh the prices are; FeedUnknown is never to be taken for live.
	Feed Feed
	// Service and Version name what answered.
	Service, Version string
	// AsOf is when the assessment was made, by the service's clock.
	AsOf time.Time
	// CacheFor is how long the service reuses it.
	CacheFor time.Duration
	// Extra holds members that have no field here.
	Extra Extra
}

// Safe reports whether it is safe to trade: OK, Healthy and FeedLive together.
// Any value that this version does not know is not safe.
func (h *Health) Safe() bool {
	return h != nil && h.OK && h.Status == Healthy && h.Feed == FeedLive
}

// HealthGate holds back entries unless the service says, in an assessment that is
// fresh, that it is safe to trade; also where the assessment cannot be read. It
// is on by default. Exits pass. The zero value is the default gate.
type HealthGate struct {
	// Off lets everything pass and asks nothing.
	Off bool
	// KeepWarm refreshes the assessment in the background from the first entry
	// until Close, so that no later entry waits for it.
	KeepWarm bool
	// Strict holds back exits too.
	Strict bool
}

// Meta describes how an answer came about. It is a field of every write's result and
// of every error that an answer caused; [ResponseInto] hands it out for reads.
type Meta struct {
	// Operation is what was called.
	Operation Operation
	// Status is the HTTP status of the last answer; 0 if there was none.
	Status int
	// Header is the last answer's header. It never holds the API key.
	Header http.Header
	// Body is the last answer's body as it came. It is the caller's to keep.
	Body Body
	// Key is the idempotency key that was sent last; empty on the sandbox and for reads.
	Key Key
	// Replayed means that the service repeated its stored first answer: fill, position
	// and balance in it are those of the time of execution.
	Replayed bool
	// ResolvedAfter is how old a replayed answer can be: the time since the call began.
	ResolvedAfter time.Duration
	// Unjournaled is why an exit went out without being in the journal; nil if it
	// did not.
	Unjournaled error `json:"-"`
	// Attempts counts how often the request was sent; 0 if it never was.
	Attempts int
	// Sent is when the last attempt began, Received when it ended.
	Sent, Received time.Time
	// RateLimit is the key's rate limit, where the answer says it.
	RateLimit Opt[RateLimit]
	// RetryAfter is how long the service asked to wait; 0 if it did not.
	RetryAfter time.Duration
}

// RateLimit is a key's rate limit, by the X-RateLimit headers of a 429.
type RateLimit struct {
	// Limit is the number of requests in a window.
	Limit int
	// Remaining is what is left of it.
	Remaining int
	// Reset is when the window ends, by the service's clock.
	Reset time.Time
}

// first is [http.Header.Get] for a name in the form in which net/http keeps it, which
// Get would look through each time.
func first(header http.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// maxRetryAfter bounds what a Retry-After can ask for: the service's own window
// is a minute, so an hour is already somebody else's mistake.
const maxRetryAfter = time.Hour

// parseRetryAfter reads both forms of the header, seconds and a date, and bounds
// them. A date is judged against the answer's own Date where it has one, since
// the clock of this machine may be wrong.
func parseRetryAfter(header http.Header, now time.Time) time.Duration {
	text := first(header, "Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 63); err == nil {
		// Compared as seconds: as a duration an absurd number would overflow.
		if seconds >= uint64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(first(header, "Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

// The X-RateLimit headers, in the form that net/http keeps them.
const (
	headerLimit     = "X-Ratelimit-Limit"
	headerRemaining = "X-Ratelimit-Remaining"
	headerReset     = "X-Ratelimit-Reset"
)

// parseRateLimit reads the X-RateLimit headers; none unless all three are numbers.
func parseRateLimit(header http.Header) Opt[RateLimit] {
	if header[headerLimit] == nil {
		return Opt[RateLimit]{} // nearly always, so it costs one look
	}
	limit, errLimit := strconv.Atoi(first(header, headerLimit))
	remaining, errRemaining := strconv.Atoi(first(header, headerRemaining))
	reset, errReset := strconv.ParseInt(first(header, headerReset), 10, 64)
	if errLimit != nil || errRemaining != nil || errReset != nil {
		return Opt[RateLimit]{}
	}
	return Some(RateLimit{Limit: limit, Remaining: remaining, Reset: time.Unix(reset, 0)})
}

// isReplay reports whether a header says that the answer is a stored one.
func isReplay(header http.Header) bool {
	return strings.EqualFold(first(header, "Idempotent-Replayed"), "true")
}
