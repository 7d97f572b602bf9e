package odds

import (
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/protect"
)

// Options say what is asked of a history. Rules are required.
type Options struct {
	// Rules are those of the account as it stands, and Then those of the phases that follow when
	// it passes, each a new account.
	Rules Rules
	Then  []Rules
	// Horizon is after how many days the forecast ends. Unless set, paths go on until the account
	// is decided, 1,000 days at most.
	Horizon int
	// Seed is the number that the random draws follow from.
	Seed uint64
	// Outer and Inner are how many resampled histories there are, and how many paths each has:
	// 200 and 500 unless set.
	Outer, Inner int
	// Block is the mean length of a block, in days; chosen from the history unless set.
	Block float64
	// Jump is a sudden move of the market against the largest position of a day. A history does
	// not hold the jumps that it has not seen. Unless set, it is the shock that package protect
	// assumes, once a year.
	Jump *Jump
	// Protection lets the paths go on under package protect.
	Protection *Protection
	// Selected says that the history is the best of several.
	Selected *Selected
	// Size asks which size is best; nil does not.
	Size *Size
}

// Jump is a sudden move of the market.
type Jump struct {
	// Size is how far the market moves, as a fraction of the price, and PerYear how often. Either
	// may be 0, for none.
	Size, PerYear decimal.Decimal
}

// Protection is the account under package protect: a day whose positions the room is too small
// for is not traded, and an equity at its line is flattened.
type Protection struct {
	// Limits are those of protect.Options.
	Limits protect.Limits
	// LeverageCap is that of the markets: 1 unless set, which gives the widest bounds.
	LeverageCap decimal.Decimal
	// Resume is after how many days a flattened account is resumed: 1 is the next day. 0 is
	// never, so the account is neither passed nor lost.
	Resume int
}

func (p *Protection) guard(opening decimal.Decimal) *guard {
	a := p.Limits.Assume(million, p.LeverageCap, opening)
	share := func(d decimal.Decimal) float64 { return d.InexactFloat64() / 1e6 }
	return &guard{line: share(a.Line), cost: share(a.Cost), entry: share(a.Entry), keep: a.Keep.InexactFloat64(), days: p.Resume}
}

// mostDays is how long a path without a horizon goes on.
const mostDays = 1000

// jump is the one that is assumed. Of a market whose leverage cap is not known it has the shock of
// a market at 5x, as package protect states it.
func (o Options) jump() Jump {
	if o.Jump != nil {
		return *o.Jump
	}
	limits, leverageCap := protect.Limits{}, usualCap
	if o.Protection != nil {
		limits = o.Protection.Limits
		if o.Protection.LeverageCap.IsPositive() {
			leverageCap = o.Protection.LeverageCap
		}
	}
	shock := limits.Assume(million, leverageCap, decimal.Zero).Shock
	return Jump{Size: shock.Div(million), PerYear: decimal.NewFromInt(1)}
}

var usualCap = decimal.NewFromInt(5)

func (o Options) withDefaults() (Options, error) {
	wrong := []error{o.Rules.check()}
	for _, r := range o.Then {
		wrong = append(wrong, r.check())
	}
	for _, f := range []struct {
		name string
		of   *int
		to   int
	}{{"Outer", &o.Outer, 200}, {"Inner", &o.Inner, 500}} {
		if *f.of == 0 {
			*f.of = f.to
		}
		if *f.of < 20 || *f.of > 100_000 {
			wrong = append(wrong, fmt.Errorf("odds: Options.%s is %d: it must be between 20 and 100000", f.name, *f.of))
		}
	}
	if o.Horizon < 0 || o.Horizon > 3650 {
		wrong = append(wrong, fmt.Errorf("odds: Options.Horizon is %d: it must be between 0 and 3650 days", o.Horizon))
	}
	if o.Block != 0 && !(o.Block >= 1) {
		wrong = append(wrong, fmt.Errorf("odds: Options.Block is %v: it must be 1 day at least", o.Block))
	}
	if j := o.jump(); j.Size.IsNegative() || j.Size.GreaterThan(decimal.NewFromInt(1)) || j.PerYear.IsNegative() || j.PerYear.GreaterThan(decimal.NewFromInt(365)) {
		wrong = append(wrong, fmt.Errorf("odds: Options.Jump is %s of the price, %s times a year: it must be a fraction, at most daily", j.Size, j.PerYear))
	}
	if p := o.Protection; p != nil && p.Resume < 0 {
		wrong = append(wrong, fmt.Errorf("odds: Protection.Resume is %d: it must not be less than 0", p.Resume))
	}
	if _, ok := o.Rules.Target.Get(); !ok && len(o.Then) > 0 {
		wrong = append(wrong, errors.New("odds: Options.Then follows a pass, and Rules has no target"))
	}
	wrong = append(wrong, o.Size.check(), o.Selected.check())
	return o, errors.Join(wrong...)
}

// days is how many a path has at most.
func (o Options) days() int {
	if o.Horizon > 0 {
		return o.Horizon
	}
	return mostDays
}
