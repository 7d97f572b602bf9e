package books

import (
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

func TestABaselineNeedsReadsThatShowEveryOwnWrite(t *testing.T) {
	held := []Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}}
	for name, row := range map[string]struct {
		prepare func(*book)
		want    bool
	}{
		"nothing read":              {func(*book) {}, false},
		"everything read twice":     {func(b *book) { b.read(held) }, true},
		"the positions alone":       {func(b *book) { b.SawPositions(mine, atOnce(b.now), held) }, false},
		"read once, beside holding": {func(b *book) { b.pass(ledger.Lag); b.atOnce(held) }, true},
		"read once, nothing held": {func(b *book) {
			b.atOnce(nil)
			b.SawOrders(mine, atOnce(b.now), nil, nil)
		}, true},
		"read beside a write": {func(b *book) { b.SendBegan(mine); b.read(held) }, false},
		"read right after a write": {func(b *book) {
			b.SendBegan(mine)
			b.SendEnded(mine, b.now.Add(2*ledger.Lag))
			b.read(held)
		}, false},
		"reset since": {func(b *book) { b.read(held); b.Reset(mine) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			row.prepare(b)
			assert.Equal(t, row.want, b.based(b.order("BTC")))
		})
	}
}

func (b *book) atOnce(held []Held) {
	b.SawStatus(mine, b.now, "ACTIVE")
	b.SawPositions(mine, atOnce(b.now), held)
	b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })
	b.SawOrders(mine, atOnce(b.now), []accounting.Waiting{{ID: "ord_0", Symbol: "DOGE"}}, nil)
}

// A new journal shows that no earlier run wrote to a live account a moment ago. It has no
// writes to the paper account, so there the reads wait all the same.
func TestANewJournalSaysNothingOfThePaperAccount(t *testing.T) {
	for _, row := range []struct {
		account AccountKey
		after   time.Duration
		want    bool
	}{
		{mine, 0, true},
		{AccountKey{Environment: "sandbox"}, 0, false},
		{AccountKey{Environment: "sandbox"}, ledger.Lag - 1, false},
		{AccountKey{Environment: "sandbox"}, ledger.Lag, true},
	} {
		b := newBook(t)
		b.Books = New(b.now, Earlier{None: true}, nil)
		b.pass(row.after)
		b.SawPositions(row.account, atOnce(b.now), nil)
		b.SawTrades(row.account, atOnce(b.now), func(int) []accounting.Row { return nil })
		b.SawOrders(row.account, atOnce(b.now), nil, nil)
		w := b.order("BTC")
		w.Places[0] = marketOf(row.account, "BTC")
		assert.Equal(t, row.want, b.based(w), "%v after %s", row.account, row.after)
	}
}

// An order that rests behind the read of what rests, and before all other reads, is
// known to them.
func TestAnOrderThatRestsBetweenTwoReadsIsKnown(t *testing.T) {
	b := newBook(t)
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	w := b.limit("ETH")
	b.enter(w)
	require.True(t, b.Wants(w))
	b.leave(w, resting("ord_1"))
	b.pass(ledger.Lag)
	for range 2 {
		b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })
		b.SawPositions(mine, atOnce(b.now), nil)
		b.pass(ledger.Lag)
	}
	limit := b.limit("BTC")
	b.Enter(limit)
	require.NotNil(t, limit.ids)
	assert.Equal(t, []string{"ord_1"}, limit.ids.Orders)
}

// A closed trade that the rows show and the position may not yet is missing in both.
func TestRowsAheadOfThePositionAreNoBaseline(t *testing.T) {
	held := []Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}, {"ETH", accounting.Holding{Size: decimal.NewFromInt(1)}}}
	for name, row := range map[string]struct {
		fresh    accounting.Row
		btc, eth bool
	}{
		"of the market":     {accounting.Row{Digest: 8, Symbol: "BTC"}, false, true},
		"of another market": {accounting.Row{Digest: 8, Symbol: "ETH"}, true, false},
		"of no market":      {accounting.Row{Digest: 8}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			b.read(held)
			b.SawTrades(mine, atOnce(b.now.Add(time.Second)), func(int) []accounting.Row { return []accounting.Row{row.fresh, {Digest: 7}} })
			serves := func() []bool { return []bool{b.serves("BTC"), b.serves("ETH")} }
			assert.Equal(t, []bool{row.btc, row.eth}, serves())
			b.pass(time.Second + ledger.Lag)
			b.SawPositions(mine, atOnce(b.now), held)
			assert.Equal(t, []bool{true, true}, serves(), "the positions were read since")
		})
	}
}

// A trade that looks like the newest that was known comes behind one of this market.
func TestRowsBehindOneThatLooksKnown(t *testing.T) {
	b := newBook(t)
	held := []Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}}
	list := rowsOf("ETH", 4, 3, 2, 1)
	for range 3 {
		b.lookAt("ACTIVE", list, held...)
	}
	a := b.of[mine]
	assert.True(t, a.stood("BTC", a.held("BTC")))
	list = slices.Concat(list[:1], rowsOf("BTC", 5), list)
	b.SawTrades(mine, atOnce(b.now.Add(time.Second)), func(int) []accounting.Row { return list })
	assert.False(t, a.stood("BTC", a.held("BTC")))
}

// A list that may be cut, and all of which is so young that the position may be of before it, may lack the row of a stop
// that has closed this: what opens the same again leaves no trace then. Two reads tell, a lag apart, and so does a list
// that lasts for long.
func TestAListThatHidesAStop(t *testing.T) {
	held := Held{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}
	for name, c := range map[string]struct {
		rows  int
		lasts time.Duration
		again bool
		want  ledger.Outcome
	}{
		"all at once":            {accounting.ListCut, 0, false, ledger.Unknown},
		"of a lag":               {accounting.ListCut, ledger.Lag + servicetime.Tolerance - time.Millisecond, false, ledger.Unknown},
		"of longer":              {accounting.ListCut, ledger.Lag + servicetime.Tolerance, false, ledger.NotApplied},
		"which cannot be cut":    {accounting.ListCut - 1, 0, false, ledger.NotApplied},
		"the same a while later": {accounting.ListCut, 0, true, ledger.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			b.Declare(declared)
			list := rowsOf("ETH", make([]uint64, c.rows)...)
			for i := range list {
				list[i].Digest = uint64(i + 1)
				list[i].ClosedAt = servicetime.Shown(b.now.Add(-c.lasts * time.Duration(i) / time.Duration(c.rows-1)))
			}
			b.lookAt("ACTIVE", list, held)
			assert.Equal(t, c.want == ledger.Unknown || c.again, b.lacksMore(), "another look would tell")
			if c.again {
				b.lookAt("ACTIVE", list, held)
				assert.False(t, b.lacksMore())
			}
			course, ok := b.Course(b.lost("lost"), true, true, "ACTIVE")
			require.True(t, ok)
			course.To = decimal.NewNullDecimal(held.Size)
			got, why := course.Of(course.asked, accounting.NoAct).Verdict()
			assert.Equal(t, c.want, got, why)
		})
	}
}

// lacksMore reports whether a buy reads the account first, a lag later.
func (b *book) lacksMore() bool {
	w := b.order("BTC")
	w.Asked = asked
	b.of[mine].rebase("BTC", b.of[mine].trails.trail("BTC"))
	return b.WantsRead(w, b.now.Add(ledger.Lag))
}

// serves reports whether what was read is a baseline of one moment for an order.
func (b *book) serves(symbol string) bool {
	a := b.of[mine]
	of := a.trails.trail(symbol)
	a.rebase(symbol, of)
	return of.Base != nil && !of.Base.Newer
}

// A run that has ended between the reads of two lists is in neither, and is no new one.
func TestARunThatEndedBetweenTwoReadsIsKnown(t *testing.T) {
	b := newBook(t)
	b.read(nil)
	run := b.limit("BTC")
	b.enter(run)
	did := resting("run_7")
	did.Own.Kind = accounting.Pro
	b.leave(run, did)
	b.pass(ledger.Lag)
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{IDs: []string{"run_2"}})
	b.SawOrders(mine, atOnce(b.now), nil, []accounting.Waiting{{ID: "run_7"}})
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	for range 2 {
		run := b.pro("BTC")
		b.Enter(run)
		base := run.ids
		require.NotNil(t, base)
		assert.Equal(t, []string{"run_2", "run_7"}, base.Finished.IDs, "newest first as read, then what was known before")
		assert.Empty(t, base.Runs)
		b.SawFinished(mine, atOnce(b.now), accounting.Newest{IDs: []string{"run_2"}}) // which lags
	}
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{IDs: []string{"run_7", "run_2"}})
	run = b.pro("BTC")
	b.Enter(run)
	assert.Equal(t, []string{"run_7", "run_2"}, run.ids.Finished.IDs)
}

// What another limit has left meanwhile is known to the one that is open, and is none of its own.
func TestWhatAnotherLimitLeavesIsKnown(t *testing.T) {
	b := newBook(t)
	b.read(nil)
	one, other := b.limit("BTC"), b.limit("BTC")
	b.enter(one)
	b.enter(other)
	require.NotNil(t, one.ids)
	b.leave(other, resting("ord_7"))
	require.NotNil(t, one.ids)
	assert.Equal(t, []string{"ord_0", "ord_7"}, one.ids.Orders)
}

// A run that nobody knows, such as an earlier process's, may end before the first read of
// what runs: then only a list of those that have ended shows it that is read a lag later.
func TestAListOfFinishedRunsMayLag(t *testing.T) {
	b := newBook(t)
	b.SawPositions(mine, atOnce(b.now), nil)
	b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })
	lags := func(w *Booked) bool {
		b.Enter(w)
		defer func() { _ = b.Leave(w, nil) }()
		return w.ids != nil && w.ids.FinishedLags
	}
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
	b.pass(time.Hour)
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	assert.True(t, lags(b.pro("BTC")), "read before what runs")
	assert.False(t, lags(b.limit("BTC")), "which a limit does not need")
	b.pass(ledger.Lag - 1)
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
	assert.True(t, lags(b.pro("BTC")), "which may have lagged")
	b.pass(1)
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
	assert.False(t, lags(b.pro("BTC")))
	b.pass(time.Hour)
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	assert.False(t, lags(b.pro("BTC")), "every run since is known")
}
