package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// Rules of the lease that show in no accident at once. The README lists which test fails without
// which rule.

// A candidate that was itself stopped has not seen the beat stand still: it begins to wait anew,
// beside a holder that lives.
func TestACandidateThatWasStopped(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	o.Lease = 2 * time.Second
	s := opened(t, at, o)
	ctx, cancel := context.WithTimeout(t.Context(), o.Lease)
	defer cancel()
	var reads atomic.Int64
	_, err := open(ctx, at, o, func() moment { // each time it looks, an hour has passed
		m := now()
		m.boot += time.Duration(reads.Add(1)) * time.Hour
		return m
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, s.Append(t.Context(), true, record(1)))
}

// What a candidate has seen it takes, and nothing that has moved since.
func TestATakingOfWhatHasMoved(t *testing.T) {
	at, o := address(t), options()
	o.Lease = time.Minute
	s := opened(t, at, o)
	o, err := o.checked()
	require.NoError(t, err)
	c := candidate{Options: o, url: at, clock: now, wrong: &trouble{log: o.Logger}}
	require.NoError(t, c.prepare(t.Context()))
	defer c.conn.close()
	seen, err := c.read()
	require.NoError(t, err)
	for name, moved := range map[string]string{"renewed": "beat = beat + 1", "taken": "epoch = epoch + 1"} {
		execute(t, at, "UPDATE trading.lease SET "+moved+" WHERE name = '"+o.Name+"'")
		h, err := c.take(seen)
		require.NoError(t, err)
		assert.Nil(t, h, name)
		if name == "renewed" {
			seen.beat++
		}
	}
	_ = s
}

// The deadline counts from before the renewal was sent, however late it is answered.
func TestARenewalCountsFromItsBeginning(t *testing.T) {
	t.Parallel()
	at, o := database(t), options()
	o.Lease = 20 * time.Second // the next renewal comes long after this one
	s := opened(t, at, o)
	require.NoError(t, s.Append(t.Context(), true, record(0)), "behind the first renewal")
	operator, err := connect(t.Context(), at)
	require.NoError(t, err)
	defer operator.close()
	tx, err := operator.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM trading.lease WHERE name = $1 FOR UPDATE", o.Name)
	require.NoError(t, err)
	before := s.Deadline()
	require.Eventually(t, func() bool {
		return scalar[int](t, at, "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") == 1
	}, patience, time.Millisecond)
	sent := time.Now()
	time.Sleep(500 * time.Millisecond) // on its way
	require.NoError(t, tx.Rollback(t.Context()))
	require.Eventually(t, func() bool { return s.Deadline().After(before.Add(o.Lease / 10)) }, patience, time.Millisecond)
	assert.LessOrEqual(t, s.Deadline().Sub(sent), s.o.sends()+100*time.Millisecond)
}

// An append that was carried out, and whose answer is lost, is found: it is not done again.
func TestALostAnswer(t *testing.T) {
	t.Parallel()
	at, o := database(t), options()
	o.Lease = time.Minute // no renewal comes between
	network := newWire(t, fmt.Sprint("127.0.0.1:", shared.port))
	s := opened(t, strings.Replace(at, fmt.Sprint("127.0.0.1:", shared.port), network.address(), 1), o)
	require.NoError(t, s.Append(t.Context(), true, record(0)), "behind the first renewal")
	operator, err := connect(t.Context(), at)
	require.NoError(t, err)
	defer operator.close()
	tx, err := operator.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM trading.lease WHERE name = $1 FOR UPDATE", o.Name)
	require.NoError(t, err)
	appended := make(chan error, 1)
	go func() { appended <- s.Append(context.Background(), true, record(1)) }()
	waiting := func(n int) {
		require.Eventually(t, func() bool {
			return scalar[int](t, at, "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") == n
		}, patience, time.Millisecond)
	}
	waiting(1)
	require.Equal(t, 1, scalar[int](t, at, "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO trading.record%' AND datname = current_database()"))
	network.cut()
	waiting(2) // the taking from itself, behind it
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-appended)
	require.NoError(t, s.Err())
	assert.Equal(t, 2, scalar[int](t, at, "SELECT count(*)::int FROM trading.record"))
}

// A commit that somebody has kept from waiting for its standby is not acknowledged: the server says
// so by a warning alone.
func TestAWarningIsNoSuccess(t *testing.T) {
	t.Parallel()
	o := options()
	o.Lease = 20 * time.Second
	at, s, standby := withoutStandby(t, o)
	appended := make(chan error, 1)
	go func() { appended <- s.Append(context.Background(), true, record(1)) }()
	waits := "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%INTO trading.record%'"
	require.Eventually(t, func() bool { return scalar[int](t, at, "SELECT count(*)::int "+waits) == 1 }, patience, time.Millisecond)
	scalar[bool](t, at, "SELECT pg_cancel_backend(pid) "+waits)
	select {
	case err := <-appended:
		t.Errorf("acknowledged, and no standby has it: %v", err)
	case <-time.After(300 * time.Millisecond):
		standby("")
		require.NoError(t, <-appended)
	}
	standby("")
	assert.Equal(t, []string{"intent 1"}, intents(t, s))
}

// A statement that waits for its standby is not cancelled, whoever stops waiting for it: that would
// commit it without the standby.
func TestNoStatementIsCancelled(t *testing.T) {
	t.Parallel()
	o := options()
	at, s, standby := withoutStandby(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Append(ctx, true, record(1)), context.DeadlineExceeded)
	time.Sleep(o.Lease * 3 / 2) // longer than the store waits
	assert.Zero(t, scalar[int](t, at, "SELECT count(*)::int FROM trading.record"), "committed, and no standby has it")
	standby("")
	require.Eventually(t, func() bool { return s.Append(t.Context(), true, record(2)) == nil }, patience, 10*time.Millisecond)
	assert.Equal(t, 2, scalar[int](t, at, "SELECT count(*)::int FROM trading.record"))
}

// withoutStandby is a store on a server that waits for a standby which is not there; standby
// names the one that it waits for.
func withoutStandby(t *testing.T, o Options) (at string, s *Store, standby func(name string)) {
	server := ownServer(t)
	at = server.url("postgres")
	s = opened(t, at, o)
	standby = func(name string) {
		execute(t, at, "ALTER SYSTEM SET synchronous_standby_names = '"+name+"'")
		execute(t, at, "SELECT pg_reload_conf()")
		require.Eventually(t, func() bool { return scalar[string](t, at, "SHOW synchronous_standby_names") == name }, patience, time.Millisecond)
	}
	standby("nobody")
	return at, s, standby
}

// A candidate with a shorter lease than the holder's waits for as long as the holder's lasts.
func TestAShorterLease(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	o.Lease, o.Alive = 2*time.Second, 100*time.Millisecond // it does not report
	opened(t, at, o)
	began := time.Now()
	lasts := o.Lease
	o.Lease, o.Alive = leastLease, 0
	opened(t, at, o)
	assert.GreaterOrEqual(t, time.Since(began), lasts)
}

// A record that the lease does not count, or that is counted and not there, is another world's.
func TestRecordsBeyondTheCount(t *testing.T) {
	at, o := address(t), options()
	s := opened(t, at, o)
	require.NoError(t, s.Append(t.Context(), true, record(1)))
	require.NoError(t, s.Close())
	execute(t, at, "UPDATE trading.lease SET seq = 0 WHERE name = '"+o.Name+"'")
	_, err := Open(t.Context(), at, o)
	require.ErrorIs(t, err, journal.ErrLostHistory)
}
