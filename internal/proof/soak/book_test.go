package soak

import (
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	takerRate = decimal.RequireFromString("0.00045")
	makerRate = decimal.RequireFromString("0.00015")
	opening   = decimal.NewFromInt(100_000)
)

// ledgerBook adds an account up from the ledger, by arithmetic of its own.
type ledgerBook struct {
	trader  trading.Trader
	account trading.AccountID // empty is the paper account
	funding decimal.Decimal
	// equity is what the last check has seen; none while it is not all priced.
	equity trading.Opt[decimal.Decimal]
}

func newLedgerBook(trader trading.Trader, account trading.AccountID) *ledgerBook {
	return &ledgerBook{trader: trader, account: account}
}

// held is what the account really holds.
func (b *ledgerBook) held(sim *tradingsim.Sim, symbol string) decimal.Decimal {
	return sim.Position(string(b.account), symbol)
}

// sums are what fills have moved.
type sums struct {
	cash, fees decimal.Decimal
	size       map[string]decimal.Decimal
}

// addUp adds the account's fills since it was opened, or reset.
func (b *ledgerBook) addUp(ledger []tradingsim.Execution) sums {
	s := sums{size: map[string]decimal.Decimal{}}
	for _, e := range ledger {
		switch {
		case e.Account != string(b.account):
		case e.Operation == string(trading.OpSandboxReset):
			s = sums{size: map[string]decimal.Decimal{}}
		case e.Filled:
			size := e.Size
			if e.Side == string(trading.Short) {
				size = size.Neg()
			}
			rate := takerRate
			if e.Operation == string(trading.OpLimit) && e.Actor == "service" {
				rate = makerRate
			}
			s.size[e.Symbol] = s.size[e.Symbol].Add(size)
			s.cash = s.cash.Sub(size.Mul(e.Price))
			s.fees = s.fees.Add(e.Size.Mul(e.Price).Mul(rate))
		}
	}
	return s
}

// check compares what the client reads with the sums: the positions, the balance
// with the closed trades and all fees, and the equity with the cash that changed
// hands.
func (b *ledgerBook) check(m *machine) {
	m.t.Helper()
	ctx := m.t.Context()
	state, err := b.trader.State(ctx) // fires the sandbox's triggers first
	require.NoError(m.t, err, "step %d", m.now)
	positions, err := b.trader.Positions(ctx)
	require.NoError(m.t, err, "step %d", m.now)
	trades, err := b.trader.Trades(ctx)
	require.NoError(m.t, err, "step %d", m.now)
	s := b.addUp(m.sim.Ledger())

	worth, priced := decimal.Zero, true
	for symbol, size := range s.size {
		p, open := positions.In(symbol)
		m.equal(size, p.Signed(), "the position in "+symbol)
		m.equal(size, b.held(m.sim, symbol), "the simulation's position in "+symbol)
		assert.Equal(m.t, !size.IsZero(), open, "step %d: %s is open", m.now, symbol)
		if !open {
			continue
		}
		price, ok := p.Mark.Price()
		priced = priced && ok
		worth = worth.Add(size.Mul(price))
	}
	assert.LessOrEqual(m.t, len(positions), len(s.size), "step %d: positions", m.now)

	gross := decimal.Zero
	for _, trade := range trades {
		gross = gross.Add(trade.GrossPnL)
		m.equal(trade.GrossPnL.Sub(trade.RoundTripFee), trade.NetPnL(), "the net PnL of a trade")
	}
	m.equal(opening.Add(gross).Sub(s.fees).Add(b.funding), state.Balance, "the balance of "+string(b.account))
	b.equity = trading.Opt[decimal.Decimal]{}
	if priced {
		m.equal(opening.Add(s.cash).Sub(s.fees).Add(b.funding).Add(worth), state.Equity, "the equity of "+string(b.account))
		b.equity = trading.Some(state.Equity)
	}
}
