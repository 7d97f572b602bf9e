package ratelimittest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
)

// run is a store under test.
type run struct {
	tester
	spec  Store
	store ratelimit.Store
}

const window = time.Minute

func bucket(name string, limit int) ratelimit.Bucket {
	return ratelimit.Bucket{Name: name, Limit: limit, Window: window}
}

func needs(buckets ...ratelimit.Bucket) []ratelimit.Need {
	all := make([]ratelimit.Need, len(buckets))
	for i, b := range buckets {
		all[i] = ratelimit.Need{Bucket: b}
	}
	return all
}

func (r run) take(needs []ratelimit.Need) ratelimit.Grant {
	r.Helper()
	grant, err := r.store.Take(r.Context(), "a client", needs, time.Second)
	require.NoError(r, err)
	require.GreaterOrEqual(r, grant.Wait, time.Duration(0))
	if grant.Wait > 0 {
		require.True(r, slices.ContainsFunc(needs, func(c ratelimit.Need) bool { return c.Bucket.Name == grant.Bucket }),
			"%q is none of the buckets", grant.Bucket)
	}
	return grant
}

// must takes a slot that has to be there.
func (r run) must(needs []ratelimit.Need) string {
	r.Helper()
	grant := r.take(needs)
	require.Zero(r, grant.Wait, "there is a slot")
	return grant.Slot
}

// refused asks for a slot that cannot be there, and returns the wait.
func (r run) refused(needs []ratelimit.Need) time.Duration {
	r.Helper()
	wait := r.take(needs).Wait
	require.NotZero(r, wait, "there is no slot")
	return wait
}

func (r run) giveBack(slot string, needs []ratelimit.Need, sent bool) {
	r.Helper()
	require.NoError(r, r.store.Return(r.Context(), slot, needs, sent))
}

// answer takes a slot and gives it back as answered.
func (r run) answer(needs []ratelimit.Need) {
	r.Helper()
	r.giveBack(r.must(needs), needs, true)
}

func (r run) usage(b ratelimit.Bucket) ratelimit.Usage {
	r.Helper()
	usages, err := r.store.Usage(r.Context(), []ratelimit.Bucket{b})
	require.NoError(r, err)
	require.Len(r, usages, 1)
	require.Equal(r, b, usages[0].Bucket)
	return usages[0]
}

// pass lets d pass, and the store's own step besides.
func (r run) pass(d time.Duration) { r.spec.Sleep(d + r.spec.Fine) }
