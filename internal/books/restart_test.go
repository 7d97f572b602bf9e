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
	"github.com/tradingapi/trading-go/internal/pending"
)

// What a journal says of a write is enough for the next run: the same evidence as of
// this one, or less.
func TestAJournalHasWhatARestartNeeds(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(b *book, w *Booked)
		base bool
		own  []int64
	}{
		"alone": {func(b *book, w *Booked) { b.enterNoted(w) }, true, nil},
		"one before": {func(b *book, w *Booked) {
			b.run(opened(1))
			b.enterNoted(w)
		}, true, []int64{1}},
		"one beside, in doubt afterwards": {func(b *book, w *Booked) {
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.enterNoted(w)
			b.leave(other, opened(2))
			b.Doubt(w)
		}, true, []int64{2}},
		"one beside, in doubt before": {func(b *book, w *Booked) {
			b.enterNoted(w)
			b.Doubt(w)
			b.sendsNoted(opened(2))
			b.sendsNoted(opened(3))
		}, true, []int64{2, 3}},
		"one beside, never in doubt": {func(b *book, w *Booked) {
			b.enterNoted(w)
			b.sendsNoted(opened(2))
		}, false, nil},
		"one that was refused": {func(b *book, w *Booked) {
			b.enterNoted(w)
			b.sendsNoted(nil)
		}, true, nil},
		"one that has not ended": {func(b *book, w *Booked) {
			b.enterNoted(b.journaled(b.order("BTC")))
			b.enterNoted(w)
		}, false, nil},
		"one in doubt that has not ended": {func(b *book, w *Booked) {
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.Doubt(other)
			b.enterNoted(w)
		}, true, []int64{1}},
		"one that may have done anything": {func(b *book, w *Booked) {
			b.enterNoted(w)
			b.Doubt(w)
			b.sendsNoted(unclear(b.now))
		}, false, nil},
		"one that ended while the journal took it": {func(b *book, w *Booked) {
			n := b.Enter(w)
			b.sendsNoted(opened(2))
			b.begin(w, n)
		}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			b.read(nil)
			w := b.journaled(b.order("BTC"))
			row.do(b, w)
			again := newBook(t)
			left := again.order("BTC")
			left.ID = w.ID
			again.Restore(Left{left, b.fold(w)})
			assert.Equal(t, row.own, again.beside(left, row.base))

			other := again.order("BTC")
			other.ID = "other"
			again.enter(other)
			again.leave(other, opened(9))
			if row.base {
				assert.Equal(t, append(slices.Clone(row.own), 9), again.beside(left, true))
			}
		})
	}
}

// beside are the sizes of the writes beside one on its trail, if it has a baseline.
func (b *book) beside(w *Booked, based bool) (sizes []int64) {
	c, ok := b.Course(w, false, false, "ACTIVE")
	require.Equal(b.t, based, ok)
	for i := range c.Acts {
		if ok && i != c.asked {
			sizes = append(sizes, c.Acts[i].Size.IntPart())
		}
	}
	return sizes
}

// restartedBook is a declared account of which a new process knows what a journal shows.
func restartedBook(t *testing.T, by Earlier) *book {
	t.Helper()
	b := newBook(t)
	b.Books = New(origin, by, nil)
	b.Declare(declared)
	return b
}

// An order of an earlier run rests, and buys 5 as the first look after a restart reads: after the
// position, before what waits. It is in no read. A lost order of the same size did not run.
func TestAnOrderOfAnEarlierRunTradesAsTheFirstLookReads(t *testing.T) {
	rests := []accounting.Waiting{{ID: "ord_1", Symbol: "BTC", Side: accounting.Long, Size: decimal.NewNullDecimal(decimal.NewFromInt(5))}}
	for name, row := range map[string]struct {
		by    Earlier
		seen  bool // what waits was read a lag before
		trust bool // the look is a baseline
		want  accounting.Reason
	}{
		"nothing is known of it":                 {by: Earlier{}, want: accounting.NoBaseline},
		"another account was left still":         {by: Earlier{Still: []pending.AccountID{"acc_2"}}, want: accounting.NoBaseline},
		"it was read a lag before":               {by: Earlier{}, seen: true, want: accounting.NoBaseline},
		"the journal says that there is none":    {by: Earlier{Still: []pending.AccountID{mine.ID}}, trust: true, want: accounting.ReplayFits},
		"no earlier run wrote to a live account": {by: Earlier{None: true}, trust: true, want: accounting.ReplayFits},
	} {
		t.Run(name, func(t *testing.T) {
			b := restartedBook(t, row.by)
			b.pass(ledger.Lag)
			if row.seen {
				b.SawOrders(mine, atOnce(b.now), rests, nil)
				b.pass(ledger.Lag)
			}
			b.SawPositions(mine, atOnce(b.now), nil)
			b.SawOrders(mine, atOnce(b.now), nil, nil)
			b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })

			lost := b.order("BTC")
			lost.ID = "lost"
			lost.Asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(5)}
			b.enter(lost)
			b.pass(3 * ledger.Lag)
			outcome, why := ledger.Unknown, accounting.NoBaseline
			if c, ok := b.Course(lost, true, true, "ACTIVE"); ok {
				require.True(t, c.still(b.now, decimal.NewFromInt(5), nil))
				f := c.Of(c.asked, -1)
				outcome, why = f.Verdict()
			}
			assert.Equal(t, row.want, why)
			assert.Equal(t, row.trust, outcome == ledger.Applied, "no order was there but this one")
		})
	}
}

// A journal says in which declared accounts nothing rests or runs.
func TestWhatARunLeavesStill(t *testing.T) {
	for name, row := range map[string]struct {
		by   Earlier
		do   func(b *book)
		want []pending.AccountID
	}{
		"nothing was done":                 {Earlier{Still: []pending.AccountID{"acc_1", "acc_2"}}, func(*book) {}, []pending.AccountID{"acc_1", "acc_2"}},
		"orders that do not wait":          {Earlier{None: true}, func(b *book) { b.run(opened(1)) }, []pending.AccountID{"acc_1"}},
		"what waits was not read":          {Earlier{}, func(b *book) { b.run(opened(1)) }, nil},
		"it was read too soon":             {Earlier{}, func(b *book) { b.SawOrders(mine, atOnce(b.now), nil, nil) }, nil},
		"nothing waits, as was read":       {Earlier{}, func(b *book) { b.pass(ledger.Lag); b.SawOrders(mine, atOnce(b.now), nil, nil) }, []pending.AccountID{"acc_1"}},
		"an order waits, as was read":      {Earlier{}, func(b *book) { b.read(nil) }, nil},
		"an own order waits":               {Earlier{None: true}, func(b *book) { b.sends(b.limit("BTC"), resting("ord_1")) }, nil},
		"an own order is under way":        {Earlier{None: true}, func(b *book) { b.enter(b.limit("BTC")) }, nil},
		"an own order was refused locally": {Earlier{None: true}, func(b *book) { b.sends(b.limit("BTC"), nil) }, []pending.AccountID{"acc_1"}},
		"an own order waits no more": {Earlier{None: true}, func(b *book) {
			b.sends(b.limit("BTC"), resting("ord_1"))
			b.pass(ledger.Lag)
			b.SawOrders(mine, atOnce(b.now), nil, nil)
		}, []pending.AccountID{"acc_1"}},
		"an own order was there a moment ago": {Earlier{None: true}, func(b *book) {
			b.sends(b.limit("BTC"), resting("ord_1"))
			b.SawOrders(mine, atOnce(time.Now()), nil, nil)
		}, nil},
		"a write is left": {Earlier{Still: []pending.AccountID{"acc_1"}}, func(b *book) { b.Restore(Left{b.order("BTC"), Note{}}) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := restartedBook(t, row.by)
			row.do(b)
			assert.Equal(t, row.want, b.Still())
		})
	}
	b := newBook(t)
	b.run(opened(1))
	assert.Empty(t, b.Still(), "nobody declares it")
}

// What a run hands over is the trails of accounts in which nothing is under way, or in doubt.
func TestWhatARunHandsOver(t *testing.T) {
	asked := &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(5)}
	begins := func(b *book) *Booked {
		w := b.order("BTC")
		w.ID, w.Asked = "w_1", asked
		b.enter(w)
		return w
	}
	for name, row := range map[string]struct {
		do   func(b *book)
		acts int
		none bool
	}{
		"nothing was done":              {do: func(*book) {}, none: true},
		"nothing since the look":        {do: func(b *book) { b.leave(begins(b), nil) }},
		"an order":                      {do: func(b *book) { b.leave(begins(b), after(5, 5)) }, acts: 1},
		"an order is under way":         {do: func(b *book) { begins(b) }, none: true},
		"an order is in doubt":          {do: func(b *book) { w := begins(b); b.SendEnded(mine, b.now); b.Doubt(w) }, none: true},
		"another is under way":          {do: func(b *book) { b.leave(begins(b), after(5, 5)); b.enter(b.order("ETH")) }, none: true},
		"somebody else trades it":       {do: func(b *book) { b.leave(begins(b), after(5, 5)); b.of[mine].others = "a sign" }, none: true},
		"a refusal that may not be one": {do: func(b *book) { b.leave(begins(b), &Did{Own: accounting.Own{Unsure: true}}) }, none: true},
		"it was reset":                  {do: func(b *book) { b.leave(begins(b), after(5, 5)); b.Reset(mine) }, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := restartedBook(t, Earlier{None: true})
			b.read(nil)
			row.do(b)
			handed := b.HandOver()[mine.ID]
			if row.none {
				assert.Nil(t, handed)
				return
			}
			require.NotNil(t, handed)
			assert.Len(t, handed.Of["BTC"].Acts, row.acts)

			assert.False(t, handed.Of["BTC"].Unseen)

			next := restartedBook(t, Earlier{Handed: b.HandOver()})
			assert.Equal(t, b.HandOver(), next.HandOver(), "nothing was done to it since")
			wait, orders := next.FirstLook(mine, "BTC", next.now)
			assert.Zero(t, wait)
			assert.False(t, orders)
			wait, _ = next.FirstLook(mine, "ETH", next.now)
			assert.Equal(t, ledger.Lag, wait)
			next.enter(next.order("BTC"))
			wait, _ = next.FirstLook(mine, "ETH", next.now)
			assert.Equal(t, ledger.Lag, wait, "it is the first that has to look")
		})
	}
}

// What a run cannot know, the next one cannot either: that an order of before has traded unseen.
func TestWhatIsHandedOverMayLackAnOrder(t *testing.T) {
	b := restartedBook(t, Earlier{})
	for range 2 { // the same for so long that both were so at one moment
		b.pass(ledger.Lag)
		b.SawPositions(mine, atOnce(b.now), nil)
		b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })
	}
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	w := b.order("BTC")
	w.ID, w.Asked = "w_1", &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(5)}
	b.sends(w, after(5, 5))
	require.True(t, b.HandOver()[mine.ID].Of["BTC"].Unseen)
	next := restartedBook(t, Earlier{Handed: b.HandOver()})
	next.enter(next.order("BTC"))
	assert.True(t, next.of[mine].trails.unseen("BTC", next.began))
}

// enterNoted is enter, with a journal that takes what it is given.
func (b *book) enterNoted(w *Booked) {
	b.begin(w, b.Enter(w))
}

// sendsNoted is an order with a journal, from its beginning to its end.
func (b *book) sendsNoted(did *Did) {
	w := b.journaled(b.order("BTC"))
	b.enterNoted(w)
	b.leave(w, did)
}

func (b *book) begin(w *Booked, n Note) {
	b.notes[w] = append([]Note{n}, b.notes[w]...)
	b.SendBegan(mine)
}

// fold reads the journal of a write.
func (b *book) fold(w *Booked) (all Note) {
	for i, n := range b.notes[w] {
		if i == 0 {
			all = n
			continue
		}
		all.Add(n)
	}
	return all
}

// What this run has sent before it reads its journal comes behind what an earlier one did, so that
// no baseline of before says anything of it.
func TestARestartGoesOnWithTheOrderOfWrites(t *testing.T) {
	b := restartedBook(t, Earlier{None: true})
	b.read(nil)
	early := b.lost("early")
	a := b.of[mine]
	require.Equal(t, 1, early.sent)
	left := b.order("BTC")
	left.ID, left.Asked = "left", asked
	trail := &Saved{Trail: accounting.Trail{Base: &accounting.Base{At: 6}, Acts: []accounting.Own{{ID: "left", Act: accounting.Act{Sent: 7}}}}}
	b.Restore(Left{left, Note{Sent: 7, Trail: trail, Own: []accounting.Own{
		{ID: "shown", Act: accounting.Act{Kind: accounting.Entry, Sent: 5, Ended: 6, Ran: true}},
		{ID: "beside", Act: accounting.Act{Kind: accounting.Entry, Sent: 8, Ended: 9, Ran: true}},
		{Act: accounting.Act{Kind: accounting.Limit, Sent: 10, Ended: 11}},
	}}})
	a.goOn()
	var ids []string
	for _, act := range a.trails.trail("BTC").Acts {
		ids = append(ids, act.ID)
	}
	assert.Equal(t, []string{"left", "beside", "early"}, ids, "what the baseline shows is not there twice")
	assert.Equal(t, 12, early.sent, "the last of them ended at 11")
	assert.Equal(t, 12, a.trails.trail("BTC").Find("early").Sent)
	assert.Equal(t, 13, b.lost("next").sent)
}

// A write that an earlier run has given up, with its market open, is over: it hides nothing, and counts as one that may have
// run where the baseline that the next run goes on with is of before it.
func TestAWriteThatWasGivenUpAfterARestart(t *testing.T) {
	for name, row := range map[string]struct {
		at   int // the baseline's
		want []string
	}{
		"the baseline shows it":     {5, []string{"later"}},
		"the baseline does not":     {4, []string{"given up", "later"}},
		"nor does a much older one": {0, []string{"given up", "later"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := restartedBook(t, Earlier{})
			of := func(id string) *Booked {
				w := b.order("BTC")
				w.ID, w.Asked = id, asked
				return w
			}
			givenUp, later := of("given up"), of("later")
			trail := &Saved{Trail: accounting.Trail{Base: &accounting.Base{At: row.at}, Acts: []accounting.Own{{ID: "later", Act: accounting.Act{Sent: 6}}}}}
			b.Restore(Left{givenUp, Note{Sent: 5, MarketOpen: true, NoTrail: true}}, Left{later, Note{Sent: 6, Trail: trail}})
			_, ok := b.Course(later, true, true, "ACTIVE")
			require.True(t, ok)
			var ids []string
			for _, act := range b.of[mine].trails.trail("BTC").Acts {
				ids = append(ids, act.ID)
			}
			assert.Equal(t, row.want, ids)
			assert.NotContains(t, b.of[mine].open, givenUp)
			_, ok = b.Course(givenUp, true, true, "ACTIVE")
			assert.False(t, ok)
		})
	}
}

// Where this run has no baseline of a write in doubt any more, the next one has none either: its
// journal says so, once.
func TestAJournalKnowsThatATrailCountsNoMore(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(b *book, w *Booked)
		want int
	}{
		"nothing happens":              {func(*book, *Booked) {}, 0},
		"another one ends":             {func(b *book, _ *Booked) { _ = b.Leave(b.lost("beside"), after(1, 1)) }, 0},
		"nothing explains the account": {func(b *book, w *Booked) { b.Lost(w); b.Lost(w) }, 1},
		"the first note is not taken": {func(b *book, w *Booked) {
			b.hangs = true
			b.Lost(w)
			b.hangs = false
			b.Lost(w)
		}, 1},
		"another one is unclear": {func(b *book, _ *Booked) { _ = b.Leave(b.lost("beside"), unclear(b.now)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := restartedBook(t, Earlier{None: true})
			b.read(nil)
			w := b.journaled(b.order("BTC"))
			w.ID, w.Asked = "lost", asked
			b.enterNoted(w)
			b.Doubt(w)
			row.do(b, w)
			n := 0
			for _, note := range b.notes[w] {
				if note.NoTrail {
					n++
				}
			}
			assert.Equal(t, row.want, n)
		})
	}
}

// Journals of two runs have places of two lists, which nothing leads from one to the other: a place of the one says
// nothing in the other.
func TestPlacesOfTwoRuns(t *testing.T) {
	stopped := func(b *book, from uint64) []accounting.Row {
		list := make([]uint64, accounting.ListCut)
		for i := range list {
			list[i] = from - uint64(i)
		}
		return rowsOf("SOL", list...)
	}
	leaves := func(b *book, id, symbol string) Left {
		w := b.journaled(b.order(symbol))
		w.ID = id
		b.enterNoted(w)
		return Left{&Booked{ID: id, Asked: w.Asked, Places: w.Places, Entry: true}, b.fold(w)}
	}
	first := restartedBook(t, Earlier{None: true})
	first.lookAt("ACTIVE", stopped(first, 100))
	bought := leaves(first, "bought, and a stop has closed it", "BTC")
	require.NotNil(t, bought.Note.Trail)

	second := restartedBook(t, Earlier{})
	second.lookAt("ACTIVE", stopped(second, 200))
	second.Restore(bought)
	second.lookAt("ACTIVE", stopped(second, 200))
	_, known := second.Course(bought.Booked, true, true, "ACTIVE")
	require.False(t, known)
	other := leaves(second, "of another market", "ETH")
	require.NotNil(t, other.Note.Trail)

	third := restartedBook(t, Earlier{})
	third.Restore(bought, other)
	third.lookAt("ACTIVE", stopped(third, 200))
	_, known = third.Course(other.Booked, true, true, "ACTIVE")
	assert.True(t, known)
	_, known = third.Course(bought.Booked, true, true, "ACTIVE")
	assert.False(t, known, "nothing shows what was closed meanwhile")
}

// A write that is older than the baseline of another one has run: before that, as far as is known.
func TestALeftWriteThatABaselineMayHave(t *testing.T) {
	left := func(id string, n Note) Left {
		return Left{&Booked{ID: id, Asked: asked, Places: &[2]pending.Place{market("BTC")}, Entry: true}, n}
	}
	ran := accounting.Own{ID: "older", Act: accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: asked.Size, Sent: 1, Ended: 9, Ran: true}}
	for name, told := range map[string][]accounting.Own{"as is found out": nil, "as a record says": {ran}} {
		b := restartedBook(t, Earlier{})
		saved := &Saved{Trail: accounting.Trail{Base: &accounting.Base{At: 5}}, Trades: accounting.Trades{Known: true}}
		older, lost := left("older", Note{Sent: 1}), left("lost", Note{Sent: 6, Trail: saved, Own: told})
		b.Restore(older, lost)
		if told == nil {
			_ = b.Leave(older.Booked, &Did{ShownFrom: b.now, Own: accounting.Own{Act: accounting.Act{Ran: true}}})
		}
		b.SawTrades(mine, atOnce(time.Now().Add(time.Minute)), func(int) []accounting.Row { return nil })
		c, ok := b.Course(lost.Booked, true, true, "ACTIVE")
		require.True(t, ok)
		require.Len(t, c.Acts, 2)
		c.To = decimal.NewNullDecimal(decimal.Zero)
		outcome, why := c.Of(c.asked, accounting.NoAct).Verdict()
		assert.Equal(t, ledger.NotApplied, outcome, "%s: %s", name, why)
	}
}

// A list that only may go on from an earlier run's leaves no place of that behind its begin.
func TestPlacesThatMayBeOthersNow(t *testing.T) {
	before := restartedBook(t, Earlier{None: true})
	a := before.account(mine)
	a.sawList(nil, before.now)
	a.sawList(rowsOf("SOL", 2, 1), before.now)
	var all []Left
	for symbol, place := range map[string]int{"ETH": 2, "BTC": 0} {
		of := a.trails.trail(symbol)
		of.Base, of.From = &accounting.Base{Place: place}, origin
		of.Acts = []accounting.Own{{ID: "answered " + symbol, Act: accounting.Act{Kind: accounting.Close, Sent: -1, Ran: true}, Place: place}}
		n := Note{Sent: 10 - place, Trail: a.trails.saved(symbol)}
		all = append(all, Left{&Booked{ID: symbol, Asked: asked, Places: &[2]pending.Place{market(symbol)}, Entry: true}, n})
	}
	next := restartedBook(t, Earlier{})
	next.account(mine).sawList(rowsOf("SOL", 9, 8, 7, 6, 5, 4, 3, 2, 1, 19, 18, 17, 16, 15, 14, 13, 12, 11, 2, 1), next.now)
	next.Restore(all...)
	for _, l := range all {
		_, known := next.Course(l.Booked, true, true, "ACTIVE")
		assert.Equal(t, l.ID == "BTC", known, l.ID)
	}
	btc := next.of[mine].trails.trail("BTC")
	assert.Equal(t, -1, btc.Find("answered BTC").Place)
}
