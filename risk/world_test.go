package risk_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

var dec = trading.Dec

// The simulator's own numbers, where the contract names none.
const (
	perPosition  = "5"   // of the equity
	totalMargin  = "0.8" // of the equity
	minOrder     = "10"  // dollars
	guardBandPct = "0.5"
)

// world is one simulated service in a random state, and what a caller knows of it.
type world struct {
	*rand.Rand
	env     trading.Environment
	sim     *tradingsim.Sim
	client  *trading.Client
	account *trading.Account
	setup   map[string]tradingsim.Market
	trouble map[string]string
	symbols []string

	state     *trading.AccountState
	positions trading.Positions
	markets   map[string]trading.Market
}

// newWorld makes a service whose markets, account and positions are chosen at
// random, with what is rare in life made frequent.
func newWorld(t *testing.T, r *rand.Rand) *world {
	w := &world{Rand: r, env: trading.EnvSandbox, setup: map[string]tradingsim.Market{}, trouble: map[string]string{}}
	if w.IntN(3) > 0 {
		w.env = trading.EnvLive
	}
	options := []tradingsim.Option{
		tradingsim.WithKeyLimit(1 << 30), tradingsim.WithUserLimits(1<<30, 1<<30), tradingsim.WithRequestLog(1),
		tradingsim.WithCaps(tradingsim.Caps{PerPosition: perPosition, TotalMargin: totalMargin, MinNotional: minOrder}),
	}
	for _, symbol := range []string{"BTC", "ETH", "SOL", "TSLA", "PEPE"} {
		m := w.randomMarket(symbol)
		w.setup[symbol] = m
		w.symbols = append(w.symbols, symbol)
		options = append(options, tradingsim.WithMarket(m))
	}
	options = append(options, w.randomAccount()...)
	w.sim = tradingsim.New(options...)
	client, err := trading.New(w.sim.URL(), trading.WithTransport(w.sim.Transport()),
		trading.WithSandboxKey(w.sim.SandboxKey()), trading.WithLiveKey(w.sim.LiveKey()),
		// No time passes between the inputs and the order.
		trading.WithRateLimits(trading.RateLimits{Off: true}), trading.WithRetry(trading.Retry{Attempts: 1, PriceAttempts: 1}))
	require.NoError(t, err)
	w.client, w.account = client, client.Live.Account("acc_1")
	w.openPositions(t)
	for _, symbol := range w.symbols {
		if m := w.setup[symbol]; m.Price == "" {
			w.sim.SetMark(symbol, "")
		}
		if w.IntN(20) == 0 {
			w.trouble[symbol] = w.pick(troubles[w.env]...)
			w.sim.SetFillError(symbol, w.trouble[symbol])
		}
		w.sim.SetMarket(w.setup[symbol]) // disabled and paused from now on
	}
	return w
}

// troubles are what can go wrong with a fill, as the contract documents it.
var troubles = map[trading.Environment][]string{
	trading.EnvLive:    {"STALE_PRICE", "NO_PRICE", "equity_unavailable"},
	trading.EnvSandbox: {"STALE_PRICE", "NO_PRICE", "order_rejected", "fill_rejected", "cap_exceeded"},
}

func (w *world) close() {
	_ = w.client.Close()
	_ = w.sim.Close()
}

func (w *world) pick(from ...string) string { return from[w.IntN(len(from))] }

// number is a random decimal of some digits between two bounds.
func (w *world) number(from, to string, places int32) decimal.Decimal {
	low, high := dec(from).Shift(places).IntPart(), dec(to).Shift(places).IntPart()
	return decimal.New(low+w.Int64N(high-low+1), -places)
}

func (w *world) randomMarket(symbol string) tradingsim.Market {
	m := tradingsim.Market{Symbol: symbol, MaxLeverage: w.pick("1", "2", "3", "4", "5", "2.5")}
	m.Price = map[string]func() decimal.Decimal{
		"BTC":  func() decimal.Decimal { return w.number("20000", "120000", 1) },
		"ETH":  func() decimal.Decimal { return w.number("1000", "5000", 2) },
		"SOL":  func() decimal.Decimal { return w.number("20", "300", 3) },
		"TSLA": func() decimal.Decimal { return w.number("100", "400", 2) },
		"PEPE": func() decimal.Decimal { return w.number("0.000001", "0.00005", 9) },
	}[symbol]().String()
	if w.IntN(4) == 0 {
		m.NotionalCap = w.number("50", "30000", 0).String()
	}
	if w.IntN(6) == 0 {
		price := dec(m.Price)
		m.Book = tradingsim.Book{Levels: []tradingsim.BookLevel{
			{Bps: "4", Size: w.sizeFor(dec("60"), price, 6).String()},
			{Bps: "1200", Size: w.sizeFor(dec("5000"), price, 6).String()},
		}}
	}
	return m
}

// randomAccount is one with some room, with hardly any, or in a state that takes
// no orders.
func (w *world) randomAccount() []tradingsim.Option {
	balance := w.number("500", "100000", 2)
	daily, global := balance.Mul(dec("0.95")), balance.Mul(dec("0.9"))
	switch w.IntN(14) {
	case 0: // hardly any room above the daily floor
		daily = balance.Sub(w.number("0.01", "40", 2))
	case 1:
		global = balance.Sub(w.number("0.01", "40", 2))
	case 2: // the same one
		global = balance.Sub(w.number("0.01", "10", 2))
		daily = global
	}
	if w.IntN(16) == 0 { // nothing, and floors far below
		balance, daily, global = decimal.Zero, dec("-500"), dec("-1000")
	}
	target := balance.Add(w.number("5", "2000", 2))
	status := "ACTIVE"
	if w.IntN(4) == 0 {
		status = w.pick("FUNDED", "PURCHASED", "PASSED", "PASSED", "FAILED", "EXPIRED")
	}
	return []tradingsim.Option{
		tradingsim.WithSandbox(tradingsim.Sandbox{
			Balance: balance.String(), DailyLossFloor: daily.String(), GlobalLossFloor: global.String(), ProfitTarget: target.String(),
		}),
		tradingsim.WithAccount(tradingsim.Account{
			ID: "acc_1", Status: status, Balance: balance.String(),
			DailyLossFloor: daily.String(), GlobalLossFloor: global.String(), ProfitTarget: target.String(),
		}),
	}
}

// openPositions opens some, adds to some at another price so that their entry is
// blended, and then makes some markets unpriced, disabled or paused.
func (w *world) openPositions(t *testing.T) {
	for _, symbol := range w.symbols {
		m := w.setup[symbol]
		for range w.IntN(3) {
			size := w.sizeFor(w.number("15", "900", 2), dec(m.Price), 6)
			side := w.side()
			if w.env == trading.EnvLive {
				w.sim.Trade("acc_1", string(side), size.String(), symbol)
			} else {
				_, _ = w.client.Sandbox.PlaceOrder(t.Context(), trading.Order{Symbol: symbol, Side: side, Size: size, Leverage: dec("2")})
			}
			if w.IntN(2) == 0 {
				m.Price = w.near(dec(m.Price), 200).String()
				w.sim.SetMark(symbol, m.Price)
			}
		}
		switch w.IntN(30) {
		case 0, 1:
			m.Price = ""
		case 2:
			m.Disabled = true
		case 3:
			m.Paused = true
		}
		w.setup[symbol] = m
	}
}

func (w *world) side() trading.Side {
	if w.IntN(2) == 0 {
		return trading.Short
	}
	return trading.Long
}

// near is a price at most some basis points away, and now and then the same.
func (w *world) near(price decimal.Decimal, bps int64) decimal.Decimal {
	away := decimal.New(w.Int64N(2*bps+1)-bps, -4)
	return price.Add(price.Mul(away)).Round(max(4, -price.Exponent()+1))
}

// sizeFor is a size worth about some dollars.
func (w *world) sizeFor(dollars, price decimal.Decimal, places int32) decimal.Decimal {
	if price.LessThan(dec("1")) {
		places = 0
	}
	size := dollars.DivRound(price, places)
	return decimal.Max(size, decimal.New(1, -places))
}

// lookAround reads everything that a caller would read before an order.
func (w *world) lookAround(t *testing.T) {
	markets, err := w.client.Sandbox.Markets(t.Context())
	require.NoError(t, err)
	w.markets = map[string]trading.Market{}
	for _, m := range markets {
		w.markets[m.Symbol] = m
	}
	w.look(t)
}

// look reads the account, which an order changes.
func (w *world) look(t *testing.T) {
	ctx := t.Context()
	var err error
	var reader trading.Trader = w.account
	if w.env == trading.EnvSandbox {
		reader = w.client.Sandbox
	}
	w.positions, err = reader.Positions(ctx)
	require.NoError(t, err)
	w.state, err = reader.State(ctx)
	require.NoError(t, err)
}

// inputs is all that can be known before an order in a market.
func (w *world) inputs(symbol string, method risk.Method) risk.Inputs {
	f := risk.Inputs{
		Environment: w.env, Method: method, State: w.state, Positions: trading.Some(w.positions),
		GuardBandPct: trading.Some(dec(guardBandPct)),
		Caps: risk.Caps{
			MinOrder: trading.Some(dec(minOrder)),
			Position: trading.Some(w.state.Equity.Mul(dec(perPosition))),
			Margin:   trading.Some(w.state.Equity.Mul(dec(totalMargin))),
		},
	}
	m, listed := w.markets[symbol]
	if !listed {
		f.Closed = trading.CodeBadSymbol
		return f
	}
	f.Market = trading.Some(m)
	limit := w.setup[symbol].NotionalCap
	if limit == "" {
		limit = "10000000"
	}
	f.Caps.Market = trading.Some(dec(limit))
	switch {
	case w.setup[symbol].Disabled:
		f.Closed = trading.CodeAssetDisabled
	case w.setup[symbol].Paused:
		f.Closed = trading.CodeMarketPaused
	}
	return f
}

// forget leaves out some of the inputs.
func (w *world) forget(f risk.Inputs) risk.Inputs {
	for _, field := range []func(){
		func() { f.Market = trading.Opt[trading.Market]{} },
		func() { f.State = nil },
		func() { f.Caps.Position = trading.Opt[decimal.Decimal]{} },
		func() { f.Caps = risk.Caps{} },
		func() { f.GuardBandPct = trading.Opt[decimal.Decimal]{} },
		func() { f.Closed = "" },
		func() {
			// Records of fewer members, as they may be on a live account.
			positions := slices.Clone(w.positions)
			for i := range positions {
				positions[i].Mark, positions[i].UnrealizedPnL = trading.Mark{}, trading.Opt[decimal.Decimal]{}
				positions[i].Notional, positions[i].Margin = trading.Opt[decimal.Decimal]{}, trading.Opt[decimal.Decimal]{}
			}
			f.Positions = trading.Some(positions)
		},
	} {
		if w.IntN(2) == 0 {
			field()
		}
	}
	return f
}
