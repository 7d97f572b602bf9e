package trading

import (
	"time"

	"github.com/shopspring/decimal"
)

// Position is an open position as one read saw it, some seconds old.
type Position struct {
	// Symbol is the market.
	Symbol string

	// Side is [Long] or [Short].
	Side Side

	// Size is in base units and positive on either side; see [Position.Signed].
	Size decimal.Decimal

	// Leverage is the one in force, after the service clamped what was asked. None
	// if the record does not tell, which the contract leaves open on a live account.
	Leverage Opt[decimal.Decimal]

	// EntryPrice is the average of all fills that added to the position.
	EntryPrice decimal.Decimal

	// Mark is the current price. It is unpriced if the service did not have one
	// on this read.
	Mark Mark

	// Notional is the value of the position in dollars; none if the record does
	// not tell.
	Notional Opt[decimal.Decimal]

	// Margin is what the position binds of the account, in dollars; none if the
	// record does not tell.
	Margin Opt[decimal.Decimal]

	// UnrealizedPnL is in dollars and before fees. There is none while the
	// market is unpriced, which is not a PnL of 0.
	UnrealizedPnL Opt[decimal.Decimal]

	// TakeProfit is the level set, [Clear] if there is none, and absent if the
	// record does not tell.
	TakeProfit Level `json:",omitzero"`

	// StopLoss is the level set, [Clear] if there is none, and absent if the
	// record does not tell. In the sandbox it fires only when the account or
	// its positions are read.
	StopLoss Level `json:",omitzero"`

	// OpenedAt is when the position was opened; the zero time if the record
	// does not tell.
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
