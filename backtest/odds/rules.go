package odds

import (
	"errors"
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/protect"
)

// Rules are what an account is judged by, as it stands. Amounts are in dollars, floors and target
// levels of equity.
type Rules struct {
	// Opening is the balance that the account began with, and that DailyFloor belongs to.
	Opening decimal.Decimal
	// Balance and Equity are the account now; Opening unless set.
	Balance, Equity trading.Opt[decimal.Decimal]
	// Open is the notional value of what is open now. The fees of leaving it are taken off at once.
	Open decimal.Decimal
	// TakerFee is what leaving costs, as a share of the notional value; the contract's unless set.
	TakerFee trading.Opt[decimal.Decimal]

	// DailyFloor and GlobalFloor lose the account at or below them. Target passes it, once the
	// fees of leaving are paid; an account without one cannot pass.
	DailyFloor, GlobalFloor, Target trading.Opt[decimal.Decimal]
	// Daily is what the daily floor does at midnight, and Anchor what it moves with. Where they
	// are not said, each is judged, and the worse is the headline.
	Daily  backtest.DailyFloor
	Anchor Anchor

	// MinDays is how many days with trades a pass takes. What is traded until then counts.
	MinDays int
	// BestDay is the largest share of the profit that may come from one day, as a fraction; none
	// unless set.
	BestDay trading.Opt[decimal.Decimal]
}

// Anchor is the amount at midnight that a daily floor moves with.
type Anchor uint8

const (
	// AnyAnchor judges each, and the worse is the headline.
	AnyAnchor Anchor = iota
	// AtBalance is the balance.
	AtBalance
	// AtEquity is the equity.
	AtEquity
	// AtHigher is the higher of balance and equity.
	AtHigher
	// fixed is a floor that does not move.
	fixed
)

// String is such as "moving with the balance".
func (a Anchor) String() string {
	return [...]string{"each", "moving with the balance", "moving with the equity", "moving with the higher of balance and equity", "fixed"}[min(a, fixed)]
}

// RulesOf are those of a live or paper account as it stands. Positions are what is open on it.
// The contract does not show the balance that the daily floor belongs to: the present one is taken.
func RulesOf(state trading.AccountState, positions trading.Positions) (Rules, error) {
	r := Rules{
		Opening: state.Balance, Balance: trading.Some(state.Balance), Equity: trading.Some(state.Equity),
		DailyFloor: state.DailyLossFloor, GlobalFloor: state.GlobalLossFloor, Target: state.ProfitTarget,
	}
	if !state.Status.AllowsEntry() {
		return r, fmt.Errorf("odds: account %q is %s: it takes no entries, so nothing is left to forecast", state.ID, state.Status)
	}
	for _, p := range positions {
		notional, ok := p.Notional.Get()
		if mark, priced := p.Mark.Price(); !ok && priced {
			notional, ok = p.Size.Mul(mark), true
		}
		if !ok {
			return r, fmt.Errorf("odds: account %q: the position in %s has no price, so its equity is not known", state.ID, p.Symbol)
		}
		r.Open = r.Open.Add(notional.Abs())
	}
	return r, r.check()
}

// RulesOfTerms are those of an account of a backtest, when it begins.
func RulesOfTerms(t backtest.Terms) Rules {
	return Rules{
		Opening:    t.Opening,
		DailyFloor: trading.Some(t.DailyLossFloor), GlobalFloor: trading.Some(t.GlobalLossFloor), Target: trading.Some(t.ProfitTarget),
		Daily: t.DailyFloor, TakerFee: t.TakerFee,
	}
}

func (r Rules) check() error {
	var wrong []error
	if !r.Opening.IsPositive() {
		wrong = append(wrong, fmt.Errorf("odds: Rules.Opening is %s: it must be greater than 0", r.Opening))
	}
	_, daily := r.DailyFloor.Get()
	_, global := r.GlobalFloor.Get()
	_, target := r.Target.Get()
	if !daily && !global && !target {
		wrong = append(wrong, errors.New("odds: Rules has neither a floor nor a target: there is nothing to forecast"))
	}
	if r.MinDays < 0 {
		wrong = append(wrong, fmt.Errorf("odds: Rules.MinDays is %d: it must not be less than 0", r.MinDays))
	}
	if share, ok := r.BestDay.Get(); ok && (!share.IsPositive() || share.GreaterThan(decimal.NewFromInt(1))) {
		wrong = append(wrong, fmt.Errorf("odds: Rules.BestDay is %s: it is a fraction, and must be greater than 0 and at most 1", share))
	}
	if fee, ok := r.TakerFee.Get(); ok && (fee.IsNegative() || fee.GreaterThanOrEqual(decimal.NewFromInt(1))) {
		wrong = append(wrong, fmt.Errorf("odds: Rules.TakerFee is %s: it is a fraction, and must be at least 0 and less than 1", fee))
	}
	if r.Daily > backtest.MovingFloor || r.Anchor > AtHigher {
		wrong = append(wrong, errors.New("odds: Rules.Daily and Rules.Anchor must be among the constants"))
	}
	return errors.Join(wrong...)
}

// rule is what paths are judged by: rules with one reading of the daily floor.
type rule struct {
	reading       Anchor
	scale         float64 // what each profit and each position is multiplied by
	start, origin float64 // the equity now, and the balance at the beginning
	global, daily float64 // -Inf where there is none
	target        float64 // +Inf where there is none
	moves         float64 // the daily floor as a share of what it moves with
	anchor        Anchor  // fixed where it does not
	fee           float64 // of leaving, as a share of the notional
	minDays       int
	share         float64 // that the best day may have; 0 is any
	shock         float64 // of a jump, as a share of the notional
	guard         *guard
}

// guard is a protection: shares of the notional, and dollars.
type guard struct {
	line, cost, entry float64
	keep              float64
	days              int // until a flattened account is resumed; 0 is never
}

func level(o trading.Opt[decimal.Decimal], none float64) float64 {
	if v, ok := o.Get(); ok {
		return v.InexactFloat64()
	}
	return none
}

// million is what shares are computed of, since floors are cut to the cent.
var million = decimal.New(1, 6)

// rules are one for each reading of the daily floor; moving ones that cannot differ are one.
func (r Rules) rules(o Options, balances bool) (list []rule) {
	one := rule{
		reading: fixed, anchor: fixed, scale: 1, origin: r.Opening.InexactFloat64(), minDays: r.MinDays, share: level(r.BestDay, 0),
		global: level(r.GlobalFloor, math.Inf(-1)), daily: level(r.DailyFloor, math.Inf(-1)), target: level(r.Target, math.Inf(1)),
		fee: level(r.TakerFee, trading.TakerFee(million).InexactFloat64()/1e6),
	}
	one.start = level(r.Balance, one.origin)
	one.start = level(r.Equity, one.start) - one.fee*r.Open.Abs().InexactFloat64()
	one.shock = o.jump().Size.InexactFloat64()
	if o.Protection != nil {
		one.guard = o.Protection.guard(r.Opening)
	}
	daily, ok := r.DailyFloor.Get()
	if !ok || r.Daily != backtest.MovingFloor {
		list = append(list, one)
	}
	if !ok || r.Daily == backtest.FixedFloor {
		return list
	}
	anchors := []Anchor{r.Anchor}
	switch {
	case r.Anchor == AnyAnchor && balances: // no position over midnight: they are the same
		anchors = []Anchor{AtBalance}
	case r.Anchor == AnyAnchor:
		anchors = []Anchor{AtBalance, AtEquity, AtHigher}
	}
	for _, a := range anchors {
		one.reading, one.anchor = a, a
		one.moves = protect.MovedFloor(daily, r.Opening, million.Mul(million)).Div(million).InexactFloat64() / 1e6
		list = append(list, one)
	}
	return list
}
