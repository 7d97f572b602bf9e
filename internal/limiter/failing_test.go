package limiter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
)

// Once its calls come back, a store is asked again.
func TestAStoreThatHungIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlowStore(func(s *slowStore) { s.take, s.deaf = 30*time.Minute, true })
		l := newLimiter(t, in(store))
		for range maxAbandoned {
			assert.Equal(t, exitPatience, exit(t, l))
			time.Sleep(patience + rest)
		}
		for range 100 { // within the part of one of four
			assert.Zero(t, exit(t, l))
			time.Sleep(2 * time.Second)
		}
		require.EqualValues(t, maxAbandoned, store.asked.Load())
		time.Sleep(time.Hour)
		synctest.Wait()
		store.take = 0
		assert.Zero(t, exit(t, l))
		assert.EqualValues(t, maxAbandoned+1, store.asked.Load())
		assert.EqualValues(t, 1, store.given.Load())
	})
}

// While a store fails that has never answered, the limiter counts a quarter of each limit by itself:
// nothing stops. It is left alone for a while.
func TestAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("no route to the store")
		store := newSlowStore(func(s *slowStore) { s.err = failure })
		var logged []string
		l := newLimiter(t, in(store), func(c *Options) {
			c.Log = func(call string, err error) { logged = append(logged, fmt.Sprintf("%s: %v", call, err)) }
		})
		assert.Equal(t, 540/unknownSharers, drain(t, l, ratelimit.Read, ""))
		assert.Equal(t, 60/unknownSharers, drain(t, l, ratelimit.Close, ""))
		assert.EqualValues(t, 1, store.asked.Load())
		time.Sleep(Window)
		use(t, l, failFast(asking(ratelimit.Read, "")))
		assert.EqualValues(t, 2, store.asked.Load())
		assert.Equal(t, []string{"Take: no route to the store", "Take: no route to the store"}, logged)
		_, err := l.Usage(t.Context(), []string{testKey}, nil)
		require.ErrorIs(t, err, failure)
	})
}

// A store that is away is logged at once, and again each minute while it is asked; also one that is asked no
// more, since what it was asked hangs. Once it has answered, its next failure is new.
func TestFound25_AStoreThatIsAwayIsLoggedEachMinute(t *testing.T) {
	const ten = 10 * time.Minute
	for name, change := range map[string]func(*slowStore){
		"it fails":          func(s *slowStore) { s.err = errors.New("no route to the store") },
		"it hangs":          func(s *slowStore) { s.take = 24 * time.Hour },
		"it hangs for good": func(s *slowStore) { s.take, s.deaf = 24*time.Hour, true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newSlowStore(change)
				began := time.Now()
				var mu sync.Mutex
				var logged []time.Duration
				l := New(config(in(store), func(c *Options) {
					c.Log = func(string, error) {
						mu.Lock()
						defer mu.Unlock()
						logged = append(logged, time.Since(began))
					}
				}))
				for time.Since(began) < ten {
					exit(t, l)
					time.Sleep(500 * time.Millisecond)
				}
				mu.Lock()
				at := slices.Clone(logged)
				mu.Unlock()
				require.NotEmpty(t, at)
				assert.LessOrEqual(t, at[0], 5*time.Second)
				for i := 1; i < len(at); i++ {
					assert.InDelta(t, time.Minute, at[i]-at[i-1], float64(10*time.Second))
				}
				assert.GreaterOrEqual(t, len(at), 9)
				l.Close()
				time.Sleep(48 * time.Hour)
			})
		})
	}
	t.Run("it answers meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			failure := errors.New("no route to the store")
			store := newSlowStore(func(*slowStore) {})
			var logged atomic.Int64
			l := newLimiter(t, in(store), func(c *Options) { c.Log = func(string, error) { logged.Add(1) } })
			for range 3 {
				store.err = failure
				exit(t, l)
				time.Sleep(rest)
				synctest.Wait()
				store.err = nil
				exit(t, l)
				synctest.Wait()
			}
			assert.EqualValues(t, 3, logged.Load())
		})
	})
}

// oddStore answers what no store may.
type oddStore struct {
	ratelimit.Store
	grant ratelimit.Grant
}

func (s oddStore) Take(context.Context, string, []ratelimit.Need, time.Duration) (ratelimit.Grant, error) {
	return s.grant, nil
}

func (s oddStore) Usage(context.Context, []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	return nil, nil
}

// A store whose answer makes no sense has failed: the limiter counts by itself.
func TestAStoreThatAnswersNonsense(t *testing.T) {
	for _, grant := range []ratelimit.Grant{{Wait: -time.Second}, {Wait: time.Second}, {Wait: time.Second, Bucket: "key/unknown"}} {
		t.Run(fmt.Sprintf("%+v", grant), func(t *testing.T) {
			l := newLimiter(t, in(oddStore{ratelimit.NewMemoryStore(), grant}))
			use(t, l, failFast(asking(ratelimit.Exit, "closes")))
			use(t, l, failFast(asking(ratelimit.Read, "")))
			_, err := l.Usage(t.Context(), []string{testKey}, nil)
			require.Error(t, err)
		})
	}
}
