package schedule

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errClosed = errors.New("closed")

// rig is a schedule of numbers, of which the lower are older.
type rig struct {
	*Schedule[int]
	close func()

	mu    sync.Mutex
	turns []int // that were had
	ended []int // after them
	rests int
	hold  time.Time
	next  map[int]func() Turn // what the next turn of a job comes to
}

func newRig(t *testing.T, background bool) *rig {
	t.Helper()
	r := &rig{next: map[int]func() Turn{}}
	var flights sync.WaitGroup
	closing, closeAll := context.WithCancel(context.Background())
	r.Schedule = New(Config[int]{
		Closing: closing, ErrClosed: errClosed, Background: background,
		First:   func(int) bool { return false },
		Compare: cmp.Compare[int],
		Work: func(of int) Turn {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.turns = append(r.turns, of)
			if next := r.next[of]; next != nil {
				return next()
			}
			return Turn{Done: true}
		},
		Ended: func(of int) {
			r.mu.Lock()
			r.ended = append(r.ended, of)
			r.mu.Unlock()
			r.Remove(of)
		},
		NotBefore: func() time.Time { return r.hold },
		Rest:      func() { r.rests++ },
		Enter:     func() bool { flights.Add(1); return true },
		Leave:     flights.Done,
	})
	r.close = func() {
		r.Close()
		closeAll()
		flights.Wait()
	}
	t.Cleanup(r.close)
	return r
}

func (r *rig) had() []int {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int(nil), r.turns...)
}

// after has the turns of a job end with the next one so much later.
func (r *rig) after(of int, wait time.Duration) {
	r.next[of] = func() Turn { return Turn{Due: time.Now().Add(wait)} }
}

// Of the jobs that are due the oldest is first, and one that is not due waits for it.
func TestTheOldestIsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true)
		r.hold = time.Now().Add(time.Second)
		for _, of := range []int{3, 1, 2} {
			r.Add(of)
		}
		assert.Empty(t, r.had(), "not before the moment that holds all back")
		time.Sleep(time.Second)
		assert.Equal(t, []int{1, 2, 3}, r.had())
		assert.Equal(t, 1, r.rests)
		r.after(5, time.Minute)
		r.Add(5)
		r.Add(6)
		assert.Equal(t, []int{1, 2, 3, 5, 6}, r.had())
		time.Sleep(time.Minute - time.Nanosecond)
		assert.Len(t, r.had(), 5)
		time.Sleep(time.Nanosecond)
		assert.Len(t, r.had(), 6)
	})
}

// A job that is hurried is due at once, and then as its turn says.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true)
		r.after(1, time.Minute)
		r.Add(1)
		assert.Equal(t, []int{1}, r.had())
		r.Hurry(1)
		assert.Equal(t, []int{1, 1}, r.had())
		time.Sleep(time.Minute - time.Nanosecond)
		assert.Len(t, r.had(), 2)
		r.Hurry(2) // of which nothing is known
		assert.Equal(t, []int{1, 1}, r.had())
	})
}

// A job for which somebody waits comes before older ones; without a background the others
// have no turn at all.
func TestWhoIsWaitedForIsFirst(t *testing.T) {
	for _, background := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, background)
			r.hold = time.Now().Add(time.Second)
			for of := range 8 {
				r.Add(of)
			}
			waited := make(chan error, 1)
			go func() { waited <- r.Wait(t.Context(), 5) }()
			time.Sleep(time.Second)
			require.NoError(t, <-waited)
			if background {
				assert.Equal(t, []int{5, 0, 1, 2, 3, 4, 6, 7}, r.had())
			} else {
				assert.Equal(t, []int{5}, r.had())
			}
		})
	}
}

// A wait ends with its context, with closing, and at once for a job that is not there.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true)
		require.NoError(t, r.Wait(t.Context(), 1), "there is none")
		r.after(1, time.Hour)
		r.Add(1)
		gone := errors.New("gone")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, gone)
		defer cancel()
		require.ErrorIs(t, r.Wait(ctx, 1), gone)
		require.ErrorIs(t, r.Wait(ctx, 1), gone, "it has ended before")
		waited := make(chan error, 1)
		go func() { waited <- r.Wait(t.Context(), 1) }()
		synctest.Wait()
		r.close()
		require.ErrorIs(t, <-waited, errClosed)
		had := r.had()
		r.Add(2)
		assert.Equal(t, had, r.had(), "nothing begins after Close")
	})
}

// Without a background a job has turns for as long as somebody waits, and no longer.
func TestNobodyWaitsAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, false)
		r.after(1, time.Minute)
		r.Add(1)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		require.Error(t, r.Wait(ctx, 1))
		assert.Len(t, r.had(), 2)
		time.Sleep(time.Hour)
		assert.Len(t, r.had(), 2)
	})
}

// An idle job has a turn again if somebody asks who has not seen its last request.
func TestAnIdleJobIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true)
		r.next[1] = func() Turn { return Turn{Idle: true} }
		r.Add(1)
		require.NoError(t, r.Wait(t.Context(), 1))
		found, idle := r.Has(1)
		assert.True(t, found && idle)
		r.Requested(1, 7)
		again := 0
		r.Ask(1, 6, func() { again++ })
		assert.Len(t, r.had(), 1, "its request is younger than the question")
		r.Ask(1, 7, func() { again++ })
		assert.Len(t, r.had(), 2)
		r.Ask(2, 7, func() { again++ })
		assert.Equal(t, 1, again, "of another job nobody knows")
	})
}

// A job that is held has no turn until it is released. Who holds it waits for the turn that
// it has, for others who hold it, and no longer than the context lasts.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, true)
		r.next[1] = func() Turn {
			r.mu.Unlock()
			time.Sleep(time.Second)
			r.mu.Lock()
			return Turn{Due: time.Now().Add(time.Second)}
		}
		r.Add(1)
		r.had()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, _, err := r.Hold(ctx, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		began := time.Now()
		release, held, err := r.Hold(t.Context(), 1)
		require.NoError(t, err)
		assert.True(t, held)
		assert.Equal(t, time.Second/2, time.Since(began), "its turn ends first")
		second := make(chan bool, 1)
		go func() {
			release, held, _ := r.Hold(t.Context(), 1)
			defer release()
			second <- held
		}()
		time.Sleep(time.Hour)
		assert.Len(t, r.had(), 1)
		assert.Empty(t, second)
		release()
		assert.True(t, <-second)
		assert.Len(t, r.had(), 2, "it is due")

		release, _, err = r.Hold(t.Context(), 1)
		require.NoError(t, err)
		go func() {
			_, held, _ := r.Hold(t.Context(), 1)
			second <- held
		}()
		synctest.Wait()
		r.Remove(1)
		release()
		assert.False(t, <-second, "it is over")
		assert.Empty(t, r.Jobs())
	})
}
