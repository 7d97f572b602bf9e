package protect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

const (
	// markAge is how old a mark may be, its lag included, before its market counts as
	// unpriced.
	markAge = 10 * time.Second
	// marketsAge is how long the list of markets is kept.
	marketsAge = time.Hour
	// stillAfter is how long a mark may stay the same before its feed counts as dead.
	stillAfter = 60 * time.Second
	readWithin = 2 * time.Second
)

// reading is how the reads here are made: one try, for what has no answer soon is asked
// again at the next look.
func reading() []trading.CallOption {
	return []trading.CallOption{
		trading.ForExit(), trading.FailFast(),
		trading.WithAttemptTimeout(readWithin), trading.WithRetry(trading.Retry{Attempts: 1}),
	}
}

// price is the mark of a market as it was last read.
type price struct {
	value   decimal.Decimal
	at      instant // when the request began
	changed instant
	missing bool // the last reading had none
}

// market keeps the marks, the leverage caps, and how the marks have moved. All accounts
// share it.
type market struct {
	data   *trading.MarketData
	limits Limits
	now    func() instant

	mu        sync.Mutex
	prices    map[string]price
	jumped    map[string]decimal.Decimal // marks that jumped beyond the gap and wait for a second reading
	read      instant                    // when the last good reading began
	caps      map[string]decimal.Decimal
	capsRead  instant
	moves     moves
	following map[string]int // by market, how many accounts hold it
}

func newMarket(data *trading.MarketData, l Limits, now func() instant) *market {
	return &market{
		data: data, limits: l, now: now,
		prices: map[string]price{}, jumped: map[string]decimal.Decimal{}, caps: map[string]decimal.Decimal{},
		following: map[string]int{},
	}
}

// refresh reads the marks, unless some are younger than an age.
func (m *market) refresh(ctx context.Context, age time.Duration) error {
	if m.fresh(age) {
		return nil
	}
	if err := m.refreshCaps(ctx); err != nil {
		return err
	}
	began := m.now()
	marks, err := m.data.Prices(ctx, reading()...)
	if err != nil {
		return fmt.Errorf("the marks could not be read: %w", err)
	}
	m.update(began, marks)
	return nil
}

func (m *market) fresh(age time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.read.unset() && m.now().since(m.read) < age && len(m.jumped) == 0
}

func (m *market) refreshCaps(ctx context.Context) error {
	m.mu.Lock()
	known := !m.capsRead.unset() && m.now().since(m.capsRead) < marketsAge
	had := !m.capsRead.unset()
	m.mu.Unlock()
	if known {
		return nil
	}
	began := m.now()
	list, err := m.data.Markets(ctx, reading()...)
	if err != nil && had {
		return nil // the old caps hold
	}
	if err != nil {
		return fmt.Errorf("the markets could not be read: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range list {
		m.caps[list[i].Symbol] = list[i].MaxLeverage
	}
	m.capsRead = began
	return nil
}

// update takes a reading. A mark that jumps by more than the gap waits for the next
// reading: one torn number moves nothing.
func (m *market) update(began instant, marks map[string]trading.Mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.read.unset() && began.mono < m.read.mono {
		return // a later reading came first
	}
	m.read = began
	for symbol, old := range m.prices {
		if _, listed := marks[symbol]; !listed {
			old.missing = true
			m.prices[symbol] = old
		}
	}
	for symbol, mark := range marks {
		m.updateOne(began, symbol, mark)
	}
	values := make(map[string]decimal.Decimal, len(m.following))
	for symbol := range m.following {
		if p, ok := m.prices[symbol]; ok && !p.missing {
			values[symbol] = p.value
		}
	}
	m.moves.add(began.mono, values, func(symbol string) bool { return m.following[symbol] > 0 })
}

func (m *market) updateOne(began instant, symbol string, mark trading.Mark) {
	old, known := m.prices[symbol]
	value, priced := mark.Price()
	if !priced {
		if known {
			old.missing = true
			m.prices[symbol] = old
		}
		return
	}
	if known && value.Sub(old.value).Abs().GreaterThan(old.value.Mul(m.boundsLocked(symbol).gap)) {
		if _, twice := m.jumped[symbol]; !twice {
			m.jumped[symbol] = value
			return
		}
	}
	delete(m.jumped, symbol)
	changed := old.changed
	if !known || !value.Equal(old.value) {
		changed = began
	}
	m.prices[symbol] = price{value: value, at: began, changed: changed}
}

// of is the mark of a market; ok is false if there never was one.
func (m *market) of(symbol string) (p price, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok = m.prices[symbol]
	return p, ok
}

// waits reports whether a mark waits for a second reading.
func (m *market) waits() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.jumped) > 0
}

func (m *market) bounds(symbol string) bounds {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boundsLocked(symbol)
}

func (m *market) boundsLocked(symbol string) bounds {
	return boundsOf(m.limits.Shock, m.limits.Gap, m.caps[symbol])
}

func (m *market) variance(value map[string]decimal.Decimal) decimal.Decimal {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.moves.variance(value)
}

// follow says which markets an account holds now, and which it held before.
func (m *market) follow(before, now []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, symbol := range now {
		m.following[symbol]++
	}
	for _, symbol := range before {
		if m.following[symbol]--; m.following[symbol] <= 0 {
			delete(m.following, symbol)
		}
	}
	m.moves.forget(func(symbol string) bool { return m.following[symbol] > 0 })
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
