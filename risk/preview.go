package risk

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Preview works out what an order would do, and what is wrong with it, from what
// is known. It sends nothing and reads nothing. An order that is wrong by itself
// (a side that is none, a stop past the target) is not worked out.
//
// It judges in the order that the simulator takes: the order's own fields, the
// account, the market, the price, the levels, the loss limits, the caps. What
// depends on the order book, on trouble at the moment of the fill or on numbers
// that the contract does not show cannot be foreseen; see the package's
// documentation.
func Preview(o trading.Order, f Inputs) Report {
	p := newPreview(o, f)
	if problem := p.fields(); problem != nil {
		p.add(problem)
		return p.Report
	}
	p.net()
	p.fill()
	p.outlook()

	p.judgeListing()
	p.judgeAccount()
	p.judgeMarket()
	p.judgePrice()
	p.judgeClips()
	p.judgeLevels()
	p.judgeLossLimits()
	p.judgeCaps()
	p.worry()
	return p.Report
}

// preview is a Report in the making.
type preview struct {
	Report
	o      trading.Order
	f      Inputs
	env    trading.Environment
	method Method

	held  trading.Position // what is open in the market now
	open  bool             // there is something
	known bool             // … or known to be nothing

	price  decimal.Decimal // where it fills
	priced bool

	rest  lot // of what is held and not closed
	after lot // the position afterwards
}

func newPreview(o trading.Order, f Inputs) *preview {
	p := &preview{f: f, env: f.environment(), method: f.Method}
	p.o = p.method.typed(o)
	p.Operation, p.Symbol = p.method.operation(p.env), o.Symbol
	return p
}

func (p *preview) add(problem *Problem) {
	if problem != nil {
		p.Problems = append(p.Problems, *problem)
	}
}

// refuse adds what the service would refuse the order for.
func (p *preview) refuse(code trading.Code, format string, args ...any) {
	p.add(refused(code, format, args...))
}

// net puts the order against the position that it meets: the excess of an
// opposite order opens the other side, unless it only reduces.
func (p *preview) net() {
	p.held, p.open, p.known = p.f.position(p.o.Symbol)
	opposite := p.open && p.held.Side != p.o.Side
	switch {
	case opposite:
		p.Closes = decimal.Min(p.o.Size, p.held.Size)
		if !p.o.ReduceOnly {
			p.Opens = p.o.Size.Sub(p.Closes)
		}
	case !p.o.ReduceOnly:
		p.Opens = p.o.Size
	}
	switch {
	case !p.known, p.o.ReduceOnly && !opposite: // not known, or nothing
	case !p.open:
		p.Effect = Opens
	case !opposite:
		p.Effect = Adds
	case p.Opens.IsPositive():
		p.Effect = Flips
	case p.Closes.Equal(p.held.Size):
		p.Effect = Ends
	default:
		p.Effect = Reduces
	}
	p.leverage()
}

// leverage clamps what was asked for. The default of the sandbox is not shown, so
// an order that names none has none that is known.
func (p *preview) leverage() {
	market, ok := p.f.Market.Get()
	if !ok || p.o.Leverage.IsZero() || !market.MaxLeverage.IsPositive() {
		return
	}
	asked := decimal.Max(p.o.Leverage, decimal.NewFromInt(1))
	p.Leverage = trading.Some(decimal.Min(asked, market.MaxLeverage))
}

// fill works out the money: everything here is a sum of products of what is
// known, but for quotients, which are cut behind their sixteenth place.
func (p *preview) fill() {
	p.price, p.priced, _ = p.f.mark(p.o.Symbol)
	if p.method.rest() {
		p.price, p.priced = p.o.LimitPrice.Value()
	}
	if !p.priced {
		return
	}
	p.Price = trading.MarkAt(p.price)
	filled := p.Opens.Add(p.Closes)
	if !p.known {
		filled = p.o.Size // of a reduce-only order, at most
	}
	notional := filled.Mul(p.price)
	fee := p.fee(notional)
	p.Notional, p.Fee = trading.Some(notional), trading.Some(fee)
	opened := p.Opens.Mul(p.price)
	p.RoundTripFee = trading.Some(p.fee(opened).Add(trading.TakerFee(opened)))

	held := lotOf(p.held, p.open)
	closed, rest := held.split(p.Closes)
	if p.Effect == Adds {
		rest = held
	}
	p.rest = rest
	if p.Closes.IsPositive() || p.known {
		p.GrossPnL = trading.Some(closed.profit(p.price))
	}
	if p.f.State != nil && (p.known || !p.o.ReduceOnly) {
		gross, _ := p.GrossPnL.Get()
		p.Balance = trading.Some(p.f.State.Balance.Add(gross).Sub(fee))
	}
	p.afterwards(opened)
}

// fee is that of what the order itself fills.
func (p *preview) fee(notional decimal.Decimal) decimal.Decimal {
	if p.method.rest() {
		return trading.MakerFee(notional)
	}
	return trading.TakerFee(notional)
}

// afterwards is the position that the order leaves.
func (p *preview) afterwards(opened decimal.Decimal) {
	p.after = p.rest
	leverage := p.held.Leverage
	takeProfit, stopLoss := p.held.TakeProfit, p.held.StopLoss
	if p.Opens.IsPositive() {
		if p.rest.size.IsZero() {
			takeProfit, stopLoss = trading.Clear, trading.Clear
			p.after = lot{side: p.o.Side}
		}
		p.after = p.after.with(p.Opens, opened, p.fee(opened))
		leverage = p.Leverage
		if !p.o.TakeProfit.IsZero() {
			takeProfit = p.o.TakeProfit
		}
		if !p.o.StopLoss.IsZero() {
			stopLoss = p.o.StopLoss
		}
	}
	if p.after.size.IsZero() {
		p.Flat = p.known
		return
	}
	notional := p.after.size.Mul(p.price)
	after := trading.Position{
		Symbol: p.o.Symbol, Side: p.after.side, Size: p.after.size, Leverage: leverage,
		EntryPrice: p.after.entry(), Mark: p.Price,
		Notional: trading.Some(notional), UnrealizedPnL: trading.Some(p.after.profit(p.price)),
		TakeProfit: takeProfit, StopLoss: stopLoss,
	}
	if x, ok := leverage.Get(); ok && x.IsPositive() {
		after.Margin = trading.Some(notional.DivRound(x, quotientPlaces))
	}
	if p.rest.size.IsPositive() {
		after.OpenedAt = p.held.OpenedAt
	}
	p.After = trading.Some(after)
}
