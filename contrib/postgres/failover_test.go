package postgres

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// pair is a server with a standby that streams from it.
type pair struct{ primary, standby *server }

func newPair(t *testing.T, synchronous bool) pair {
	t.Helper()
	return pairOf(t, ownServer(t), synchronous)
}

// pairOf gives a server a standby, which has its clock.
func pairOf(t *testing.T, primary *server, synchronous bool) pair {
	t.Helper()
	p := pair{primary, emptyServer(t)}
	p.standby.env = primary.env
	t.Cleanup(p.standby.remove)
	p.standby.runs(exec.Command(program(t, "pg_basebackup"), "-h", "127.0.0.1", "-p", strconv.Itoa(p.primary.port), "-U", "postgres",
		"-D", p.standby.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync"))
	p.standby.start()
	require.Eventually(t, func() bool {
		return scalar[int](t, p.primary.url("postgres"), "SELECT count(*)::int FROM pg_stat_replication WHERE state = 'streaming'") == 1
	},
		patience, 10*time.Millisecond)
	if synchronous {
		execute(t, p.primary.url("postgres"), "ALTER SYSTEM SET synchronous_standby_names = '*'")
		execute(t, p.primary.url("postgres"), "SELECT pg_reload_conf()")
		require.Eventually(t, func() bool {
			return scalar[string](t, p.primary.url("postgres"), "SELECT sync_state FROM pg_stat_replication") == "sync"
		},
			patience, 10*time.Millisecond)
	}
	return p
}

// url reaches whichever of them takes writes.
func (p pair) url() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable&target_session_attrs=read-write", p.primary.port, p.standby.port)
}

// promote has the standby take over from a primary that is gone.
func (p pair) promote(t *testing.T) {
	t.Helper()
	p.standby.runs(exec.Command(program(t, "pg_ctl"), "promote", "-w", "-D", p.standby.data()))
}

// scalar asks a server, which may be a standby.
func scalar[T any](t testing.TB, url, query string, args ...any) (v T) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	require.NoError(t, conn.QueryRow(context.Background(), query, args...).Scan(&v))
	return v
}

// A failover to a standby that lacks what was acknowledged: the holder sends nothing more, and a
// taker holds that an id may have been used, for a day.
func TestAFailoverThatLosesRecords(t *testing.T) {
	t.Parallel()
	p, o := newPair(t, false), options()
	s := opened(t, p.url(), o)
	require.NoError(t, s.Append(t.Context(), true, record(1)))
	require.Eventually(t, func() bool {
		return scalar[int](t, p.standby.url("postgres"), "SELECT count(*)::int FROM trading.record") == 1
	},
		patience, 10*time.Millisecond)
	p.standby.kill()
	require.NoError(t, s.Append(t.Context(), true, record(2)), "nobody waits for the standby")
	require.True(t, s.CompleteFrom().IsZero())
	p.primary.kill()
	p.standby.start()
	p.promote(t)
	require.Eventually(t, func() bool { return s.Err() != nil }, patience, time.Millisecond)
	require.ErrorIs(t, s.Err(), journal.ErrLostHistory)
	assert.True(t, s.Deadline().IsZero())
	require.ErrorIs(t, s.Append(t.Context(), true, record(3)), journal.ErrLostHistory)

	next := opened(t, p.url(), o)
	assert.Equal(t, []string{"intent 1"}, intents(t, next))
	assert.False(t, next.CompleteFrom().IsZero(), "an id that it does not know may have been used")
	gap, err := next.Gap()
	require.NoError(t, err)
	assert.True(t, gap)
	require.NoError(t, next.Close())

	execute(t, p.standby.url("postgres"), "UPDATE trading.lease SET lost_at = lost_at - interval '25 hours'")
	day := opened(t, p.url(), o)
	assert.True(t, day.CompleteFrom().IsZero(), "a day later")
}

// A holder that goes on over a failover has seen that all it knows of is there, so the next one lacks
// nothing either. One that finds less does not hide it from the next.
func TestFound14_AFailoverThatAHolderSurvives(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("records lost ", lost), func(t *testing.T) {
			t.Parallel()
			at, o := address(t), options()
			o.Lease = leastLease
			w := newWire(t, fmt.Sprint("127.0.0.1:", shared.port))
			s := opened(t, strings.Replace(at, fmt.Sprint("127.0.0.1:", shared.port), w.address(), 1), o)
			require.NoError(t, s.Append(t.Context(), true, record(1)))
			was := "timeline = 7" // of the server at the taking
			if lost {
				was += ", seq = 0"
				execute(t, at, "DELETE FROM trading.record WHERE lease = '"+o.Name+"'")
			}
			epoch := `SELECT epoch FROM trading.lease WHERE name = $1`
			before := scalar[int](t, at, epoch, o.Name)
			execute(t, at, "UPDATE trading.lease SET "+was+" WHERE name = '"+o.Name+"'")
			w.cut()
			require.Eventually(t, func() bool { return scalar[int](t, at, epoch, o.Name) > before }, patience, 10*time.Millisecond, "it looks")
			if lost {
				require.Eventually(t, func() bool { return s.Err() != nil }, patience, 10*time.Millisecond)
			} else {
				require.NoError(t, s.Append(t.Context(), true, record(2)), "it goes on")
			}
			_ = s.Close()
			next := opened(t, at, o)
			assert.Equal(t, !lost, next.CompleteFrom().IsZero())
			require.NoError(t, next.Close())
		})
	}
}

// Who says that a failover loses nothing relies on what the journal has.
func TestATimelineWithSynchronousStandbys(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	o.Lease = leastLease
	s := opened(t, at, o)
	require.NoError(t, s.Close())
	for _, loses := range []bool{true, false} {
		execute(t, at, "UPDATE trading.lease SET timeline = 7 WHERE name = '"+o.Name+"'")
		o.FailoverLosesNothing = !loses
		s := opened(t, at, o)
		assert.Equal(t, !loses, s.CompleteFrom().IsZero())
		require.NoError(t, s.Close())
	}
}

// What a standby has of the lease may be older than the last taking: that it was released then
// says nothing of a holder whose deadline runs still. So a taker waits.
func TestAReleaseOnAnotherTimeline(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	require.NoError(t, opened(t, at, o).Close())
	execute(t, at, "UPDATE trading.lease SET timeline = 7 WHERE name = '"+o.Name+"'")
	began := time.Now()
	opened(t, at, o)
	assert.GreaterOrEqual(t, time.Since(began), o.Lease)
}

// A synchronous standby is promoted amid 200 orders a second: whatever was executed is in its
// journal, and the holder goes on, with the promoted one.
func TestAFailoverThatLosesNothing(t *testing.T) {
	t.Parallel()
	p, o := newPair(t, true), options()
	o.Accounts, o.Lease = []string{"acc_1"}, 10*time.Second
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithKeyLimit(1e6), tradingsim.WithUserLimits(1e6, 1e6))
	defer func() { _ = sim.Close() }()
	o.BaseURL = sim.URL()
	s := opened(t, p.url(), o)
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()), trading.WithJournal(s),
		trading.WithRateLimits(trading.RateLimits{PerKey: 1e6, PerClass: 1e6}), trading.WithExclusiveAccounts("acc_1"))
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	account := client.Live.Account("acc_1")

	ctx, cancel := context.WithCancel(t.Context())
	var orders sync.WaitGroup
	var mu sync.Mutex
	placed := 0
	bought := func() int {
		mu.Lock()
		defer mu.Unlock()
		return placed
	}
	orders.Go(func() {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			orders.Go(func() {
				side := []trading.Side{trading.Long, trading.Short}[i%2]
				_, err := account.PlaceOrder(context.WithoutCancel(ctx), trading.Order{Symbol: "BTC", Side: side, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					placed++
				}
			})
		}
	})
	require.Eventually(t, func() bool { return bought() >= 100 }, patience, 5*time.Millisecond)
	p.primary.kill()
	before := bought()
	p.promote(t)
	require.Eventually(t, func() bool { return bought() >= before+100 }, patience, 5*time.Millisecond, "it goes on")
	cancel()
	orders.Wait()
	require.NoError(t, s.Append(t.Context(), true), "all before it is there")
	require.NoError(t, s.Err())

	kept := scalar[[]byte](t, p.standby.url("postgres"), "SELECT string_agg(data, '') FROM trading.record")
	executed := sim.Ledger()
	require.GreaterOrEqual(t, len(executed), 200)
	for _, e := range executed {
		require.True(t, bytes.Contains(kept, []byte(e.Key)), "executed, and in no journal: %s", e.Key)
	}
}
