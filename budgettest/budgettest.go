// Package budgettest shows whether a [trading.BudgetStore] keeps what the
// interface promises. A store's own test calls [Run]:
//
//	budgettest.Run(t, budgettest.Store{New: newStore, In: synctest.Test, Sleep: time.Sleep})
//
// Minutes pass in it, so the store's clock is a simulated one: that of a bubble of
// [testing/synctest], or one that Sleep moves.
package budgettest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// Store is what to test.
type Store struct {
	// New opens an empty store, which shares nothing with another.
	New func(t *testing.T) trading.BudgetStore
	// In runs a rule, such as synctest.Test does; nil runs it as it is.
	In func(t *testing.T, rule func(*testing.T))
	// Sleep lets d pass on the store's clock.
	Sleep func(d time.Duration)
	// Shared says that the store outlives a process, and so gives back what a
	// process that died held.
	Shared bool
	// Fine is the finest step of the store's clock: it may give places back so much
	// later than it must.
	Fine time.Duration
}

// Run tests a store, rule by rule.
func Run(t *testing.T, s Store) {
	t.Helper()
	rules := []rule{
		{"a window holds its limit and no more", holdsItsLimit},
		{"a place is held for a window after the answer", holdsAfterTheAnswer},
		{"a request that was not sent holds nothing", unsentHoldsNothing},
		{"all claims or none", allOrNone},
		{"what is kept is left", keepsTheReserve},
		{"the wait is exact once nothing is under way", tellsTheWait},
		{"a blocked bucket gives nothing out until then", blocks},
		{"the service's word counts", learns},
		{"buckets have nothing to do with each other", keepsBucketsApart},
		{"a limit can change", takesNewLimits},
		{"usage tells what is left", tellsUsage},
		{"many at once share what there is", sharesAmongMany},
		{"no window of the service sees more", staysWithinEveryWindow},
	}
	if s.Shared {
		rules = append(rules, rule{"a process that died gives back", givesBackWhatDied})
	}
	for _, rule := range rules {
		test := func(t *testing.T) { rule.holds(t, run{t, s, s.New(t)}) }
		t.Run(rule.name, func(t *testing.T) {
			if s.In != nil {
				s.In(t, test)
			} else {
				test(t)
			}
		})
	}
}

type rule struct {
	name  string
	holds func(*testing.T, run)
}

// run is a store under test.
type run struct {
	t     *testing.T
	s     Store
	store trading.BudgetStore
}

const window = time.Minute

func bucket(name string, limit int) trading.Bucket {
	return trading.Bucket{Name: name, Limit: limit, Window: window}
}

func claims(buckets ...trading.Bucket) []trading.Claim {
	all := make([]trading.Claim, len(buckets))
	for i, b := range buckets {
		all[i] = trading.Claim{Bucket: b}
	}
	return all
}

func (r run) take(claims []trading.Claim) trading.Taken {
	r.t.Helper()
	taken, err := r.store.Take(r.t.Context(), claims, time.Second)
	require.NoError(r.t, err)
	require.GreaterOrEqual(r.t, taken.Wait, time.Duration(0))
	if taken.Wait > 0 {
		require.True(r.t, slices.ContainsFunc(claims, func(c trading.Claim) bool { return c.Bucket.Name == taken.Lacks }),
			"%q is none of the buckets", taken.Lacks)
	}
	return taken
}

// must takes a place that has to be there.
func (r run) must(claims []trading.Claim) string {
	r.t.Helper()
	taken := r.take(claims)
	require.Zero(r.t, taken.Wait, "there is a place")
	return taken.Place
}

// refused asks for a place that cannot be there, and returns the wait.
func (r run) refused(claims []trading.Claim) time.Duration {
	r.t.Helper()
	wait := r.take(claims).Wait
	require.NotZero(r.t, wait, "there is no place")
	return wait
}

func (r run) giveBack(place string, claims []trading.Claim, sent bool) {
	r.t.Helper()
	require.NoError(r.t, r.store.Return(r.t.Context(), place, claims, sent))
}

// answer takes a place and gives it back as answered.
func (r run) answer(claims []trading.Claim) {
	r.t.Helper()
	r.giveBack(r.must(claims), claims, true)
}

func (r run) usage(b trading.Bucket) trading.Usage {
	r.t.Helper()
	usages, err := r.store.Usage(r.t.Context(), []trading.Bucket{b})
	require.NoError(r.t, err)
	require.Len(r.t, usages, 1)
	require.Equal(r.t, b, usages[0].Bucket)
	return usages[0]
}

// pass lets d pass, and the store's own step besides.
func (r run) pass(d time.Duration) { r.s.Sleep(d + r.s.Fine) }

func holdsItsLimit(_ *testing.T, r run) {
	one := claims(bucket("a", 3))
	for range 3 {
		r.must(one)
	}
	r.refused(one)
	r.pass(2 * window)
	if !r.s.Shared { // what is under way holds its place, however long it takes
		r.refused(one)
	}
}

func holdsAfterTheAnswer(_ *testing.T, r run) {
	one := claims(bucket("a", 1))
	place := r.must(one)
	r.s.Sleep(time.Second)
	r.giveBack(place, one, true)
	r.s.Sleep(window - time.Second) // a window after it was sent
	r.refused(one)
	r.pass(time.Second)
	r.must(one)
}

func unsentHoldsNothing(_ *testing.T, r run) {
	one := claims(bucket("a", 1))
	for range 5 {
		r.giveBack(r.must(one), one, false)
	}
	r.answer(one)
	r.refused(one)
}

func allOrNone(t *testing.T, r run) {
	wide, narrow := bucket("wide", 10), bucket("narrow", 1)
	r.answer(claims(wide, narrow))
	taken := r.take(claims(wide, narrow))
	require.NotZero(t, taken.Wait)
	assert.Equal(t, "narrow", taken.Lacks)
	assert.Equal(t, 1, r.usage(wide).Spent, "the place of the other bucket is not taken")
}

func keepsTheReserve(t *testing.T, r run) {
	b := bucket("a", 5)
	keeping := []trading.Claim{{Bucket: b, Keep: 2}}
	for range 3 {
		r.answer(keeping)
	}
	wait := r.refused(keeping)
	assert.InDelta(t, window, wait, float64(r.s.Fine))
	r.answer(claims(b))
	r.answer(claims(b))
	r.refused(claims(b))
	r.pass(window)
	r.must(keeping)
}

func tellsTheWait(t *testing.T, r run) {
	one := claims(bucket("a", 2))
	r.answer(one)
	r.s.Sleep(10 * time.Second)
	r.answer(one)
	r.s.Sleep(5 * time.Second)
	wait := r.refused(one)
	assert.InDelta(t, window-15*time.Second, wait, float64(r.s.Fine))
	r.pass(wait)
	r.answer(one)
	assert.InDelta(t, 10*time.Second, r.refused(one), float64(3*r.s.Fine))
}

func blocks(t *testing.T, r run) {
	b := bucket("a", 10)
	r.answer(claims(b))
	require.NoError(t, r.store.Block(t.Context(), b, 20*time.Second))
	require.NoError(t, r.store.Block(t.Context(), b, 5*time.Second)) // does not end the longer one
	r.s.Sleep(10 * time.Second)
	assert.InDelta(t, 10*time.Second, r.refused(claims(b)), float64(r.s.Fine))
	used := r.usage(b)
	assert.InDelta(t, 10*time.Second, used.Closed, float64(r.s.Fine))
	assert.Zero(t, used.Left)
	assert.Equal(t, 9, used.Elsewhere, "the service says that it is full, so others hold the rest")
	r.pass(10 * time.Second)
	r.must(claims(b))
	assert.Zero(t, r.usage(b).Elsewhere)
}

func learns(t *testing.T, r run) {
	b := bucket("a", 10)
	place := r.must(claims(b))
	require.NoError(t, r.store.Learn(t.Context(), b, 2, 30*time.Second))
	r.giveBack(place, claims(b), true)
	assert.Equal(t, 7, r.usage(b).Elsewhere)
	assert.Equal(t, 2, r.usage(b).Left)
	r.answer(claims(b))
	r.answer(claims(b))
	wait := r.refused(claims(b))
	assert.InDelta(t, 30*time.Second, wait, float64(r.s.Fine))
	r.pass(wait)
	r.answer(claims(b))
	assert.Zero(t, r.usage(b).Elsewhere)

	// The newest word counts, and of others under way it may not know.
	one, other := r.must(claims(b)), r.must(claims(b))
	require.NoError(t, r.store.Learn(t.Context(), b, 1, 30*time.Second))
	r.giveBack(one, claims(b), true)
	r.refused(claims(b))
	require.NoError(t, r.store.Learn(t.Context(), b, 1, 30*time.Second))
	r.giveBack(other, claims(b), true)
	r.must(claims(b))
}

func keepsBucketsApart(_ *testing.T, r run) {
	r.answer(claims(bucket("a", 1)))
	r.refused(claims(bucket("a", 1)))
	r.answer(claims(bucket("b", 1)))
	require.NoError(r.t, r.store.Block(r.t.Context(), bucket("b", 1), window))
	r.answer(claims(bucket("c", 1)))
}

func takesNewLimits(_ *testing.T, r run) {
	r.answer(claims(bucket("a", 1)))
	r.answer(claims(bucket("a", 3)))
	r.answer(claims(bucket("a", 3)))
	r.refused(claims(bucket("a", 3)))
	r.refused(claims(bucket("a", 2)))
}

func tellsUsage(t *testing.T, r run) {
	b := bucket("a", 5)
	assert.Equal(t, trading.Usage{Bucket: b, Left: 5}, r.usage(b))
	place := r.must(claims(b))
	r.answer(claims(b))
	assert.Equal(t, trading.Usage{Bucket: b, Spent: 2, Left: 3}, r.usage(b))
	r.giveBack(place, claims(b), true)
	assert.Equal(t, trading.Usage{Bucket: b, Spent: 2, Left: 3}, r.usage(b))
	r.pass(window)
	assert.Equal(t, trading.Usage{Bucket: b, Left: 5}, r.usage(b))
}

func sharesAmongMany(t *testing.T, r run) {
	one := claims(bucket("a", 10))
	var all sync.WaitGroup
	got := make(chan bool, 50)
	for range 50 {
		all.Go(func() {
			taken, err := r.store.Take(t.Context(), one, time.Second)
			assert.NoError(t, err)
			got <- taken.Wait == 0
			if taken.Wait == 0 {
				assert.NoError(t, r.store.Return(t.Context(), taken.Place, one, true))
			}
		})
	}
	all.Wait()
	close(got)
	count := 0
	for ok := range got {
		if ok {
			count++
		}
	}
	assert.Equal(t, 10, count)
}

// staysWithinEveryWindow sends at random, with requests that arrive anywhere
// between their send and their answer, and looks at every window of the service
// that ends with an arrival.
func staysWithinEveryWindow(t *testing.T, r run) {
	const limit = 12
	b := bucket("a", limit)
	random := rand.New(rand.NewPCG(1, 2))
	var now time.Duration
	type flight struct {
		place  string
		answer time.Duration
	}
	var arrivals []time.Duration
	var flying []flight
	most, refusals := 0, 0
	for range 3000 {
		step := time.Duration(random.IntN(3000)) * time.Millisecond
		r.s.Sleep(step)
		now += step
		flying = slices.DeleteFunc(flying, func(f flight) bool {
			if f.answer > now {
				return false
			}
			r.giveBack(f.place, claims(b), true)
			return true
		})
		taken := r.take(claims(b))
		if taken.Wait > 0 {
			refusals++
			continue
		}
		took := time.Duration(random.IntN(900)) * time.Millisecond
		arrivals = append(arrivals, now+time.Duration(random.Int64N(int64(took)+1)))
		flying = append(flying, flight{taken.Place, now + took})
	}
	slices.Sort(arrivals)
	for i := range arrivals {
		seen := 1
		for j := i - 1; j >= 0 && arrivals[i]-arrivals[j] < window; j-- {
			seen++
		}
		most = max(most, seen)
	}
	assert.LessOrEqual(t, most, limit, "a window of the service saw more")
	assert.Equal(t, limit, most, "and what there is was used")
	assert.NotZero(t, refusals, fmt.Sprintf("of %d", len(arrivals)))
}

func givesBackWhatDied(_ *testing.T, r run) {
	one := claims(bucket("a", 1))
	taken, err := r.store.Take(context.Background(), one, 10*time.Second)
	require.NoError(r.t, err)
	require.Zero(r.t, taken.Wait)
	r.s.Sleep(window + 9*time.Second)
	r.refused(one)
	r.pass(time.Second)
	r.must(one)
}
