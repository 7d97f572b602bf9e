package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

// FillPrice is the price that a fill of a taker happens at: an order or a close at the market, a
// marketable limit, a level that fires. It gets the direction of the fill ("long" buys), its size
// in base units and the mark, and must give the same for the same.
type FillPrice func(symbol, side string, size, mark decimal.Decimal) decimal.Decimal

// WithFillPrices lets takers fill at other prices than the mark, to add a spread and slippage,
// which the contract does not show. A limit, an expectedPrice and a maxSlippagePct are held
// against that price. Equity, levels and triggers go by the mark all the same. An order that rests
// fills at its own price, once a taker of its size would get that price or a better one.
func WithFillPrices(f FillPrice) Option {
	return option(func(c *config) { c.fillPrice = f })
}

// FundingRate is a funding payment of a market.
type FundingRate struct {
	At   time.Time       // when it is paid
	Rate decimal.Decimal // as a share of the notional at the mark; longs pay it to shorts
}

// WithFunding has every account pay or get funding for what it holds in a market. It comes
// before what is requested at the same moment. Rates from before the start are left out. The
// contract shows funding on live accounts alone; here the paper account pays it, too.
func WithFunding(symbol string, rates ...FundingRate) Option {
	return option(func(c *config) {
		if c.funding == nil {
			c.funding = map[string][]FundingRate{}
		}
		c.funding[symbol] = append(c.funding[symbol], rates...)
	})
}

// FundingPayment is a funding payment to an account.
type FundingPayment struct {
	Symbol string          // of the market
	Amount decimal.Decimal // in dollars; negative was paid by the account
	At     time.Time       // by the clock of the simulation
}

// take sets the price that an order fills at, and returns it.
func (s *Sim) take(in *intent) decimal.Decimal {
	in.mark = in.price
	in.price = s.taken(in.symbol, in.side, in.reduce.Add(in.add), in.mark)
	return in.price
}

// taken is the price that a taker's fill happens at.
func (s *Sim) taken(symbol, side string, size, mark decimal.Decimal) decimal.Decimal {
	if s.fillPrice == nil {
		return mark
	}
	return s.fillPrice(symbol, side, size, mark)
}

// beyond is how far the price of a fill is from the mark, in percent.
func (in *intent) beyond() decimal.Decimal {
	if in.price.Equal(in.mark) {
		return decimal.Zero
	}
	return in.price.Sub(in.mark).Abs().Mul(hundred).DivRound(in.mark, quotientPlaces)
}

// planFunding schedules the funding of the markets.
func (s *Sim) planFunding(rates map[string][]FundingRate) {
	for symbol, list := range rates {
		m := s.market(symbol)
		for _, f := range list {
			if !f.At.Before(s.now) {
				s.later(f.At, func() { s.payFunding(m, f.Rate) })
			}
		}
	}
}

// payFunding books the funding of a market to every account.
func (s *Sim) payFunding(m *market, rate decimal.Decimal) {
	mark := m.markAt(s.now)
	for _, d := range s.desks {
		if amount, holds := fundingOf(&d.paper.book, m.symbol, mark, rate); holds {
			s.pay(&d.track, &d.paper.book, FundingPayment{m.symbol, amount, s.now})
			s.remember(d)
		}
	}
	for _, id := range s.accountIDs {
		a := s.accounts[id]
		if amount, holds := fundingOf(&a.book, m.symbol, mark, rate); holds {
			s.payLive(a, FundingPayment{m.symbol, amount, s.now})
		}
	}
}

// fundingOf is what an account gets for what it holds in a market.
func fundingOf(b *book, symbol string, mark opt, rate decimal.Decimal) (amount decimal.Decimal, holds bool) {
	p := b.find(symbol)
	if p == nil {
		return amount, false
	}
	return p.notionalAt(mark).decimal().Mul(rate).Mul(direction(p.side)).Neg(), true
}

// pay books a funding payment.
func (s *Sim) pay(t *track, b *book, p FundingPayment) {
	b.balance = b.balance.Add(p.Amount)
	t.payments = append(t.payments, p)
	s.changed(t, b)
}

func (s *Sim) payLive(a *account, p FundingPayment) {
	a.funding = append(a.funding, p)
	s.pay(&a.track, &a.book, p)
	s.keep(a)
}

// funding is the sum of the payments.
func (t *track) funding() (sum decimal.Decimal) {
	for _, p := range t.payments {
		sum = sum.Add(p.Amount)
	}
	return sum
}
