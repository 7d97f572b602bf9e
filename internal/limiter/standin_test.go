package limiter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/ratelimit"
)

// A store that names another beginning has forgotten what it knew; one that is away for a window tells nothing of
// what is used any more.
func TestAStoreThatForgot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		began := time.Now()
		bucket := ratelimit.Bucket{Name: testKey, Limit: 600, Window: Window}
		var n needs
		n.n, n.of[0] = 1, ratelimit.Need{Bucket: bucket}
		l.mu.Lock()
		defer l.mu.Unlock()
		grant := ratelimit.Grant{Sharers: 1, Left: []int{200}, Since: began}
		l.heard(&n, &grant)
		l.heard(&n, &grant)
		assert.True(t, l.standIn.away.IsZero())
		most, _ := l.part(&bucket, false)
		assert.Equal(t, 0, most, "others have used what this process has not")
		most, exits := l.part(&bucket, true)
		assert.Equal(t, 140, most, "an exit has what is left, but for the reserve")
		assert.Equal(t, 60, exits, "and then that")
		grant.Since = began.Add(time.Second)
		l.heard(&n, &grant)
		assert.False(t, l.standIn.away.IsZero(), "it forgot")
		time.Sleep(Window - 1)
		most, _ = l.part(&bucket, false)
		assert.Equal(t, 0, most, "what was used before counts for a window")
		time.Sleep(time.Nanosecond)
		most, _ = l.part(&bucket, false)
		assert.Equal(t, 540, most)
	})
}

// Who has heard nothing of its store for a window does not know any more how many share it.
func TestHowManyShareAStoreThatWentAway(t *testing.T) {
	for heard, want := range map[time.Duration]int{Window - 1: 1, Window: unknownSharers} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.heard(&needs{}, &ratelimit.Grant{Sharers: 1})
			time.Sleep(heard)
			l.goneAway()
			assert.Equal(t, want, l.standIn.sharers, heard)
		})
	}
}

// deafDesk is a desk that takes nothing back.
type deafDesk struct{ *desk }

func (d deafDesk) Return(context.Context, string, []ratelimit.Need, bool) error {
	return errors.New("connection refused")
}

func newDesk() *desk {
	return &desk{inner: ratelimit.NewMemoryStore(), clients: map[string]bool{}, since: time.Now()}
}

// A store that fails as it gets a slot back is away as well as one that fails as it is asked: from then on a process
// keeps to its part.
func TestAStoreThatTakesNothingBackIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, in(deafDesk{newDesk()}), func(c *Options) { c.PerKey, c.ReservePct = 100, 20 })
		use(t, l, asking(ratelimit.Read, ""))
		synctest.Wait()
		use(t, l, asking(ratelimit.Read, ""))
		l.mu.Lock()
		defer l.mu.Unlock()
		assert.False(t, l.standIn.away.IsZero())
	})
}

// While a store that was away is back, its own count and the process's part both have to have room. A recovery that
// finds none keeps nothing of its share.
func TestARecoveryWithoutRoomKeepsNoShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDesk()
		l := newLimiter(t, in(store), func(c *Options) { c.PerKey, c.ReservePct = 100, 20 })
		use(t, l, asking(ratelimit.Read, ""))
		store.mu.Lock()
		store.away = true
		store.mu.Unlock()
		drain(t, l, ratelimit.Read, "")
		drain(t, l, ratelimit.Recovery, "")
		store.mu.Lock()
		store.away = false
		store.mu.Unlock()
		time.Sleep(2 * rest)
		share := func() int {
			shares, err := l.share.Usage(t.Context(), []ratelimit.Bucket{{Name: testKey, Limit: 33, Window: Window}})
			require.NoError(t, err)
			return shares[0].Used
		}
		held := share()
		for range 20 {
			_, err := l.Take(t.Context(), failFast(asking(ratelimit.Recovery, "")))
			require.Error(t, err)
		}
		assert.Equal(t, held, share())
	})
}

// desk is a store that several processes share, which can be away, and forget what it knew.
type desk struct {
	mu      sync.Mutex
	inner   *ratelimit.MemoryStore
	away    bool
	hangs   bool
	clients map[string]bool // that have asked
	alone   bool            // it says that nobody else has
	began   time.Time
	since   time.Time
}

func (d *desk) in(ctx context.Context) (*ratelimit.MemoryStore, error) {
	d.mu.Lock()
	inner, away, hangs := d.inner, d.away, d.hangs
	d.mu.Unlock()
	switch {
	case away && hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case away:
		return nil, errors.New("connection refused")
	default:
		return inner, nil
	}
}

func (d *desk) Take(ctx context.Context, client string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	inner, err := d.in(ctx)
	if err != nil {
		return ratelimit.Grant{}, err
	}
	grant, err := inner.Take(ctx, client, needs, hold)
	d.mu.Lock()
	d.clients[client] = true
	grant.Sharers, grant.Since = len(d.clients), d.since
	if d.alone {
		grant.Sharers = 1
	}
	d.mu.Unlock()
	for i := range needs {
		usages, _ := inner.Usage(ctx, []ratelimit.Bucket{needs[i].Bucket})
		grant.Left = append(grant.Left, usages[0].Left)
	}
	return grant, err
}

func (d *desk) Return(ctx context.Context, slot string, needs []ratelimit.Need, sent bool) error {
	inner, err := d.in(ctx)
	if err != nil {
		return err
	}
	return inner.Return(ctx, slot, needs, sent)
}

func (d *desk) Block(context.Context, ratelimit.Bucket, time.Duration) error { return nil }

func (d *desk) Usage(ctx context.Context, buckets []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	inner, err := d.in(ctx)
	if err != nil {
		return nil, err
	}
	return inner.Usage(ctx, buckets)
}

// A store goes away for some time while several processes use all that there is, not all the same, or all
// but one, which begins then, and comes back as it was or empty. In no minute do they send more than the service allows, and no exit
// waits for longer than two seconds.
func TestFound12_AStoreThatGoesAwayAtSaturation(t *testing.T) {
	if depth.Race { // see TestALongQueueAsksTheStoreSeldom
		t.Skip()
	}
	for _, processes := range []int{1, 3, 7} {
		for _, lasts := range []time.Duration{3 * time.Second, 30 * time.Second, 135 * time.Second} {
			for _, how := range []struct{ hangs, forgets, idle bool }{{}, {hangs: true}, {forgets: true}, {hangs: true, forgets: true}, {idle: true}, {idle: true, forgets: true}} {
				t.Run(fmt.Sprintf("%d processes, %s, hangs %t, forgets %t, idle %t", processes, lasts, how.hangs, how.forgets, how.idle), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						saturate(t, processes, lasts, how.hangs, how.forgets, how.idle)
					})
				})
			}
		}
	}
}

func saturate(t *testing.T, processes int, lasts time.Duration, hangs, forgets, idle bool) {
	t.Helper()
	store := &desk{inner: ratelimit.NewMemoryStore(), clients: map[string]bool{}, began: time.Now(), since: time.Now()}
	if idle && processes <= unknownSharers { // the first comes alone, and hears of no other
		store.alone = true
		time.AfterFunc(time.Second, func() {
			store.mu.Lock()
			defer store.mu.Unlock()
			store.alone = false
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	var sent []time.Time
	longest := time.Duration(0)
	send := func(l *Limiter, a *Ask) {
		slot, err := l.Take(ctx, a)
		if err != nil {
			return
		}
		mu.Lock()
		sent = append(sent, time.Now())
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		l.Return(slot, true)
	}
	var work sync.WaitGroup
	limiters := make([]*Limiter, processes)
	for p := range limiters {
		l := New(config(in(store)))
		limiters[p] = l
		for caller := range 2 + 3*p { // the later ones are greedier
			work.Go(func() {
				random := rand.New(rand.NewPCG(uint64(p), uint64(caller)))
				if idle && p == 0 { // but for one request, before the others use what there is
					if processes > unknownSharers { // of more than it would take for it, it has to hear
						time.Sleep(55 * time.Second)
					}
					send(l, &Ask{Key: testKey, Priority: ratelimit.Read, Hold: time.Second})
					time.Sleep(time.Until(store.began.Add(91 * time.Second)))
				}
				for ctx.Err() == nil {
					priority := ratelimit.Read
					if random.IntN(3) == 0 {
						priority = ratelimit.Entry
					}
					send(l, &Ask{Key: testKey, Priority: priority, Hold: time.Second})
				}
			})
		}
		work.Go(func() { // an exit every ten seconds: 6 of its part of the reserve in a minute
			if idle && p == 0 {
				time.Sleep(91 * time.Second)
			}
			for ctx.Err() == nil {
				began := time.Now()
				send(l, &Ask{Key: testKey, Class: "closes", Priority: ratelimit.Close, Hold: time.Second})
				if ctx.Err() == nil {
					mu.Lock()
					longest = max(longest, time.Since(began))
					mu.Unlock()
				}
				select {
				case <-time.After(10 * time.Second):
				case <-ctx.Done():
				}
			}
		})
	}
	set := func(away bool) {
		store.mu.Lock()
		defer store.mu.Unlock()
		store.away, store.hangs = away, hangs
		if !away && forgets {
			store.inner, store.since = ratelimit.NewMemoryStore(), time.Now()
		}
	}
	time.Sleep(90 * time.Second)
	set(true)
	time.Sleep(lasts)
	set(false)
	time.Sleep(4 * time.Minute)
	stop()
	work.Wait()
	for _, l := range limiters {
		l.Close()
	}
	time.Sleep(time.Hour)

	slices.SortFunc(sent, time.Time.Compare)
	most := 0
	for first, last := 0, 0; last < len(sent); last++ {
		for sent[last].Sub(sent[first]) >= Window {
			first++
		}
		most = max(most, last-first+1)
	}
	assert.LessOrEqual(t, most, 600, "in a minute")
	assert.Greater(t, most, 500, "they use what there is")
	assert.LessOrEqual(t, longest, 2*time.Second)
	t.Logf("at most %d in a minute, the longest exit waited %s", most, longest)
}

// Four processes have used a limit of 100 up to the last four slots when their store goes away. What is left is
// for one exit of each, however many they have: not for two, and not as much as the reserve was when it was full.
func TestExitsWithoutTheStoreShareWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newDesk()
		var processes [4]*Limiter
		for i := range processes {
			processes[i] = newLimiter(t, in(store), func(c *Options) { c.PerKey, c.ReservePct = 100, 20 })
		}
		for range 20 {
			for _, l := range processes {
				use(t, l, asking(ratelimit.Read, ""))
			}
		}
		for range 4 {
			for _, l := range processes {
				exit(t, l)
			}
		}
		store.mu.Lock()
		store.away = true
		store.mu.Unlock()
		for _, l := range processes {
			_, err := l.Take(t.Context(), failFast(asking(ratelimit.Read, "")))
			assert.Error(t, err)
			assert.Equal(t, 1, drain(t, l, ratelimit.Exit, "closes"))
		}
	})
}
