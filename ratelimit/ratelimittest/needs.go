package ratelimittest

import (
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
)

func allOrNone(r run) {
	wide, narrow := bucket("wide", 10), bucket("narrow", 1)
	r.answer(needs(wide, narrow))
	grant := r.take(needs(wide, narrow))
	require.NotZero(r, grant.Wait)
	assert.Equal(r, "narrow", grant.Bucket)
	assert.Equal(r, 1, r.usage(wide).Used, "no slot of the other bucket is taken")
}

func keepsTheReserve(r run) {
	b := bucket("a", 5)
	reserving := []ratelimit.Need{{Bucket: b, Reserve: 2}}
	for range 3 {
		r.answer(reserving)
	}
	wait := r.refused(reserving)
	assert.InDelta(r, window, wait, float64(r.spec.Fine))
	r.answer(needs(b))
	r.answer(needs(b))
	r.refused(needs(b))
	r.pass(window)
	r.must(reserving)
}

func tellsTheWait(r run) {
	one := needs(bucket("a", 2))
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
	r.answer(needs(bucket("a", 1)))
	r.refused(needs(bucket("a", 1)))
	r.answer(needs(bucket("b", 1)))
	r.answer(needs(bucket("c", 2)))
	require.NoError(r, r.store.Block(r.Context(), bucket("b", 1), window))
	r.answer(needs(bucket("c", 2)))
}

func sharesAmongMany(r run) {
	one := needs(bucket("a", 10))
	var all sync.WaitGroup
	got := make(chan bool, 50)
	for range 50 {
		all.Go(func() {
			grant, err := r.store.Take(r.Context(), "a client", one, time.Second)
			assert.NoError(r, err)
			got <- grant.Wait == 0
			if grant.Wait == 0 {
				assert.NoError(r, r.store.Return(r.Context(), grant.Slot, one, true))
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
