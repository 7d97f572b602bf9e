package flatten

import (
	"slices"

	"github.com/tradingapi/trading-go"
)

// has reports whether something in a symbol is to be flattened. A record without a
// symbol may be in any.
func (o Options) has(symbol string) bool {
	return o.Symbols == nil || symbol == "" || slices.Contains(o.Symbols, symbol)
}

// leaves reports whether something that may be in one of the symbols is left alone
// all the same.
func (o Options) leaves(symbol string) bool {
	return o.LeaveUnnamed && o.Symbols != nil && symbol == ""
}

// pick returns the part of what the reads showed that is to be flattened.
func (o Options) pick(positions []trading.Position, waiting trading.OpenOrders) (l Look) {
	for _, p := range positions {
		if o.has(p.Symbol) {
			l.Positions = append(l.Positions, p)
		}
	}
	for _, limit := range waiting.Limits {
		if o.has(limit.Symbol) {
			l.Limits = append(l.Limits, limit)
		}
	}
	for _, run := range waiting.Runs {
		if o.has(run.Symbol) {
			l.Runs = append(l.Runs, run)
		}
	}
	return l
}
