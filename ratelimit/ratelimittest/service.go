package ratelimittest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/ratelimit"
)

func blocks(r run) {
	b := bucket("a", 10)
	r.answer(needs(b))
	require.NoError(r, r.store.Block(r.Context(), b, 20*time.Second))
	require.NoError(r, r.store.Block(r.Context(), b, 5*time.Second)) // does not end the longer one
	r.spec.Sleep(10 * time.Second)
	assert.InDelta(r, 10*time.Second, r.refused(needs(b)), float64(r.spec.Fine))
	used := r.usage(b)
	assert.InDelta(r, 10*time.Second, used.Closed, float64(r.spec.Fine))
	assert.Zero(r, used.Left)
	assert.Equal(r, 9, used.Elsewhere, "the service says that it is full, so others hold the rest")
	r.pass(10 * time.Second)
	r.must(needs(b))
	assert.Zero(r, r.usage(b).Elsewhere)
}

func takesNewLimits(r run) {
	r.answer(needs(bucket("a", 1)))
	r.answer(needs(bucket("a", 3)))
	r.answer(needs(bucket("a", 3)))
	r.refused(needs(bucket("a", 3)))
	r.refused(needs(bucket("a", 2)))
}

func showsUsage(r run) {
	b := bucket("a", 5)
	assert.Equal(r, ratelimit.Usage{Bucket: b, Left: 5}, r.usage(b))
	slot := r.must(needs(b))
	r.answer(needs(b))
	assert.Equal(r, ratelimit.Usage{Bucket: b, Used: 2, Left: 3}, r.usage(b))
	r.giveBack(slot, needs(b), true)
	assert.Equal(r, ratelimit.Usage{Bucket: b, Used: 2, Left: 3}, r.usage(b))
	r.pass(window)
	assert.Equal(r, ratelimit.Usage{Bucket: b, Left: 5}, r.usage(b))
}
