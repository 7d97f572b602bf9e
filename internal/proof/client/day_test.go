package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// tradeFor is a bot: every three seconds it looks at the account, which is what
// fires its stops, and while it has nothing open it buys, protected on both
// sides.
func tradeFor(ctx context.Context, paper *trading.Sandbox, rounds int) error {
	for round := range rounds {
		time.Sleep(3 * time.Second)
		if positions, err := paper.Positions(ctx); err != nil || len(positions) > 0 {
			continue // there is another round soon
		}
		if _, err := paper.State(ctx); err != nil {
			continue
		}
		if _, err := paper.Trades(ctx); err != nil { // with the account and its positions, a baseline
			continue
		}
		if round < 3 {
			continue // a read right after the start may lag behind an earlier run
		}
		mark, err := paper.Price(ctx, "BTC")
		price, priced := mark.Price()
		if err != nil || !priced {
			continue
		}
		_, err = paper.PlaceOrder(ctx, trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: rig.Dec("0.01"), Leverage: rig.Dec("2"), ExpectedPrice: trading.At(price),
			StopLoss: trading.At(price.Mul(rig.Dec("0.99"))), TakeProfit: trading.At(price.Mul(rig.Dec("1.01"))),
		})
		switch {
		case errors.Is(err, trading.ErrAccountLocked):
			_, err = paper.Reset(ctx)
		case trading.OutcomeOf(err) == trading.Unknown:
			continue // the client finds out, and entries wait for it
		}
		if err != nil && trading.AdviceOf(err) == trading.AdviseNever {
			return err
		}
	}
	return nil
}

// runBot lets the bot trade on a walk of its own and returns what was executed.
func runBot(t *testing.T, seed uint64, rounds int) (ledger string, fills int) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, []tradingsim.Option{tradingsim.WithFeed("BTC", tradingsim.RandomWalk(seed, "64000", 4))}, trading.WithExclusiveAccounts())
		began := time.Now()
		// Some trouble, on the way.
		r.Sim.Fault("POST /sandbox/orders", tradingsim.DropResponse(), tradingsim.Fail(500, "internal_error"), tradingsim.GatewayError(502))
		require.NoError(t, tradeFor(t.Context(), r.Sandbox, rounds))
		assert.GreaterOrEqual(t, time.Since(began), time.Duration(rounds)*3*time.Second)
		var lines []string
		for _, e := range r.Sim.Ledger() {
			lines = append(lines, fmt.Sprint(e.At.Sub(began), e.Operation, e.Side, e.Size, e.Price))
		}
		ledger, fills = strings.Join(lines, "\n"), len(r.Fills())

		// Whatever happened, the money adds up.
		state, earned := r.State(), rig.Dec("100000")
		for _, trade := range r.Trades() {
			earned = earned.Add(trade.NetPnL())
		}
		for _, position := range r.Positions() {
			earned = earned.Sub(trading.TakerFee(position.Size.Mul(position.EntryPrice)))
		}
		assert.Less(t, state.Balance.Sub(earned).Abs().InexactFloat64(), 1e-6, "%s, %s", state.Balance, earned)
	})
	return ledger, fills
}

func TestABotTradesForADay(t *testing.T) {
	rounds := 24 * 60 * 20
	if testing.Short() || rig.RaceDetector {
		rounds /= 4
	}
	_, fills := runBot(t, 1, rounds)
	assert.Greater(t, fills, 2)
}

func TestABotTradesTheSameEachTime(t *testing.T) {
	const hours = 2 * 60 * 20
	once, fills := runBot(t, 2, hours)
	again, _ := runBot(t, 2, hours)
	other, _ := runBot(t, 3, hours)
	assert.Positive(t, fills)
	assert.Equal(t, once, again)
	assert.NotEqual(t, once, other)
}
