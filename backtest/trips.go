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
	Cost         decimal.Decimal // what that was bought or sold for at its opening, in dollars
	Gross        decimal.Decimal // before fees
	Fees         decimal.Decimal // of opening and closing
	Cause        string          // of the last close: market, take_profit or stop_loss
	PartialExits int             // closes before the last

	WorstPrice, BestPrice decimal.Decimal // the marks that were worst and best for it while it was open
}

// Net is gross less fees.
func (t RoundTrip) Net() decimal.Decimal { return t.Gross.Sub(t.Fees) }

// MAE and MFE are the worst and the best that it was, before fees, for all that was closed at the mean
// price that it was opened at: an amount of 0 or less, and one of 0 or more.
func (t RoundTrip) MAE() decimal.Decimal { return decimal.Min(t.at(t.WorstPrice), decimal.Zero) }

// MFE is described at [RoundTrip.MAE].
func (t RoundTrip) MFE() decimal.Decimal { return decimal.Max(t.at(t.BestPrice), decimal.Zero) }

func (t RoundTrip) at(price decimal.Decimal) decimal.Decimal {
	gain := price.Mul(t.Size).Sub(t.Cost)
	if t.Side == "short" {
		return gain.Neg()
	}
	return gain
}

// grossShare is gross as a share of what was traded, at the price that the position was opened at.
func (t RoundTrip) grossShare() float64 {
	if !t.Cost.IsPositive() {
		return 0
	}
	return t.Gross.InexactFloat64() / t.Cost.InexactFloat64()
}

// holding is what is held in one market, from the fills alone.
type holding struct {
	size decimal.Decimal // more than 0 is long
	cost decimal.Decimal // of what is open: signed size × entry price
	feed *feed
	trip *RoundTrip

	perUnit, paid float64 // what a unit of the mark is worth, and cost
	began         int     // the step in which the round trip did
	inside        bool    // that was a candle
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
	h.perUnit, h.paid = h.size.Shift(-h.feed.places).InexactFloat64(), h.cost.InexactFloat64()
	return closed, gross
}

// book is an account, from the ledger: what is held, and the round trips.
type book struct {
	markets  map[string]*holding
	order    []string
	fills    []tradingsim.Execution
	rows     []tradingsim.ClosedTrade // not matched with a fill yet
	takerFee decimal.Decimal
	trips    []RoundTrip
	gross    decimal.Decimal
	applied  int // fills

	turnover decimal.Decimal
	cost     spread
	took     decimal.Decimal // by spread and slippage
	earned   float64         // gross, and what they took

	step   int  // how many steps have ended
	inside bool // the present one is a candle
	brief  int  // round trips that lasted fewer than fewestSteps, and began or ended inside a candle
}

// apply applies the fills until a time.
func (b *book) apply(until time.Time) error {
	for len(b.fills) > 0 && !b.fills[0].At.After(until) {
		if err := b.one(b.fills[0]); err != nil {
			return err
		}
		b.fills = b.fills[1:]
		b.applied++
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
	b.turnover = b.turnover.Add(e.Size.Mul(e.Price))
	if !b.cost.isZero() {
		if mark, ok := h.feed.At(e.At); ok { // what rested has waited for it
			b.took = b.took.Add(b.cost.price(e.Symbol, e.Side, e.Size, mark).Sub(mark).Abs().Mul(e.Size))
		}
	}
	b.gross = b.gross.Add(gross)
	b.earned = b.gross.Add(b.took).InexactFloat64()
	if closed.IsPositive() {
		if err := b.exit(h, e, closed); err != nil {
			return err
		}
	}
	if !h.size.IsZero() && h.trip == nil {
		h.trip, h.began, h.inside = &RoundTrip{Symbol: e.Symbol, Side: e.Side, Opened: e.At}, b.step, b.inside
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
	t.Cost = t.Cost.Add(row.EntryPrice.Mul(closed))
	t.Size, t.Gross, t.Fees = t.Size.Add(closed), t.Gross.Add(row.GrossPnL), t.Fees.Add(row.RoundTripFee)
	if h.size.IsZero() || (h.size.IsPositive() != (t.Side == "long")) {
		t.Cause, t.Closed = row.Cause, row.ClosedAt
		b.trips = append(b.trips, *t)
		if b.step-h.began < fewestSteps && (h.inside || b.inside) {
			b.brief++
		}
		h.trip = nil
		return nil
	}
	t.PartialExits++
	return nil
}

// value is the unrealized profit at a time, and the value of all that is held; ok is false while a
// market that is held has no price.
func (b *book) value(at time.Time) (unrealized, held decimal.Decimal, ok bool) {
	for _, symbol := range b.order {
		h := b.markets[symbol]
		if h.size.IsZero() {
			continue
		}
		price, priced := h.feed.At(at)
		if !priced {
			return unrealized, held, false
		}
		value := h.size.Mul(price)
		unrealized, held = unrealized.Add(value.Sub(h.cost)), held.Add(value.Abs())
	}
	return unrealized, held, true
}

// within is how long after a time, in whole seconds until an end, the unrealized profit is
// known, more than low and less than high.
func (b *book) within(low, high decimal.Decimal, from, end time.Time) (passed time.Duration) {
	s := b.scan(low, high)
	for at := from.UnixNano() + int64(time.Second); at <= end.UnixNano(); {
		if seconds := s.bars(at, end.UnixNano()); seconds > 0 {
			passed += time.Duration(seconds) * time.Second
			at += seconds * int64(time.Second)
			continue
		}
		if second, ok := s.reach(at, end.UnixNano()); ok {
			return passed + time.Duration(second-at)
		}
		if !s.second(at) {
			return passed
		}
		passed += time.Second
		at += int64(time.Second)
	}
	return passed
}

// outside is the same as far as the candles say it from outside.
func (b *book) outside(low, high decimal.Decimal, from, end time.Time) time.Duration {
	at := from.Add(time.Second).UnixNano()
	if at > end.UnixNano() {
		return 0
	}
	s := b.scan(low, high)
	return time.Duration(s.bars(at, end.UnixNano())) * time.Second
}

// scan is one for what leaves two bounds.
func (b *book) scan(low, high decimal.Decimal) *scan {
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
	s := &scan{held: held, sizes: sizes, lowest: 1, highest: 0, least: low.Shift(places).Floor().BigInt(), most: high.Shift(places).Ceil().BigInt()}
	s.one()
	return s
}

// scan compares what is held with two bounds.
type scan struct {
	held        []*holding
	sizes       []*big.Int
	least, most *big.Int
	lows, highs big.Int
	part, price big.Int
	until       int64 // bars says nothing before it

	// Of one market the marks that are within the bounds; lowest is above highest where there are
	// several markets.
	lowest, highest int64
}

// one turns the bounds of what is held into bounds of the mark, where it is held in one market.
func (s *scan) one() {
	if len(s.held) != 1 {
		return
	}
	size, least, most := s.sizes[0], s.least, s.most
	if size.Sign() < 0 {
		size, least, most = new(big.Int).Neg(size), new(big.Int).Neg(most), new(big.Int).Neg(least)
	}
	under := new(big.Int).Sub(most, big.NewInt(1))
	lowest, highest := new(big.Int).Div(least, size), under.Div(under, size) // both rounded down
	if lowest.IsInt64() && highest.IsInt64() && highest.Sign() > 0 {
		s.lowest, s.highest = lowest.Int64()+1, highest.Int64()
	}
}

// reach is the first second from a time on in which the value of what is held in candles of one
// market may not be between the bounds, or the one after the end; ok is false of anything else.
func (s *scan) reach(at, end int64) (second int64, ok bool) {
	if s.lowest > s.highest || s.held[0].feed.interval == 0 {
		return 0, false
	}
	found, met := s.held[0].feed.reach(at, end, s.lowest-1, s.highest+1)
	if !met {
		found = end
	}
	return at + (max(0, found-at)+int64(time.Second)-1)/int64(time.Second)*int64(time.Second), true
}

// second reports whether the value at a time is known and between the bounds.
func (s *scan) second(at int64) bool {
	if s.lowest <= s.highest {
		units, priced := s.held[0].feed.units(at)
		return priced && units >= s.lowest && units <= s.highest
	}
	s.lows.SetInt64(0)
	for i, h := range s.held {
		units, priced := h.feed.units(at)
		if !priced {
			return false
		}
		s.lows.Add(&s.lows, s.part.Mul(s.sizes[i], s.price.SetInt64(units)))
	}
	return s.lows.Cmp(s.least) > 0 && s.lows.Cmp(s.most) < 0
}

// bars is for how many seconds from a time on the candles alone say that the value stays between
// the bounds: then nobody has to know the paths inside them.
func (s *scan) bars(at, end int64) (seconds int64) {
	if at < s.until {
		return 0
	}
	s.lows.SetInt64(0)
	s.highs.SetInt64(0)
	until := end
	for i, h := range s.held {
		low, high, last, ok := h.feed.bounds(at)
		if !ok {
			s.until = at + int64(time.Minute)
			return 0
		}
		if s.sizes[i].Sign() < 0 {
			low, high = high, low
		}
		until = min(until, last)
		s.lows.Add(&s.lows, s.part.Mul(s.sizes[i], s.price.SetInt64(low)))
		s.highs.Add(&s.highs, s.part.Mul(s.sizes[i], s.price.SetInt64(high)))
	}
	if s.lows.Cmp(s.least) <= 0 || s.highs.Cmp(s.most) >= 0 {
		s.until = until + 1
		return 0
	}
	return (until-at)/int64(time.Second) + 1
}

// exitFees are the fees of closing everything.
func (b *book) exitFees(at time.Time) (fees decimal.Decimal) {
	for _, h := range b.markets {
		if h.size.IsZero() {
			continue
		}
		price, _ := h.feed.At(at)
		fees = fees.Add(h.size.Mul(price).Abs().Mul(b.takerFee))
	}
	return fees
}

// leaving is what is open, at the marks, and what closing it costs beside its value: fees, spread
// and slippage.
func (b *book) leaving(at time.Time, cost spread) (value, costs decimal.Decimal) {
	for symbol, h := range b.markets {
		if h.size.IsZero() {
			continue
		}
		mark, ok := h.feed.At(at)
		if !ok {
			continue
		}
		side := "short"
		if h.size.IsNegative() {
			side = "long"
		}
		size := h.size.Abs()
		price := cost.price(symbol, side, size, mark)
		value = value.Add(size.Mul(mark))
		costs = costs.Add(size.Mul(price.Sub(mark).Abs())).Add(size.Mul(price).Mul(b.takerFee))
	}
	return value, costs
}

// openLosers counts the markets that are held at a loss, the fee of leaving included.
func (b *book) openLosers(at time.Time) (n int) {
	for _, h := range b.markets {
		if h.size.IsZero() {
			continue
		}
		price, ok := h.feed.At(at)
		value := h.size.Mul(price)
		if ok && value.Sub(h.cost).LessThanOrEqual(value.Abs().Add(h.cost.Abs()).Mul(b.takerFee)) {
			n++
		}
	}
	return n
}

func (b *book) flat() bool {
	for _, symbol := range b.order {
		if !b.markets[symbol].size.IsZero() {
			return false
		}
	}
	return true
}
