package backtest

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// RoundTrip is what happened in a market from flat to flat. An order that turns a position
// around ends one and begins another.
type RoundTrip struct {
	Symbol       string          // of the market
	Side         string          // "long" or "short"
	Opened       time.Time       // by the bot's clock
	Closed       time.Time       // by the same
	Size         decimal.Decimal // all that was closed, in base units
	Gross        decimal.Decimal // before fees
	Fees         decimal.Decimal // of opening and closing
	Cause        string          // of the last close: market, take_profit or stop_loss
	PartialExits int             // closes before the last
}

// Net is gross less fees.
func (t RoundTrip) Net() decimal.Decimal { return t.Gross.Sub(t.Fees) }

// holding is what is held in one market, from the fills alone.
type holding struct {
	size decimal.Decimal // more than 0 is long
	cost decimal.Decimal // of what is open: signed size × entry price
	feed *feed
	trip *RoundTrip
}

const costPlaces = 24

// fill applies a fill and returns what it closed and earned.
func (h *holding) fill(signed, price decimal.Decimal) (closed, gross decimal.Decimal) {
	adds := signed
	if h.size.Sign()*signed.Sign() < 0 {
		closed = decimal.Min(h.size.Abs(), signed.Abs())
		part := h.cost
		if closed.LessThan(h.size.Abs()) {
			part = h.cost.Mul(closed).DivRound(h.size.Abs(), costPlaces)
		}
		direction := decimal.NewFromInt(int64(h.size.Sign()))
		gross = closed.Mul(direction).Mul(price).Sub(part)
		h.cost = h.cost.Sub(part)
		h.size = h.size.Sub(closed.Mul(direction))
		adds = signed.Add(closed.Mul(direction))
	}
	h.size = h.size.Add(adds)
	h.cost = h.cost.Add(adds.Mul(price))
	return closed, gross
}

// book is an account, from the ledger: what is held, and the round trips.
type book struct {
	markets map[string]*holding
	order   []string
	fills   []tradingsim.Execution
	rows    []tradingsim.ClosedTrade // not matched with a fill yet
	trips   []RoundTrip
	gross   decimal.Decimal
}

// apply applies the fills until a time.
func (b *book) apply(until time.Time) error {
	for len(b.fills) > 0 && !b.fills[0].At.After(until) {
		if err := b.one(b.fills[0]); err != nil {
			return err
		}
		b.fills = b.fills[1:]
	}
	return nil
}

func (b *book) one(e tradingsim.Execution) error {
	h, ok := b.markets[e.Symbol]
	if !ok {
		return fmt.Errorf("backtest: a fill in %s, of which there are no prices", e.Symbol)
	}
	signed := e.Size
	if e.Side == "short" {
		signed = signed.Neg()
	}
	closed, gross := h.fill(signed, e.Price)
	b.gross = b.gross.Add(gross)
	if closed.IsPositive() {
		if err := b.exit(h, e, closed); err != nil {
			return err
		}
	}
	if !h.size.IsZero() && h.trip == nil {
		h.trip = &RoundTrip{Symbol: e.Symbol, Side: e.Side, Opened: e.At}
	}
	return nil
}

// exit matches a fill that closes something with the trade that the service made of it.
func (b *book) exit(h *holding, e tradingsim.Execution, closed decimal.Decimal) error {
	if len(b.rows) == 0 || h.trip == nil {
		return errors.New("backtest: a fill closed a position, and the service has no trade of it")
	}
	row := b.rows[0]
	b.rows = b.rows[1:]
	if row.Symbol != e.Symbol || !row.Size.Equal(closed) || row.Side != h.trip.Side {
		return fmt.Errorf("backtest: a fill closed %s %s %s, and the service's trade is of %s %s %s", h.trip.Side, closed, e.Symbol, row.Side, row.Size, row.Symbol)
	}
	t := h.trip
	t.Size, t.Gross, t.Fees = t.Size.Add(closed), t.Gross.Add(row.GrossPnL), t.Fees.Add(row.RoundTripFee)
	if h.size.IsZero() || (h.size.IsPositive() != (t.Side == "long")) {
		t.Cause, t.Closed = row.Cause, row.ClosedAt
		b.trips = append(b.trips, *t)
		h.trip = nil
		return nil
	}
	t.PartialExits++
	return nil
}

// value is the unrealized profit at a time; ok is false while a market that is held has no
// price.
func (b *book) value(at time.Time) (unrealized decimal.Decimal, ok bool) {
	for _, symbol := range b.order {
		h := b.markets[symbol]
		if h.size.IsZero() {
			continue
		}
		price, priced := h.feed.At(at)
		if !priced {
			return unrealized, false
		}
		unrealized = unrealized.Add(h.size.Mul(price).Sub(h.cost))
	}
	return unrealized, true
}

// within is how long after a time, in whole seconds until an end, the unrealized profit is
// known, more than low and less than high.
func (b *book) within(low, high decimal.Decimal, from, end time.Time) (passed time.Duration) {
	var held []*holding
	places := int32(math.MinInt32) // of size × price
	for _, symbol := range b.order {
		if h := b.markets[symbol]; !h.size.IsZero() {
			held = append(held, h)
			places = max(places, h.feed.places-h.size.Exponent())
			low, high = low.Add(h.cost), high.Add(h.cost)
		}
	}
	// In whole numbers of 10^-places: the same comparisons, with nothing to allocate.
	sizes := make([]*big.Int, len(held))
	for i, h := range held {
		sizes[i] = h.size.Shift(places - h.feed.places).BigInt()
	}
	least, most := low.Shift(places).Floor().BigInt(), high.Shift(places).Ceil().BigInt()
	var sum, part big.Int
	for at := from.UnixNano() + int64(time.Second); at <= end.UnixNano(); at += int64(time.Second) {
		sum.SetInt64(0)
		for i, h := range held {
			units, priced := h.feed.units(at)
			if !priced {
				return passed
			}
			sum.Add(&sum, part.Mul(sizes[i], part.SetInt64(units)))
		}
		if sum.Cmp(least) <= 0 || sum.Cmp(most) >= 0 {
			return passed
		}
		passed += time.Second
	}
	return passed
}

// exitFees are the fees of closing everything.
func (b *book) exitFees(at time.Time) (fees decimal.Decimal) {
	for _, h := range b.markets {
		if h.size.IsZero() {
			continue
		}
		price, _ := h.feed.At(at)
		fees = fees.Add(h.size.Mul(price).Abs().Mul(takerFee))
	}
	return fees
}

// takerFee is the contract's, of the value of what is traded.
var takerFee = decimal.RequireFromString("0.00045")

func (b *book) flat() bool {
	for _, h := range b.markets {
		if !h.size.IsZero() {
			return false
		}
	}
	return true
}
