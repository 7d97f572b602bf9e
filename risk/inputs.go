package risk

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Inputs is what the caller knows when an order is decided on. Every field may be
// left out, and what is missing is not judged: the fewer inputs, the fewer
// problems can be found. All of them are some seconds old by the time the order
// arrives.
type Inputs struct {
	// Environment is where the order goes. The two differ in codes, in the
	// minimum order value, in what a passed account takes and in reduce-only. If
	// it is left out it is that of State, or else live, which is the stricter.
	Environment trading.Environment

	// Method is how the order is placed; the zero value is PlaceOrder.
	Method Method

	// Market is the order's market, for its leverage cap. A Market without a mark
	// means that it has none now, unless Mark or the position knows one.
	Market trading.Opt[trading.Market]

	// Mark is the price now. If it is unpriced, the mark of Market counts, and
	// then that of the open position.
	Mark trading.Mark

	// State is the account as it was read.
	State *trading.AccountState

	// Positions are all open positions of the account. An empty list is an
	// account that is known to be flat. None is not known: the order is then
	// worked out as if nothing were open, so that one which in truth reduces is
	// judged like an entry, and what depends on the positions (reduce-only,
	// flipping, the margin cap) is not judged.
	Positions trading.Opt[trading.Positions]

	// Caps are the risk caps that apply.
	Caps Caps

	// GuardBandPct is the tolerance around the expected price, in percent of it.
	// The contract does not show it.
	GuardBandPct trading.Opt[decimal.Decimal]

	// Closed is the code for which the service is known to take no order in this
	// market, from an earlier refusal or from the list of markets:
	// [trading.CodeBadSymbol] if it is not listed, [trading.CodeAssetDisabled] or
	// [trading.CodeMarketPaused].
	Closed trading.Code
}

// Caps are the risk caps in dollars, where the caller knows them: the contract
// names them and not their numbers. All but Market grow with the equity of the
// account, so those of a paper account are those of a live account only at equal
// equity.
type Caps struct {
	// MinOrder is the minimum value of an order, a clip or a rung. If it is left
	// out it is 10 dollars on a live account and not known on the sandbox.
	MinOrder trading.Opt[decimal.Decimal]

	// Position bounds the notional of one position (PER_POSITION_CAP).
	Position trading.Opt[decimal.Decimal]

	// Margin bounds the margin of all positions together (TOTAL_MARGIN_CAP).
	Margin trading.Opt[decimal.Decimal]

	// Market bounds the notional of a position in this market
	// (ASSET_NOTIONAL_CAP).
	Market trading.Opt[decimal.Decimal]
}

// liveMinOrder is the contract's, in dollars.
var liveMinOrder = decimal.NewFromInt(10)

// environment is where the order goes.
func (f *Inputs) environment() trading.Environment {
	switch {
	case f.Environment != "":
		return f.Environment
	case f.State != nil && f.State.Environment != "":
		return f.State.Environment
	default:
		return trading.EnvLive
	}
}

// minOrder is the minimum order value, if it is known.
func (f *Inputs) minOrder() (decimal.Decimal, bool) {
	if least, ok := f.Caps.MinOrder.Get(); ok {
		return least, true
	}
	return liveMinOrder, f.environment() == trading.EnvLive
}

// position is what is open in a market; known is false if nobody knows.
func (f *Inputs) position(symbol string) (p trading.Position, open, known bool) {
	all, known := f.Positions.Get()
	if !known {
		return trading.Position{}, false, false
	}
	p, open = all.In(symbol)
	return p, open, true
}

// mark is the price now. unpriced means that the market is known to have none.
func (f *Inputs) mark(symbol string) (price decimal.Decimal, ok, unpriced bool) {
	if price, ok = f.Mark.Price(); ok {
		return price, true, false
	}
	market, listed := f.Market.Get()
	if price, ok = market.Mark.Price(); ok {
		return price, true, false
	}
	if p, open, _ := f.position(symbol); open {
		if price, ok = p.Mark.Price(); ok {
			return price, true, false
		}
	}
	return decimal.Decimal{}, false, listed
}

// unpriced reports whether a record says that its market had no price: it has no
// mark and no PnL, but what a record has besides. One that a caller has made of
// less does not say so.
func unpriced(p trading.Position) bool {
	_, priced := p.Mark.Price()
	_, profit := p.UnrealizedPnL.Get()
	_, notional := p.Notional.Get()
	_, margin := p.Margin.Get()
	return !priced && !profit && (notional || margin)
}

// floors are the loss floors that are known, the global one first.
func floors(state *trading.AccountState) (known []floor) {
	for _, f := range [...]struct {
		level trading.Opt[decimal.Decimal]
		floor
	}{
		{state.GlobalLossFloor, floor{name: "global", code: trading.CodeGlobalLossLimit}},
		{state.DailyLossFloor, floor{name: "daily", code: trading.CodeDailyLossLimit}},
	} {
		if level, ok := f.level.Get(); ok {
			f.floor.level = level
			known = append(known, f.floor)
		}
	}
	return known
}

// floor is a loss floor: the breach is at it, not only below.
type floor struct {
	name  string
	code  trading.Code
	level decimal.Decimal
}
