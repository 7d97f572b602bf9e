package tradingsim

import "github.com/shopspring/decimal"

// Book is the external exchange's order book, as the slippage check sees it.
// Both sides are alike, and levels follow the mark, which is the mid price.
type Book struct {
	// Levels are from the best price outwards. Without any, the book fills
	// every size at the mark.
	Levels []BookLevel
	// Unreadable makes orders proceed without the check, as the contract says.
	Unreadable bool
}

// BookLevel is an amount on offer at a distance from the mid price.
type BookLevel struct {
	Bps  string // distance in hundredths of a percent
	Size string // base units
}

type depth struct {
	levels     []depthLevel
	unreadable bool
}

type depthLevel struct{ bps, size decimal.Decimal }

func newDepth(b Book) depth {
	d := depth{unreadable: b.Unreadable}
	for _, l := range b.Levels {
		d.levels = append(d.levels, depthLevel{must("book distance", l.Bps), must("book size", l.Size)})
	}
	return d
}

// slippage walks the book: the distance of the average fill from the mid price
// in percent. It is absent where the book cannot fill the size.
func (d depth) slippage(size decimal.Decimal) opt {
	if len(d.levels) == 0 {
		return some(decimal.Zero)
	}
	left, weighted := size, decimal.Zero
	for _, l := range d.levels {
		take := decimal.Min(left, l.size)
		weighted = weighted.Add(take.Mul(l.bps))
		if left = left.Sub(take); left.IsZero() {
			return some(weighted.DivRound(size.Mul(hundred), quotientPlaces))
		}
	}
	return opt{}
}

// checkSlippage is the max slippage rule of both environments.
func (m *market) checkSlippage(in *intent) *refusal {
	size, limit := in.size, in.maxSlippage
	if m.depth.unreadable {
		return nil
	}
	estimate := m.depth.slippage(size)
	if !estimate.set {
		return slippageRefusal("INSUFFICIENT_LIQUIDITY", opt{}, limit,
			"The order book cannot fill "+size.String()+" "+m.symbol+"; try a smaller size.")
	}
	estimate.value = estimate.value.Add(in.beyond())
	if estimate.value.GreaterThan(limit) {
		return slippageRefusal("MAX_SLIPPAGE", some(estimate.value.Round(4)), limit,
			"The estimated slippage of "+estimate.value.Round(4).String()+"% is above your maximum of "+
				limit.String()+"%; nothing was opened.")
	}
	return nil
}
