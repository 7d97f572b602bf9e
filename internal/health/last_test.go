package health

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rig counts what is read. Each assessment is its number, and holds for a minute.
type rig struct {
	*Last[int]
	flights sync.WaitGroup

	mu    sync.Mutex
	reads int
	takes time.Duration
	fails error
}

// become says how long a read takes from now on, and how it fails.
func (r *rig) become(takes time.Duration, fails error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.takes, r.fails = takes, fails
}

func (r *rig) read(context.Context) (int, error) {
	r.mu.Lock()
	takes := r.takes
	r.mu.Unlock()
	time.Sleep(takes)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	return r.reads, r.fails
}

func (r *rig) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reads
}

func newRig(t *testing.T, keepWarm bool) (r *rig, closeAll func()) {
	t.Helper()
	r = &rig{}
	closing, cancel := context.WithCancel(context.Background())
	r.Last = New(Config[int]{
		Read:     r.read,
		HoldsFor: func(int) time.Duration { return time.Minute },
		Default:  time.Second, KeepWarm: keepWarm, ErrClosed: errClosed,
		Background: func(run func(context.Context)) bool {
			if closing.Err() != nil {
				return false
			}
			r.flights.Go(func() { run(closing) })
			return true
		},
	})
	closeAll = func() {
		cancel()
		r.flights.Wait()
	}
	t.Cleanup(closeAll)
	return r, closeAll
}

var errClosed = errors.New("closed")

// An assessment is used as long as it holds, and its callers share the next read.
func TestAnAssessmentIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newRig(t, false)
		_, known := r.Known()
		assert.False(t, known)
		for _, row := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {time.Minute, 1}, {time.Nanosecond, 2}, {time.Minute - time.Nanosecond, 2}} {
			time.Sleep(row.wait)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					got, err := r.Get(t.Context())
					assert.NoError(t, err)
					assert.Equal(t, row.want, got)
				})
			}
			all.Wait()
		}
	})
}

// One that is older than it holds when it comes is not used, nor one that failed.
func TestWhatIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, closeAll := newRig(t, false)
		slow, down := time.Minute+time.Nanosecond, errors.New("down")
		r.become(slow, nil)
		_, err := r.Get(t.Context())
		require.ErrorContains(t, err, "holds for 1m0s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.Get(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the caller does not wait longer than it wants to")
		time.Sleep(slow)
		r.become(0, down)
		time.Sleep(time.Minute)
		_, err = r.Get(t.Context())
		require.ErrorIs(t, err, down)
		_, known := r.Known()
		assert.False(t, known)
		closeAll()
		_, err = r.Get(t.Context())
		require.ErrorIs(t, err, errClosed)
	})
}

// Kept warm, it is read before it runs out, so that nobody waits.
func TestKeptWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, closeAll := newRig(t, true)
		for range 3 {
			_, err := r.Get(t.Context())
			require.NoError(t, err)
			synctest.Wait()
		}
		assert.Equal(t, 1, r.count())
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Equal(t, 1+12, r.count(), "each 48 seconds")
		closeAll()
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 13, r.count())
	})
}
