package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// shortestCandle and longestCandle bound the length: a look is a second apart at the least,
// and a day is where UTC divides.
const (
	shortestCandle = time.Second
	longestCandle  = 24 * time.Hour
)

// Candles builds candles from the marks of markets, all that have one if none is named. It
// looks as [Marks] does, with one request; the length divides a day. Candles begin at
// multiples of the length in UTC, by the clock of this machine.
//
// A candle is made of the marks that looks have found: a mark between two looks is in none,
// and the shorter the interval, the fewer are missed. What was not seen is said, and never
// filled: a candle has [Candle.Missing], and [CandlesMissing] are periods without one. The
// first candle lacks what was before the first look. Looks may fail, and be late, by one
// interval without anything missing.
//
// What a candle needs beside itself is bounded: for loops that are behind, the newest 4,096
// are kept, and a [Gap] says if that was not enough.
func Candles(m *trading.MarketData, length time.Duration, symbols ...string) Watch {
	return CandlesAfter(m, nil, length, symbols...)
}

// CandlesAfter is [Candles] behind recorded ones, such as [ReadCandles] returns, so that an
// indicator does not start empty. They are delivered first, as [CandleClosed] in the order given; a
// [CandlesMissing] stands wherever one does not follow the one before, and between the last and the
// first that is built. Of one market they have to be in the order of time, and all of this length.
func CandlesAfter(m *trading.MarketData, recorded []Candle, length time.Duration, symbols ...string) Watch {
	switch {
	case m == nil:
		return misuse("candles", "watch: Candles needs market data")
	case length < shortestCandle || length > longestCandle || longestCandle%length != 0:
		return misuse("candles", fmt.Sprintf("watch: the length of a candle is %s: it must divide a day, and be a second at least", length))
	}
	ends := map[string]time.Time{}
	for _, c := range recorded {
		if c.Length != length || !c.Start.Equal(c.Start.Truncate(length)) || c.Start.Before(ends[c.Symbol]) {
			return misuse("candles", fmt.Sprintf("watch: the recorded candle of %s at %s is not of length %s, or not behind the one before", c.Symbol, c.Start.UTC().Format(time.RFC3339), length))
		}
		ends[c.Symbol] = c.End()
	}
	symbols = slices.Compact(slices.Sorted(slices.Values(symbols)))
	return Watch{name: "candles", snapshot: recorded != nil, open: func() source {
		return &candleSource{marks: markSource{market: m, symbols: symbols}, length: length, recorded: recorded, builders: map[string]*builder{}}
	}}
}

type candleSource struct {
	marks    markSource
	length   time.Duration
	every    func() time.Duration
	recorded []Candle
	builders map[string]*builder
	log      rolling[Event]
}

// paced is a source that goes by how far its looks are apart.
type paced interface {
	pace(every func() time.Duration)
}

func (s *candleSource) pace(every func() time.Duration) { s.every = every }

func (s *candleSource) look(ctx context.Context, before look) (look, bool, error) {
	prices, err := s.marks.market.Prices(ctx)
	if err != nil {
		return nil, false, err
	}
	at := time.Now().UTC().Round(0) // by the wall: a machine that slept has seen nothing meanwhile
	if before == nil {
		if err := s.marks.checkSymbols(ctx, prices); err != nil {
			return nil, false, err
		}
		s.log = s.log.add(s.begin(at)...)
	}
	symbols := s.marks.symbols
	if len(symbols) == 0 {
		for symbol := range prices {
			s.builder(symbol)
		}
		symbols = slices.Sorted(maps.Keys(s.builders))
	}
	var events []Event
	for _, symbol := range symbols {
		price, priced := prices[symbol].Price()
		events = s.builder(symbol).look(events, at, price, priced, s.reach())
	}
	s.log = s.log.add(events...)
	return &logLook{at, s.log, "candles"}, false, nil
}

// reach is how far apart two looks see what is between them: one may fail or be late.
func (s *candleSource) reach() time.Duration { return 2*s.every() + time.Second }

func (s *candleSource) builder(symbol string) *builder {
	b := s.builders[symbol]
	if b == nil {
		b = &builder{symbol: symbol, length: s.length}
		s.builders[symbol] = b
	}
	return b
}

// begin delivers what was recorded.
func (s *candleSource) begin(at time.Time) (events []Event) {
	for _, c := range s.recorded {
		b := s.builder(c.Symbol)
		if !b.next.IsZero() && c.Start.After(b.next) {
			events = append(events, CandlesMissing{at, c.Symbol, b.next, c.Start, "they were not recorded"})
		}
		c.Start = c.Start.UTC()
		events = append(events, CandleClosed{at, c})
		b.next = c.End()
	}
	s.recorded = nil
	return events
}
