package budgettest

import (
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func allOrNone(r run) {
	wide, narrow := bucket("wide", 10), bucket("narrow", 1)
	r.answer(claims(wide, narrow))
	taken := r.take(claims(wide, narrow))
	require.NotZero(r, taken.Wait)
	assert.Equal(r, "narrow", taken.Lacks)
	assert.Equal(r, 1, r.usage(wide).Spent, "the place of the other bucket is not taken")
}

func keepsTheReserve(r run) {
	b := bucket("a", 5)
	keeping := []trading.Claim{{Bucket: b, Keep: 2}}
	for range 3 {
		r.answer(keeping)
	}
	wait := r.refused(keeping)
	assert.InDelta(r, window, wait, float64(r.spec.Fine))
	r.answer(claims(b))
	r.answer(claims(b))
	r.refused(claims(b))
	r.pass(window)
	r.must(keeping)
}

func tellsTheWait(r run) {
	one := claims(bucket("a", 2))
	r.answer(one)
	r.spec.Sleep(10 * time.Second)
	r.answer(one)
	r.spec.Sleep(5 * time.Second)
	wait := r.refused(one)
	assert.InDelta(r, window-15*time.Second, wait, float64(r.spec.Fine))
	r.pass(wait)
	r.answer(one)
	assert.InDelta(r, 10*time.Second, r.refused(one), float64(3*r.spec.Fine))
}

func keepsBucketsApart(r run) {
	r.answer(claims(bucket("a", 1)))
	r.refused(claims(bucket("a", 1)))
	r.answer(claims(bucket("b", 1)))
	r.answer(claims(bucket("c", 2)))
	require.NoError(r, r.store.Block(r.Context(), bucket("b", 1), window))
	r.answer(claims(bucket("c", 2)))
}

func sharesAmongMany(r run) {
	one := claims(bucket("a", 10))
	var all sync.WaitGroup
	got := make(chan bool, 50)
	for range 50 {
		all.Go(func() {
			taken, err := r.store.Take(r.Context(), one, time.Second)
			assert.NoError(r, err)
			got <- taken.Wait == 0
			if taken.Wait == 0 {
				assert.NoError(r, r.store.Return(r.Context(), taken.Place, one, true))
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
	assert.Equal(r, 10, count)
}
