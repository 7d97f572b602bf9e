package trading_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Where places are short, exits come before entries, and reads last; whoever came
// first within each.
func TestLanesAreServedInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		account := r.account()
		for range 600 { // so that places come back one by one
			_, err := account.Positions(t.Context(), trading.FailFast(), trading.InLane(trading.LaneExit))
			require.NoError(t, err)
			time.Sleep(10 * time.Millisecond)
		}
		began := time.Now()
		var work sync.WaitGroup
		for _, do := range []func(context.Context) error{
			func(ctx context.Context) error { _, err := account.Trades(ctx); return err },
			func(ctx context.Context) error { _, err := account.State(ctx); return err },
			func(ctx context.Context) error {
				_, err := account.PlaceLimit(ctx, buy("0.01", limitAt("60000")), trading.WithLifetime(2*time.Minute))
				return err
			},
			func(ctx context.Context) error {
				_, err := account.PlaceOrder(ctx, buy("0.01"), trading.WithLifetime(2*time.Minute))
				return err
			},
			func(ctx context.Context) error { _, err := account.ClosePosition(ctx, "ETH", trading.All); return err },
			func(ctx context.Context) error {
				_, err := account.OpenOrders(ctx, trading.InLane(trading.LaneExit))
				return err
			},
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
	return func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, at(price) }
}

// operationsAfter are the requests that arrived after that, but for the health.
func operationsAfter(r rig, after time.Time) (ops []string) {
	for _, request := range r.sim.Requests() {
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
				r := newRig(t, nil, trading.WithBudget(trading.Budget{ReservePct: row.reserve}))
				ctx, account := t.Context(), r.account()
				placed := 0
				for ; placed < 200; placed++ {
					if _, err := account.PlaceOrder(ctx, buy("0.001"), trading.FailFast()); err != nil {
						require.ErrorIs(t, err, trading.CodeRateLimited)
						require.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
						assert.True(t, refusalOf(t, err).Local)
						wait, ok := trading.RetryAfter(err)
						assert.True(t, ok)
						assert.Equal(t, time.Minute, wait)
						break
					}
				}
				assert.Equal(t, row.entries, placed)
				_, err := account.PlaceOrder(ctx, sell("0.001", func(o *trading.Order) { o.ReduceOnly = true }), trading.FailFast())
				assert.Equal(t, row.reserve < 0, errors.Is(err, trading.CodeRateLimited), "%v", err)
				// An entry cannot ask for the reserve.
				_, err = account.PlaceOrder(ctx, buy("0.001"), trading.FailFast(), trading.InLane(trading.LaneExit))
				require.ErrorIs(t, err, trading.CodeRateLimited)
			})
		})
	}
}

// A wait that cannot end in time is refused at once, with its length.
func TestWaitsThatCannotEndInTime(t *testing.T) {
	for _, row := range []struct {
		name string
		do   func(ctx context.Context, a *trading.Account) error
	}{
		{"the context", func(ctx context.Context, a *trading.Account) error {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			_, err := a.Positions(ctx)
			return err
		}},
		{"the lifetime", func(ctx context.Context, a *trading.Account) error {
			_, err := a.PlaceOrder(ctx, buy("0.01"))
			return err
		}},
		{"the caller's word", func(ctx context.Context, a *trading.Account) error {
			_, err := a.Positions(ctx, trading.FailFast())
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				ctx, account := t.Context(), r.account()
				for range 540 {
					_, err := account.Positions(ctx)
					require.NoError(t, err)
				}
				time.Sleep(10 * time.Second)
				began := time.Now()
				err := row.do(ctx, account)
				require.ErrorIs(t, err, trading.CodeRateLimited)
				assert.Zero(t, time.Since(began))
				wait, _ := trading.RetryAfter(err)
				assert.Equal(t, 50*time.Second, wait)
				_, err = account.Positions(ctx)
				require.NoError(t, err)
				assert.Equal(t, 50*time.Second, time.Since(began), "who can wait does")
			})
		})
	}
}

// A 429 ends the waiting of those who cannot wait that long.
func TestA429EndsWaitsThatItMakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		account := r.account()
		for range 540 {
			_, err := account.Positions(t.Context())
			require.NoError(t, err)
		}
		began := time.Now()
		done := make(chan error)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
			defer cancel()
			_, err := account.Positions(ctx)
			done <- err
		}()
		time.Sleep(5 * time.Second)
		r.sim.Fault("POST /orders/cancel", tradingsim.Raw(429, http.Header{
			"Retry-After": {"300"}, "X-Ratelimit-Limit": {"600"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1"},
		}, `{"error":"rate_limited","message":"slow down"}`))
		_, err := account.CancelOrder(t.Context(), "o1", trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		require.ErrorIs(t, <-done, trading.CodeRateLimited)
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

// What the answers say of the key's limit is believed, also where others use it.
func TestHeadersAreBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const everyAnswerTells = 4
		r := newRig(t, []tradingsim.Option{tradingsim.WithInterpretation(everyAnswerTells), tradingsim.WithKeyLimit(100)})
		ctx := t.Context()
		for range 30 { // another program with the same key
			r.rawLive(trading.OpPositions, "")
		}
		_, err := r.account().Positions(ctx)
		require.NoError(t, err)
		usages, err := r.Usage(ctx)
		require.NoError(t, err)
		key := usages[1]
		require.True(t, strings.HasPrefix(key.Bucket.Name, "key/"), key.Bucket.Name)
		assert.Equal(t, 100, key.Bucket.Limit)
		assert.Equal(t, 1, key.Spent)
		assert.Equal(t, 30, key.Elsewhere)
		assert.Equal(t, 69, key.Left)
		refused := 0
		for range 100 {
			if _, err := r.account().Positions(ctx, trading.FailFast()); err != nil {
				require.True(t, refusalOf(t, err).Local, "no 429 of the service: %v", err)
				refused++
			}
		}
		assert.Equal(t, 100-59, refused, "all but the reserve of 10, which the others and ours had left")
		time.Sleep(time.Minute)
		_, err = r.account().Positions(ctx, trading.FailFast())
		require.NoError(t, err)
	})
}

// The classes of the user are shared by the terminal: a 429 tells what it has used.
func TestUsageElsewhereIsLearnt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		ctx := t.Context()
		for range 10 {
			_, _ = r.account().ClosePosition(ctx, "BTC", trading.All)
		}
		r.sim.Fault("POST /positions/close", tradingsim.RateLimit(20*time.Second))
		_, err := r.account().ClosePosition(ctx, "BTC", trading.All, trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		closes := usageOf(t, r, "closes")
		assert.Equal(t, 11, closes.Spent)
		assert.Equal(t, 139, closes.Elsewhere)
		assert.Equal(t, 20*time.Second, closes.Closed)
		assert.Zero(t, closes.Left)
		time.Sleep(20 * time.Second)
		closes = usageOf(t, r, "closes")
		assert.Zero(t, closes.Elsewhere)
		assert.Equal(t, 139, closes.Left)
	})
}

func usageOf(t *testing.T, r rig, class string) trading.Usage {
	t.Helper()
	usages, err := r.Usage(t.Context())
	require.NoError(t, err)
	for _, u := range usages {
		if strings.HasSuffix(u.Bucket.Name, "/"+class) {
			return u
		}
	}
	t.Fatalf("no %s in %v", class, usages)
	return trading.Usage{}
}

// Every limit of the contract is there, and no key is in a name.
func TestUsageNamesEveryLimit(t *testing.T) {
	r := newRig(t, nil)
	usages, err := r.Usage(t.Context())
	require.NoError(t, err)
	limits := map[string]int{}
	for _, u := range usages {
		assert.Equal(t, time.Minute, u.Bucket.Window)
		assert.Equal(t, u.Bucket.Limit, u.Left)
		assert.NotContains(t, u.Bucket.Name, "pk_")
		name := u.Bucket.Name
		if strings.HasPrefix(name, "key/") {
			name = "key " + strconv.Itoa(len(limits))
		}
		limits[name] = u.Bucket.Limit
	}
	assert.Equal(t, map[string]int{
		"key 0": 600, "key 1": 600,
		"user//market-orders": 150, "user//resting-limits": 150, "user//closes": 150, "user//cancels": 150,
		"user//tpsl-changes": 150, "user//run-changes": 150,
		"user//conditional": 20, "user//ladder": 20, "user//twap": 20, "user//chase": 20, "user//chase-twap": 20, "user//swarm": 20,
	}, limits)
}

// brokenStore is a shared store that cannot be reached.
type brokenStore struct{ asked int }

var errStore = errors.New("no route to the store")

func (b *brokenStore) Take(context.Context, []trading.Claim, time.Duration) (trading.Taken, error) {
	b.asked++
	return trading.Taken{}, errStore
}

func (b *brokenStore) Return(context.Context, string, []trading.Claim, bool) error { return errStore }

func (b *brokenStore) Block(context.Context, trading.Bucket, time.Duration) error { return errStore }

func (b *brokenStore) Learn(context.Context, trading.Bucket, int, time.Duration) error {
	return errStore
}

func (b *brokenStore) Usage(context.Context, []trading.Bucket) ([]trading.Usage, error) {
	return nil, errStore
}

// While a shared store fails, the client counts for itself: nothing stops, and its
// own traffic still meets no 429.
func TestAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &brokenStore{}
		r := newRig(t, nil, trading.WithBudget(trading.Budget{Store: store, Owner: "desk"}))
		for range 541 {
			_, err := r.account().Positions(t.Context(), trading.FailFast())
			if err != nil {
				require.True(t, refusalOf(t, err).Local)
			}
		}
		assert.Equal(t, 540, r.sent(trading.OpPositions))
		assert.Equal(t, 1, store.asked, "it is left alone for a while")
		time.Sleep(5 * time.Second)
		_, err := r.account().Positions(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		assert.Equal(t, 2, store.asked, "and asked again")
		_, err = r.Usage(t.Context())
		require.ErrorIs(t, err, errStore)
	})
}

// Clients with one store share what there is.
func TestAStoreThatIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := trading.WithBudget(trading.Budget{Store: trading.NewBudgetStore(), Owner: "desk"})
		one := newRig(t, nil, budget)
		other := join(t, one.sim, budget)
		went := 0
		for range 400 {
			for _, r := range []rig{one, other} {
				if _, err := r.account().Positions(t.Context(), trading.FailFast()); err == nil {
					went++
				}
			}
		}
		assert.Equal(t, 540, went)
	})
}

// Off counts nothing, and does not send before a Retry-After either.
func TestBudgetOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, trading.WithBudget(trading.Budget{Off: true}))
		for range 600 {
			_, err := r.account().Positions(t.Context(), trading.FailFast())
			require.NoError(t, err)
		}
		_, err := r.account().Positions(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		assert.False(t, refusalOf(t, err).Local, "the service's own")
		_, err = r.account().Positions(t.Context(), trading.FailFast())
		assert.True(t, refusalOf(t, err).Local, "and it is not asked again")
		assert.Equal(t, 601, r.sent(trading.OpPositions))
	})
}

func TestBudgetsThatCannotBe(t *testing.T) {
	for name, b := range map[string]trading.Budget{
		"nothing left":       {ReservePct: 91},
		"whose limits":       {Store: trading.NewBudgetStore()},
		"a store that's off": {Store: trading.NewBudgetStore(), Owner: "desk", Off: true},
	} {
		_, err := trading.New("https://api.example/v1", trading.WithBudget(b))
		require.Error(t, err, name)
	}
	require.Equal(t, "exit doubt entry read Lane(9)", strings.Join([]string{
		trading.LaneExit.String(), trading.LaneDoubt.String(), trading.LaneEntry.String(), trading.LaneRead.String(), trading.Lane(9).String(),
	}, " "))
	r := newRig(t, nil)
	_, err := r.Sandbox.Positions(t.Context(), trading.InLane(9))
	require.Error(t, err)
}

// Programs that share a limit without a store take a part of it each, whatever the
// service tells of the whole.
func TestAPartOfTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const everyAnswerTells = 4
		r := newRig(t, []tradingsim.Option{tradingsim.WithInterpretation(everyAnswerTells)},
			trading.WithBudget(trading.Budget{PerKey: 50, PerClass: 20, PerPro: 5, ReservePct: -1}))
		reads := 0
		for ; reads < 100; reads++ {
			if _, err := r.account().Positions(t.Context(), trading.FailFast()); err != nil {
				require.ErrorIs(t, err, trading.CodeRateLimited)
				break
			}
		}
		assert.Equal(t, 50, reads)
		usages, err := r.Usage(t.Context())
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
		r := join(t, sim, trading.WithLiveKeyFunc(func(context.Context) (string, error) { return key, nil }))
		for range 540 {
			_, err := r.account().Positions(t.Context(), trading.FailFast())
			require.NoError(t, err)
		}
		_, err := r.account().Positions(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		key = sim.LiveKey() + "2"
		_, err = r.account().Positions(t.Context(), trading.FailFast())
		require.NotErrorIs(t, err, trading.CodeRateLimited, "the service was asked")
	})
}

// Places are given out under load without a data race, and every one comes back.
func TestManyTakePlacesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var work sync.WaitGroup
		for range 64 {
			work.Go(func() {
				for range 20 {
					_, err := r.account().Positions(t.Context())
					assert.NoError(t, err)
				}
			})
		}
		work.Wait()
		time.Sleep(time.Minute)
		usages, err := r.Usage(t.Context())
		require.NoError(t, err)
		for _, u := range usages {
			assert.Zero(t, u.Spent, u.Bucket.Name)
		}
	})
}

// The health has no key, and so no budget: a 429 there closes nothing.
func TestA429OfTheHealthClosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.sim.Fault("GET /health", tradingsim.RateLimit(3*time.Second))
		began := time.Now()
		_, err := r.Health(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 3*time.Second, time.Since(began))
		r.sim.Fault("GET /health", tradingsim.RateLimit(3*time.Second))
		_, err = r.Health(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		_, err = r.account().Positions(t.Context(), trading.FailFast())
		require.NoError(t, err)
	})
}
