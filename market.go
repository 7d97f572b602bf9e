package trading

import "github.com/shopspring/decimal"

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
