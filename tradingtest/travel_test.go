package tradingtest_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// trade is a bot that knows nothing of simulations: every three seconds it looks at
// its position, and while it has none it buys, protected on both sides.
func trade(ctx context.Context, market *trading.MarketData, account trading.Trader) error {
	ticker := time.NewTicker(3 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		positions, err := account.Positions(ctx)
		if err != nil || len(positions) > 0 {
			continue
		}
		mark, err := market.Price(ctx, "BTC")
		price, priced := mark.Price()
		if err != nil || !priced {
			continue
		}
		_, err = account.PlaceOrder(ctx, trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2"),
			StopLoss:   trading.At(price.Mul(trading.Dec("0.995"))),
			TakeProfit: trading.At(price.Mul(trading.Dec("1.005"))),
		})
		if errors.Is(err, trading.ErrAccountLocked) {
			return err
		}
	}
}

// travel lets the bot trade in a bubble and tells what it came to. The account is
// "" for the sandbox.
func travel(t *testing.T, d time.Duration, account string, feed func() tradingsim.Feed) (report tradingsim.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithFeed("BTC", feed()), tradingsim.WithRequestLog(100))
		client := tradingtest.Client(t, sim)
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		var trader trading.Trader = client.Sandbox
		if account != "" {
			trader = client.Live.Account(trading.AccountID(account))
		}
		require.NoError(t, trade(ctx, client.Sandbox.MarketData, trader))
		report = sim.Report()
	})
	return report
}

func walk(seed uint64) func() tradingsim.Feed {
	return func() tradingsim.Feed { return tradingsim.RandomWalk(seed, "64000", 4) }
}

// recorded is the marks of a walk, a minute apart, through a file.
func recorded(t *testing.T, seed uint64, d time.Duration) func() tradingsim.Feed {
	t.Helper()
	var file bytes.Buffer
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, tradingsim.WriteCSV(&file, walk(seed)(), start, time.Minute, int(d/time.Minute)))
	return func() tradingsim.Feed {
		feed, err := tradingsim.ReadCSV(bytes.NewReader(file.Bytes()))
		require.NoError(t, err)
		return tradingsim.FromStart(feed)
	}
}

// TestTimeTravel compares full reports: equal for equal marks, on the paper account
// and on a live one, and different for others. The example's own backtest goes
// through a whole month.
func TestTimeTravel(t *testing.T) {
	const length = 3*time.Hour + time.Second // ends between two polls, or chance decides about the last
	const polls = 3 * 60 * 20
	for account, reads := range map[string]string{"": "GET /sandbox/positions", "acc_1": "GET /positions"} {
		for what, feeds := range map[string][2]func() tradingsim.Feed{
			"a walk":      {walk(1), walk(2)},
			"a recording": {recorded(t, 1, length), recorded(t, 2, length)},
		} {
			t.Run(what+" on account "+account, func(t *testing.T) {
				once, again := travel(t, length, account, feeds[0]), travel(t, length, account, feeds[0])
				// A month of trades is no message to read.
				if !assert.ObjectsAreEqual(once, again) {
					t.Error("the same marks, another result")
				}
				a, ok := once.Account(account)
				require.True(t, ok)
				b, ok := travel(t, length, account, feeds[1]).Account(account)
				require.True(t, ok)
				require.NotEqual(t, a.Balance.String(), b.Balance.String(), "other marks, the same result")

				require.GreaterOrEqual(t, once.Requests[reads], polls)
				require.LessOrEqual(t, once.Requests[reads], polls+len(a.Trades), "the polls, and baselines")
				require.Empty(t, once.Refusals)
				require.Greater(t, len(a.Trades), 10)
				require.True(t, a.Fees.IsPositive())
				require.Greater(t, len(a.Curve), 3*60)
			})
		}
	}
}
