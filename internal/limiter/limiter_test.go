package limiter

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
)

const testKey = "key/live/0123abcd"

// config has the contract's limits.
func config(change ...func(*Options)) Options {
	cfg := Options{
		Owner: "desk", PerKey: 600, ReservePct: 10,
		Classes: map[string]int{"market-orders": 150, "closes": 150, "twap": 20},
	}
	for _, c := range change {
		c(&cfg)
	}
	return cfg
}

func newLimiter(t testing.TB, change ...func(*Options)) *Limiter {
	t.Helper()
	l := New(config(change...))
	t.Cleanup(l.Close)
	return l
}

// asking is a request of the test's key.
func asking(p ratelimit.Priority, class string) *Ask {
	return &Ask{Key: testKey, Class: class, Priority: p, Hold: time.Second}
}

func failFast(a *Ask) *Ask {
	a.FailFast = true
	return a
}

// use takes a slot that must be there, and returns it as answered.
func use(t testing.TB, l *Limiter, a *Ask) {
	t.Helper()
	slot, err := l.Take(t.Context(), a)
	require.NoError(t, err)
	l.Return(slot, true)
}

// drain uses slots until there are none, and returns their number.
func drain(t testing.TB, l *Limiter, p ratelimit.Priority, class string) (n int) {
	t.Helper()
	for ; ; n++ {
		slot, err := l.Take(t.Context(), failFast(asking(p, class)))
		if err != nil {
			require.ErrorAs(t, err, new(*Full))
			return n
		}
		l.Return(slot, true)
	}
}

func fullOf(t testing.TB, err error) Full {
	t.Helper()
	var full *Full
	require.ErrorAs(t, err, &full)
	return *full
}

func usageOf(t testing.TB, l *Limiter, key string) ratelimit.Usage {
	t.Helper()
	usages, err := l.Usage(t.Context(), []string{key}, nil)
	require.NoError(t, err)
	return usages[0]
}

// What each priority leaves to the higher ones.
func TestReserve(t *testing.T) {
	for _, row := range []struct {
		pct, limit int
		want       [4]int // read, entry, recovery, exit
	}{
		{25, 600, [4]int{150, 150, 120, 0}},
		{10, 600, [4]int{60, 60, 48, 0}},
		{10, 150, [4]int{15, 15, 12, 0}},
		{10, 20, [4]int{2, 2, 2, 0}},
		{10, 5, [4]int{1, 1, 1, 0}},
		{10, 1, [4]int{0, 0, 0, 0}}, // of one slot, none can be kept
		{0, 600, [4]int{0, 0, 0, 0}},
		{90, 20, [4]int{18, 18, 15, 0}},
	} {
		l := newLimiter(t, func(c *Options) { c.ReservePct = row.pct })
		var got [4]int
		for p := range got {
			got[p] = l.reserve(ratelimit.Priority(p), row.limit)
		}
		assert.Equal(t, row.want, got, "%d %% of %d", row.pct, row.limit)
	}
}

// Entries and reads cannot take the reserve, and recovery takes a third of a limit at
// the most: an exit finds room whatever the others do, and in any order.
func TestAnExitFindsRoomBesideAllOthers(t *testing.T) {
	others := []ratelimit.Priority{ratelimit.Read, ratelimit.Entry, ratelimit.Recovery}
	for _, row := range []struct {
		name                    string
		order                   []ratelimit.Priority
		class                   string
		read, entry, third, out int
	}{
		{"recovery first", []ratelimit.Priority{ratelimit.Recovery, ratelimit.Read}, "", 340, 0, 200, 60},
		{"recovery last", []ratelimit.Priority{ratelimit.Read, ratelimit.Recovery}, "", 540, 0, 12, 48},
		{"a class", []ratelimit.Priority{ratelimit.Recovery, ratelimit.Entry}, "market-orders", 0, 85, 50, 15},
		{"a small class", []ratelimit.Priority{ratelimit.Entry, ratelimit.Recovery}, "twap", 0, 18, 0, 2},
		{"all of them", others, "twap", 18, 0, 0, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t)
				got := map[ratelimit.Priority]int{}
				for _, p := range row.order {
					got[p] = drain(t, l, p, row.class)
				}
				assert.Equal(t, row.read, got[ratelimit.Read], "reads")
				assert.Equal(t, row.entry, got[ratelimit.Entry], "entries")
				assert.Equal(t, row.third, got[ratelimit.Recovery], "recovery")
				assert.Equal(t, row.out, drain(t, l, ratelimit.Exit, row.class), "exits")
				time.Sleep(Window)
				assert.NotZero(t, drain(t, l, ratelimit.Recovery, row.class), "recovery's share is free again")
			})
		})
	}
}

// A wait that cannot end in time is refused at once, with its length and its bucket.
func TestAWaitThatIsTooLongIsRefusedAtOnce(t *testing.T) {
	for _, row := range []struct {
		name  string
		limit func(ctx context.Context, a *Ask) (context.Context, context.CancelFunc)
	}{
		{"Until", func(ctx context.Context, a *Ask) (context.Context, context.CancelFunc) {
			a.Until = time.Now().Add(50 * time.Second)
			return ctx, func() {}
		}},
		{"Until, before the deadline", func(ctx context.Context, a *Ask) (context.Context, context.CancelFunc) {
			a.Until = time.Now().Add(20 * time.Second)
			return context.WithTimeout(ctx, time.Hour)
		}},
		{"the deadline, before Until", func(ctx context.Context, a *Ask) (context.Context, context.CancelFunc) {
			a.Until = time.Now().Add(time.Hour)
			return context.WithTimeout(ctx, 20*time.Second)
		}},
		{"the deadline", func(ctx context.Context, _ *Ask) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 20*time.Second)
		}},
		{"FailFast", func(ctx context.Context, a *Ask) (context.Context, context.CancelFunc) {
			a.FailFast = true
			return ctx, func() {}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t)
				require.Equal(t, 540, drain(t, l, ratelimit.Read, ""))
				time.Sleep(10 * time.Second)
				began := time.Now()
				a := asking(ratelimit.Read, "")
				a.Waiting = func(time.Duration, string) { t.Error("no wait begins") }
				ctx, cancel := row.limit(t.Context(), a)
				defer cancel()
				_, err := l.Take(ctx, a)
				assert.Equal(t, Full{Wait: 50 * time.Second, Bucket: testKey}, fullOf(t, err))
				require.EqualError(t, err, "rate limit key/live/0123abcd has no room for 50s")
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

// Waiting is called once, before a wait, with its length and its bucket.
func TestWaitingIsCalledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		require.Equal(t, 150, drain(t, l, ratelimit.Exit, "closes"))
		time.Sleep(15 * time.Second)
		var told []Full
		a := asking(ratelimit.Exit, "closes")
		a.Waiting = func(wait time.Duration, bucket string) { told = append(told, Full{Wait: wait, Bucket: bucket}) }
		use(t, l, a)
		assert.Equal(t, []Full{{Wait: 45 * time.Second, Bucket: "user/desk/closes"}}, told)
		use(t, l, a)
		assert.Len(t, told, 1, "there was room")
	})
}

// Where Waiting panics, the waiter leaves nothing behind.
func TestWaitingThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		drain(t, l, ratelimit.Read, "")
		a := asking(ratelimit.Read, "")
		a.Waiting = func(time.Duration, string) { panic("hook") }
		require.Panics(t, func() { _, _ = l.Take(t.Context(), a) })
		time.Sleep(2 * Window)
		assert.Zero(t, usageOf(t, l, testKey).Used)
		l.mu.Lock()
		defer l.mu.Unlock()
		assert.Zero(t, l.waiting)
	})
}

// Usage names every bucket in the order asked for, with its limit.
func TestUsage(t *testing.T) {
	l := newLimiter(t)
	use(t, l, asking(ratelimit.Exit, "closes"))
	usages, err := l.Usage(t.Context(), []string{"key/sandbox/1", testKey}, []string{"market-orders", "closes", "twap"})
	require.NoError(t, err)
	bucket := func(name string, limit int) ratelimit.Bucket {
		return ratelimit.Bucket{Name: name, Limit: limit, Window: Window}
	}
	assert.Equal(t, []ratelimit.Usage{
		{Bucket: bucket("key/sandbox/1", 600), Left: 600},
		{Bucket: bucket(testKey, 600), Used: 1, Left: 599},
		{Bucket: bucket("user/desk/market-orders", 150), Left: 150},
		{Bucket: bucket("user/desk/closes", 150), Used: 1, Left: 149},
		{Bucket: bucket("user/desk/twap", 20), Left: 20},
	}, usages)
	l.BlockClass("closes", 30*time.Second)
	usages, err = l.Usage(t.Context(), nil, []string{"closes"})
	require.NoError(t, err)
	assert.Equal(t, 149, usages[0].Elsewhere)
	assert.Zero(t, usages[0].Left)
	assert.InDelta(t, 30*time.Second, usages[0].Closed, float64(time.Second))
	nobody := newLimiter(t, func(c *Options) { c.Owner = "" })
	usages, err = nobody.Usage(t.Context(), nil, []string{"twap"})
	require.NoError(t, err)
	assert.Equal(t, "user/twap", usages[0].Bucket.Name)
}

// What is off counts nothing, and returns usages all the same.
func TestOff(t *testing.T) {
	l := newLimiter(t, func(c *Options) { c.Off = true })
	for range 1000 {
		use(t, l, failFast(asking(ratelimit.Recovery, "twap")))
	}
	assert.Equal(t, 600, usageOf(t, l, testKey).Left)
}

func TestAClassWithoutALimitIsAnError(t *testing.T) {
	_, err := newLimiter(t).Take(t.Context(), asking(ratelimit.Exit, "unknown"))
	require.ErrorContains(t, err, `"unknown"`)
}

// Limiters that share a store in memory share its slots; keys have windows of their own.
func TestASharedMemoryStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := ratelimit.NewMemoryStore()
		shared := func(c *Options) { c.Store = store }
		one, other := newLimiter(t, shared), newLimiter(t, shared)
		assert.Equal(t, 540, drain(t, one, ratelimit.Read, ""))
		assert.Zero(t, drain(t, other, ratelimit.Read, ""))
		a := failFast(asking(ratelimit.Read, ""))
		a.Key = "key/live/another"
		use(t, one, a)
		one.BlockClass("closes", 10*time.Second)
		_, err := other.Take(t.Context(), failFast(asking(ratelimit.Exit, "closes")))
		assert.Equal(t, Full{Wait: 10 * time.Second, Bucket: "user/desk/closes"}, fullOf(t, err))
	})
}

// Close ends every wait, and no slot is given out after it.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(config())
		held, err := l.Take(t.Context(), asking(ratelimit.Exit, ""))
		require.NoError(t, err)
		drain(t, l, ratelimit.Exit, "")
		var work sync.WaitGroup
		for p := ratelimit.Read; p <= ratelimit.Close; p++ {
			work.Go(func() {
				_, err := l.Take(t.Context(), asking(p, ""))
				assert.ErrorIs(t, err, ErrClosed)
			})
		}
		synctest.Wait()
		l.Close()
		l.Close()
		work.Wait()
		l.Return(held, true)
		_, err = l.Take(t.Context(), asking(ratelimit.Exit, ""))
		require.ErrorIs(t, err, ErrClosed)
		assert.Equal(t, 600, usageOf(t, l, testKey).Used)
	})
}

// A context that ends is the error, unless its deadline is why there is no room.
func TestTheErrorOfAContextThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		drain(t, l, ratelimit.Read, "")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := l.Take(ctx, asking(ratelimit.Read, ""))
		require.ErrorIs(t, err, context.Canceled)
		require.False(t, errors.As(err, new(*Full)))
	})
}

// A slot costs no memory where there is room, however its request ends.
func TestASlotCostsNoMemory(t *testing.T) {
	l := newLimiter(t, func(c *Options) {
		c.PerKey, c.Classes = 1<<30, map[string]int{"closes": 1 << 30}
	})
	for _, p := range []ratelimit.Priority{ratelimit.Exit, ratelimit.Recovery} {
		a := asking(p, "closes")
		use := func(sent bool) {
			slot, err := l.Take(t.Context(), a)
			assert.NoError(t, err)
			l.Return(slot, sent)
		}
		for range 2200 { // so that what is held has room
			use(true)
		}
		for _, sent := range []bool{false, true} {
			if allocations := testing.AllocsPerRun(100, func() { use(sent) }); allocations > 0 {
				t.Errorf("%s, sent %t: %v allocations", p, sent, allocations)
			}
		}
	}
}

// queuesAreEmpty reports whether nobody is left.
func (l *Limiter) queuesAreEmpty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting == 0 && !slices.ContainsFunc(l.queues[:], func(q []*queue) bool { return len(q) > 0 })
}
