package tradingsim

import "github.com/shopspring/decimal"

// ticket is an order as it was asked for, after its fields were judged.
type ticket struct {
	symbol, side string
	size         decimal.Decimal
	leverage     opt
	limit        bool
	limitPrice   decimal.Decimal
	takeProfit   opt
	stopLoss     opt
	expected     opt
	maxSlippage  decimal.Decimal
	reduceOnly   bool
}

var (
	defaultSlippage = decimal.NewFromInt(8)
	leastSlippage   = decimal.RequireFromString("0.1")
	mostSlippage    = decimal.NewFromInt(30)
	guardBand       = decimal.RequireFromString("0.005") // the tolerance around expectedPrice
)

func (t *ticket) readSide(f fields) *refusal {
	side, p := f.text("side")
	if p != given || (side != long && side != short) {
		return refuse("bad_side", "side must be long or short.")
	}
	t.side = side
	return nil
}

func (t *ticket) readSize(f fields) *refusal {
	size, p := f.number("size")
	if p != given || !size.IsPositive() {
		return refuse("bad_size", "size must be a number of base units greater than 0.")
	}
	t.size = size
	return nil
}

func (t *ticket) readLimitPrice(f fields) *refusal {
	price, p := f.number("limitPrice")
	if p != given || !price.IsPositive() {
		return refuse("bad_limit_price", "A limit order needs a limitPrice greater than 0.")
	}
	t.limitPrice = price
	return nil
}

// readMaxSlippage judges the field whenever it is sent, on limits too.
func (s *Sim) readMaxSlippage(t *ticket, f fields) *refusal {
	t.maxSlippage = defaultSlippage
	pct, p := f.number("maxSlippagePct")
	if p == absent || (t.limit && s.other(26)) {
		return nil
	}
	if p != given || pct.LessThan(leastSlippage) || pct.GreaterThan(mostSlippage) || !pct.Equal(pct.Truncate(1)) {
		return refuse("BAD_MAX_SLIPPAGE", "maxSlippagePct must be from 0.1 to 30, with one decimal place at most.")
	}
	t.maxSlippage = pct
	return nil
}

// readOptions reads what an order may leave out.
func (s *Sim) readOptions(t *ticket, f fields) *refusal {
	for _, o := range []struct {
		name string
		to   *opt
	}{
		{"leverage", &t.leverage},
		{"expectedPrice", &t.expected},
		{"takeProfitPrice", &t.takeProfit},
		{"stopLossPrice", &t.stopLoss},
	} {
		d, p := f.number(o.name)
		trigger := o.to == &t.takeProfit || o.to == &t.stopLoss
		switch {
		case p == absent, p == null && trigger && s.other(25):
		case p != given:
			return refuse("bad_request", "%s must be a number.", o.name)
		default:
			*o.to = some(d)
		}
	}
	if t.expected.set && !t.expected.value.IsPositive() {
		return refuse("bad_request", "expectedPrice must be greater than 0.")
	}
	return nil
}

// clamp brings a leverage between 1 and the cap of the market: a request cannot
// raise its own cap.
func clamp(asked opt, limit decimal.Decimal) decimal.Decimal {
	leverage := decimal.NewFromInt(1)
	if asked.set && asked.value.GreaterThan(leverage) {
		leverage = asked.value
	}
	return decimal.Min(leverage, limit)
}

// marketable reports whether a limit has been reached.
func marketable(side string, limit, price decimal.Decimal) bool {
	if side == long {
		return price.LessThanOrEqual(limit)
	}
	return price.GreaterThanOrEqual(limit)
}

// checkGuard is the anti-slippage guard, the same in both directions.
func (t *ticket) checkGuard(price decimal.Decimal) *refusal {
	if !t.expected.set {
		return nil
	}
	moved := price.Sub(t.expected.value).Abs()
	if moved.GreaterThan(t.expected.value.Mul(guardBand)) {
		return refuse("GUARD_BAND", "The fill price %s is %s%% from your expectedPrice %s; the tolerance is 0.5%%.",
			price, percent(moved, t.expected.value).Round(2), t.expected.value)
	}
	return nil
}

// levels are the triggers of a position, as they would be after a change.
type levels struct {
	takeProfit, stopLoss opt
	judgeTP, judgeSL     bool // which of them are judged
	waits                bool // for its trigger: there is another price than the current one
}

// check puts the levels against a price: for a long the stop below and the
// target above, for a short the reverse.
func (l levels) check(side string, price decimal.Decimal) *refusal {
	d := direction(side)
	if l.judgeTP && l.takeProfit.set && !reachable(l.takeProfit.value, price, d) {
		return refuse("invalid_tpsl", "The take-profit %s of a %s must be %s the %s %s.",
			l.takeProfit.value, side, word(side == long, "above", "below"), l.priceName(), price)
	}
	if l.judgeSL && l.stopLoss.set && !reachable(l.stopLoss.value, price, d.Neg()) {
		return refuse("invalid_tpsl", "The stop-loss %s of a %s must be %s the %s %s.",
			l.stopLoss.value, side, word(side == long, "below", "above"), l.priceName(), price)
	}
	if (l.judgeTP || l.judgeSL) && l.takeProfit.set && l.stopLoss.set &&
		l.stopLoss.value.Sub(l.takeProfit.value).Mul(d).IsPositive() {
		return refuse("invalid_tpsl", "The stop-loss %s is past the take-profit %s.",
			l.stopLoss.value, l.takeProfit.value)
	}
	return nil
}

func (l levels) priceName() string { return word(l.waits, "entry price", "current price") }

// reachable reports whether a level lies strictly in the direction of d.
func reachable(level, price, d decimal.Decimal) bool {
	return level.IsPositive() && level.Sub(price).Mul(d).IsPositive()
}

func word(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
