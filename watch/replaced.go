package watch

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// evidence is what shows that a paper account was replaced, beyond one look.
type evidence struct {
	untouched trading.Opt[decimal.Decimal] // the balance of an account that nobody has traded on yet
	listed    *accountLook                 // the last look that read the trades
	wiped     *accountLook                 // the one before the trades began anew, a moment ago; nil if they did not
	wipedAt   time.Time
}

// note learns from a look.
func (e *evidence) note(is *accountLook, listed bool) {
	if listed {
		e.listed = is
	}
	if len(is.positions) == 0 && len(is.trades) == 0 {
		e.untouched = trading.Some(is.state.Balance)
	}
}

// replaced reports whether the account is another one than before. Only the paper
// account ever is. A live account that is passed and then active again is the same.
func (e *evidence) replaced(was, is *accountLook, fresh freshTrades) bool {
	switch {
	case was.state.ID != is.state.ID:
	case is.state.Environment != trading.EnvSandbox:
		return false
	case ended(was.state) && is.state.Status == trading.StatusSandboxActive && !is.state.Locked:
	case e.tradesWiped(is, fresh):
	case e.cleared(was, is):
	default:
		return false
	}
	*e = evidence{}
	return true
}

// ended reports whether only a reset leads on.
func ended(state trading.AccountState) bool {
	return state.Locked || state.Status == trading.StatusSandboxLocked || state.Status == trading.StatusSandboxPassed
}

// tradesWiped reports whether the trades began anew, and with them the balance and the
// positions. Where the balance follows later, since reads lag, nothing else may have
// happened that could have changed it.
func (e *evidence) tradesWiped(is *accountLook, fresh freshTrades) bool {
	switch {
	case fresh.anew && e.listed != nil:
		e.wiped, e.wipedAt = e.listed, is.at
	case e.wiped == nil:
		return false
	case len(is.positions) > 0 || len(is.trades) > 0 || is.at.Sub(e.wipedAt) > readLag:
		e.wiped = nil
		return false
	}
	return !is.state.Balance.Equal(e.wiped.state.Balance) && !survives(e.wiped.positions, is.positions)
}

// cleared reports whether everything is as it was before anybody traded, to the cent:
// a position that was closed would have left fees.
func (e *evidence) cleared(was, is *accountLook) bool {
	opening, known := e.untouched.Get()
	return known && len(is.positions) == 0 && len(is.trades) == 0 &&
		is.state.Balance.Equal(opening) && !was.state.Balance.Equal(opening)
}

// survives reports whether a position is still there.
func survives(was, is trading.Positions) bool {
	for pair := range pairs(was, is) {
		if pair.was != nil && pair.is != nil && continues(*pair.was, *pair.is) {
			return true
		}
	}
	return false
}
