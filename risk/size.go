package risk

import (
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// ErrNoSize means that not even the smallest size fits.
var ErrNoSize = errors.New("risk: no size fits")

// Plan is an entry, and how much it may lose at its stop.
type Plan struct {
	// Side is the direction of the entry.
	Side trading.Side

	// Entry is the price that it is expected to fill at, Stop the price at which
	// it is closed.
	Entry, Stop decimal.Decimal

	// MaxLoss is how many dollars may be lost at the stop, the fees of both ways
	// included.
	MaxLoss decimal.Decimal

	// Decimals is how many decimal places the size has. It is rounded down.
	Decimals int32

	// Resting means that the entry is a limit that rests, and pays the maker fee.
	Resting bool
}

// maxDecimals is how many decimal places a size can have.
const maxDecimals = 30

// Size returns the largest size in base units that loses no more than MaxLoss when
// it is closed at the stop: MaxLoss divided by what one unit loses, which is the
// distance from the entry to the stop and the fees of getting in and out. A gap
// closes behind the stop and loses more.
//
// The error is [ErrNoSize] if that is less than one unit of the last place. Any
// other is a plan that makes no sense, such as a stop on the wrong side.
func Size(p Plan) (decimal.Decimal, error) {
	switch {
	case p.Side != trading.Long && p.Side != trading.Short:
		return decimal.Decimal{}, fmt.Errorf("risk: side %q is neither long nor short", p.Side)
	case !positive(p.Entry), !positive(p.Stop):
		return decimal.Decimal{}, fmt.Errorf("risk: from %s to %s must be between prices greater than 0", text(p.Entry), text(p.Stop))
	case !positive(p.MaxLoss):
		return decimal.Decimal{}, fmt.Errorf("risk: a loss of at most %s is no loss to size for", text(p.MaxLoss))
	case p.Decimals < -maxDecimals || p.Decimals > maxDecimals:
		return decimal.Decimal{}, fmt.Errorf("risk: a size with %d decimal places", p.Decimals)
	case !signed(p.Side, p.Entry.Sub(p.Stop)).IsPositive():
		return decimal.Decimal{}, fmt.Errorf("risk: the stop %s of a %s is not before its entry %s", p.Stop, p.Side, p.Entry)
	}
	in := trading.TakerFee(p.Entry)
	if p.Resting {
		in = trading.MakerFee(p.Entry)
	}
	unit := p.Entry.Sub(p.Stop).Abs().Add(in).Add(trading.TakerFee(p.Stop))
	size := down(p.MaxLoss, unit, p.Decimals)
	if !size.IsPositive() {
		return decimal.Decimal{}, fmt.Errorf("%w: one unit loses $%s, of $%s", ErrNoSize, unit, p.MaxLoss)
	}
	return size, nil
}

// down divides, and rounds toward zero.
func down(a, b decimal.Decimal, decimals int32) decimal.Decimal {
	quotient, _ := a.QuoRem(b, decimals)
	return quotient
}
