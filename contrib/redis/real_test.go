package redis

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/loopback"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What the imitation of the other tests cannot show: how the store does with the real
// server, and with one that restarts, forgets its scripts, is full, evicts, hangs or is
// replaced. The last functions of this file alone name what the store is made of.

// realServer is a server of the distribution's, started for one test.
type realServer struct {
	t     *testing.T
	port  int
	dir   string
	args  []string
	clock string // how far its clock is off, as faketime says it
	cmd   *exec.Cmd
}

// startReal starts a server on a free port of loopback, with nothing kept unless args
// say so. Without one on this machine the test is skipped, but not where CI is set.
func startReal(t *testing.T, args ...string) *realServer {
	t.Helper()
	wantProgram(t, "redis-server")
	port, err := loopback.Port()
	require.NoError(t, err)
	s := &realServer{t: t, port: port, dir: t.TempDir(), args: args}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// wantProgram skips the test without a program, but not where CI is set.
func wantProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing := fmt.Sprintf("NOT TESTED AGAINST A REAL REDIS: there is no %s on this machine; install the distribution's package", name)
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
}

func (s *realServer) addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// start returns once the server answers.
func (s *realServer) start() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", append([]string{
		"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.dir, "--logfile", filepath.Join(s.dir, "log"),
		"--save", "", "--enable-debug-command", "yes",
	}, s.args...)...)
	if s.clock != "" {
		s.cmd.Env = append(os.Environ(), s.fakeTime()...)
	}
	require.NoError(s.t, s.cmd.Start())
	admin := s.admin()
	require.Eventually(s.t, func() bool { return admin.Ping(context.Background()).Err() == nil }, time.Minute, 10*time.Millisecond)
}

// fakeTime are the variables that shift the server's clock. The command faketime itself
// does not get on with jemalloc, which asks for the time while it starts: so the memory of
// libc comes before it.
func (s *realServer) fakeTime() []string {
	s.t.Helper()
	library, err := exec.Command("faketime", "-f", "+0d", "printenv", "LD_PRELOAD").Output()
	require.NoError(s.t, err)
	return []string{
		"LD_PRELOAD=" + strings.TrimSpace(string(library)) + " libc.so.6",
		"FAKETIME=" + s.clock, "FAKETIME_DONT_FAKE_MONOTONIC=1",
	}
}

func (s *realServer) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// admin is a client for what an operator does. It waits as long as it takes.
func (s *realServer) admin() *goredis.Client {
	admin := goredis.NewClient(&goredis.Options{Addr: s.addr(), ReadTimeout: -1, MaxRetries: -1})
	s.t.Cleanup(func() { _ = admin.Close() })
	return admin
}

// client is a program's, as the README recommends it: a call ends with its context.
func (s *realServer) client() *goredis.Client {
	client := goredis.NewClient(&goredis.Options{Addr: s.addr(), ContextTimeoutEnabled: true})
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// soon is as long as the trading client gives a store.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	t.Cleanup(cancel)
	return ctx
}

// Many at once, from many connections, get exactly the places that there are.
func TestRealServerUnderContention(t *testing.T) {
	s := startReal(t)
	const limit, each = 50, 10
	granted, done := make(chan bool), make(chan error)
	for range 16 {
		store := openStore(t, s.client())
		go func() {
			for range each {
				got, err := store.reserve(context.Background(), limit)
				if err != nil {
					done <- err
					return
				}
				granted <- got
			}
			done <- nil
		}()
	}
	n := 0
	for running := 16; running > 0; {
		select {
		case got := <-granted:
			if got {
				n++
			}
		case err := <-done:
			require.NoError(t, err)
			running--
		}
	}
	assert.Equal(t, limit, n)
}

// A server that has forgotten the scripts is given them again.
func TestRealServerForgetsItsScripts(t *testing.T) {
	s := startReal(t)
	store := openStore(t, s.client())
	for range 3 {
		requireReserved(t, store, 10, true)
		require.NoError(t, s.admin().ScriptFlush(t.Context()).Err())
	}
	requireSpent(t, store, 10, 3)
}

// While the server is away each call is an error, at once or in the time that it has;
// when it is back the same store goes on: from nothing, or from what the server kept.
func TestRealServerRestarts(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		kept int
	}{
		"nothing kept":     {nil, 0},
		"append-only file": {[]string{"--appendonly", "yes", "--appendfsync", "always"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := startReal(t, row.args...)
			store := openStore(t, s.client())
			for range 2 {
				requireReserved(t, store, 10, true)
			}
			s.kill()
			_, err := store.reserve(soon(t), 10)
			require.Error(t, err)
			s.start()
			requireSpent(t, store, 10, row.kept)
			requireReserved(t, store, 10, true)
		})
	}
}

// A server whose clock is a day off counts like any other, and when its clock is set right
// no slot is held for longer than it would have been, nor the bucket closed. Where the
// clock goes forward they are free too early, as after a failover to an empty replica.
func TestRealServerClockADayOff(t *testing.T) {
	wantProgram(t, "faketime")
	const window = time.Minute
	for name, row := range map[string]struct {
		clock string
		kept  int
	}{
		"ahead, then set back":     {"+1d", 2},
		"behind, then set forward": {"-1d", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := startReal(t, "--appendonly", "yes", "--appendfsync", "always")
			setClock := func(clock string) {
				s.kill()
				s.clock = clock
				s.start()
			}
			setClock(row.clock)
			at, err := s.admin().Time(t.Context()).Result()
			require.NoError(t, err)
			require.InDelta(t, 24*time.Hour, time.Since(at).Abs(), float64(time.Minute), "the clock is off")
			store := openStore(t, s.client())
			first, err := store.Take(soon(t), "a client", realNeed(2), 10*time.Second)
			require.NoError(t, err)
			require.Zero(t, first.Wait)
			require.NoError(t, store.Return(soon(t), first.Slot, realNeed(2), true))
			second, err := store.Take(soon(t), "a client", realNeed(2), 10*time.Second)
			require.NoError(t, err)
			require.Zero(t, second.Wait)
			third, err := store.Take(soon(t), "a client", realNeed(2), 10*time.Second)
			require.NoError(t, err)
			require.Positive(t, third.Wait, "the limit")
			require.LessOrEqual(t, third.Wait, window)
			require.NoError(t, store.Block(soon(t), realBucket(2), window))

			setClock("")
			requireSpent(t, store, 2, row.kept)
			usages, err := store.Usage(soon(t), []ratelimit.Bucket{realBucket(2)})
			require.NoError(t, err)
			require.LessOrEqual(t, usages[0].Closed, window)
			after, err := store.Take(soon(t), "a client", realNeed(2), 10*time.Second)
			require.NoError(t, err)
			require.LessOrEqual(t, after.Wait, window)
			require.Equal(t, row.kept == 0, after.Wait == 0)
		})
	}
}

// A full server that evicts nothing counts all the same: it refuses a script only
// before its first write, and the first write of each removes what is over.
func TestRealServerIsFull(t *testing.T) {
	s := startReal(t)
	store, admin := openStore(t, s.client()), s.admin()
	require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", "1").Err())
	require.ErrorContains(t, admin.Set(t.Context(), "full", "yes", 0).Err(), "OOM")
	for i := range 3 {
		requireReserved(t, store, 2, i < 2)
	}
	requireSpent(t, store, 2, 2)
}

// A full server that evicts forgets places without a word: the store goes on, and
// grants more than the limit. So the README wants one that does not.
func TestRealServerEvicts(t *testing.T) {
	s := startReal(t, "--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru")
	store, admin := openStore(t, s.client()), s.admin()
	for range 10 {
		requireReserved(t, store, 10, true)
	}
	filler := strings.Repeat("x", 64<<10)
	for i := range 500 {
		require.NoError(t, admin.Set(t.Context(), fmt.Sprint("filler", i), filler, 0).Err())
	}
	require.Empty(t, admin.Keys(t.Context(), "trading:*").Val(), "they are evicted")
	requireReserved(t, store, 10, true)
	requireSpent(t, store, 10, 1)
}

// A server that hangs costs a call no more than the call's own time, and the next call
// after it has recovered goes through.
func TestRealServerHangs(t *testing.T) {
	s := startReal(t)
	store, admin := openStore(t, s.client()), s.admin()
	requireReserved(t, store, 10, true)
	asleep := make(chan error, 1)
	go func() { asleep <- admin.Do(context.Background(), "DEBUG", "SLEEP", "2").Err() }()
	probe := s.client()
	hangs := func() bool { // the command is under way
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return probe.Ping(ctx).Err() != nil
	}
	require.Eventually(t, hangs, time.Minute, time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := store.reserve(ctx, 10)
	require.Error(t, err)
	require.Error(t, ctx.Err())
	require.Empty(t, asleep, "the call waits for its own time, and not for the server")
	require.NoError(t, <-asleep)
	requireReserved(t, store, 10, true)
}

// A server that is frozen holds up no exit of a client: not even where the Redis client
// would wait for it for a minute, whatever the context of a call says.
func TestRealServerIsFrozen(t *testing.T) {
	s := startReal(t)
	patient := goredis.NewClient(&goredis.Options{Addr: s.addr(), ReadTimeout: time.Minute, MaxRetries: -1})
	t.Cleanup(func() { _ = patient.Close() })
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithRateLimits(trading.RateLimits{Store: openStore(t, patient), Owner: "desk"}))
	require.NoError(t, err)
	account := client.Live.Account("acc_1")
	_, err = account.Positions(t.Context())
	require.NoError(t, err)

	require.NoError(t, s.cmd.Process.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err = account.ClosePosition(ctx, "BTC", trading.All)
	require.ErrorIs(t, err, trading.CodeNoPosition, "the service has answered, and Redis is frozen still")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGCONT))
	require.NoError(t, client.Close())
}

// A replica that takes over with nothing counts from nothing, without an error: for a
// window the limit can then be exceeded, by at most once more the limit.
func TestRealServerFailsOverToAnEmptyReplica(t *testing.T) {
	first, second := startReal(t), startReal(t)
	var addr atomic.Pointer[string]
	point := func(s *realServer) { at := s.addr(); addr.Store(&at) }
	point(first)
	client := goredis.NewClient(&goredis.Options{
		Addr: "failover", ContextTimeoutEnabled: true,
		Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, *addr.Load())
		},
	})
	t.Cleanup(func() { _ = client.Close() })
	store := openStore(t, client)
	for range 3 {
		requireReserved(t, store, 3, true)
	}
	point(second)
	first.kill()
	granted := 0
	for range 6 {
		got, err := store.reserve(soon(t), 3)
		require.NoError(t, err)
		if got {
			granted++
		}
	}
	assert.Equal(t, 3, granted)
}

// The names of the store's own interface are in these alone.

// openStore is another process's store of the same places.
func openStore(t *testing.T, client *goredis.Client) *Store {
	t.Helper()
	store, err := New(client, "desk")
	require.NoError(t, err)
	return store
}

func realBucket(limit int) ratelimit.Bucket {
	return ratelimit.Bucket{Name: "key/1", Limit: limit, Window: time.Minute}
}

func realNeed(limit int) []ratelimit.Need { return []ratelimit.Need{{Bucket: realBucket(limit)}} }

// reserve asks for one place of a limit.
func (s *Store) reserve(ctx context.Context, limit int) (granted bool, err error) {
	taken, err := s.Take(ctx, "a client", realNeed(limit), 10*time.Second)
	return err == nil && taken.Wait == 0, err
}

// requireReserved asks for one place of a limit that is there, or not.
func requireReserved(t *testing.T, s *Store, limit int, want bool) {
	t.Helper()
	got, err := s.reserve(soon(t), limit)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// requireSpent wants a number of the places of a limit to be taken.
func requireSpent(t *testing.T, s *Store, limit, spent int) {
	t.Helper()
	usages, err := s.Usage(soon(t), []ratelimit.Bucket{realBucket(limit)})
	require.NoError(t, err)
	require.Equal(t, spent, usages[0].Used)
}
