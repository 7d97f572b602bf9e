package budgettest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// outlive begins a request that its process does not end, and lets so much time pass
// that its place may be had again.
func (r run) outlive(claims []trading.Claim) (place string) {
	r.Helper()
	const hold = 10 * time.Second
	taken, err := r.store.Take(r.Context(), claims, hold)
	require.NoError(r, err)
	require.Zero(r, taken.Wait)
	r.spec.Sleep(window + hold - time.Second)
	r.refused(claims)
	r.pass(time.Second)
	return taken.Place
}

func givesBackWhatDied(r run) {
	one := claims(bucket("a", 1))
	r.outlive(one)
	r.must(one)
}

// countsWhatWasThoughtDead has a request that took longer than it was to take. The
// service has seen it, whenever that was.
func countsWhatWasThoughtDead(r run) {
	one := claims(bucket("a", 1))
	r.giveBack(r.outlive(one), one, true)
	r.refused(one)
	r.pass(window)
	r.must(one)
}
