package docs_test

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// How long it takes until the outcome of an order is known is what outcomes.md says.
func TestHowLongItTakes(t *testing.T) {
	page, err := os.ReadFile("outcomes.md")
	require.NoError(t, err)
	for _, c := range []struct {
		row         string
		fault       tradingsim.Fault
		more        int // replies that are lost after it
		live, paper time.Duration
	}{
		{"it is lost, or its reply is", tradingsim.DropResponse(), 0, time.Second, 35 * time.Second},
		{"it is lost, or its reply is", tradingsim.DropRequest(), 0, time.Second, 35 * time.Second},
		{"a page of a gateway comes instead of the reply", tradingsim.GatewayErrorAfter(502), 0, time.Second, 35 * time.Second},
		{"the service answers 5xx", tradingsim.Fail(500, "internal_error"), 0, 10 * time.Second, 35 * time.Second},
		{"the service answers 5xx", tradingsim.FailAfter(500, "internal_error"), 0, 10 * time.Second, 35 * time.Second},
		{"the service dies over it", tradingsim.Crash(), 0, 11 * time.Second, 35 * time.Second},
		{"the service dies over it", tradingsim.CrashAfter(), 0, 11 * time.Second, 35 * time.Second},
		{"no reply comes for half a minute", tradingsim.DropResponse(), 6, 26 * time.Second, 35 * time.Second},
	} {
		live, paper := timeToKnow(t, true, c.fault, c.more), timeToKnow(t, false, c.fault, c.more)
		assert.LessOrEqual(t, live, c.live, c.row)
		assert.LessOrEqual(t, paper, c.paper, c.row)
		assert.Contains(t, string(page), fmt.Sprintf("| %s | %.0f s | %.0f s |\n", c.row, c.live.Seconds(), c.paper.Seconds()))
	}
}

// timeToKnow places an order under faults, by a bot that reads its account, and returns when its
// outcome was known. It is what the service did.
func timeToKnow(t *testing.T, live bool, fault tradingsim.Fault, more int) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		client := tradingtest.Client(t, sim, trading.WithJournal(journal.NewMemory()), trading.WithExclusiveAccounts())
		var account trading.Trader = client.Sandbox
		operation := "POST /sandbox/orders"
		if live {
			account, operation = client.Live.Account("acc_1"), "POST /orders"
		}
		for range 2 { // rounds: what the second reads is a baseline, and what rested the first has read
			time.Sleep(6 * time.Second)
			readAll(t, account)
		}
		sim.Fault(operation, fault)
		for range more {
			sim.Fault(operation, tradingsim.DropResponse())
		}
		began := time.Now()
		_, err := account.PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")})
		outcome := trading.OutcomeOf(err)
		if outcome == trading.Unknown {
			resolution, err := account.Resolve(t.Context(), err)
			require.NoError(t, err)
			outcome = resolution.Outcome
		}
		took = time.Since(began)
		time.Sleep(time.Minute) // what is late has arrived
		require.Equal(t, len(sim.Ledger()) == 1, outcome == trading.Applied)
		require.NotEqual(t, trading.Unknown, outcome)
	})
	return took
}

// readAll reads what is a baseline for an order.
func readAll(t *testing.T, account trading.Trader) {
	t.Helper()
	_, err := account.State(t.Context())
	require.NoError(t, err)
	_, err = account.Positions(t.Context())
	require.NoError(t, err)
	_, err = account.Trades(t.Context())
	require.NoError(t, err)
	if live, ok := account.(*trading.Account); ok {
		_, err = live.OpenOrders(t.Context())
		require.NoError(t, err)
	}
}
