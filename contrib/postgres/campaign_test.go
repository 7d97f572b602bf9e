package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// rob takes a lease as another process would, which then dies.
func rob(t testing.TB, url, lease string) {
	t.Helper()
	execute(t, url, "UPDATE trading.lease SET epoch = epoch + 1, beat = beat + 1, holder = 'x' WHERE name = '"+lease+"'")
}

// campaigning runs a campaign beside the test. What comes of it is in ended.
func campaigning(ctx context.Context, url string, o Options, run func(context.Context, *Store) error) (ended <-chan error) {
	is := make(chan error, 1)
	go func() { is <- Campaign(ctx, url, o, run) }()
	return is
}

// A lease that is lost ends the context of the function, with why, and Campaign says it too.
func TestCampaignEndsWithTheLease(t *testing.T) {
	at, o := address(t), options()
	held := make(chan *Store, 1)
	why := make(chan error, 1)
	ended := campaigning(t.Context(), at, o, func(ctx context.Context, s *Store) error {
		held <- s
		<-ctx.Done()
		why <- context.Cause(ctx)
		return errors.New("the function's own")
	})
	<-held
	rob(t, at, o.Name)
	require.ErrorIs(t, <-why, journal.ErrFenced)
	err := <-ended
	require.ErrorIs(t, err, journal.ErrFenced)
	require.ErrorContains(t, err, "the function's own")
}

// A context that ends ends the function, and hands the lease over in order; one that ends while
// another process has the lease ends the waiting.
func TestCampaignEndsWithItsContext(t *testing.T) {
	at, o := address(t), options()
	o.Lease = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	held := make(chan *Store, 1)
	ended := campaigning(ctx, at, o, func(ctx context.Context, s *Store) error {
		held <- s
		<-ctx.Done()
		return context.Cause(ctx)
	})
	<-held
	waits, cancelWaiting := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancelWaiting()
	require.ErrorIs(t, <-campaigning(waits, at, o, nil), context.DeadlineExceeded)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	next := opened(t, at, o) // at once
	gap, err := next.Gap()
	require.NoError(t, err)
	assert.False(t, gap)
}

// A function that returns hands over, whatever it returns.
func TestCampaignEndsWithTheFunction(t *testing.T) {
	at, o := address(t), options()
	o.Lease = time.Minute
	require.NoError(t, Campaign(t.Context(), at, o, func(context.Context, *Store) error { return nil }))
	failed := errors.New("failed")
	require.ErrorIs(t, Campaign(t.Context(), at, o, func(context.Context, *Store) error { return failed }), failed)
	opened(t, at, o)
}

// Supervisors that start Campaign again: one function runs at a time, each goes on where the last
// one was, and a lease that is taken away again and again comes back.
func TestCampaignUnderSupervisors(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	o.Lease = 500 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var running, runs atomic.Int32
	var wg sync.WaitGroup
	begun := make(chan int, 100)
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				_ = Campaign(ctx, at, o, func(ctx context.Context, s *Store) error {
					assert.Equal(t, int32(1), running.Add(1))
					defer running.Add(-1)
					n := int(runs.Add(1))
					assert.Len(t, intents(t, s), n-1, "what the others have appended")
					assert.NoError(t, s.Append(ctx, true, record(n)))
					begun <- n
					<-ctx.Done()
					return nil
				})
			}
		})
	}
	for n := 1; n <= 3; n++ {
		require.Equal(t, n, <-begun)
		rob(t, at, o.Name)
	}
	<-begun
	cancel()
	wg.Wait()
	assert.Equal(t, int32(4), runs.Load())
}

// That the lease is about to end is said once, in time, and again the next time; not while it is
// renewed, and not of one that is handed over.
func TestLeaseEnding(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	o := options()
	said := make(chan time.Duration, 10)
	o.LeaseEnding = func(left time.Duration) { said <- left }
	store := opened(t, s.url("postgres"), o)
	for range 2 {
		select {
		case left := <-said:
			t.Fatalf("while it is renewed: %s", left)
		case <-time.After(o.Lease):
		}
		s.signal(syscall.SIGSTOP)
		left := <-said
		assert.Positive(t, left)
		assert.LessOrEqual(t, left, o.Lease/3)
		assert.InDelta(t, left.Seconds(), time.Until(store.Deadline()).Seconds(), 0.1)
		require.Eventually(t, func() bool { return !time.Now().Before(store.Deadline()) }, patience, time.Millisecond)
		s.signal(syscall.SIGCONT)
		require.Eventually(t, func() bool { return time.Until(store.Deadline()) > o.Lease/2 }, patience, time.Millisecond)
	}
	require.NoError(t, store.Close())
	assert.Empty(t, said)
}

// Tables that a newer version has made unreadable for this one, records that it cannot read, and
// tables that are not there: nothing is held, and the lease is another's to have.
func TestVersions(t *testing.T) {
	for name, row := range map[string]struct{ does, undoes string }{
		"min_reader":       {"UPDATE trading.version SET min_reader = 2", "UPDATE trading.version SET min_reader = 1"},
		"a newer version":  {"INSERT INTO trading.version (version, min_reader) VALUES (2, 2)", "DELETE FROM trading.version WHERE version = 2"},
		"a newer record":   {"UPDATE trading.record SET format = 2", "UPDATE trading.record SET format = 1"},
		"no tables at all": {"ALTER SCHEMA trading RENAME TO hidden", "ALTER SCHEMA hidden RENAME TO trading"},
	} {
		t.Run(name, func(t *testing.T) {
			at, o := database(t), options()
			o.Lease = time.Minute
			s := opened(t, at, o)
			require.NoError(t, s.Append(t.Context(), true, record(1)))
			require.NoError(t, s.Close())
			execute(t, at, row.does)
			ran := false
			require.ErrorIs(t, Campaign(t.Context(), at, o, func(context.Context, *Store) error { ran = true; return nil }), ErrVersion)
			assert.False(t, ran)
			execute(t, at, row.undoes)
			assert.Equal(t, []string{"intent 1"}, intents(t, opened(t, at, o)), "at once: it was not left held")
		})
	}
}

// A version that adds only is no obstacle: an older program goes on.
func TestANewerVersionThatAddsOnly(t *testing.T) {
	at := database(t)
	execute(t, at, "INSERT INTO trading.version (version, min_reader) VALUES (2, 1)")
	require.NoError(t, Migrate(t.Context(), at))
	require.NoError(t, opened(t, at, options()).Append(t.Context(), true, record(1)))
}
