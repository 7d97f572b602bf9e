package trading

import (
	"time"

	"github.com/shopspring/decimal"
)

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
	// does not tell.
	OpenedAt time.Time

	// ClosedAt is when it was closed; the zero time if the record does not tell.
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
