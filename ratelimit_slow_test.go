package trading_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// slowStore answers as another does, after a while that each method has, or when
// its context ends.
type slowStore struct {
	trading.BudgetStore
	take, giveBack, usage time.Duration

	asked atomic.Int64 // for places
	given atomic.Int64 // places, and not given back unsent
}

func (s *slowStore) after(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowStore) Take(ctx context.Context, claims []trading.Claim, hold time.Duration) (trading.Taken, error) {
	s.asked.Add(1)
	if err := s.after(ctx, s.take); err != nil {
		return trading.Taken{}, err
	}
	taken, err := s.BudgetStore.Take(ctx, claims, hold)
	if err == nil && taken.Wait == 0 {
		s.given.Add(1)
	}
	return taken, err
}

func (s *slowStore) Return(ctx context.Context, place string, claims []trading.Claim, sent bool) error {
	if err := s.after(ctx, s.giveBack); err != nil {
		return err
	}
	if !sent {
		s.given.Add(-1)
	}
	return s.BudgetStore.Return(ctx, place, claims, sent)
}

func (s *slowStore) Usage(ctx context.Context, buckets []trading.Bucket) ([]trading.Usage, error) {
	if err := s.after(ctx, s.usage); err != nil {
		return nil, err
	}
	return s.BudgetStore.Usage(ctx, buckets)
}

// shared is a budget in a store that the program brings.
func shared(store trading.BudgetStore) trading.Option {
	return trading.WithBudget(trading.Budget{Store: store, Owner: "desk"})
}

// Who looks at the limits, with a store or a source of keys that takes its time,
// keeps nobody from trading.
func TestALookAtTheLimitsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		slow := join(t, r.sim, shared(&slowStore{BudgetStore: trading.NewBudgetStore(), usage: time.Hour}))
		asked := make(chan struct{})
		var locked rig
		locked = join(t, r.sim, trading.WithSandboxKeyFunc(func(ctx context.Context) (string, error) {
			if _, looking := ctx.Value(lookKey{}).(bool); looking {
				<-asked
				// A source of keys that calls the client must not lock it for good.
				_, err := locked.account().Positions(t.Context())
				assert.NoError(t, err)
			}
			return r.sim.SandboxKey(), nil
		}))
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), lookKey{}, true), time.Minute)
		defer cancel()
		for _, each := range []rig{slow, locked} {
			go func() { _, _ = each.Usage(ctx) }()
			synctest.Wait()
			began := time.Now()
			_, err := each.account().ClosePosition(t.Context(), "BTC", trading.All)
			require.ErrorIs(t, err, trading.CodeNoPosition)
			assert.Less(t, time.Since(began), time.Second)
		}
		close(asked)
		synctest.Wait()
	})
}

type lookKey struct{}

// However slow the store is that entries ask, an exit waits for the one question that
// is under way and for its own, and for no caller longer than its context.
func TestExitsDoNotWaitForEntriesThatAskASlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{BudgetStore: trading.NewBudgetStore(), take: 900 * time.Millisecond}
		r := newRig(t, nil, shared(store))
		var work sync.WaitGroup
		for range 50 {
			work.Go(func() { _, _ = r.account().PlaceOrder(t.Context(), buy("0.01"), trading.WithLifetime(time.Minute)) })
		}
		synctest.Wait()
		began := time.Now()
		_, err := r.account().ClosePosition(t.Context(), "ETH", trading.All)
		require.ErrorIs(t, err, trading.CodeNoPosition)
		assert.LessOrEqual(t, time.Since(began), 2*900*time.Millisecond)

		began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err = r.account().Positions(ctx)
		require.Error(t, err)
		assert.Equal(t, 100*time.Millisecond, time.Since(began))
		work.Wait()
	})
}

// A store that hangs costs its patience now and then, and not with every call.
func TestAStoreThatHangs(t *testing.T) {
	for name, store := range map[string]*slowStore{
		"as it is asked": {take: time.Hour}, "as it is given back": {giveBack: time.Hour}, "always": {take: time.Hour, giveBack: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store.BudgetStore = trading.NewBudgetStore()
				r := newRig(t, nil, shared(store))
				longest := time.Duration(0)
				began := time.Now()
				for range 120 {
					call := time.Now()
					_, err := r.account().ClosePosition(t.Context(), "BTC", trading.All)
					require.ErrorIs(t, err, trading.CodeNoPosition)
					longest = max(longest, time.Since(call))
					time.Sleep(100 * time.Millisecond)
				}
				assert.LessOrEqual(t, longest, time.Second, "its patience")
				assert.LessOrEqual(t, time.Since(began), 12*time.Second+3*time.Second, "once in five seconds")
			})
		})
	}
}

// An order that may be sent once, and not again, does not wait for a place; but it
// can wait for the store's answer.
func TestAnOrderWithoutLifetimeGetsAPlaceOfAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, shared(&slowStore{BudgetStore: trading.NewBudgetStore(), take: time.Millisecond}))
		for range 135 {
			_, err := r.account().PlaceOrder(t.Context(), buy("0.001"), trading.WithLifetime(0))
			require.NoError(t, err)
		}
		began := time.Now()
		_, err := r.account().PlaceOrder(t.Context(), buy("0.001"), trading.WithLifetime(0))
		require.ErrorIs(t, err, trading.CodeRateLimited)
		assert.Less(t, time.Since(began), time.Second)
	})
}

// Who leaves while the store is asked for it keeps no place, and neither does who
// finds its bucket closed by then.
func TestAPlaceThatComesTooLateIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{BudgetStore: trading.NewBudgetStore(), take: 500 * time.Millisecond}
		r := newRig(t, nil, shared(store))
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := r.account().Positions(ctx)
		require.Error(t, err)
		time.Sleep(time.Second)
		assert.Zero(t, store.given.Load(), "who left")

		r.sim.Fault("POST /positions/close", tradingsim.RateLimit(20*time.Second))
		go func() {
			_, _ = r.account().ClosePosition(t.Context(), "BTC", trading.All, trading.FailFast())
		}()
		time.Sleep(499 * time.Millisecond)
		began := time.Now()
		_, err = r.account().ClosePosition(t.Context(), "BTC", trading.All)
		require.ErrorIs(t, err, trading.CodeNoPosition)
		assert.GreaterOrEqual(t, time.Since(began), 20*time.Second)
		assert.EqualValues(t, 2, store.given.Load(), "one each")
	})
}

// oddStore answers what no store may.
type oddStore struct {
	trading.BudgetStore
	taken trading.Taken
}

func (s oddStore) Take(context.Context, []trading.Claim, time.Duration) (trading.Taken, error) {
	return s.taken, nil
}

// A store that answers nonsense has failed: the client counts for itself.
func TestAStoreThatAnswersNonsense(t *testing.T) {
	for _, taken := range []trading.Taken{{Wait: -time.Second}, {Wait: time.Second}, {Wait: time.Second, Lacks: "key/unknown"}} {
		t.Run(fmt.Sprintf("%+v", taken), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, shared(oddStore{trading.NewBudgetStore(), taken}))
				_, err := r.account().ClosePosition(t.Context(), "BTC", trading.All)
				require.ErrorIs(t, err, trading.CodeNoPosition)
				_, err = r.account().Positions(t.Context())
				require.NoError(t, err)
			})
		})
	}
}

// Ten thousand who wait are not asked for one by one.
func TestALongLineAsksAStoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{BudgetStore: trading.NewBudgetStore()}
		r := newRig(t, nil, shared(store))
		for range 540 {
			_, err := r.account().Positions(t.Context())
			require.NoError(t, err)
		}
		store.asked.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		var work sync.WaitGroup
		var went atomic.Int64
		for range 10_000 {
			work.Go(func() {
				if _, err := r.account().Positions(ctx); err == nil {
					went.Add(1)
				}
			})
		}
		work.Wait()
		assert.EqualValues(t, 540, went.Load())
		assert.Less(t, store.asked.Load(), int64(540+100), "for each place once, and once a second")
	})
}

// What another client gives back unused is seen before the window would end.
func TestAPlaceThatAnotherClientGivesBackIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := trading.NewBudgetStore()
		r := newRig(t, nil, shared(store), trading.WithBudget(trading.Budget{Store: store, Owner: "desk", ReservePct: -1}))
		usages, err := r.Usage(t.Context())
		require.NoError(t, err)
		key := usages[1].Bucket
		claims := []trading.Claim{{Bucket: key}}
		for range key.Limit {
			_, err := store.Take(t.Context(), claims, time.Minute)
			require.NoError(t, err)
		}
		time.AfterFunc(10*time.Second, func() { _ = store.Return(t.Context(), "", claims, false) })
		began := time.Now()
		_, err = r.account().Positions(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, 10*time.Second, time.Since(began), float64(time.Second))
	})
}

// A limit of one place leaves nothing to keep, and entries and reads get it.
func TestALimitOfOneIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const everyAnswerTells = 4
		r := newRig(t, []tradingsim.Option{tradingsim.WithInterpretation(everyAnswerTells), tradingsim.WithKeyLimit(1)})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		for range 3 {
			_, err := r.account().Positions(ctx)
			require.NoError(t, err)
		}
	})
}

// Those who wait already claim by the limit that the service has told since.
func TestALimitThatIsToldHoldsForThoseInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := metered(t, 10*time.Millisecond, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		for range 540 {
			_, err := r.account().Positions(ctx)
			require.NoError(t, err)
		}
		var work sync.WaitGroup
		for range 300 {
			work.Go(func() { _, _ = r.account().Positions(ctx) })
		}
		synctest.Wait()
		r.sim.Fault("GET /accounts/{accountId}/orders", tradingsim.Raw(429, http.Header{
			"Retry-After": {"90"}, "X-Ratelimit-Limit": {"60"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1"},
		}, `{"error":"rate_limited","message":"slow down"}`))
		_, err := r.account().OpenOrders(ctx, trading.InLane(trading.LaneExit), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		time.Sleep(89 * time.Second)
		assert.Zero(t, m.count("pk_live_")-541)
		time.Sleep(30 * time.Second)
		m.mu.Lock()
		recent := 0
		for _, at := range m.arrivals["pk_live_"] {
			if time.Since(at) < time.Minute {
				recent++
			}
		}
		m.mu.Unlock()
		assert.LessOrEqual(t, recent, 60)
		assert.GreaterOrEqual(t, recent, 54)
		cancel()
		work.Wait()
	})
}

// A hook that panics while its call waits leaves nobody in the line.
func TestAHookThatPanicsLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, trading.WithHooks(trading.Hooks{
			Waiting: func(context.Context, trading.Call, trading.Wait) { panic("hook") },
		}))
		for range 540 {
			_, err := r.account().Positions(t.Context())
			require.NoError(t, err)
		}
		require.Panics(t, func() { _, _ = r.account().Positions(t.Context()) })
		time.Sleep(2 * time.Minute)
		usages, err := r.Usage(t.Context())
		require.NoError(t, err)
		assert.Zero(t, usages[1].Spent, "nobody got a place for it")
	})
}

// Close waits for the question that is under way, and none comes after it.
func TestCloseEndsTheAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{BudgetStore: trading.NewBudgetStore(), take: 900 * time.Millisecond}
		r := newRig(t, nil, shared(store))
		var work sync.WaitGroup
		for range 20 {
			work.Go(func() {
				_, err := r.account().Positions(t.Context())
				assert.ErrorIs(t, err, trading.ErrClosed)
			})
		}
		synctest.Wait()
		began := time.Now()
		require.NoError(t, r.Close())
		assert.Equal(t, 900*time.Millisecond, time.Since(began))
		work.Wait()
		time.Sleep(time.Minute)
		assert.EqualValues(t, 1, store.asked.Load())
		assert.Zero(t, store.given.Load())
	})
}
