package recovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestAHundredPendingAfterAnHour begins a hundred orders as the service goes away for an
// hour: half of them arrive. All are decided after it, exits pass at any moment, and the
// client causes no 429.
func TestAHundredPendingAfterAnHour(t *testing.T) {
	const orders = 100
	synctest.Test(t, func(t *testing.T) {
		opts := []tradingsim.Option{tradingsim.WithLag(3 * time.Second), tradingsim.WithSampling(24 * time.Hour), tradingsim.WithMark("BTC", "64000")}
		for i := range orders {
			opts = append(opts, tradingsim.WithMark(symbol(i), "100"))
		}
		sim := tradingsim.New(opts...)
		// An account has a history. Of an empty list of trades that has grown by twenty rows,
		// nobody can tell whether the service shows all of it.
		sim.Trade("acc_1", "long", "1", "BTC")
		for range 4 {
			time.Sleep(time.Minute)
			_, err := sim.Terminal("POST /positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":50}`)
			require.NoError(t, err)
		}
		bot := start(t, sim, newJournal(), true)
		time.Sleep(10 * time.Second)
		_, err := bot.account().PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec("1"), Leverage: dec("5")})
		require.NoError(t, err)
		time.Sleep(time.Minute)

		var arrived atomic.Int64
		sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == "POST /orders" && arrived.Add(1) <= orders/2 {
				return tradingsim.DropResponse()
			}
			return tradingsim.DropRequest()
		})
		ctx, leave := context.WithTimeout(t.Context(), time.Minute)
		defer leave()
		done := make(chan error, orders)
		for i := range orders {
			go func() {
				_, err := bot.account().PlaceOrder(ctx, trading.Order{Symbol: symbol(i), Side: trading.Long, Size: dec("1"), Leverage: dec("2")},
					trading.SkipHealthGate())
				done <- err
			}()
		}
		unknown := 0
		for range orders {
			if trading.OutcomeOf(<-done) == trading.Unknown {
				unknown++
			}
		}
		left, err := bot.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, left, unknown)
		require.Greater(t, unknown, orders/2)
		asked := len(sim.Requests())
		time.Sleep(time.Hour)
		assert.Less(t, len(sim.Requests())-asked, 200, "requests into an hour's silence")

		sim.FaultEach(nil)
		back := time.Now()
		slowest := time.Duration(0)
		for len(left) > 0 && time.Since(back) < time.Hour {
			for _, exit := range slices.Repeat(exits, many(time.Since(back))) {
				began := time.Now()
				require.NoError(t, exit(t.Context(), bot.account()), "an exit, %s after the service is back", began.Sub(back))
				slowest = max(slowest, time.Since(began))
			}
			time.Sleep(time.Second)
			left, err = bot.Pending(t.Context())
			require.NoError(t, err)
		}
		bot.ended(t, "an hour after it is back")
		assert.LessOrEqual(t, slowest, time.Second, "the slowest exit")
		t.Logf("%d pending: decided in %s, the slowest exit took %s", unknown, time.Since(back), slowest)
		for _, r := range sim.Requests() {
			assert.NotEqual(t, http.StatusTooManyRequests, r.Status, "%s at %s", r.Operation, r.At)
		}
	})
}

// exits share the rate limits of what the driver asks: a reduce-only order that of its
// probes, a cancel that of its fences.
var exits = []func(context.Context, *trading.Account) error{
	func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.ClosePosition(ctx, "BTC", trading.Percent(dec("1"))))
	},
	func(ctx context.Context, a *trading.Account) error {
		return rig.Only(a.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Short, Size: dec("0.001"), Leverage: dec("5"), ReduceOnly: true}))
	},
	func(ctx context.Context, a *trading.Account) error {
		if _, err := a.CancelOrder(ctx, "ord_none"); !errors.Is(err, trading.CodeOrderNotFound) {
			return fmt.Errorf("a cancel: %w", err)
		}
		return nil
	},
}

// many is how many exits go at once: forty of each in the middle of the driver's work,
// which is more than any reserve.
func many(busy time.Duration) int {
	if busy.Truncate(time.Second) == 20*time.Second {
		return 40
	}
	return 1
}

func symbol(i int) string { return fmt.Sprintf("S%02d", i) }
