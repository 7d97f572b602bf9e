package accounting

import (
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
)

// TestEdge46_AShortListIsNotComplete has a service whose lists are shorter than any known
// constant: the lost close's own row has left the list, and nothing says so.
func TestEdge46_AShortListIsNotComplete(t *testing.T) {
	const longest = 5
	rows := func(from, to int) (list []Row) { // newest first
		for i := from; i < to; i++ {
			r := market(Long, "10")
			r.Digest, r.Symbol = uint64(i), "X"
			list = append(list, r)
		}
		slices.Reverse(list)
		return list
	}
	began := time.Now()
	var k Trades
	assert.True(t, k.Take(nil, began, 0))
	list := rows(1, 1+longest)
	assert.True(t, k.Take(list, began.Add(time.Minute), 0))
	assert.True(t, k.Open, "the first row may have left it")

	trail := Trail{Base: &Point{Position: num("60"), Status: "ACTIVE"}}
	for i := range longest {
		trail.Add(Booked{Act: Act{Kind: ReduceOnly, Side: Short, Size: num("10"), Sent: 2*i + 1, Ended: 2*i + 2, Ran: true}})
	}
	trail.Add(Booked{ID: "lost", Act: Act{Kind: ReduceOnly, Side: Short, Size: num("10"), Sent: 11, Ended: 12}})
	r, asked, ok := trail.Replay("X", &k, nil, "ACTIVE", "lost")
	assert.True(t, ok)
	assert.True(t, r.Cut)
	o, why := r.Of(asked, -1).Verdict()
	assert.Equal(t, Unknown, o, "by the list alone: %s", why)
	r.To = decimal.NewNullDecimal(num("0"))
	o, why = r.Of(asked, -1).Verdict()
	assert.NotEqual(t, NotApplied, o, "it ran, and its row is the one that is missing: %s", why)

	assert.False(t, k.Take(rows(11, 11+longest), began.Add(2*time.Minute), longest), "it does not reach back")
	_, _, ok = trail.Replay("X", &k, nil, "ACTIVE", "lost")
	assert.False(t, ok, "rows are missing between")
}
