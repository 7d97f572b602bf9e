package books

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// The first entry on a declared account waits until a look shows what was written before.
func TestFirstLook(t *testing.T) {
	b := &book{Books: New(origin, false, nil), t: t, now: origin, notes: map[*Write][]Note{}, begun: map[*Write]*accounting.Baseline{}}
	assert.Zero(t, b.FirstLook(mine, b.now), "nobody declared it")
	b.Declare(declared)
	assert.Equal(t, accounting.Lag, b.FirstLook(mine, b.now))
	b.pass(accounting.Lag / 2)
	assert.Equal(t, accounting.Lag/2, b.FirstLook(mine, b.now))
	b.pass(accounting.Lag)
	assert.Zero(t, b.FirstLook(mine, b.now))

	read := newBook(t)
	read.Declare(declared)
	read.look("ACTIVE")
	assert.Zero(t, read.FirstLook(mine, read.now), "it was read")
	assert.Equal(t, "ACTIVE", read.Status(mine))
	assert.Empty(t, read.Status(Account{"live", "acc_2"}))
	assert.True(t, read.ReadSince(mine, origin))
	assert.False(t, read.ReadSince(mine, read.now))
}

// A list of closed trades is wanted after so many own writes, and what rests and runs once.
func TestWantsList(t *testing.T) {
	b := newBook(t)
	b.Declare(declared)
	list, all := b.WantsList(mine)
	assert.False(t, list)
	assert.True(t, all)
	b.look("ACTIVE")
	b.of[mine].trails.since = listEvery
	list, all = b.WantsList(mine)
	assert.True(t, list)
	assert.False(t, all)
}

// A course is of a look while nothing newer is known, and ends with its baseline.
func TestStillAndLost(t *testing.T) {
	b := newBook(t)
	b.Declare(declared)
	b.look("ACTIVE")
	w := b.lost("lost")
	c, ok := b.Course(w, true, "ACTIVE")
	require.True(t, ok)
	one := decimal.NewFromInt(1)
	assert.False(t, c.Still(b.now, one, []accounting.Row{{Digest: 7}}), "a row that is not known")
	require.True(t, c.Still(b.now.Add(time.Minute), one, nil))
	assert.True(t, c.To.Valid && c.To.Decimal.Equal(one))

	b.Lost(w)
	_, ok = b.Course(w, true, "ACTIVE")
	assert.False(t, ok)
}

// What a write left to wait is one entry, under the id that its answer or a read gives it,
// until it has been out of the lists for as long as a baseline may still be of before.
func TestWhatWaitsInATrail(t *testing.T) {
	b := newBook(t)
	of := &trails{of: map[string]*trail{}}
	w := b.order("BTC")
	w.ID = "w1"
	size := decimal.NewNullDecimal(decimal.NewFromInt(2))
	of.waits(Waiting{ID: "w1", Symbol: "BTC", Side: accounting.Long})
	of.waits(Waiting{ID: "w1", Symbol: "BTC", Side: accounting.Long, Size: size})
	require.Len(t, of.waited, 1)
	assert.Equal(t, size, of.waited[0].Size, "the first that says a size")

	of.waitedFor(w, &Did{Refused: true})
	require.Len(t, of.waited, 1, "what waits shows whether a refusal is true")
	of.waitedFor(w, &Did{Own: accounting.Own{ID: "ord_1", Resting: true, Side: accounting.Long, Size: size}})
	require.Len(t, of.waited, 1)
	assert.Equal(t, "ord_1", of.waited[0].ID)

	of.sawWaiting([]Waiting{{ID: "ord_1", Symbol: "BTC"}}, b.now, b.now)
	require.Len(t, of.resting("BTC", b.now), 1)
	b.pass(time.Second)
	of.sawWaiting(nil, b.now, b.now)
	assert.Empty(t, of.resting("BTC", b.now), "it was gone before")
	assert.Len(t, of.resting("BTC", origin), 1)
	b.pass(2 * time.Minute)
	of.sawWaiting(nil, b.now, b.now)
	assert.Empty(t, of.waited)

	for i := range maxWaited + 5 {
		of.waits(Waiting{ID: string(rune('a' + i)), Symbol: "ETH"})
	}
	assert.LessOrEqual(t, len(of.waited), maxWaited)
	assert.Equal(t, Waiting{}, of.waited[0].Waiting, "one stands for any")
}
