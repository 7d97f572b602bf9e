package limits

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Where slots are short, exits come before entries, and reads last; whoever came
// first within each.
func TestPrioritiesAreServedInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		account := r.Account()
		for range 600 { // so that slots become free one by one
			_, err := account.Positions(t.Context(), trading.FailFast(), trading.ForExit())
			require.NoError(t, err)
			time.Sleep(10 * time.Millisecond)
		}
		began := time.Now()
		var work sync.WaitGroup
		for _, do := range []func(context.Context) error{
			func(ctx context.Context) error { _, err := account.Trades(ctx); return err },
			func(ctx context.Context) error { _, err := account.State(ctx); return err },
			func(ctx context.Context) error {
				return rig.Only(account.PlaceLimit(ctx, rig.Buy("0.01", limitAt("60000")), trading.WithSendTTL(2*time.Minute)))
			},
			func(ctx context.Context) error {
				return rig.Only(account.PlaceOrder(ctx, rig.Buy("0.01"), trading.WithSendTTL(2*time.Minute)))
			},
			func(ctx context.Context) error { _, err := account.ClosePosition(ctx, "ETH", trading.All); return err },
			func(ctx context.Context) error { return rig.Only(account.OpenOrders(ctx, trading.ForExit())) },
			func(ctx context.Context) error { _, err := account.CancelOrder(ctx, "o1"); return err },
		} {
			work.Go(func() { _ = do(t.Context()) })
			synctest.Wait()
		}
		work.Wait()
		assert.Equal(t, []string{
			"POST /positions/close", "GET /accounts/{accountId}/orders", "POST /orders/cancel",
			"POST /orders/limit", "POST /orders",
			"GET /trades", "GET /accounts/{accountId}",
		}, operationsAfter(r, began))
	})
}

func limitAt(price string) func(*trading.Order) {
	return func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At(price) }
}

// operationsAfter are the requests that arrived after that, but for the health.
func operationsAfter(r rig.Rig, after time.Time) (ops []string) {
	for _, request := range r.Sim.Requests() {
		if request.At.After(after) && request.Operation != "GET /health" {
			ops = append(ops, request.Operation)
		}
	}
	return ops
}

// Entries and reads cannot take what is reserved for the others.
func TestTheReserve(t *testing.T) {
	for _, row := range []struct {
		name    string
		reserve int
		entries int
	}{
		{"a tenth unless set", 0, 135},
		{"none", -1, 150},
		{"half", 50, 75},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, nil, trading.WithRateLimits(trading.RateLimits{ReservePct: row.reserve}))
				ctx, account := t.Context(), r.Account()
				placed := 0
				for ; placed < 200; placed++ {
					if _, err := account.PlaceOrder(ctx, rig.Buy("0.001"), trading.FailFast()); err != nil {
						require.ErrorIs(t, err, trading.CodeRateLimited)
						require.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
						assert.True(t, rig.RefusalOf(t, err).Local)
						wait, ok := trading.RetryAfter(err)
						assert.True(t, ok)
						assert.Equal(t, time.Minute, wait)
						break
					}
				}
				assert.Equal(t, row.entries, placed)
				_, err := account.PlaceOrder(ctx, rig.Sell("0.001", func(o *trading.Order) { o.ReduceOnly = true }), trading.FailFast())
				assert.Equal(t, row.reserve < 0, errors.Is(err, trading.CodeRateLimited), "%v", err)
				began := time.Now()
				_, err = account.PlaceOrder(ctx, rig.Buy("0.001"), trading.WithSendTTL(0))
				require.ErrorIs(t, err, trading.CodeRateLimited)
				assert.Zero(t, time.Since(began), "what is sent once does not wait")
				// An entry cannot ask for the reserve.
				_, err = account.PlaceOrder(ctx, rig.Buy("0.001"), trading.FailFast(), trading.ForExit())
				require.ErrorIs(t, err, trading.CodeRateLimited)
			})
		})
	}
}

// Clients with one store share what there is.
func TestAStoreThatIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := trading.WithRateLimits(trading.RateLimits{Store: ratelimit.NewMemoryStore(), Owner: "desk"})
		one := rig.New(t, nil, limits)
		other := rig.Join(t, one.Sim, limits)
		went := 0
		for range 400 {
			for _, r := range []rig.Rig{one, other} {
				if _, err := r.Account().Positions(t.Context(), trading.FailFast()); err == nil {
					went++
				}
			}
		}
		assert.Equal(t, 540, went)
	})
}

// Off counts nothing, and does not send before a Retry-After either.
func TestRateLimitsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil, trading.WithRateLimits(trading.RateLimits{Off: true}))
		for range 600 {
			_, err := r.Account().Positions(t.Context(), trading.FailFast())
			require.NoError(t, err)
		}
		_, err := r.Account().Positions(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		assert.False(t, rig.RefusalOf(t, err).Local, "the service's own")
		_, err = r.Account().Positions(t.Context(), trading.FailFast())
		assert.True(t, rig.RefusalOf(t, err).Local, "and it is not asked again")
		assert.Equal(t, 601, r.Sent(trading.OpPositions))
	})
}

// Programs that share a limit without a store take a part of it each.
func TestAPartOfTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil,
			trading.WithRateLimits(trading.RateLimits{PerKey: 50, PerClass: 20, PerPro: 5, ReservePct: -1}))
		reads := 0
		for ; reads < 100; reads++ {
			if _, err := r.Account().Positions(t.Context(), trading.FailFast()); err != nil {
				require.ErrorIs(t, err, trading.CodeRateLimited)
				break
			}
		}
		assert.Equal(t, 50, reads)
		usages, err := r.RateLimitUsage(t.Context())
		require.NoError(t, err)
		limits := map[int]int{}
		for _, u := range usages {
			limits[u.Bucket.Limit]++
		}
		assert.Equal(t, map[int]int{50: 2, 20: 6, 5: 6}, limits)
	})
}

// A rotated key has a window of its own.
func TestARotatedKeyHasItsOwnWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		key := sim.LiveKey()
		r := rig.Join(t, sim, trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) { return key, nil }))
		for range 540 {
			_, err := r.Account().Positions(t.Context(), trading.FailFast())
			require.NoError(t, err)
		}
		_, err := r.Account().Positions(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		key = sim.LiveKey() + "2"
		_, err = r.Account().Positions(t.Context(), trading.FailFast())
		require.NotErrorIs(t, err, trading.CodeRateLimited, "the service was asked")
	})
}

// The health has no key, and so no rate limit: a 429 there closes nothing.
func TestA429OfTheHealthClosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("GET /health", tradingsim.RateLimit(3*time.Second))
		began := time.Now()
		_, err := r.Health(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 3*time.Second, time.Since(began))
		r.Sim.Fault("GET /health", tradingsim.RateLimit(3*time.Second))
		_, err = r.Health(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		_, err = r.Account().Positions(t.Context(), trading.FailFast())
		require.NoError(t, err)
	})
}
