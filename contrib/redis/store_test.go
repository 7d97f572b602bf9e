package redis

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/ratelimit/ratelimittest"
)

// server is a Redis whose clock the test moves.
type server struct {
	*miniredis.Miniredis
	mu  sync.Mutex
	now time.Time
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{Miniredis: miniredis.RunT(t), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s.SetTime(s.now)
	return s
}

func (s *server) sleep(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	s.SetTime(s.now)
	s.FastForward(d)
}

func (s *server) store(t testing.TB, owner string) *Store {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	store, err := New(client, owner)
	require.NoError(t, err)
	return store
}

func TestStore(t *testing.T) {
	s := newServer(t)
	ratelimittest.Run(t, ratelimittest.Store{
		New: func(t *testing.T) ratelimit.Store {
			s.FlushAll()
			return s.store(t, "desk")
		},
		Sleep:  s.sleep,
		Shared: true,
		Fine:   time.Microsecond,
	})
}

func need(name string, limit int) []ratelimit.Need {
	return []ratelimit.Need{{Bucket: ratelimit.Bucket{Name: name, Limit: limit, Window: time.Minute}}}
}

// Processes with the same owner share the slots, and others do not.
func TestProcessesShareAnOwner(t *testing.T) {
	s := newServer(t)
	ctx, one := t.Context(), need("a", 2)
	stores := []*Store{s.store(t, "desk"), s.store(t, "desk")}
	for _, store := range stores {
		grant, err := store.Take(ctx, "a client", one, time.Second)
		require.NoError(t, err)
		require.Zero(t, grant.Wait)
	}
	grant, err := stores[0].Take(ctx, "a client", one, time.Second)
	require.NoError(t, err)
	require.Equal(t, "a", grant.Bucket)
	grant, err = s.store(t, "another").Take(ctx, "a client", one, time.Second)
	require.NoError(t, err)
	require.Zero(t, grant.Wait)
}

// Each client is a sharer, of one store or of several: those of a process too, or each of them would
// take the part of all of them when the store is away.
func TestFound12_EachClientIsASharer(t *testing.T) {
	s := newServer(t)
	stores := []*Store{s.store(t, "desk"), s.store(t, "desk")}
	for i, client := range []string{"one", "two", "three", "three"} {
		grant, err := stores[i/2].Take(t.Context(), client, need("a", 9), time.Second)
		require.NoError(t, err)
		require.Equal(t, min(i+1, 3), grant.Sharers)
	}
}

// Where the server's clock is set back, slots are free and the bucket opens when they
// would have been, and not as much later as the clock went back.
func TestTheClockIsSetBack(t *testing.T) {
	const (
		window = time.Minute
		hold   = 10 * time.Second
	)
	for _, back := range []time.Duration{time.Millisecond, time.Second, window, 24 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			s := newServer(t)
			store, ctx, two := s.store(t, "desk"), t.Context(), need("a", 2)
			take := func() ratelimit.Grant {
				grant, err := store.Take(ctx, "a client", two, hold)
				require.NoError(t, err)
				return grant
			}
			usage := func() ratelimit.Usage {
				usages, err := store.Usage(ctx, []ratelimit.Bucket{two[0].Bucket})
				require.NoError(t, err)
				return usages[0]
			}
			sent := take()
			require.NoError(t, store.Return(ctx, sent.Slot, two, true))
			require.Zero(t, take().Wait, "the other is never given back")
			require.NoError(t, store.Block(ctx, two[0].Bucket, 30*time.Second))
			before := usage()

			s.sleep(-back)
			require.Equal(t, before, usage())
			require.Equal(t, window, take().Wait)
			require.Equal(t, before, usage())
			s.sleep(30 * time.Second)
			require.Equal(t, 30*time.Second, take().Wait)
			require.Zero(t, usage().Closed)
			s.sleep(30 * time.Second)
			require.Equal(t, 1, usage().Used, "one is free again")
			s.sleep(hold)
			require.Zero(t, usage().Used, "and so is what died")
		})
	}
}

// Whatever has happened, nothing is left of it some time later, and meanwhile no more
// than the limit.
func TestNothingStays(t *testing.T) {
	s := newServer(t)
	store, ctx := s.store(t, "desk"), t.Context()
	const limit = 20
	one := need("a", limit)
	for i := range 500 {
		grant, err := store.Take(ctx, "a client", one, 10*time.Second)
		require.NoError(t, err)
		switch {
		case grant.Wait > 0:
			s.sleep(grant.Wait)
		case i%3 == 0: // it dies
		default:
			require.NoError(t, store.Return(ctx, grant.Slot, one, i%3 == 1))
		}
		for _, key := range s.Keys() {
			if members, err := s.ZMembers(key); err == nil {
				require.LessOrEqual(t, len(members), limit, key)
			}
			require.NotZero(t, s.TTL(key), "%s stays for ever", key)
		}
	}
	require.NoError(t, store.Block(ctx, one[0].Bucket, time.Hour))
	s.sleep(59 * time.Minute)
	usages, err := store.Usage(ctx, []ratelimit.Bucket{one[0].Bucket})
	require.NoError(t, err)
	require.Equal(t, time.Minute, usages[0].Closed)
	s.sleep(2 * time.Minute)
	require.Empty(t, s.Keys())
}

// In a cluster a script's keys must be in one slot, which the tag decides.
func TestTheKeysOfAnOwnerAreInOneSlot(t *testing.T) {
	s := newServer(t)
	store := s.store(t, "desk-1")
	both := append(need("key/live/01234567", 5), need("user/desk-1/closes", 5)...)
	grant, err := store.Take(t.Context(), "a client", both, time.Second)
	require.NoError(t, err)
	require.NoError(t, store.Return(t.Context(), grant.Slot, both, true))
	require.NoError(t, store.Block(t.Context(), both[0].Bucket, time.Second))
	require.NotEmpty(t, s.Keys())
	for _, key := range s.Keys() {
		_, after, _ := strings.Cut(key, "{")
		tag, _, ok := strings.Cut(after, "}")
		assert.True(t, ok && tag == "desk-1", key)
	}
}

func TestOwnersThatCannotBe(t *testing.T) {
	s := newServer(t)
	client := goredis.NewClient(&goredis.Options{Addr: s.Addr()})
	defer client.Close()
	for _, owner := range []string{"", "{", "a}b"} {
		_, err := New(client, owner)
		require.Error(t, err, owner)
	}
	_, err := New(nil, "desk")
	require.Error(t, err)
}

// A client sends a script again whose answer was lost. It runs twice, and counts once.
func TestAScriptThatRunsTwiceCountsOnce(t *testing.T) {
	s := newServer(t)
	store, ctx := s.store(t, "desk"), t.Context()
	one := need("a", 10)
	b := one[0].Bucket
	used := func() (int, int) {
		usages, err := store.Usage(ctx, []ratelimit.Bucket{b})
		require.NoError(t, err)
		return usages[0].Used, usages[0].Left
	}
	twice := func(do func() error) {
		require.NoError(t, do())
		require.NoError(t, do())
	}
	for _, sent := range []bool{false, true} {
		twice(func() error {
			grant, err := store.take(ctx, "a client", "slot", one, time.Second)
			require.Zero(t, grant.Wait)
			return err
		})
		n, left := used()
		require.Equal(t, []int{1, 9}, []int{n, left})
		twice(func() error { return store.Return(ctx, "slot", one, sent) })
		n, left = used()
		if sent {
			require.Equal(t, []int{1, 9}, []int{n, left})
		} else {
			require.Equal(t, []int{0, 10}, []int{n, left})
		}
	}
}

// Errors say what was being done, and what happened to Redis or to the context.
func TestErrorsAreWrapped(t *testing.T) {
	s := newServer(t)
	store := s.store(t, "desk")
	one := need("a", 1)
	each := func(ctx context.Context, want func(what string, err error)) {
		_, err := store.Take(ctx, "a client", one, time.Second)
		want("Take", err)
		want("Return", store.Return(ctx, "x", one, true))
		want("Block", store.Block(ctx, one[0].Bucket, time.Second))
		_, err = store.Usage(ctx, []ratelimit.Bucket{one[0].Bucket})
		want("Usage", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	each(ended, func(what string, err error) {
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "redis store: "+what+": ")
	})
	s.SetError("LOADING the data set is being loaded")
	each(t.Context(), func(what string, err error) {
		require.ErrorContains(t, err, "redis store: "+what+": ")
		require.ErrorContains(t, err, "LOADING")
	})
	s.SetError("")
	usages, err := store.Usage(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, usages)
}
