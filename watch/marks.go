package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// Marks watches the prices of markets, all that have one if none is named. A look is
// one request, however many they are. It reads market data alone: no look touches the
// paper account or fires its triggers.
//
// A market without a price is lost by itself; the others go on. A symbol that is not
// tradeable at all ends the loop with [trading.CodeBadSymbol] at the first look.
func Marks(m *trading.MarketData, symbols ...string) Watch {
	if m == nil {
		return misuse("marks", "watch: Marks needs market data")
	}
	symbols = slices.Compact(slices.Sorted(slices.Values(symbols)))
	return Watch{name: "marks", open: func() source { return &markSource{market: m, symbols: symbols} }}
}

type markSource struct {
	market  *trading.MarketData
	symbols []string // all if none
}

type markLook struct {
	at      time.Time
	symbols []string // in order; those that have or had a price
	marks   map[string]trading.Mark
}

func (s *markSource) look(ctx context.Context, before look) (look, bool, error) {
	prices, err := s.market.Prices(ctx)
	if err != nil {
		return nil, false, err
	}
	was, _ := before.(*markLook)
	if was == nil {
		if err := s.checkSymbols(ctx, prices); err != nil {
			return nil, false, err
		}
	}
	is := &markLook{at: time.Now(), symbols: s.symbols, marks: prices}
	if len(s.symbols) == 0 {
		is.symbols = slices.Sorted(maps.Keys(prices))
		if was != nil {
			is.symbols = append(is.symbols, was.symbols...)
			slices.Sort(is.symbols)
			is.symbols = slices.Compact(is.symbols)
		}
	}
	return is, false, nil
}

// checkSymbols distinguishes a market that has no price now from one that does not exist, which
// the list of prices does not.
func (s *markSource) checkSymbols(ctx context.Context, prices map[string]trading.Mark) error {
	for _, symbol := range s.symbols {
		if _, priced := prices[symbol].Price(); priced {
			continue
		}
		if _, err := s.market.Price(ctx, symbol); errors.Is(err, trading.CodeBadSymbol) {
			return hopeless{fmt.Errorf("%q: %w", symbol, err)}
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (is *markLook) since(before look) []Event {
	was := &markLook{}
	if before, ok := before.(*markLook); ok {
		was = before
	}
	var events []Event
	for _, symbol := range is.symbols {
		old, now := was.marks[symbol], is.marks[symbol]
		switch _, priced := now.Price(); {
		case now.Equal(old):
		case priced:
			events = append(events, MarkChanged{is.at, symbol, old, now})
		default:
			events = append(events, MarkLost{is.at, symbol, old})
		}
	}
	return events
}
