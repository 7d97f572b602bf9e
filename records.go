package trading

import (
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// AccountState is a live or paper account as one read saw it, some seconds old.
// Amounts are in dollars. ProfitTarget and the floors are absolute levels of
// equity: an account of 10000 that may lose 500 has its floor at 9500.
type AccountState struct {
	ID            AccountID            // names the account
	Environment   Environment          // the sandbox or live
	Status        AccountStatus        // decides what the service accepts on the account
	Locked        bool                 // of a paper account, true after a breach: only a reset unlocks it; of a live one, read Status
	Balance       decimal.Decimal      // the money of the account without its open positions
	Equity        decimal.Decimal      // balance and unrealized PnL together: the loss limits and the target are judged by it
	UnrealizedPnL Opt[decimal.Decimal] // the gross PnL of the open positions

	// ProfitTarget is the equity at which the account passes, once the taker
	// fees to close every position are deducted. A pass closes the book.
	ProfitTarget    Opt[decimal.Decimal]
	DailyLossFloor  Opt[decimal.Decimal] // the equity at or below which the day's loss limit is breached
	GlobalLossFloor Opt[decimal.Decimal] // the equity at or below which the account's loss limit is breached
	ProfitSplit     Opt[decimal.Decimal] // the trader's share of the profit, as a fraction: 0.8 is 80 percent

	Phase Opt[int] // of the challenge
	Extra Extra    `json:",omitempty"` // members that have no field here
}

// LossRoom returns how far the equity is above the higher of the loss floors, in
// dollars. The breach is at 0, not only below: at exactly the floor the account
// is lost.
//
// ok is false if no floor is known. If one of the two is not known, the room is
// the one above the other.
func (s AccountState) LossRoom() (room decimal.Decimal, ok bool) {
	for _, floor := range []Opt[decimal.Decimal]{s.DailyLossFloor, s.GlobalLossFloor} {
		level, known := floor.Get()
		if !known {
			continue
		}
		if above := s.Equity.Sub(level); !ok || above.LessThan(room) {
			room, ok = above, true
		}
	}
	return room, ok
}

// TargetGap returns how far the equity is below the profit target, in dollars;
// negative above it. The account passes a little later than at 0, since the
// service deducts the taker fees to close every position first. ok is false if
// the target is not known.
func (s AccountState) TargetGap() (gap decimal.Decimal, ok bool) {
	target, ok := s.ProfitTarget.Get()
	if !ok {
		return decimal.Decimal{}, false
	}
	return target.Sub(s.Equity), true
}

// Equal reports whether nothing differs between two states.
func (s AccountState) Equal(other AccountState) bool { return equalFields(s, other) }

// AccountStatus is what an account is in, and decides what the service accepts
// on it. Live and sandbox accounts have vocabularies of their own, which differ
// by case. A status that this version does not know allows exits and no entry.
type AccountStatus string

// The statuses.
const (
	StatusActive    AccountStatus = "ACTIVE"    // a live trial, challenge or tournament entry: everything is accepted
	StatusPurchased AccountStatus = "PURCHASED" // a legacy value that means the same as [StatusActive]
	StatusFunded    AccountStatus = "FUNDED"    // a live funded account: everything is accepted
	StatusPassed    AccountStatus = "PASSED"    // a live account that reached its target: closes, levels and ReduceOnly orders only
	StatusFailed    AccountStatus = "FAILED"    // a live account that broke a rule: nothing is accepted
	StatusExpired   AccountStatus = "EXPIRED"   // a tournament account past its end: nothing is accepted

	StatusSandboxActive AccountStatus = "active" // a paper account that trades
	StatusSandboxLocked AccountStatus = "locked" // a paper account after a breach: nothing is accepted until it is reset
	StatusSandboxPassed AccountStatus = "passed" // a paper account that reached its target; the contract does not show what it accepts
)

// AllowsEntry reports whether the service accepts new exposure on an account in
// this status. It is false for a status that this version does not know.
func (s AccountStatus) AllowsEntry() bool {
	switch s {
	case StatusActive, StatusPurchased, StatusFunded, StatusSandboxActive:
		return true
	default:
		return false
	}
}

// AllowsExit reports whether the service may accept closes, trigger levels and
// ReduceOnly orders on an account in this status. It is false only where the
// contract says that nothing is accepted, so it is true for a status that this
// version does not know: the way out is never blocked on a guess.
func (s AccountStatus) AllowsExit() bool {
	switch s {
	case StatusFailed, StatusExpired, StatusSandboxLocked:
		return false
	default:
		return true
	}
}

// Market is one market that can be traded, as GET /sandbox/markets lists it. A
// listed market can still be disabled or unpriced.
type Market struct {
	Symbol      string          // the name to give in orders, exactly as it stands here
	Label       string          // the name to show to people
	Category    string          // the group that the market belongs to
	MaxLeverage decimal.Decimal // what the leverage of an order is clamped to; it can be lower than the category's
	Mark        Mark            // the current price, some seconds old
	Extra       Extra           `json:",omitempty"` // members that have no field here
}

// Position is an open position as one read saw it, some seconds old. What is none, absent
// or the zero time the record does not show.
type Position struct {
	Symbol     string               // the market
	Side       Side                 // [Long] or [Short]
	Size       decimal.Decimal      // in base units and positive on either side; see [Position.Signed]
	Leverage   Opt[decimal.Decimal] // the one in force, after the service clamped what was asked
	EntryPrice decimal.Decimal      // the average of all fills that added to the position
	Mark       Mark                 // the current price; unpriced if the service had none on this read
	Notional   Opt[decimal.Decimal] // the value of the position, in dollars
	Margin     Opt[decimal.Decimal] // what the position binds of the account, in dollars

	// UnrealizedPnL is in dollars and before fees. There is none while the
	// market is unpriced, which is not a PnL of 0.
	UnrealizedPnL Opt[decimal.Decimal]

	// TakeProfit and StopLoss are the levels set, [Clear] if there is none. In the sandbox
	// they fire only when the account or its positions are read.
	TakeProfit Level `json:",omitzero"`
	StopLoss   Level `json:",omitzero"`

	OpenedAt time.Time // when the position was opened
	Extra    Extra     `json:",omitempty"` // members that have no field here
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
func (p Position) Equal(other Position) bool { return equalFields(p, other) }

// Positions are the open positions of an account. The contract promises no order. A row whose size is
// 0 is not open: a read leaves it out.
type Positions []Position

func (p *Position) isOpen() bool { return !p.Size.IsZero() }

// openOf are those of a list that are open.
func openOf(rows []Position) Positions {
	return slices.DeleteFunc(rows, func(p Position) bool { return !p.isOpen() })
}

// In returns the position in a market; open is false if there is none. One read
// proves little: it can be some seconds old.
func (ps Positions) In(symbol string) (p Position, open bool) {
	for _, p := range ps {
		if p.Symbol == symbol && p.isOpen() {
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
// RoundTripFee. What was earned is [Trade.NetPnL]. What is none or the zero time the
// record does not show.
type Trade struct {
	Symbol       string               // the market
	Side         Side                 // the side of the position that was closed
	Cause        CloseCause           // why it was closed
	Size         Opt[decimal.Decimal] // what was closed, in base units
	EntryPrice   Opt[decimal.Decimal] // the average entry of what was closed
	ExitPrice    decimal.Decimal      // the price of the close; behind the level of a trigger where there was a gap
	GrossPnL     decimal.Decimal      // in dollars, before fees
	RoundTripFee decimal.Decimal      // the fees for opening and closing together, in dollars
	OpenedAt     time.Time            // when the position was opened
	ClosedAt     time.Time            // when it was closed
	Extra        Extra                `json:",omitempty"` // members that have no field here
}

// NetPnL returns what the trade earned, in dollars: the gross PnL less the fees
// of the round trip, each once.
func (t Trade) NetPnL() decimal.Decimal { return t.GrossPnL.Sub(t.RoundTripFee) }

// Equal reports whether nothing differs between two trades. Trades have no ids in
// the contract, so two equal ones can still be two trades.
func (t Trade) Equal(other Trade) bool { return equalFields(t, other) }

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
// position that was opened by a resting limit breaks even a little earlier. A take-profit
// that is nearer to the average entry loses on every outcome.
//
// ok is false if side is neither [Long] nor [Short] or entry is not a positive
// price.
func BreakEven(side Side, entry decimal.Decimal) (exit decimal.Decimal, ok bool) {
	if side != Long && side != Short || !entry.IsPositive() || !wire.Writable(entry) {
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

// AccountInfo is a live account as the list of accounts shows it.
type AccountInfo struct {
	ID                          AccountID     // names the account
	Status                      AccountStatus // decides what the service accepts on the account
	EvalType                    string        // the kind of challenge: 1-step, 2-step, gauntlet or hyper
	Phase                       int           // of the evaluation
	Trial, Tournament, Archived bool          // kinds of accounts; archived ones are listed too
	TournamentName              string        // empty unless it is a tournament entry

	ChallengeSize, StartingBalance, CurrentBalance decimal.Decimal // in dollars

	FundedFrom AccountID // the challenge account that a funded account was issued from
	CreatedAt  time.Time // when the account was issued
	Extra      Extra     `json:",omitempty"` // members that have no field here
}

// OpenOrders is what waits on an account: resting limits, and Pro runs that run.
type OpenOrders struct {
	Limits []RestingOrder // rest until the market reaches them, whether or not the program runs
	Runs   []Run          // the Pro orders that have not finished
}

// RestingOrder is a resting limit order. The contract shows its id alone; the
// other fields are empty or none unless the record uses the names of the request.
type RestingOrder struct {
	ID         OrderID              // names the order
	Symbol     string               // the market
	Side       Side                 // [Long] or [Short]
	Size       Opt[decimal.Decimal] // in base units
	LimitPrice Opt[decimal.Decimal] // where it rests
	Extra      Extra                `json:",omitempty"` // every other member
}

// Run is a Pro order, running or finished. The contract shows its id alone; the
// other fields are empty unless the record uses the names of the request.
type Run struct {
	ID     RunID  // names the run
	Symbol string // the market
	Side   Side   // [Long] or [Short]
	Extra  Extra  `json:",omitempty"` // every other member
}

// FundingPayment is a funding payment of an account. The contract shows no field
// of it: everything is in Extra.
type FundingPayment struct {
	Extra Extra // the record
}

// Health is the service's assessment of itself, made at AsOf and reused for
// CacheFor. It is platform-wide: a single market can still have no price.
type Health struct {
	OK               bool          // true only when Status is Healthy
	Status           HealthStatus  // healthy, degraded or unavailable
	Feed             Feed          // how fresh the prices are; FeedUnknown is never to be taken for live
	Service, Version string        // what answered
	AsOf             time.Time     // when the assessment was made, by the service's clock
	CacheFor         time.Duration // how long the service reuses it
	// Age is how old it was when it came, by the service's clock; none where that is not known.
	Age   Opt[time.Duration]
	Extra Extra // members that have no field here
}

// maxHealthAge is how old an assessment may be that is used, whatever the service says of it.
const maxHealthAge = 5 * time.Second

// mostHealthAge is how old an assessment may come, twice as long as the service reuses one. The
// gate of entries is stricter: see [HealthGate].
const mostHealthAge = 10 * time.Second

// Old reports whether it was too old when it came, as a cache or a service that has stopped assessing
// shows it. It says nothing of now.
func (h *Health) Old() bool {
	age, known := h.Age.Get()
	return known && age > mostHealthAge
}

// Safe reports whether it is safe to trade: OK, Healthy and FeedLive together, in an assessment that is
// not old. Any value that this version does not know is not safe.
func (h *Health) Safe() bool {
	return h != nil && h.OK && h.Status == Healthy && h.Feed == FeedLive && !h.Old()
}

// HealthGate holds back entries unless the service says, in an assessment of the last
// five seconds by its own clock, that it is safe to trade; also where the assessment
// cannot be read. It is on by default. Exits pass. The zero value is the default gate.
type HealthGate struct {
	Off      bool // lets everything pass and asks nothing
	KeepWarm bool // refreshes the assessment from the first entry until Close, so that later entries hardly wait for it
}

// Meta describes how an answer came about. It is a field of every write's result and
// of every error that an answer caused; [ResponseInto] hands it out for reads.
type Meta struct {
	Operation Operation   // what was called
	Status    int         // the HTTP status of the last answer; 0 if there was none
	Header    http.Header // the last answer's header; it never holds the API key
	Body      Body        // the last answer's body as it came; the caller's to keep
	Key       Key         // the idempotency key that was sent last; empty on the sandbox and for reads

	Unjournaled error `json:"-"` // why an exit went out without being in the journal; nil if it did not
	Attempts    int   // how often the request was sent; 0 if it never was

	// Replayed means that the service repeated its stored first answer: fill, position
	// and balance in it are those of the time of execution.
	Replayed bool
	// Intent names a write that is tracked, and Settled means that the last answer is the
	// service's own and is what the call came to, so that it can be passed on. Both are set by
	// [ResponseInto] and [Client.Do] alone.
	Settled bool
	Intent  IntentID

	Sent, Received time.Time          // when the last attempt began, and when it ended
	RetryAfter     Opt[time.Duration] // how long the service asked to wait, where it did
}

// Fill is the execution of one order. Its price is the only authoritative one:
// every price that is read can be some seconds old. The entry price of the
// position afterwards is an average with what was there before.
type Fill struct {
	Price    decimal.Decimal      // what the order paid or got
	Size     Opt[decimal.Decimal] // what was filled, in base units; live only
	Fee      Opt[decimal.Decimal] // of this fill alone, in dollars; live only: a paper fill pays one too, and does not show it
	Repriced Opt[bool]            // as the sandbox reports it; the contract does not say more
	MarkAge  Opt[time.Duration]   // how old the mark was that the order filled at; sandbox only
}

// OrderResult is what an order did. If its Meta says that it is a replay, all else is as it
// was when the order was first answered.
type OrderResult struct {
	Action  string          // what happened in the service's words, such as "opened"; empty on the sandbox
	Fill    Fill            // the order's own execution
	Balance decimal.Decimal // the account's balance afterwards, in dollars

	// Position is the whole position afterwards, what was there before included;
	// none if the order ended it. Its Leverage is what the service made of the
	// one asked for. Whether it has the triggers that were asked for is to be
	// seen in its levels.
	Position Opt[Position]
	Account  Opt[AccountState] // the account afterwards; sandbox only

	// ExecutedTwice says whether an order that was sent again, and was not answered
	// by a replay, was executed both times, judged by its position against what was
	// known before. None if it was sent once, or if that is not known.
	// Live only. The contract leaves this open for a 5xx after the work whose
	// answer was lost; WithSendTTL(0) never sends again.
	ExecutedTwice Opt[bool]

	Meta  Meta  // how the answer came about
	Extra Extra `json:",omitempty"` // members that have no field here
}

// CloseResult is what a close did. PnL and Fee are as the service reports them:
// on a live account rounded to cents and on a basis that the contract does not
// show. For accounting read the trades.
type CloseResult struct {
	PnL     decimal.Decimal // in dollars; on the sandbox realizedPnL, which in the trades is gross
	Fee     decimal.Decimal // in dollars; whether it covers the opening too, the contract does not show
	Balance decimal.Decimal // the account's balance afterwards, in dollars
	Status  AccountStatus   // the account's status afterwards: a close can pass or fail the account

	// The sandbox alone reports these.
	ClosedPct Opt[decimal.Decimal] // how much of the position was closed, in percent
	ExitPrice Opt[decimal.Decimal] // the price of the close
	Left      Opt[Position]        // what is left of the position; none after a full close, and on a live account
	Account   Opt[AccountState]    // the account afterwards

	Meta  Meta  // how the answer came about
	Extra Extra `json:",omitempty"` // members that have no field here
}

// TPSLResult is what became of a change of triggers.
type TPSLResult struct {
	Position Opt[Position] // the position afterwards, with its levels
	Meta     Meta          // how the answer came about
	Extra    Extra         `json:",omitempty"` // members that have no field here
}

// LimitResult is a resting limit order that was accepted.
type LimitResult struct {
	Order RestingOrder // rests from now on, or has filled at once
	Meta  Meta         // how the answer came about
	Extra Extra        `json:",omitempty"` // members that have no field here
}

// RunResult is a Pro order that was accepted.
type RunResult struct {
	ID    RunID // names the run, for [Account.EditRun] and [Account.CancelRun]
	Meta  Meta  // how the answer came about
	Extra Extra `json:",omitempty"` // members that have no field here
}

// Ack is a cancel, or an edit of a run, that was accepted.
type Ack struct {
	Meta  Meta  // how the answer came about
	Extra Extra `json:",omitempty"` // the answer's members; the contract shows none of them
}
