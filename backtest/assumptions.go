package backtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// Assumption is something that a result takes for granted.
type Assumption struct {
	Name string // what it is about
	Text string // what is assumed, in words
}

// Assumptions are what the headline path assumes of the service and the market, in the order in
// which a report has them.
func (r *Result) Assumptions() []Assumption {
	p := r.Worse()
	funding := "no funding"
	if f := r.Frictions.Funding; f != nil {
		funding = fmt.Sprintf("of %s: $%s", f.name, p.Funding.StringFixed(2))
	} else if !p.Funding.IsZero() {
		funding = "as the simulation paid it: $" + p.Funding.StringFixed(2)
	}
	inside := "none: the prices are marks"
	if p.Order != "" {
		inside = p.Order + "; what is inside a candle is no market's price"
		if strings.HasPrefix(p.Order, withJumps) {
			inside += ". A candle whose range stands out from those around it may have had one jump in one second"
		}
	}
	service := r.Profile.String() + "; where it says nothing, as package tradingsim takes it"
	if r.Profile != nil {
		service = r.Profile.String() + "; what it has not seen is as the contract has it, and as package tradingsim takes it"
	}
	if n := r.Options; n > 0 {
		service += "; changed by " + words.Count(n, "option") + " of Config.Simulation"
	}
	list := r.Frictions.text(p.Took)
	return append(list[:2:2], append([]Assumption{
		{"Fees", "0.045 % of what is traded, a side, and 0.015 % of what rested; " + r.atCosts()},
		{"Funding", funding},
	}, append(list[2:],
		Assumption{"Age of marks", p.FillTimes.text()},
		Assumption{"Floors", r.Terms.floors()},
		Assumption{"Accounts", r.accounts()},
		Assumption{"Protection", r.protected()},
		Assumption{"Warm-up", r.warmedUp()},
		Assumption{"Service", service},
		Assumption{"Inside candles", inside},
	)...)...)
}

// atCosts is the equity at further costs, in words.
func (r *Result) atCosts() string {
	var list []string
	for _, bps := range []int64{1, 2, 5} {
		list = append(list, fmt.Sprintf("+%d bp %s", bps, dollars(r.Worse().AtCost(decimal.NewFromInt(bps)))))
	}
	return "equity at further costs a side: " + strings.Join(list, ", ")
}

// AtCost is the equity if each fill, and leaving what is open, had cost so many basis points
// more. It is arithmetic on the same fills: a bot that sees its balance might have traded others.
func (p *Path) AtCost(bps decimal.Decimal) decimal.NullDecimal {
	if !p.Equity.Valid {
		return p.Equity
	}
	traded := p.Turnover.Add(p.OpenValue)
	return decimal.NewNullDecimal(p.Equity.Decimal.Sub(traded.Mul(bps).Shift(-4)).Round(8))
}

// excursions notes the prices that were worst and best for each round trip while it was open.
func (p plan) excursions(trips []RoundTrip) {
	feeds := p.feeds()
	for i := range trips {
		t := &trips[i]
		f := feeds[t.Symbol]
		low, high := f.extremes(t.Opened.UnixNano(), t.Closed.UnixNano())
		t.WorstPrice, t.BestPrice = f.price(low), f.price(high)
		if t.Side == "short" {
			t.WorstPrice, t.BestPrice = t.BestPrice, t.WorstPrice
		}
	}
}

// extremes are the lowest and the highest mark from one time to another.
func (f *feed) extremes(from, to int64) (low, high int64) {
	take := func(a, b int64) {
		if low == 0 || a < low {
			low = a
		}
		high = max(high, b)
	}
	for at := from; at <= to; {
		atOpening := f.interval > 0 && f.seek(at) && f.rows[f.row].at == at
		if a, b, until, ok := f.bounds(at); ok && until <= to && (f.interval == 0 || atOpening) {
			take(a, b)
			at = until + 1
			continue
		}
		if end, ok := f.drawnExtremes(at, to, take); ok {
			at = end
			continue
		}
		if units, ok := f.units(at); ok {
			take(units, units)
		}
		if at == to {
			break
		}
		if next, ok := f.afterGap(at); ok {
			at = min(to, next)
			continue
		}
		at = min(to, at-at%int64(time.Second)+int64(time.Second))
	}
	return low, high
}
