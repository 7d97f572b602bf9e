package budgettest

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func blocks(r run) {
	b := bucket("a", 10)
	r.answer(claims(b))
	require.NoError(r, r.store.Block(r.Context(), b, 20*time.Second))
	require.NoError(r, r.store.Block(r.Context(), b, 5*time.Second)) // does not end the longer one
	r.spec.Sleep(10 * time.Second)
	assert.InDelta(r, 10*time.Second, r.refused(claims(b)), float64(r.spec.Fine))
	used := r.usage(b)
	assert.InDelta(r, 10*time.Second, used.Closed, float64(r.spec.Fine))
	assert.Zero(r, used.Left)
	assert.Equal(r, 9, used.Elsewhere, "the service says that it is full, so others hold the rest")
	r.pass(10 * time.Second)
	r.must(claims(b))
	assert.Zero(r, r.usage(b).Elsewhere)
}

func learns(r run) {
	b := bucket("a", 10)
	place := r.must(claims(b))
	require.NoError(r, r.store.Learn(r.Context(), b, 2, 30*time.Second))
	r.giveBack(place, claims(b), true)
	assert.Equal(r, 7, r.usage(b).Elsewhere)
	assert.Equal(r, 2, r.usage(b).Left)
	r.answer(claims(b))
	r.answer(claims(b))
	wait := r.refused(claims(b))
	assert.InDelta(r, 30*time.Second, wait, float64(r.spec.Fine))
	r.pass(wait)
	r.answer(claims(b))
	assert.Zero(r, r.usage(b).Elsewhere)

	// The newest word counts, and of others under way it may not know.
	one, other := r.must(claims(b)), r.must(claims(b))
	require.NoError(r, r.store.Learn(r.Context(), b, 1, 30*time.Second))
	r.giveBack(one, claims(b), true)
	r.refused(claims(b))
	require.NoError(r, r.store.Learn(r.Context(), b, 1, 30*time.Second))
	r.giveBack(other, claims(b), true)
	r.must(claims(b))
}

func takesNewLimits(r run) {
	r.answer(claims(bucket("a", 1)))
	r.answer(claims(bucket("a", 3)))
	r.answer(claims(bucket("a", 3)))
	r.refused(claims(bucket("a", 3)))
	r.refused(claims(bucket("a", 2)))
}

func tellsUsage(r run) {
	b := bucket("a", 5)
	assert.Equal(r, trading.Usage{Bucket: b, Left: 5}, r.usage(b))
	place := r.must(claims(b))
	r.answer(claims(b))
	assert.Equal(r, trading.Usage{Bucket: b, Spent: 2, Left: 3}, r.usage(b))
	r.giveBack(place, claims(b), true)
	assert.Equal(r, trading.Usage{Bucket: b, Spent: 2, Left: 3}, r.usage(b))
	r.pass(window)
	assert.Equal(r, trading.Usage{Bucket: b, Left: 5}, r.usage(b))
}
