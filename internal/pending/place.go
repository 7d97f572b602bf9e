// Package pending names a write whose outcome may be unknown, and the parts of an account in which it can show.
package pending

import "github.com/tradingapi/trading-go/internal/spec"

// Place is a part of an account in which a write can show.
type Place struct {
	Environment spec.Environment
	Account     AccountID
	// Symbol is the market. It is empty for what waits on the account as a whole,
	// such as a resting order, which need not name its market.
	Symbol string
}

// AnyMarket is the symbol of a write whose market is not known: it can show in each of the
// account's.
const AnyMarket = "any market"

// AnyMarket is the place of such writes on the same account.
func (p Place) AnyMarket() Place { return Place{p.Environment, p.Account, AnyMarket} }
