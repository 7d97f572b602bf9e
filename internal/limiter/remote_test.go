package limiter

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/ratelimit"
)

func in(store ratelimit.Store) func(*Options) { return func(c *Options) { c.Store = store } }

// exit takes a slot for an exit, and returns how long that took.
func exit(t *testing.T, l *Limiter) time.Duration {
	t.Helper()
	began := time.Now()
	slot, err := l.Take(t.Context(), asking(ratelimit.Exit, "closes"))
	require.NoError(t, err)
	took := time.Since(began)
	l.Return(slot, true)
	return took
}

// However slow the store is that entries ask, an exit does not wait for it for long, and nobody
// waits longer than its context.
func TestAnExitDoesNotWaitForAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, in(newSlowStore(func(s *slowStore) { s.take = 900 * time.Millisecond })))
		var work sync.WaitGroup
		for range 50 {
			work.Go(func() {
				a := asking(ratelimit.Entry, "market-orders")
				a.Until = time.Now().Add(time.Minute)
				slot, err := l.Take(t.Context(), a)
				assert.NoError(t, err)
				l.Return(slot, true)
			})
		}
		synctest.Wait()
		for range 20 {
			work.Go(func() { assert.LessOrEqual(t, exit(t, l), exitPatience) })
		}
		assert.LessOrEqual(t, exit(t, l), exitPatience)

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := l.Take(ctx, asking(ratelimit.Read, ""))
		require.ErrorIs(t, err, context.DeadlineExceeded, "no limit is full")
		assert.Equal(t, 100*time.Millisecond, time.Since(began))
		work.Wait()
	})
}

// A store that hangs costs a second now and then, also where it ignores its context;
// its calls do not pile up, and Close does not hang.
func TestAStoreThatHangs(t *testing.T) {
	const long = 24 * time.Hour
	for _, row := range []struct {
		name  string
		store func(*slowStore)
		waits time.Duration // what the calls wait for in a minute, at the most
	}{
		{"as it is asked", func(s *slowStore) { s.take = long }, 12 * time.Second},
		{"as it is given back", func(s *slowStore) { s.giveBack = long }, 0},
		{"always", func(s *slowStore) { s.take, s.giveBack = long, long }, 12 * time.Second},
		{"as it is asked, deaf", func(s *slowStore) { s.take, s.deaf = long, true }, maxAbandoned * time.Second},
		{"as it is given back, deaf", func(s *slowStore) { s.giveBack, s.deaf = long, true }, 0},
		{"always, deaf", func(s *slowStore) { s.take, s.giveBack, s.deaf = long, long, true }, maxAbandoned * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newSlowStore(row.store)
				var failures atomic.Int64
				l := New(config(in(store), func(c *Options) {
					c.Log = func(_ string, err error) {
						assert.ErrorIs(t, err, context.DeadlineExceeded)
						failures.Add(1)
					}
				}))
				var longest, all time.Duration
				for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(2 * time.Second) {
					took := exit(t, l)
					longest, all = max(longest, took), all+took
					assert.LessOrEqual(t, store.calls.Load(), int64(maxCalls))
				}
				assert.LessOrEqual(t, longest, exitPatience)
				assert.LessOrEqual(t, all, row.waits)
				assert.NotZero(t, failures.Load())
				began := time.Now()
				l.Close()
				assert.LessOrEqual(t, time.Since(began), 2*time.Second)
				time.Sleep(2 * long) // the deaf ones end, and free what they took
				if store.take > 0 {
					assert.Zero(t, store.given.Load(), "a slot that came too late is given back")
				}
			})
		})
	}
}

// However many slots are returned at once, a store that hangs has few calls under way.
func TestManyReturnsToAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlowStore(func(s *slowStore) { s.giveBack, s.deaf = time.Hour, true })
		l := New(config(in(store)))
		var slots []Slot
		for range 100 {
			slot, err := l.Take(t.Context(), asking(ratelimit.Exit, "closes"))
			require.NoError(t, err)
			slots = append(slots, slot)
		}
		began := time.Now()
		for _, slot := range slots {
			l.Return(slot, true)
		}
		assert.Zero(t, time.Since(began), "nobody waits for it")
		synctest.Wait()
		assert.EqualValues(t, maxCalls, store.calls.Load())
		l.Close()
		assert.LessOrEqual(t, time.Since(began), 2*time.Second)
		time.Sleep(2 * time.Hour)
		assert.Zero(t, store.calls.Load())
	})
}

// staleStore decides at once, and answers half a second later.
type staleStore struct{ ratelimit.Store }

func (s staleStore) Take(ctx context.Context, client string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	grant, err := s.Store.Take(ctx, client, needs, hold)
	time.Sleep(500 * time.Millisecond)
	return grant, err
}

// A slot that is returned while the store is asked is asked for again soon.
func TestASlotThatIsReturnedWhileTheStoreIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, in(staleStore{ratelimit.NewMemoryStore()}), func(c *Options) { c.PerKey, c.ReservePct = 1, 0 })
		slot, err := l.Take(t.Context(), asking(ratelimit.Read, ""))
		require.NoError(t, err)
		time.AfterFunc(100*time.Millisecond, func() { l.Return(slot, false) })
		began := time.Now()
		use(t, l, asking(ratelimit.Read, ""))
		assert.Equal(t, 2*500*time.Millisecond+lookSoon, time.Since(began))
	})
}

// Who leaves while the store is asked keeps no slot, and neither does who finds its
// bucket closed by then.
func TestASlotThatComesTooLateIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlowStore(func(s *slowStore) { s.take = 300 * time.Millisecond })
		l := newLimiter(t, in(store))
		for _, p := range []ratelimit.Priority{ratelimit.Read, ratelimit.Recovery} {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			_, err := l.Take(ctx, asking(p, ""))
			cancel()
			require.Error(t, err)
			time.Sleep(time.Second)
			assert.Zero(t, store.given.Load(), "who left")
		}
		shares, err := l.share.Usage(t.Context(), []ratelimit.Bucket{{Name: testKey, Limit: 200, Window: Window}})
		require.NoError(t, err)
		assert.Equal(t, 200, shares[0].Left)

		time.AfterFunc(299*time.Millisecond, func() { l.BlockClass("closes", 20*time.Second) })
		assert.GreaterOrEqual(t, exit(t, l), 20*time.Second)
		time.Sleep(time.Second)
		assert.EqualValues(t, 1, store.given.Load())
	})
}

// naming is a store that names its slots.
type naming struct {
	ratelimit.Store
	takes time.Duration
	mu    sync.Mutex
	back  []string
}

func (s *naming) Take(_ context.Context, _ string, needs []ratelimit.Need, _ time.Duration) (ratelimit.Grant, error) {
	time.Sleep(s.takes)
	return ratelimit.Grant{Slot: "slot of " + needs[0].Bucket.Name}, nil
}

func (s *naming) Return(_ context.Context, slot string, _ []ratelimit.Need, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back = append(s.back, slot)
	return nil
}

func (s *naming) Block(context.Context, ratelimit.Bucket, time.Duration) error { return nil }

func (s *naming) Usage(_ context.Context, buckets []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	usages := make([]ratelimit.Usage, len(buckets))
	for i, b := range buckets {
		usages[i] = ratelimit.Usage{Bucket: b, Used: 7, Left: 5}
	}
	return usages, nil
}

// A store gets each slot back by the name that it has given it, and is asked what is used. What the service has
// closed is closed, whatever the store knows of that.
func TestAStoreThatNamesItsSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &naming{}
		l := newLimiter(t, in(store))
		use(t, l, asking(ratelimit.Read, ""))
		synctest.Wait()
		store.mu.Lock()
		assert.Equal(t, []string{"slot of " + testKey}, store.back)
		store.mu.Unlock()
		l.BlockClass("closes", 30*time.Second)
		usages, err := l.Usage(t.Context(), []string{testKey}, []string{"closes"})
		require.NoError(t, err)
		require.Len(t, usages, 2)
		assert.Equal(t, 7, usages[0].Used)
		assert.Equal(t, 5, usages[0].Left)
		assert.Zero(t, usages[0].Closed)
		assert.Equal(t, 30*time.Second, usages[1].Closed)
		assert.Zero(t, usages[1].Left)
	})
}

// A store that does not know that the service has closed a bucket gives a slot of it: that goes back, and who asked
// for it waits.
func TestASlotOfABucketThatHasClosedIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &naming{takes: 300 * time.Millisecond}
		l := newLimiter(t, in(store))
		time.AfterFunc(299*time.Millisecond, func() { l.BlockKey(testKey, 20*time.Second) })
		began := time.Now()
		use(t, l, asking(ratelimit.Read, ""))
		assert.GreaterOrEqual(t, time.Since(began), 20*time.Second)
		synctest.Wait()
		store.mu.Lock()
		defer store.mu.Unlock()
		assert.Len(t, store.back, 2)
	})
}

// Ten thousand who wait are not asked for one by one.
func TestALongQueueAsksTheStoreSeldom(t *testing.T) {
	if depth.Race { // it breaks down on so many timers in one bubble, https://go.dev/issue/78156; CI runs this without
		t.Skip()
	}
	callers := 10_000
	if testing.Short() {
		callers = 1000
	}
	synctest.Test(t, func(t *testing.T) {
		store := newSlowStore(func(*slowStore) {})
		l := newLimiter(t, in(store))
		require.Equal(t, 540, drain(t, l, ratelimit.Read, ""))
		store.asked.Store(0)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		var work sync.WaitGroup
		var went atomic.Int64
		for range callers {
			work.Go(func() {
				if slot, err := l.Take(ctx, asking(ratelimit.Read, "")); err == nil {
					l.Return(slot, true)
					went.Add(1)
				}
			})
		}
		work.Wait()
		assert.EqualValues(t, 540, went.Load())
		assert.Less(t, store.asked.Load(), int64(540+100), "for each slot once, and once a second")
	})
}

// What another client gives back unused is noticed before the window would end.
func TestASlotThatAnotherClientGivesBackIsNoticed(t *testing.T) {
	for name, wrap := range map[string]func(ratelimit.Store) ratelimit.Store{
		"in memory": func(s ratelimit.Store) ratelimit.Store { return s },
		"remote": func(s ratelimit.Store) ratelimit.Store {
			return newSlowStore(func(slow *slowStore) { slow.store = s })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := wrap(ratelimit.NewMemoryStore())
				l := newLimiter(t, in(store), func(c *Options) { c.ReservePct = 0 })
				needs := []ratelimit.Need{{Bucket: ratelimit.Bucket{Name: testKey, Limit: 600, Window: Window}}}
				for range 600 {
					_, err := store.Take(t.Context(), "a client", needs, time.Minute)
					require.NoError(t, err)
				}
				time.AfterFunc(10*time.Second, func() { _ = store.Return(t.Context(), "", needs, false) })
				began := time.Now()
				use(t, l, asking(ratelimit.Read, ""))
				assert.InDelta(t, 10*time.Second, time.Since(began), float64(time.Second))
			})
		})
	}
}

// saying is a store that has no room for as long as it says.
type saying struct {
	ratelimit.Store
	wait atomic.Int64
}

func (s *saying) Take(_ context.Context, _ string, needs []ratelimit.Need, _ time.Duration) (ratelimit.Grant, error) {
	return ratelimit.Grant{Wait: time.Duration(s.wait.Load()), Bucket: needs[0].Bucket.Name}, nil
}

func newSaying(wait time.Duration) *saying {
	s := new(saying)
	s.wait.Store(int64(wait))
	return s
}

func (s *saying) Return(context.Context, string, []ratelimit.Need, bool) error { return nil }

// A wait that has become shorter, since others need less, is what those who come later go by.
func TestAWaitThatHasBecomeShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &saying{}
		say := func(wait time.Duration) { store.wait.Store(int64(wait)) }
		l := newLimiter(t, in(store))
		say(50 * time.Second)
		var first sync.WaitGroup
		first.Go(func() { use(t, l, asking(ratelimit.Read, "")) })
		time.Sleep(time.Second / 2)
		say(20 * time.Second)
		time.AfterFunc(20*time.Second, func() { say(0) })
		time.Sleep(2 * time.Second)
		later := asking(ratelimit.Read, "")
		later.Until = time.Now().Add(30 * time.Second)
		use(t, l, later)
		first.Wait()
	})
}

// Recovery's share holds with a remote store too.
func TestRecoverysShareOfARemoteStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, in(newSlowStore(func(*slowStore) {})))
		assert.Equal(t, 50, drain(t, l, ratelimit.Recovery, "closes"))
		assert.Equal(t, 100, drain(t, l, ratelimit.Exit, "closes"))
	})
}

// A recovery that the store has no room for, or no answer, keeps nothing of its share.
func TestARecoveryThatTheStoreRefusesKeepsNoShare(t *testing.T) {
	for name, store := range map[string]ratelimit.Store{
		"no room":   newSaying(time.Minute),
		"no answer": newSlowStore(func(s *slowStore) { s.err = errors.New("connection refused") }),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, in(store))
				slot, err := l.Take(t.Context(), failFast(asking(ratelimit.Recovery, "")))
				if err == nil {
					l.Return(slot, false) // this process counts by itself
				}
				synctest.Wait()
				shares, err := l.share.Usage(t.Context(), []ratelimit.Bucket{{Name: testKey, Limit: 200, Window: Window}})
				require.NoError(t, err)
				assert.Zero(t, shares[0].Used)
			})
		})
	}
}

// A look at the limits keeps nobody waiting, and is abandoned like every other call.
func TestAUsageThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, in(newSlowStore(func(s *slowStore) { s.usage = time.Hour })))
		began := time.Now()
		looked := make(chan error, 1)
		go func() {
			_, err := l.Usage(t.Context(), []string{testKey}, nil)
			looked <- err
		}()
		synctest.Wait()
		assert.Zero(t, exit(t, l))
		require.ErrorIs(t, <-looked, context.DeadlineExceeded)
		assert.Equal(t, patience, time.Since(began))
	})
}

// Close waits for the question that is under way, and none comes after it.
func TestCloseEndsTheAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlowStore(func(s *slowStore) { s.take = 900 * time.Millisecond })
		l := New(config(in(store)))
		var work sync.WaitGroup
		for range 20 {
			work.Go(func() {
				_, err := l.Take(t.Context(), asking(ratelimit.Read, ""))
				assert.ErrorIs(t, err, ErrClosed)
			})
		}
		synctest.Wait()
		began := time.Now()
		l.Close()
		assert.Equal(t, 900*time.Millisecond, time.Since(began))
		work.Wait()
		time.Sleep(time.Minute)
		assert.EqualValues(t, 1, store.asked.Load())
		assert.Zero(t, store.given.Load())
	})
}

// A slot that is returned after Close still reaches the store.
func TestAReturnAfterCloseReachesTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlowStore(func(*slowStore) {})
		l := New(config(in(store)))
		slot, err := l.Take(t.Context(), asking(ratelimit.Exit, "closes"))
		require.NoError(t, err)
		l.Close()
		l.Return(slot, false)
		assert.Zero(t, store.given.Load())
	})
}
