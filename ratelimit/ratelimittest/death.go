package ratelimittest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
)

// outlive begins a request that its process does not end, and lets so much time pass
// that its slot may be had again.
func (r run) outlive(needs []ratelimit.Need) (slot string) {
	r.Helper()
	const hold = 10 * time.Second
	grant, err := r.store.Take(r.Context(), "a client", needs, hold)
	require.NoError(r, err)
	require.Zero(r, grant.Wait)
	r.spec.Sleep(window + hold - time.Second)
	r.refused(needs)
	r.pass(time.Second)
	return grant.Slot
}

func givesBackWhatDied(r run) {
	one := needs(bucket("a", 1))
	r.outlive(one)
	r.must(one)
}

// countsWhatWasThoughtDead has a request that took longer than it was to take. The
// service has seen it, whenever that was.
func countsWhatWasThoughtDead(r run) {
	one := needs(bucket("a", 1))
	r.giveBack(r.outlive(one), one, true)
	r.refused(one)
	r.pass(window)
	r.must(one)
}
