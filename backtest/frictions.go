package backtest

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Frictions are what a market and a network cost beside the fees. The zero Frictions is what the
// contract gives: orders fill at the mark and at once, whatever their size, and nobody pays
// funding. Amounts are text.
type Frictions struct {
	// HalfSpread is how far from the mark a taker's fill is, in basis points.
	HalfSpread string
	// Slippage is how much farther an order worth 100,000 dollars fills, in basis points, and
	// SlippageLaw how that grows with the size.
	Slippage    string
	SlippageLaw SlippageLaw
	// Funding is what positions pay and get; nil is none.
	Funding *Funding
	// Latency is how long a request takes to the service, and its answer back.
	Latency time.Duration
	// Lag is how far reads are behind what was written, and behind the marks.
	Lag time.Duration
}

// SlippageLaw is how slippage grows with the size of an order.
type SlippageLaw uint8

const (
	// LinearSlippage is in proportion to the value of an order.
	LinearSlippage SlippageLaw = iota
	// SquareRootSlippage is in proportion to its root: Y σ √(Q/V), with Y of about 1, σ the
	// volatility of a day and V what the market trades on one (Tóth et al., Anomalous price
	// impact and the critical nature of liquidity in financial markets, Phys. Rev. X 1, 021006,
	// 2011).
	SquareRootSlippage
)

// String is such as "in proportion to its value".
func (l SlippageLaw) String() string {
	return [...]string{"in proportion to its value", "in proportion to the root of its value"}[min(l, SquareRootSlippage)]
}

// slippageOf is the value of an order that Frictions.Slippage is about.
const slippageOf = 100_000

// maxBps bounds what a fill can cost: a price stays above 0.
const maxBps = 5_000

// spread is what takers pay, from Frictions.
type spread struct {
	half, slip decimal.Decimal // basis points
	law        SlippageLaw
	places     map[string]int32 // of the prices of each market
}

func (f Frictions) spread(d *Data) (s spread, err error) {
	read := func(name, text string) (bps decimal.Decimal) {
		if text == "" || err != nil {
			return bps
		}
		if bps, err = decimal.NewFromString(text); err != nil || bps.IsNegative() || bps.GreaterThan(decimal.NewFromInt(1000)) {
			err = fmt.Errorf("backtest: Config.Frictions.%s is %q; it must be 0 to 1000 basis points", name, text)
		}
		return bps
	}
	s = spread{half: read("HalfSpread", f.HalfSpread), slip: read("Slippage", f.Slippage), law: f.SlippageLaw, places: map[string]int32{}}
	for _, one := range d.series {
		s.places[one.symbol] = one.places
	}
	return s, err
}

func (s spread) isZero() bool { return s.half.IsZero() && s.slip.IsZero() }

// bps is how far from the mark an order of a value fills.
func (s spread) bps(value decimal.Decimal) decimal.Decimal {
	bps := s.half
	switch {
	case s.slip.IsZero():
	case s.law == SquareRootSlippage:
		root := math.Sqrt(value.InexactFloat64() / slippageOf)
		bps = bps.Add(s.slip.Mul(decimal.NewFromFloat(root).Round(8)))
	default:
		bps = bps.Add(s.slip.Mul(value).Div(decimal.NewFromInt(slippageOf)))
	}
	return decimal.Min(bps, decimal.NewFromInt(maxBps))
}

// price is what a taker fills at: rounded against the bot, to some places beyond those of the mark.
func (s spread) price(symbol, side string, size, mark decimal.Decimal) decimal.Decimal {
	away := mark.Mul(s.bps(size.Mul(mark))).Shift(-4).RoundCeil(s.places[symbol] + 4)
	if side == "short" {
		away = away.Neg()
	}
	return mark.Add(away)
}

// feeds are those of the path, by symbol.
func (p plan) feeds() map[string]*feed {
	list := map[string]*feed{}
	for _, s := range p.Data.series {
		list[s.symbol] = s.feed(p.in, nil)
	}
	return list
}

// options are those of the simulation.
func (p plan) frictionOptions() (opts []tradingsim.Option) {
	if !p.spread.isZero() {
		opts = append(opts, tradingsim.WithFillPrices(p.spread.price))
	}
	if f := p.Frictions.Funding; f != nil {
		for _, symbol := range f.symbols() {
			opts = append(opts, tradingsim.WithFunding(symbol, f.rates[symbol]...))
		}
	}
	if p.Frictions.Lag > 0 {
		opts = append(opts, tradingsim.WithLag(p.Frictions.Lag))
	}
	return opts
}

// check refuses what cannot be meant.
func (f Frictions) check(p *plan) (err error) {
	if p.spread, err = f.spread(p.Data); err != nil {
		return err
	}
	switch {
	case f.Latency < 0 || f.Latency > time.Minute:
		return fmt.Errorf("backtest: Config.Frictions.Latency is %s; it must be 0 to a minute", f.Latency)
	case f.Lag < 0 || f.Lag > time.Hour:
		return fmt.Errorf("backtest: Config.Frictions.Lag is %s; it must be 0 to an hour", f.Lag)
	case f.Funding == nil:
		return nil
	}
	for _, symbol := range f.Funding.symbols() {
		if !slices.Contains(p.Data.Symbols(), symbol) {
			return fmt.Errorf("backtest: %s has funding of %s, of which there are no prices", f.Funding.name, symbol)
		}
	}
	return nil
}

// text are the frictions in words.
func (f Frictions) text(took decimal.Decimal) (list []Assumption) {
	s, _ := f.spread(&Data{})
	fills, slippage := "at the mark: no spread", "no slippage, whatever the size"
	if s.half.IsPositive() {
		fills = s.half.String() + " bp from the mark"
	}
	if s.slip.IsPositive() {
		slippage = fmt.Sprintf("%s bp of an order of $%d, %s", s.slip, slippageOf, s.law)
		if s.law == SquareRootSlippage {
			slippage += " (Tóth et al. 2011)"
		}
	}
	if !s.isZero() {
		slippage += fmt.Sprintf("; spread and slippage took $%s; what rests fills at its own price, once an order of its size would get that", took.StringFixed(2))
	}
	late, lag := "none: an order fills at the moment it is sent", "none: reads show what is"
	if f.Latency > 0 {
		late = fmt.Sprintf("a request takes %s to the service, and its answer as long back", f.Latency)
	}
	if f.Lag > 0 {
		lag = fmt.Sprintf("reads show the state and the marks of %s ago", f.Lag)
	}
	return []Assumption{{"Spread", fills}, {"Slippage", slippage}, {"Latency", late}, {"Lag", lag}}
}

// brief is the same on a line.
func (f Frictions) brief() string {
	s, _ := f.spread(&Data{})
	list := []string{"no spread", "no slippage", "no funding", "no latency", "no lag"}
	if s.half.IsPositive() {
		list[0] = "half-spread " + s.half.String() + " bp"
	}
	if s.slip.IsPositive() {
		list[1] = fmt.Sprintf("slippage %s bp of $%d, %s", s.slip, slippageOf, f.SlippageLaw)
	}
	if f.Funding != nil {
		list[2] = "funding of " + f.Funding.name
	}
	if f.Latency > 0 {
		list[3] = "latency " + f.Latency.String()
	}
	if f.Lag > 0 {
		list[4] = "lag " + f.Lag.String()
	}
	return strings.Join(list, ", ")
}

// late is a network that takes its time, each way.
type late struct {
	next http.RoundTripper
	by   time.Duration
}

// RoundTrip sends a request that its caller has given up on the way nowhere.
func (l late) RoundTrip(q *http.Request) (*http.Response, error) {
	if err := l.wait(q.Context()); err != nil {
		if q.Body != nil {
			_ = q.Body.Close()
		}
		return nil, err
	}
	res, err := l.next.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	if err := l.wait(q.Context()); err != nil {
		_ = res.Body.Close()
		return nil, err
	}
	return res, nil
}

func (l late) wait(ctx context.Context) error {
	timer := time.NewTimer(l.by)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
