package trading

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/resolve"
)

// rig is a service that makes an assessment at most every five seconds, and a client that
// keeps the last.
type assessed struct {
	*healthGate

	mu      sync.Mutex
	made    time.Time // the last assessment
	n       int       // its number
	reads   int
	takes   time.Duration
	fails   error
	reuses  time.Duration // what the service says
	stuck   bool          // it makes no more
	each    bool          // it makes one for each question
	noClock bool          // the service's clock is not known
}

// become changes the service.
func (r *assessed) become(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func (r *assessed) read(context.Context) (*Health, error) {
	r.mu.Lock()
	takes := r.takes
	r.mu.Unlock()
	time.Sleep(takes)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	if r.n == 0 || !r.stuck && (r.each || time.Since(r.made) >= maxHealthAge) {
		r.made, r.n = time.Now(), r.n+1
	}
	if r.fails != nil {
		return nil, r.fails
	}
	return &Health{AsOf: r.made, Version: strconv.Itoa(r.n), CacheFor: r.reuses}, nil
}

func (r *assessed) age(h *Health, at time.Time) (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return at.Sub(h.AsOf), !r.noClock
}

func (r *assessed) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reads
}

func newAssessed(t *testing.T, keepWarm bool) (r *assessed, closeAll func()) {
	t.Helper()
	r = &assessed{reuses: maxHealthAge}
	r.healthGate = &healthGate{
		HealthGate: HealthGate{KeepWarm: keepWarm}, life: resolve.NewLife(), ask: r.read, ageOf: r.age, without: func() ledger.Without { return ledger.Without{} },
	}
	closeAll = func() {
		r.life.End()
		r.life.Wait()
	}
	t.Cleanup(closeAll)
	return r, closeAll
}

// An assessment is used until it is five seconds old by the service's clock, and its
// callers share the next read.
func TestAnAssessmentIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		for _, row := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {maxHealthAge, 1}, {time.Nanosecond, 2}, {maxHealthAge - time.Nanosecond, 2}} {
			time.Sleep(row.wait)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					got, err := r.get(t.Context())
					assert.NoError(t, err)
					assert.Equal(t, strconv.Itoa(row.want), got.Version)
				})
			}
			all.Wait()
		}
		assert.Equal(t, 2, r.count())
	})
}

// Whatever the service says, and whenever it made one: what is used is five seconds old at
// the most.
func TestEdge22_NothingOlderThanFiveSecondsIsUsed(t *testing.T) {
	for _, warm := range []bool{false, true} {
		for _, reuses := range []time.Duration{maxHealthAge, time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				r, _ := newAssessed(t, warm)
				r.become(func() { r.reuses = reuses })
				_, err := r.read(t.Context()) // somebody else's question
				require.NoError(t, err)
				for range 200 {
					time.Sleep(730 * time.Millisecond)
					got, err := r.get(t.Context())
					require.NoError(t, err)
					require.LessOrEqual(t, time.Since(got.AsOf), maxHealthAge)
				}
			})
		}
	}
}

// A service that says so reuses one for less.
func TestALessThanFiveSecondsIsBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		r.become(func() { r.reuses = 3 * time.Second })
		_, err := r.get(t.Context())
		require.NoError(t, err)
		time.Sleep(3*time.Second + 1)
		_, err = r.get(t.Context())
		require.ErrorContains(t, err, "by the service's clock, and holds for 3s")
	})
}

// A service that reuses none makes one for each question: those who ask within two seconds share
// it, and nobody uses an older one.
func TestFound08_AServiceThatReusesNone(t *testing.T) {
	for _, reuses := range []time.Duration{0, 500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newAssessed(t, false)
			r.become(func() { r.reuses, r.each = reuses, true })
			for range 40 {
				got, err := r.get(t.Context())
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(got.AsOf), 2*time.Second)
				time.Sleep(730 * time.Millisecond)
			}
			assert.Greater(t, r.count(), 10)
		})
	}
}

// One that is too old when it comes is asked for again, since the service makes the next
// any moment. It is not used if there is none.
func TestOneThatIsTooOldWhenItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		_, err := r.read(t.Context())
		require.NoError(t, err)
		r.become(func() { r.takes = 10 * time.Millisecond })
		time.Sleep(maxHealthAge - 11*time.Millisecond)
		r.become(func() { r.takes = 20 * time.Millisecond })
		got, err := r.get(t.Context())
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(2), got.Version)

		r.become(func() { r.stuck = true })
		time.Sleep(2 * maxHealthAge)
		began := time.Now()
		_, err = r.get(t.Context())
		require.ErrorContains(t, err, "old by the service's clock, and holds for 5s")
		assert.Less(t, time.Since(began), 3*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err = r.get(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// Where its age is not known, an assessment serves those who asked together.
func TestAnAssessmentWithoutAnAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		r.become(func() { r.noClock = true })
		for want, wait := range []time.Duration{0, ageless, ageless + 1, 1} {
			time.Sleep(wait)
			_, err := r.get(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []int{1, 1, 2, 2}[want], r.count())
		}
		time.Sleep(maxHealthAge)
		r.become(func() { r.takes = maxHealthAge })
		_, err := r.get(t.Context())
		require.NoError(t, err, "it was waited for")
	})
}

// Fresh does not wait: it has an assessment read, and not again right after that has failed.
func TestFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		fresh := func() error {
			_, err := r.fresh(t.Context())
			synctest.Wait()
			return err
		}
		require.ErrorIs(t, fresh(), errReading)
		require.NoError(t, fresh())
		time.Sleep(maxHealthAge + 1)
		down := errors.New("down")
		r.become(func() { r.fails = down })
		require.ErrorIs(t, fresh(), errReading)
		require.ErrorIs(t, fresh(), down)
		assert.Equal(t, 2, r.count())
		time.Sleep(maxHealthAge)
		r.become(func() { r.fails = nil })
		require.ErrorIs(t, fresh(), errReading)
		require.NoError(t, fresh())
	})
}

// A service whose clock runs ahead has nothing but assessments that are too old. A write that waits for one
// asks again and again, and that is a few requests a minute.
func TestFreshIsNoStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		r.become(func() { r.stuck, r.takes = true, 10*time.Millisecond })
		_, _ = r.fresh(t.Context())
		time.Sleep(2 * maxHealthAge)
		began := r.count()
		for range 300 {
			_, err := r.fresh(t.Context())
			require.Error(t, err)
			time.Sleep(200 * time.Millisecond)
		}
		assert.LessOrEqual(t, r.count()-began, 16, "requests in a minute")
		r.become(func() { r.stuck = false })
		time.Sleep(maxHealthAge)
		_, _ = r.fresh(t.Context())
		time.Sleep(time.Second)
		_, err := r.fresh(t.Context())
		require.NoError(t, err)
	})
}

// Four that were too old in a row, half a second apart, begin the pause.
func TestFreshPausesAfterFour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		_, err := r.read(t.Context())
		require.NoError(t, err)
		r.become(func() { r.stuck = true })
		time.Sleep(maxHealthAge + 1)
		before := r.count()
		for range 10 {
			_, err := r.fresh(t.Context())
			require.Error(t, err)
			synctest.Wait()
			time.Sleep(againAfter)
		}
		assert.Equal(t, before+mostAgain+1, r.count())
	})
}

// One that came in time ends the pause: the next is asked for as soon as it is too old itself.
func TestFreshAfterOneInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		fresh := func() error {
			_, err := r.fresh(t.Context())
			synctest.Wait()
			return err
		}
		require.ErrorIs(t, fresh(), errReading)
		r.become(func() { r.stuck = true })
		time.Sleep(maxHealthAge + 1)
		for range 2 * mostAgain {
			require.Error(t, fresh())
			time.Sleep(againAfter)
		}
		r.become(func() { r.stuck, r.each, r.reuses = false, true, 0 })
		time.Sleep(maxHealthAge)
		require.ErrorIs(t, fresh(), errReading)
		require.NoError(t, fresh())
		time.Sleep(shortest + 1)
		require.ErrorIs(t, fresh(), errReading)
		require.NoError(t, fresh())
	})
}

// While one is read nobody says that there is none, however many have come too late before.
func TestFreshWhileAnotherReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, false)
		_, err := r.get(t.Context())
		require.NoError(t, err)
		r.become(func() { r.stuck = true })
		time.Sleep(maxHealthAge + 1)
		_, err = r.get(t.Context()) // which asks so often that Fresh would pause
		require.Error(t, err)
		_, err = r.fresh(t.Context())
		require.ErrorContains(t, err, "old by the service's clock")
		r.become(func() { r.takes = time.Second })
		go func() { _, _ = r.get(t.Context()) }()
		synctest.Wait()
		_, err = r.fresh(t.Context())
		require.ErrorIs(t, err, errReading)
	})
}

// One that was too old when it came is asked for again after half a second, and one that runs out just then at once.
func TestFreshAsksAgain(t *testing.T) {
	for name, row := range map[string]struct {
		stuck bool
		wait  time.Duration
		reads int
	}{
		"too old when it came":              {true, againAfter - 1, 2},
		"too old when it came, later":       {true, againAfter, 3},
		"in time when it came, and run out": {false, againAfter - 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _ := newAssessed(t, false)
				_, err := r.read(t.Context()) // somebody else's question
				require.NoError(t, err)
				age := maxHealthAge - row.wait + 1
				if row.stuck {
					r.become(func() { r.stuck = true })
					age = maxHealthAge + 1
				}
				time.Sleep(age)
				_, err = r.fresh(t.Context())
				require.ErrorIs(t, err, errReading)
				synctest.Wait()
				time.Sleep(row.wait)
				_, err = r.fresh(t.Context())
				require.ErrorIs(t, err, errReading)
				synctest.Wait()
				assert.Equal(t, row.reads, r.count())
			})
		})
	}
}

// A write that a pending one holds back has the health read, if its guard would ask for that.
func TestAheadOfAWriteThatWaits(t *testing.T) {
	for name, row := range map[string]struct {
		off   bool
		write Write
		reads int
	}{
		"an entry":                        {false, Write{Entry: true}, 1},
		"an exit":                         {false, Write{}, 0},
		"an entry that skips the gate":    {false, Write{Entry: true, skipHealth: true}, 0},
		"an entry of a client without it": {true, Write{Entry: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _ := newAssessed(t, false)
				r.Off = row.off
				r.ahead(t.Context(), row.write)
				synctest.Wait()
				assert.Equal(t, row.reads, r.count())
			})
		})
	}
}

// The age of an assessment is by the service's clock, and at the most: a Date has whole seconds. Without a Date it
// is not known, and one that says to be of later than now has none.
func TestTheAgeOfAnAssessment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := New("http://localhost/v1")
		require.NoError(t, err)
		defer client.Close()
		clocks := client.core.driver.Clocks
		ageOf := ageBy(clocks)
		now := time.Now()
		_, known := ageOf(&Health{AsOf: now}, now)
		assert.False(t, known)
		clocks.Heard(http.Header{"Date": {now.UTC().Format(http.TimeFormat)}}, now, now)
		for _, row := range []struct {
			asOf, age time.Duration
			known     bool
		}{{-3 * time.Second, 4 * time.Second, true}, {0, time.Second, true}, {time.Second, 0, true}, {time.Second + time.Millisecond, 0, false}} {
			age, known := ageOf(&Health{AsOf: now.Add(row.asOf)}, now)
			assert.Equal(t, row.known, known, row.asOf)
			if known {
				assert.Equal(t, row.age, age, row.asOf)
			}
		}
	})
}

// One that came too late is not used, nor one that failed.
func TestWhatIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, closeAll := newAssessed(t, false)
		slow, down := maxHealthAge+time.Nanosecond, errors.New("down")
		r.become(func() { r.takes, r.noClock = slow, true })
		_, err := r.get(t.Context())
		require.ErrorContains(t, err, "holds for 5s")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.get(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the caller does not wait longer than it wants to")
		time.Sleep(slow)
		r.become(func() { r.takes, r.fails = 0, down })
		_, err = r.get(t.Context())
		require.ErrorIs(t, err, down)
		closeAll()
		_, err = r.get(t.Context())
		require.ErrorIs(t, err, ErrClosed)
	})
}

// Kept warm, it is read when it runs out, so that hardly anybody waits.
func TestKeptWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, closeAll := newAssessed(t, true)
		for range 3 {
			_, err := r.get(t.Context())
			require.NoError(t, err)
			synctest.Wait()
		}
		assert.Equal(t, 1, r.count())
		time.Sleep(10*time.Minute + time.Millisecond)
		synctest.Wait()
		assert.InDelta(t, 1+120, r.count(), 1, "each five seconds")
		closeAll()
		ended := r.count()
		time.Sleep(10 * time.Minute)
		assert.Equal(t, ended, r.count())
	})
}

// One that the service has had for a while is read again that much sooner.
func TestKeptWarmByItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newAssessed(t, true)
		_, err := r.read(t.Context()) // somebody else's question
		require.NoError(t, err)
		time.Sleep(3 * time.Second)
		_, err = r.get(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, r.count())
		time.Sleep(2*time.Second + 1)
		synctest.Wait()
		assert.Equal(t, 3, r.count())
	})
}

// An assessment that has run out is not used while the next is read, whoever asked for that.
func TestNoOldAssessmentDuringARefresh(t *testing.T) {
	for _, warm := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newAssessed(t, warm)
			_, err := r.get(t.Context())
			require.NoError(t, err)
			r.become(func() { r.takes = 3 * time.Second })
			time.Sleep(maxHealthAge)
			began := time.Now()
			got, err := r.get(t.Context())
			require.NoError(t, err)
			assert.Equal(t, strconv.Itoa(1), got.Version, "five seconds old")
			assert.Zero(t, time.Since(began), "the refresh is not waited for")
			time.Sleep(time.Nanosecond)
			got, err = r.get(t.Context())
			require.NoError(t, err)
			assert.Equal(t, strconv.Itoa(2), got.Version)
			assert.InDelta(t, 3*time.Second, time.Since(began), 1)
		})
	}
}

func TestHalt(t *testing.T) {
	client, err := New("http://localhost/v1")
	require.NoError(t, err)
	defer client.Close()
	_, halted := client.Halted()
	assert.False(t, halted)
	client.Halt("the desk is closed")
	reason, halted := client.Halted()
	assert.True(t, halted)
	assert.Equal(t, "the desk is closed", reason)
	client.Resume()
	reason, halted = client.Halted()
	assert.False(t, halted)
	assert.Empty(t, reason)
}
