package quote

import (
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Options are what a Quoter quotes, and what it never goes beyond.
type Options struct {
	Symbol   string          // the market; required
	Leverage decimal.Decimal // of each order; required

	// MaxBuy and MaxSell are how much may rest on a side at once, in base units. 0 is none.
	MaxBuy, MaxSell decimal.Decimal
	// MaxOrders is how many limits may rest at once: 20 unless set.
	MaxOrders int
	// PerMinute is how many placements, and how many cancels, there are in a minute at most:
	// 60 of each unless set. The service takes 150 of each from all programs of a user and
	// the terminal together.
	PerMinute int
	// Least is how much has to change before an order is replaced.
	Least Change
	// ReduceOnly is that of each order.
	ReduceOnly bool
}

const (
	defaultOrders    = 20
	defaultPerMinute = 60
	mostPerMinute    = 150 // of the contract
)

func (o Options) check() (Options, error) {
	switch {
	case o.Symbol == "":
		return o, errors.New("quote: Symbol is empty")
	case !o.Leverage.IsPositive():
		return o, fmt.Errorf("quote: Leverage is %s: it must be greater than 0", o.Leverage)
	case o.MaxBuy.IsNegative(), o.MaxSell.IsNegative():
		return o, fmt.Errorf("quote: MaxBuy is %s and MaxSell %s: they must not be negative", o.MaxBuy, o.MaxSell)
	case o.MaxOrders < 0:
		return o, fmt.Errorf("quote: MaxOrders is %d: it must not be negative", o.MaxOrders)
	case o.PerMinute < 0, o.PerMinute > mostPerMinute:
		return o, fmt.Errorf("quote: PerMinute is %d: it must be at most %d", o.PerMinute, mostPerMinute)
	case o.Least.Price.IsNegative(), o.Least.Size.IsNegative():
		return o, fmt.Errorf("quote: Least is %s and %s: it must not be negative", o.Least.Price, o.Least.Size)
	}
	if o.MaxOrders == 0 {
		o.MaxOrders = defaultOrders
	}
	if o.PerMinute == 0 {
		o.PerMinute = defaultPerMinute
	}
	return o, nil
}

// judge judges quotes as a whole: nothing of what cannot be right is sent.
func (o Options) judge(quotes []Quote) error {
	if len(quotes) > o.MaxOrders {
		return fmt.Errorf("quote: %d quotes: MaxOrders is %d", len(quotes), o.MaxOrders)
	}
	var total [2]decimal.Decimal
	var highestBuy, lowestSell decimal.Decimal
	for _, q := range quotes {
		if q.Side != trading.Long && q.Side != trading.Short || !q.Price.IsPositive() || !q.Size.IsPositive() {
			return fmt.Errorf("quote: %q of %s at %s: a quote has a side, and a price and a size greater than 0", q.Side, q.Size, q.Price)
		}
		total[side(q.Side)] = total[side(q.Side)].Add(q.Size)
		switch {
		case q.Side == trading.Long && q.Price.GreaterThan(highestBuy):
			highestBuy = q.Price
		case q.Side == trading.Short && (lowestSell.IsZero() || q.Price.LessThan(lowestSell)):
			lowestSell = q.Price
		}
	}
	switch {
	case !highestBuy.IsZero() && !lowestSell.IsZero() && !highestBuy.LessThan(lowestSell):
		return fmt.Errorf("quote: a buy at %s is not below a sell at %s", highestBuy, lowestSell)
	case total[0].GreaterThan(o.MaxBuy):
		return fmt.Errorf("quote: buys of %s: MaxBuy is %s", total[0], o.MaxBuy)
	case total[1].GreaterThan(o.MaxSell):
		return fmt.Errorf("quote: sells of %s: MaxSell is %s", total[1], o.MaxSell)
	}
	return nil
}

func (o Options) most(s trading.Side) decimal.Decimal {
	if s == trading.Long {
		return o.MaxBuy
	}
	return o.MaxSell
}

func side(s trading.Side) int {
	if s == trading.Long {
		return 0
	}
	return 1
}
