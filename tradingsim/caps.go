package tradingsim

import "github.com/shopspring/decimal"

// Caps are the risk caps of both environments. The contract names the codes and
// not the numbers, so these are the simulator's own. "" keeps the default.
type Caps struct {
	// MinNotional is the minimum order value in dollars: 10.
	MinNotional string
	// PerPosition is the largest notional of one position, in multiples of the
	// equity: 5.
	PerPosition string
	// TotalMargin is the largest margin of all positions, as a share of the
	// equity: 1.
	TotalMargin string
}

type caps struct{ minNotional, perPosition, totalMargin decimal.Decimal }

func newCaps(c Caps) caps {
	return caps{
		minNotional: mustOr("MinNotional", c.MinNotional, "10"),
		perPosition: mustOr("PerPosition", c.PerPosition, "5"),
		totalMargin: mustOr("TotalMargin", c.TotalMargin, "1"),
	}
}

// exposure is what an order would add to a book.
type exposure struct {
	market   *market
	side     string
	closes   decimal.Decimal // what closes an opposite position
	size     decimal.Decimal // what opens or adds
	parts    bool            // it trades in parts, of which each is held against the minimum
	price    decimal.Decimal
	leverage decimal.Decimal
}

// check judges the part of an order that opens or adds.
func (c caps) check(b *book, mark func(string) opt, e exposure) *refusal {
	v := b.value(mark)
	equity := b.equity(v).decimal()
	if !equity.IsPositive() {
		return refuse("NO_EQUITY", "The account has no equity (%s) to open a position with.", dollars(equity))
	}
	added := e.size.Mul(e.price)
	if !e.parts && added.LessThan(c.minNotional) {
		return c.tooSmall(e, added)
	}
	after, margin := added, b.margin(mark)
	if p := b.find(e.market.symbol); p != nil {
		margin = margin.Sub(p.margin(mark(p.symbol)).decimal())
		if p.side == e.side {
			after = after.Add(p.notional(e.price).decimal())
		}
	}
	if limit := equity.Mul(c.perPosition); after.GreaterThan(limit) {
		return refuse("PER_POSITION_CAP", "The position would be worth %s, %s above the limit of %s for one position.",
			dollars(after), dollars(after.Sub(limit)), dollars(limit))
	}
	margin = margin.Add(after.DivRound(e.leverage, quotientPlaces))
	if limit := equity.Mul(c.totalMargin); margin.GreaterThan(limit) {
		return refuse("TOTAL_MARGIN_CAP", "All positions would need %s of margin, %s above the limit of %s.",
			dollars(margin), dollars(margin.Sub(limit)), dollars(limit))
	}
	if limit := e.market.notionalCap; after.GreaterThan(limit) {
		return refuse("ASSET_NOTIONAL_CAP", "The position in %s would be worth %s, %s above the limit of %s for this market.",
			e.market.symbol, dollars(after), dollars(after.Sub(limit)), dollars(limit)).
			with("symbol", e.market.symbol)
	}
	return nil
}

// tooSmall names the worth of the order, and of the part that opens where that is another.
func (c caps) tooSmall(e exposure, added decimal.Decimal) *refusal {
	if e.closes.IsZero() {
		return refuse("MIN_NOTIONAL", "The order is worth %s; the minimum is %s.", dollars(added), dollars(c.minNotional))
	}
	return refuse("MIN_NOTIONAL", "Of the order's %s, %s close the opposite position and %s would open a new one; the minimum is %s. With reduceOnly it would only close.",
		dollars(e.closes.Mul(e.price).Add(added)), dollars(e.closes.Mul(e.price)), dollars(added), dollars(c.minNotional))
}
