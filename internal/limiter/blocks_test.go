package limiter

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
)

// A block closes its bucket and no other, for a minute at the most, and refuses those
// who cannot wait that long.
func TestBlock(t *testing.T) {
	for _, row := range []struct {
		name        string
		block       func(l *Limiter, d time.Duration)
		d, closed   time.Duration
		close, read bool // which of the two have to wait
	}{
		{"a class", func(l *Limiter, d time.Duration) { l.BlockClass("closes", d) }, 20 * time.Second, 20 * time.Second, true, false},
		{"a key", func(l *Limiter, d time.Duration) { l.BlockKey(testKey, d) }, 40 * time.Second, 40 * time.Second, true, true},
		{"for an hour", func(l *Limiter, d time.Duration) { l.BlockKey(testKey, d) }, time.Hour, Window, true, true},
		{"for no time", func(l *Limiter, d time.Duration) { l.BlockKey(testKey, d) }, -time.Second, 0, false, false},
		{"no key", func(l *Limiter, d time.Duration) { l.BlockKey("", d) }, time.Second, 0, false, false},
		{"no class", func(l *Limiter, d time.Duration) { l.BlockClass("", d) }, time.Second, 0, false, false},
	} {
		for _, off := range []bool{false, true} {
			t.Run(row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLimiter(t, func(c *Options) { c.Off = off })
					slot, err := l.Take(t.Context(), asking(ratelimit.Exit, "closes"))
					require.NoError(t, err)
					row.block(l, row.d)
					l.Return(slot, true)
					assert.Equal(t, row.close, l.Closed(testKey, "closes"))
					assert.Equal(t, row.read, l.Closed(testKey, ""))
					for _, waits := range []struct {
						request *Ask
						want    bool
					}{{asking(ratelimit.Exit, "closes"), row.close}, {asking(ratelimit.Read, ""), row.read}} {
						_, err := l.Take(t.Context(), failFast(waits.request))
						if !waits.want {
							require.NoError(t, err)
							continue
						}
						assert.Equal(t, row.closed, fullOf(t, err).Wait)
					}
					time.Sleep(row.closed)
					assert.False(t, l.Closed(testKey, "closes"))
					use(t, l, failFast(asking(ratelimit.Exit, "closes")))
				})
			})
		}
	}
}

func TestABlockRefusesThoseWhoCannotWaitThatLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		drain(t, l, ratelimit.Read, "")
		began := time.Now()
		var work sync.WaitGroup
		for _, row := range []struct{ deadline, wantAfter time.Duration }{
			{62 * time.Second, 10 * time.Second}, {80 * time.Second, 70 * time.Second},
		} {
			work.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), row.deadline)
				defer cancel()
				slot, err := l.Take(ctx, asking(ratelimit.Read, ""))
				assert.Equal(t, row.wantAfter, time.Since(began))
				if row.wantAfter < Window {
					assert.Equal(t, Full{Wait: Window, Bucket: testKey}, fullOf(t, err))
					return
				}
				assert.NoError(t, err)
				l.Return(slot, true)
			})
		}
		time.Sleep(10 * time.Second)
		l.BlockKey(testKey, time.Hour)
		work.Wait()
	})
}

// A limit that the service names holds until its window ends, a minute at the most; it
// lowers the limit and never raises it.
func TestLearn(t *testing.T) {
	for _, row := range []struct {
		name   string
		limit  int
		window time.Duration
		want   int
		until  time.Duration
	}{
		{"half", 300, 30 * time.Second, 300, 30 * time.Second},
		{"one", 1, time.Hour, 1, Window},
		{"more", 1200, Window, 600, 0},
		{"none", 0, Window, 600, 0},
		{"below none", -5, Window, 600, 0},
		{"a window that is over", 10, -time.Second, 600, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t)
				l.Learn(testKey, row.limit, row.window)
				assert.Equal(t, row.want, usageOf(t, l, testKey).Bucket.Limit)
				assert.Equal(t, row.want, drain(t, l, ratelimit.Exit, ""))
				if row.until == 0 {
					return
				}
				time.Sleep(row.until)
				assert.Equal(t, 600, usageOf(t, l, testKey).Bucket.Limit)
				assert.Equal(t, 600, usageOf(t, l, "key/live/another").Bucket.Limit)
				use(t, l, failFast(asking(ratelimit.Exit, "")))
				assert.Empty(t, l.learnt)
			})
		})
	}
}

// Those who wait already are served by the limit that the service has named since.
func TestALimitThatIsLearntHoldsForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		for range 540 {
			use(t, l, asking(ratelimit.Read, ""))
			time.Sleep(time.Millisecond)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var work sync.WaitGroup
		for range 300 {
			work.Go(func() {
				if slot, err := l.Take(ctx, asking(ratelimit.Read, "")); err == nil {
					l.Return(slot, true)
				}
			})
		}
		time.Sleep(30 * time.Second)
		l.Learn(testKey, 60, Window)
		time.Sleep(59 * time.Second)
		assert.Equal(t, 54, usageOf(t, l, testKey).Used, "all but the reserve of 6")
		cancel()
		work.Wait()
	})
}

// A limit of a window that is over leaves one that is not as it is.
func TestALimitOfNoTimeIsNoLimit(t *testing.T) {
	for _, window := range []time.Duration{0, -time.Second} {
		l := newLimiter(t)
		l.Learn(testKey, 10, Window)
		l.Learn(testKey, 20, window)
		assert.Equal(t, 10, usageOf(t, l, testKey).Bucket.Limit, window)
	}
}

// A block of no time is none, for the store that others use too.
func TestABlockOfNoTimeIsNoBlock(t *testing.T) {
	for block, told := range map[time.Duration]int64{-time.Second: 0, 0: 0, time.Millisecond: 1} {
		store := newSlowStore(func(*slowStore) {})
		l := newLimiter(t, in(store))
		l.BlockKey(testKey, block)
		l.Close()
		assert.Equal(t, told, store.blocked.Load(), block)
	}
}
