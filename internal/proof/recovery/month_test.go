package recovery

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestAMonthAddsUp trades for a month of virtual time, with a fault in every fiftieth
// call. What the client says of its writes has to add up to the simulator's ledger: the
// position after each of them, the closed trades, and the balance to the cent.
func TestAMonthAddsUp(t *testing.T) {
	if depth.Race {
		t.Skip("a month takes half a minute under the race detector")
	}
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(7, "64000", 2)),
			tradingsim.WithLag(3*time.Second), tradingsim.WithSampling(24*time.Hour))
		dice := rand.New(rand.NewPCG(1, 2))
		calls := 0
		sim.FaultEach(func(string) tradingsim.Fault {
			if calls++; calls%50 != 0 {
				return nil
			}
			for {
				if f := everyFault[dice.IntN(len(everyFault))]; f.Name != twice { // which no client prevents
					return f.Fault
				}
			}
		})
		b := &book{process: start(t, sim, newJournal(), true)}
		for end := time.Now().Add(30 * 24 * time.Hour); time.Now().Before(end); {
			time.Sleep(30 * time.Minute)
			b.decide(t, dice)
			require.True(t, b.position.Equal(sim.Position(string(account), "BTC")), "%s: the client's answers come to %s, the service has %s",
				time.Now(), b.position, sim.Position(string(account), "BTC"))
		}
		b.check(t, sim)
		t.Logf("%d calls, %d writes, %d of them in doubt", calls, b.writes, len(b.resolved()))
	})
}

// book is what the client's answers come to.
type book struct {
	*process
	position       decimal.Decimal
	writes, closes int
}

// decide opens, adds to, or closes the position, and waits until it is known what became
// of that.
func (b *book) decide(t *testing.T, dice *rand.Rand) {
	b.writes++
	closes := !b.position.IsZero() && dice.IntN(2) == 0
	o := size("BTC")
	if dice.IntN(2) == 0 && b.position.IsZero() {
		o.Side = trading.Short
	} else if b.position.IsNegative() {
		o.Side = trading.Short
	}
	var err error
	if closes {
		_, err = b.account().ClosePosition(t.Context(), "BTC", trading.All)
	} else {
		_, err = b.account().PlaceOrder(t.Context(), o)
	}
	outcome := trading.OutcomeOf(err)
	if outcome == trading.Unknown {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r, unknown := b.Resolve(ctx, err)
		require.NoError(t, unknown, "%v", err)
		outcome = r.Outcome
	}
	switch {
	case outcome != trading.Applied:
	case closes:
		b.position = decimal.Zero
		b.closes++
	case o.Side == trading.Short:
		b.position = b.position.Sub(o.Size)
	default:
		b.position = b.position.Add(o.Size)
	}
}

// check compares the account with the ledger, without faults and lag.
func (b *book) check(t *testing.T, sim *tradingsim.Sim) {
	sim.FaultEach(nil)
	time.Sleep(time.Minute)
	report, ok := sim.Report().Account(string(account))
	require.True(t, ok)
	state, err := b.account().State(t.Context())
	require.NoError(t, err)
	trades, err := b.account().Trades(t.Context())
	require.NoError(t, err)
	positions, err := b.account().Positions(t.Context())
	require.NoError(t, err)

	assert.Len(t, trades, b.closes, "closed trades")
	assert.Len(t, report.Trades, b.closes, "closed trades of the service")
	balance := report.Opening
	for _, trade := range trades {
		balance = balance.Add(trade.NetPnL())
	}
	for _, p := range positions {
		balance = balance.Sub(trading.TakerFee(p.Size.Mul(p.EntryPrice)))
		assert.True(t, p.Signed().Equal(b.position))
	}
	assert.Equal(t, report.Balance.StringFixed(2), balance.StringFixed(2), "by the closed trades")
	assert.Equal(t, report.Balance.StringFixed(2), state.Balance.StringFixed(2), "by the account")
	b.ended(t, "after a month")
}
