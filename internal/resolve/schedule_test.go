package resolve

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/pending"
)

// turns is a schedule whose turns a test decides.
type turns struct {
	schedule
	writes map[int]*OpenWrite // by number, of which the lower are older

	mu    sync.Mutex
	done  []int // those that were had
	rests int
	until time.Time                                        // no turn is before
	next  map[int]func() (due time.Time, idle, stuck bool) // what the next turn of a write comes to
}

func newTurns(t *testing.T, background bool) *turns {
	t.Helper()
	r := &turns{next: map[int]func() (due time.Time, idle, stuck bool){}, writes: map[int]*OpenWrite{}}
	r.schedule = schedule{
		life: NewLife(), background: background, jobs: map[*OpenWrite]*job{}, wake: make(chan struct{}, 1),
		work: func(w *OpenWrite) (due time.Time, idle, stuck bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			of := r.number(w)
			r.done = append(r.done, of)
			if next := r.next[of]; next != nil {
				return next()
			}
			r.remove(w)
			return due, false, false
		},
		notBefore: func() time.Time { return r.until },
		rest:      func() { r.rests++ },
	}
	t.Cleanup(r.end)
	return r
}

func (r *turns) end() {
	r.life.End()
	r.life.Wait()
}

// write is that of a number.
func (r *turns) write(number int) *OpenWrite {
	if r.writes[number] == nil {
		r.writes[number] = &OpenWrite{Intent: pending.Intent{ID: pending.IntentID(strconv.Itoa(number)), Decided: time.Now()}}
	}
	return r.writes[number]
}

func (r *turns) number(w *OpenWrite) int {
	n, _ := strconv.Atoi(string(w.Intent.ID))
	return n
}

func (r *turns) had() []int {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int(nil), r.done...)
}

// after has the turns of a job end with the next one so much later.
func (r *turns) after(of int, wait time.Duration) {
	r.next[of] = func() (due time.Time, idle, stuck bool) { return time.Now().Add(wait), false, false }
}

// Of the jobs that are due the oldest is first, and one that is not due waits for it.
func TestTheOldestIsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTurns(t, true)
		r.until = time.Now().Add(time.Second)
		for _, of := range []int{3, 1, 2} {
			r.add(r.write(of))
		}
		assert.Empty(t, r.had(), "not before the moment that holds all back")
		time.Sleep(time.Second)
		assert.Equal(t, []int{1, 2, 3}, r.had())
		assert.Equal(t, 1, r.rests)
		r.after(5, time.Minute)
		r.add(r.write(5))
		r.add(r.write(6))
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
		r := newTurns(t, true)
		r.after(1, time.Minute)
		r.add(r.write(1))
		assert.Equal(t, []int{1}, r.had())
		r.hurry(r.write(1))
		assert.Equal(t, []int{1, 1}, r.had())
		time.Sleep(time.Minute - time.Nanosecond)
		assert.Len(t, r.had(), 2)
		r.hurry(r.write(2)) // of which nothing is known
		assert.Equal(t, []int{1, 1}, r.had())
	})
}

// A job for which somebody waits comes before older ones; without a background the others
// have no turn at all.
func TestWhoIsWaitedForIsFirst(t *testing.T) {
	for _, background := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := newTurns(t, background)
			r.until = time.Now().Add(time.Second)
			for of := range 8 {
				r.add(r.write(of))
			}
			waited := make(chan error, 1)
			go func() { waited <- r.wait(t.Context(), r.write(5)) }()
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
		r := newTurns(t, true)
		require.NoError(t, r.wait(t.Context(), r.write(1)), "there is none")
		r.after(1, time.Hour)
		r.add(r.write(1))
		gone := errors.New("gone")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, gone)
		defer cancel()
		require.ErrorIs(t, r.wait(ctx, r.write(1)), gone)
		require.ErrorIs(t, r.wait(ctx, r.write(1)), gone, "it has ended before")
		waited := make(chan error, 1)
		go func() { waited <- r.wait(t.Context(), r.write(1)) }()
		synctest.Wait()
		r.end()
		require.ErrorIs(t, <-waited, ErrClosed)
		had := r.had()
		r.add(r.write(2))
		assert.Equal(t, had, r.had(), "nothing begins after Close")
	})
}

// Without a background a job has turns for as long as somebody waits, and no longer.
func TestNobodyWaitsAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTurns(t, false)
		r.after(1, time.Minute)
		r.add(r.write(1))
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		require.Error(t, r.wait(ctx, r.write(1)))
		assert.Len(t, r.had(), 2)
		time.Sleep(time.Hour)
		assert.Len(t, r.had(), 2)
	})
}

// An idle job has a turn again if somebody asks who has not seen its last request.
func TestAnIdleJobIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTurns(t, true)
		r.next[1] = func() (due time.Time, idle, stuck bool) { return due, true, false }
		r.add(r.write(1))
		require.NoError(t, r.wait(t.Context(), r.write(1)))
		found, idle := r.has(r.write(1))
		assert.True(t, found && idle)
		r.requested(r.write(1), 7)
		again := 0
		r.ask(r.write(1), 6, func() { again++ })
		assert.Len(t, r.had(), 1, "its request is younger than the question")
		r.ask(r.write(1), 7, func() { again++ })
		assert.Len(t, r.had(), 2)
		r.ask(r.write(2), 7, func() { again++ })
		assert.Equal(t, 1, again, "of another job nobody knows")
	})
}

// A job that is held has no turn until it is released. Who holds it waits for the turn that
// it has, for others who hold it, and no longer than the context lasts.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTurns(t, true)
		r.next[1] = func() (due time.Time, idle, stuck bool) {
			r.mu.Unlock()
			time.Sleep(time.Second)
			r.mu.Lock()
			return time.Now().Add(time.Second), false, false
		}
		r.add(r.write(1))
		r.had()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, _, err := r.hold(ctx, r.write(1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		began := time.Now()
		release, held, err := r.hold(t.Context(), r.write(1))
		require.NoError(t, err)
		assert.True(t, held)
		assert.Equal(t, time.Second/2, time.Since(began), "its turn ends first")
		second := make(chan bool, 1)
		go func() {
			release, held, _ := r.hold(t.Context(), r.write(1))
			defer release()
			second <- held
		}()
		time.Sleep(time.Hour)
		assert.Len(t, r.had(), 1)
		assert.Empty(t, second)
		release()
		assert.True(t, <-second)
		assert.Len(t, r.had(), 2, "it is due")

		release, _, err = r.hold(t.Context(), r.write(1))
		require.NoError(t, err)
		go func() {
			_, held, _ := r.hold(t.Context(), r.write(1))
			second <- held
		}()
		synctest.Wait()
		r.remove(r.write(1))
		release()
		assert.False(t, <-second, "it is over")
		assert.Empty(t, r.all())
	})
}

// A write that keeps no market closed any more has its turn behind one that does, also where that came while it
// was there.
func TestASettledJobIsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTurns(t, true)
		r.until = time.Now().Add(time.Second)
		r.add(r.write(1))
		r.write(1).marketOpen.Store(true)
		r.add(r.write(2))
		time.Sleep(time.Second)
		assert.Equal(t, []int{2, 1}, r.had())
	})
}
