package accounting

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
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
	assert.Equal(t, All, k.Take(nil, began, 0))
	list := rows(1, 1+longest)
	assert.Equal(t, All, k.Take(list, began.Add(time.Minute), 0))
	assert.Positive(t, k.Open, "the first row may have left it")

	trail := Trail{Base: &Base{Position: num("60"), Status: "ACTIVE"}}
	for i := range longest {
		trail.Add(Own{Act: Act{Kind: ReduceOnly, Side: Short, Size: num("10"), Sent: 2*i + 1, Ended: 2*i + 2, Ran: true}})
	}
	trail.Add(Own{ID: "lost", Act: Act{Kind: ReduceOnly, Side: Short, Size: num("10"), Sent: 11, Ended: 12}})
	r, asked, ok := trail.Replay("X", &k, nil, "ACTIVE", "lost")
	assert.True(t, ok)
	assert.True(t, r.Cut)
	o, why := r.Of(asked, -1).Verdict()
	assert.Equal(t, ledger.Unknown, o, "by the list alone: %s", why)
	r.To = decimal.NewNullDecimal(num("0"))
	o, why = r.Of(asked, -1).Verdict()
	assert.NotEqual(t, ledger.NotApplied, o, "it ran, and its row is the one that is missing: %s", why)

	assert.Equal(t, None, k.Take(rows(11, 11+longest), began.Add(2*time.Minute), longest), "it does not reach back")
	_, _, ok = trail.Replay("X", &k, nil, "ACTIVE", "lost")
	assert.False(t, ok, "rows are missing between")
}

// Rows without a time look like others: twenty equal trades later the oldest of a list is not
// the only one that was known.
func TestRowsThatLookLikeKnownOnes(t *testing.T) {
	rows := func(timed bool, digests ...uint64) (list []Row) {
		for _, d := range digests {
			r := market(Long, "10")
			r.Digest, r.Symbol = d, "X"
			if timed {
				r.ClosedAt = servicetime.Shown(time.UnixMilli(1_700_000_000_000 + int64(d)))
			}
			list = append(list, r)
		}
		return list
	}
	for name, row := range map[string]struct {
		timed       bool
		known, list []uint64 // newest first
		empty       bool     // the account had none before
		longest     int
		want        Reach
	}{
		"the only one, without a time":                             {known: []uint64{1}, list: []uint64{2, 1}, empty: true, want: OnlyStart},
		"the only one, without a time, in a list that is complete": {known: []uint64{1}, list: []uint64{2, 1}, empty: true, longest: 3, want: All},
		"the only one, in a list as long as the longest":           {known: []uint64{1}, list: []uint64{2, 1}, empty: true, longest: 2, want: OnlyStart},
		"nothing at all":                                            {known: []uint64{1}, list: nil, empty: true},
		"one of two, in a list that is complete":                    {known: []uint64{2, 1}, list: []uint64{3, 2}, empty: true, longest: 3},
		"the only one, with a time":                                 {timed: true, known: []uint64{1}, list: []uint64{2, 1}, empty: true, want: All},
		"one of many, with a time: another was closed at that time": {timed: true, known: []uint64{3, 2, 1}, list: []uint64{5, 4, 3}},
		"two of many, with a time":                                  {timed: true, known: []uint64{3, 2, 1}, list: []uint64{4, 3, 2}, want: All},
		"two of many, without":                                      {known: []uint64{3, 2, 1}, list: []uint64{4, 3, 2}},
		"three of many, without":                                    {known: []uint64{3, 2, 1}, list: []uint64{4, 3, 2, 1}, want: All},
		"three at two places":                                       {known: []uint64{1, 1, 1, 1}, list: []uint64{1, 1, 1}},
		"two amid many, without, in a list that is complete":        {known: []uint64{4, 3, 2, 1}, list: []uint64{3, 2}, longest: 3},
		"two amid all that were closed, without":                    {known: []uint64{4, 3, 2, 1}, list: []uint64{3, 2}, empty: true},
	} {
		t.Run(name, func(t *testing.T) {
			var k Trades
			now := time.Now()
			if row.empty {
				k.Take(nil, now, 0)
			}
			k.Take(rows(row.timed, row.known...), now, 0)
			assert.Equal(t, row.want, k.Take(rows(row.timed, row.list...), now.Add(time.Second), row.longest))
		})
	}
}

// A list that does not reach back begins behind all that was known: between the two there may be more.
func TestAListThatBeginsAnew(t *testing.T) {
	row := func(digest uint64) Row {
		r := market(Long, "10")
		r.Digest = digest
		return r
	}
	var k Trades
	now := time.Now()
	assert.True(t, k.Newest(nil), "nothing is known, and nothing is shown")
	assert.False(t, k.Newest([]Row{row(1)}))
	k.Take([]Row{row(2), row(1)}, now, 0)
	assert.True(t, k.Newest([]Row{row(2)}))
	assert.False(t, k.Newest([]Row{row(1)}))
	assert.False(t, k.Newest(nil))
	alike := Trades{Rows: []Row{row(1), row(2), row(3), row(2)}}
	assert.True(t, alike.Newest([]Row{row(2), row(3), row(2), row(1), row(0)}))
	assert.False(t, alike.Newest([]Row{row(2), row(1)}), "a row looks like the newest")
	assert.Equal(t, None, k.Take([]Row{row(9)}, now, 2))
	assert.Equal(t, 3, k.First)
	assert.Equal(t, 4, k.End())
}

// Of a row the prices are kept where its size or its side is to be derived from them.
func TestWhatIsKeptOfARow(t *testing.T) {
	price := opt("100")
	for _, c := range []struct {
		size decimal.NullDecimal
		side Direction
		kept bool
	}{{opt("1"), Long, false}, {opt("1"), NoSide, true}, {decimal.NullDecimal{}, Long, true}} {
		r := Row{Size: c.size, Side: c.side, EntryPrice: price, ExitPrice: price, GrossPnL: price, Fee: price}.kept()
		assert.Equal(t, c.kept, r.EntryPrice.Valid && r.ExitPrice.Valid && r.GrossPnL.Valid && r.Fee.Valid)
		assert.Equal(t, c.kept, r.EntryPrice.Valid || r.ExitPrice.Valid || r.GrossPnL.Valid || r.Fee.Valid)
	}
}

// TestTooManyWrites has more writes under way than a trail keeps: until all of them have
// ended nothing is a baseline.
func TestTooManyWrites(t *testing.T) {
	now := time.Now()
	trail := Trail{Base: &Base{}}
	for i := range MostSince + 2 {
		trail.Add(Own{ID: strconv.Itoa(i)})
	}
	assert.Nil(t, trail.Base)
	assert.Len(t, trail.Acts, MostSince)
	for i := range MostSince + 2 {
		assert.False(t, trail.Begin(Base{}, now), "%d", i)
		b := trail.Find(strconv.Itoa(i))
		if b != nil {
			b.Ran = true
		}
		trail.Ended(b == nil)
	}
	assert.Empty(t, trail.Acts)
	assert.True(t, trail.Begin(Base{}, now))
}

// A baseline from before an answer does not show what that write did.
func TestABaselineFromBeforeAnAnswer(t *testing.T) {
	now := time.Now()
	trail := Trail{Acts: []Own{{ID: "1", Act: Act{Ran: true}, Heard: now.Add(1)}}}
	assert.False(t, trail.Begin(Base{}, now))
	assert.True(t, trail.Begin(Base{}, now.Add(1)))
}

func TestWhatWaits(t *testing.T) {
	for kind, want := range map[ActKind]bool{Entry: false, ReduceOnly: false, Close: false, Limit: true, Pro: true, EditRun: true} {
		assert.Equal(t, want, (&Own{Act: Act{Kind: kind}}).Waits(), kind)
	}
}

// Without a baseline, what ended beside a write that is open still counts against its answer.
func TestWhatIsDroppedWithABaseline(t *testing.T) {
	trail := Trail{Base: &Base{}, Acts: []Own{{ID: "over", Act: Act{Ran: true}}, {ID: "open"}, {ID: "beside", Act: Act{Ran: true}}}}
	trail.Drop()
	assert.Nil(t, trail.Base)
	assert.Nil(t, trail.Find("over"))
	assert.NotNil(t, trail.Find("beside"))
	trail.Find("open").Ran = true
	trail.Drop()
	assert.Empty(t, trail.Acts)
}

// Of a bot that is refused all the time nothing is known any more.
func TestManyOfWhichNobodyIsSure(t *testing.T) {
	trail := Trail{Base: &Base{}}
	for i := range mostUnsure + 1 {
		assert.NotNil(t, trail.Base)
		trail.Add(Own{ID: strconv.Itoa(i)})
		trail.Unsure(trail.Find(strconv.Itoa(i)))
	}
	assert.Nil(t, trail.Base)
}

// Of what nobody needs some are kept, to find where a list goes on, and never more than so many.
func TestWhichTradesAreForgotten(t *testing.T) {
	for _, c := range []struct{ known, place, first int }{
		{keptTrades, keptTrades, 0},
		{keptTrades + 1, keptTrades, 0},
		{keptTrades + 1, keptTrades + 1, 1},
		{keptTrades + 1, keptTrades + 9, 1},
		{mostTrades, 0, 0},
		{mostTrades + 7, 0, 7},
		{mostTrades + 7, keptTrades + 9, 9},
	} {
		k := Trades{Rows: make([]Row, c.known)}
		for i := range k.Rows {
			k.Rows[i].Digest = uint64(i)
		}
		for range 2 { // what was forgotten is not forgotten again
			k.Forget(c.place)
			assert.Equal(t, c.first, k.First, "%d of %d", c.place, c.known)
			assert.Equal(t, uint64(c.first), k.Rows[0].Digest)
			assert.Equal(t, c.known, k.End())
		}
	}
}
