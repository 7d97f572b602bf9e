package budgettest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// run is a store under test.
type run struct {
	tester
	spec  Store
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
	r.Helper()
	taken, err := r.store.Take(r.Context(), claims, time.Second)
	require.NoError(r, err)
	require.GreaterOrEqual(r, taken.Wait, time.Duration(0))
	if taken.Wait > 0 {
		require.True(r, slices.ContainsFunc(claims, func(c trading.Claim) bool { return c.Bucket.Name == taken.Lacks }),
			"%q is none of the buckets", taken.Lacks)
	}
	return taken
}

// must takes a place that has to be there.
func (r run) must(claims []trading.Claim) string {
	r.Helper()
	taken := r.take(claims)
	require.Zero(r, taken.Wait, "there is a place")
	return taken.Place
}

// refused asks for a place that cannot be there, and returns the wait.
func (r run) refused(claims []trading.Claim) time.Duration {
	r.Helper()
	wait := r.take(claims).Wait
	require.NotZero(r, wait, "there is no place")
	return wait
}

func (r run) giveBack(place string, claims []trading.Claim, sent bool) {
	r.Helper()
	require.NoError(r, r.store.Return(r.Context(), place, claims, sent))
}

// answer takes a place and gives it back as answered.
func (r run) answer(claims []trading.Claim) {
	r.Helper()
	r.giveBack(r.must(claims), claims, true)
}

func (r run) usage(b trading.Bucket) trading.Usage {
	r.Helper()
	usages, err := r.store.Usage(r.Context(), []trading.Bucket{b})
	require.NoError(r, err)
	require.Len(r, usages, 1)
	require.Equal(r, b, usages[0].Bucket)
	return usages[0]
}

// pass lets d pass, and the store's own step besides.
func (r run) pass(d time.Duration) { r.spec.Sleep(d + r.spec.Fine) }
