package tradingsim

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// Market describes a market of the simulation. Numbers are text.
type Market struct {
	// Symbol is the plain symbol, such as "BTC".
	Symbol string
	// Label is "<Symbol>-PERP" unless set.
	Label string
	// Category is "crypto" unless set; "stocks", "indices", "commodities" and
	// "fx" have the leverage of their class.
	Category string
	// Price is the mark; "" is unpriced, or leaves a feed in charge.
	Price string
	// MaxLeverage is what orders are clamped to. Unset it is the cap of the
	// class: 5 for BTC and ETH, 2 for other crypto, 4 for the rest.
	MaxLeverage string
	// NotionalCap is the largest position in dollars (ASSET_NOTIONAL_CAP);
	// 10,000,000 unless set.
	NotionalCap string
	// Book is what the slippage check walks. The zero Book is deep.
	Book Book
	// Disabled markets refuse orders with asset_disabled. They stay listed and
	// priced, and positions in them can be closed.
	Disabled bool
	// Paused markets refuse new exposure on live accounts with market_paused;
	// orders that only reduce a position go through.
	Paused bool
}

// market is a market in force.
type market struct {
	symbol, label, category string
	maxLeverage             decimal.Decimal
	notionalCap             decimal.Decimal
	depth                   depth
	disabled, paused        bool
	feed                    Feed
	fillError               string // the code that fills are refused with

	// The last mark that the feed was asked for: one poll asks several times.
	isAsked bool
	askedAt time.Time
	asked   opt
}

func newMarket(m Market) *market {
	if m.Symbol == "" {
		panic("tradingsim: a market needs a symbol")
	}
	if m.Label == "" {
		m.Label = m.Symbol + "-PERP"
	}
	if m.Category == "" {
		m.Category = "crypto"
	}
	maxLeverage := mustOr("MaxLeverage", m.MaxLeverage, classLeverage(m.Symbol, m.Category))
	if maxLeverage.IsZero() {
		panic("tradingsim: MaxLeverage of " + m.Symbol + " must be greater than 0")
	}
	return &market{
		symbol:      m.Symbol,
		label:       m.Label,
		category:    m.Category,
		maxLeverage: maxLeverage,
		notionalCap: mustOr("NotionalCap", m.NotionalCap, "10000000"),
		depth:       newDepth(m.Book),
		disabled:    m.Disabled,
		paused:      m.Paused,
	}
}

// classLeverage is the cap of a class of markets.
func classLeverage(symbol, category string) string {
	switch {
	case symbol == "BTC" || symbol == "ETH":
		return "5"
	case category == "crypto":
		return "2"
	}
	return "4"
}

// defaultMarkets trade where a test names none.
var defaultMarkets = []Market{
	{Symbol: "BTC", Label: "Bitcoin", Price: "64000"},
	{Symbol: "ETH", Label: "Ether", Price: "3200"},
	{Symbol: "SOL", Label: "Solana", Price: "150"},
	{Symbol: "TSLA", Label: "Tesla", Category: "stocks", Price: "250"},
	{Symbol: "GOLD", Label: "Gold", Category: "commodities", Price: "2400"},
	{Symbol: "EURUSD", Label: "Euro / US dollar", Category: "fx", Price: "1.08"},
}

// markAt is the mark at a time; a feed's price that is not positive is none.
func (m *market) markAt(t time.Time) opt {
	if _, changes := m.feed.(*setMarks); changes {
		return m.askFeed(t)
	}
	if !m.isAsked || !t.Equal(m.askedAt) {
		m.isAsked, m.askedAt, m.asked = true, t, m.askFeed(t)
	}
	return m.asked
}

func (m *market) askFeed(t time.Time) opt {
	price, ok := m.feed.At(t)
	if !ok || !price.IsPositive() {
		return opt{}
	}
	return some(price)
}

// markFor is the mark that an order which waited on the server fills at: none
// while the market takes no such order.
func (s *Sim) markFor(a *account, t ticket, m *market) opt {
	if m.disabled || m.fillError != "" || m.paused && s.adds(&a.book, t) || m.staleAt(s.now) {
		return opt{}
	}
	return m.markAt(s.now)
}

// ageAt is how old the mark is.
func (m *market) ageAt(t time.Time) time.Duration {
	if f, ok := m.feed.(aged); ok {
		return f.age(t)
	}
	return 0
}

// staleAt reports whether the mark is too old to fill at.
func (m *market) staleAt(t time.Time) bool {
	f, ok := m.feed.(stale)
	return ok && f.Stale(t)
}

// putMarket adds a market, or changes one and keeps its feed where the new
// description has no price.
func (s *Sim) putMarket(m Market) *market {
	fresh := newMarket(m)
	known, ok := s.markets[m.Symbol]
	if ok {
		fresh.feed, fresh.fillError = known.feed, known.fillError
		*known = *fresh // orders that wait hold on to the market
	} else {
		known = fresh
		known.feed = &setMarks{changes: []markChange{{at: s.now}}}
		s.symbols = append(s.symbols, m.Symbol)
		s.markets[m.Symbol] = known
	}
	if m.Price != "" {
		s.setMark(known, m.Price)
	}
	return known
}

// market finds a market for a test, or makes it.
func (s *Sim) market(symbol string) *market {
	if m, ok := s.markets[symbol]; ok {
		return m
	}
	return s.putMarket(Market{Symbol: symbol})
}

func (s *Sim) setMark(m *market, price string) {
	mark := opt{}
	if price != "" {
		mark = some(must("mark of "+m.symbol, price))
		if !mark.value.IsPositive() {
			panic(fmt.Sprintf("tradingsim: mark %s of %s is not positive", price, m.symbol))
		}
	}
	marks, ok := m.feed.(*setMarks)
	if !ok {
		last := m.markAt(s.now)
		marks = &setMarks{changes: []markChange{{at: s.now, mark: last}}}
		m.feed = marks
	}
	marks.set(s.now, mark)
}
