package protect

import "github.com/shopspring/decimal"

// MovedFloor is what a daily loss floor becomes where it moves at rollover: the share of anchor
// that it was of opening, to the cent. The anchor is the balance or the equity that the day begins
// with. Opening must be greater than 0.
func MovedFloor(daily, opening, anchor decimal.Decimal) decimal.Decimal {
	return anchor.Mul(daily).DivRound(opening, 2)
}

// Assumed is what limits come to for positions of some notional value, in dollars, without what
// the marks of the moment add.
type Assumed struct {
	Shock decimal.Decimal // what the positions lose by a shock
	Line  decimal.Decimal // the room at which they are flattened
	Cost  decimal.Decimal // what flattening them costs
	Entry decimal.Decimal // the room that entering them takes, beside fees
	Keep  decimal.Decimal // the room that is never traded away
}

// Assume computes it for positions worth gross dollars, in markets with a leverage cap, of an
// account that began with starting dollars. A cap below 1 counts as 1.
func (l Limits) Assume(gross, leverageCap, starting decimal.Decimal) Assumed {
	l = l.withDefaults()
	shocks := gross.Mul(boundsOf(l.Shock, l.Gap, leverageCap).shock)
	line := needOf(gross, shocks, decimal.Zero, shortest)
	return Assumed{Shock: shocks, Line: line, Cost: closingCost(gross), Entry: line.Mul(entryNeed), Keep: l.Keep.Mul(starting)}
}

// entryNeed is how much more than the line the room has to be for an entry, as a factor.
var entryNeed = decimal.New(125, -2)
