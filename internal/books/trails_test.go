package books

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// TestEdge47_NoOneLookOnAnAccountThatHasEnded reads an account once after its status has
// changed: its position and its list may be from before, and its status is not.
func TestEdge47_NoOneLookOnAnAccountThatHasEnded(t *testing.T) {
	for status, want := range map[string]bool{"ACTIVE": true, "PURCHASED": true, "FUNDED": true, "PASSED": false, "FAILED": false, "LOCKED": false, "AN_UNKNOWN_ONE": false} {
		t.Run(status, func(t *testing.T) {
			b := newBook(t)
			b.Declare(declared)
			b.look(status, Held{Symbol: "BTC", Holding: accounting.Holding{Size: decimal.NewFromInt(3)}})
			w := b.lost("lost")
			_, ok := b.Course(w, false, true, status)
			assert.Equal(t, want, ok)
		})
	}
}

func declared(account pending.AccountID) bool { return account == mine.ID }

// TestATrailOfEachAccount has a stranger on one that nobody declares, who goes once somebody does.
func TestATrailOfEachAccount(t *testing.T) {
	b := newBook(t)
	asked := 0
	b.SawTrades(mine, atOnce(b.now), func(most int) []accounting.Row { asked = most; return make([]accounting.Row, 30) })
	assert.Equal(t, KeptRows, asked, "and more for the trail")
	assert.Len(t, b.of[mine].trails.trades.Rows, 30)
	for name, row := range map[string]struct {
		declare bool
		want    int
	}{"nobody declares it": {false, 1}, "somebody does": {true, 0}} {
		b := newBook(t)
		if row.declare {
			b.Declare(declared)
		}
		b.read(nil)
		w := b.order("BTC")
		require.True(t, b.based(w))
		c, _ := b.Course(w, true, row.declare, "ACTIVE")
		strangers := slices.DeleteFunc(c.Waiting, func(o accounting.Waiting) bool { return o.ID != "" })
		assert.Equal(t, row.want, min(len(strangers), 1), name)
	}
	assert.False(t, b.account(AccountKey{"live", "acc_2"}).declared)
}

// What an earlier run left is not kept beyond its end where no trail needs it.
func TestNothingIsKeptOfWhatIsOver(t *testing.T) {
	b := newBook(t)
	w := b.order("BTC")
	b.Restore(Left{w, Note{}})
	_ = b.Leave(w, nil)
	assert.Empty(t, b.of[mine].trails.left)
}

// look reads an account once, in which nothing was closed and nothing waits.
func (b *book) look(status string, held ...Held) { b.lookAt(status, nil, held...) }

// lookAt reads one once in which so much was closed.
func (b *book) lookAt(status string, list []accounting.Row, held ...Held) {
	b.pass(2 * ledger.Lag)
	b.SawStatus(mine, b.now, status)
	b.SawPositions(mine, atOnce(b.now), held)
	b.SawTrades(mine, atOnce(b.now), func(most int) []accounting.Row { return list[:min(len(list), most)] })
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
}

// lost is a buy that has been sent.
func (b *book) lost(id string) *Booked {
	w := b.order("BTC")
	w.ID = id
	w.Asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(1)}
	b.Enter(w)
	return w
}

// TestAWriteOfWhichNobodyIsSure is refused by who knows, and may have run: a lost one of its
// size beside it is not found to have run by what the other may have left, after a restart
// neither, until a later baseline.
func TestAWriteOfWhichNobodyIsSure(t *testing.T) {
	b := newBook(t)
	b.Declare(declared)
	b.look("ACTIVE")
	var notes []Note
	_ = b.Leave(b.lost("refused before"), &Did{Own: accounting.Own{Unsure: true}})
	lost := b.order("BTC")
	lost.ID, lost.Asked = "lost", asked
	lost.Note = func(n Note) error { notes = append(notes, n); return nil }
	entered := b.Enter(lost)
	b.Doubt(lost)
	beside := b.lost("refused beside")
	_ = b.Leave(beside, &Did{Own: accounting.Own{Unsure: true}})
	_ = b.Leave(b.lost("did not run"), nil)

	judge := func(b *book, w *Booked, size int64) (ledger.Outcome, accounting.Reason) {
		c, ok := b.Course(w, true, true, "ACTIVE")
		require.True(t, ok)
		c.To = decimal.NewNullDecimal(decimal.NewFromInt(size))
		for i := range c.Acts {
			c.Acts[i].Late = false
		}
		return c.Of(c.asked, -1).Verdict()
	}
	for _, n := range notes {
		entered.Add(n)
	}
	again := newBook(t)
	again.Declare(declared)
	left := again.order("BTC")
	left.ID, left.Asked = "lost", asked
	again.Restore(Left{left, entered})
	for name, w := range map[string]struct {
		*book
		*Booked
	}{"in process": {b, lost}, "after a restart": {again, left}} {
		for size, want := range map[int64]ledger.Outcome{0: ledger.NotApplied, 1: ledger.Unknown, 2: ledger.Unknown, 3: ledger.Applied} {
			got, why := judge(w.book, w.Booked, size)
			assert.Equal(t, want, got, "%s, %d: %s", name, size, why)
		}
	}
}

// asked is what the writes of these tests do.
var asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(1)}

// declaredBook is a declared account that was read once.
func declaredBook(t *testing.T) (*book, *trails) {
	t.Helper()
	b := newBook(t)
	b.Declare(declared)
	b.look("ACTIVE")
	return b, &b.of[mine].trails
}

func rowsOf(symbol string, digests ...uint64) (list []accounting.Row) {
	for _, d := range digests {
		list = append(list, accounting.Row{
			Digest: d, Symbol: symbol, Side: accounting.Long, Cause: accounting.Market, Size: decimal.NewNullDecimal(decimal.NewFromInt(1)),
		})
	}
	return list
}

// A write that may have left a closed trade counts until the next list; its place in the order of
// answers is that of its first end.
func TestAWriteEndsOnce(t *testing.T) {
	b, of := declaredBook(t)
	w := b.lost("w_1")
	c, ok := b.Course(w, false, true, "ACTIVE")
	require.True(t, ok)
	assert.Zero(t, c.Acts[c.asked].Ended, "it can run yet")
	assert.True(t, (&course{asked: -1, acts: of.trail("BTC").Acts}).open())
	_, ok = b.Course(w, true, true, "ACTIVE")
	require.True(t, ok)
	ended := of.trail("BTC").Find("w_1").Ended
	assert.Positive(t, ended)
	_, _ = b.Course(w, true, true, "ACTIVE")
	assert.Equal(t, ended, of.trail("BTC").Find("w_1").Ended)
	_ = b.Leave(w, after(1, 1))
	assert.Equal(t, ended, of.trail("BTC").Find("w_1").Ended)
	assert.Equal(t, 1, of.since)
	_ = b.Leave(b.lost("w_2"), nil)
	assert.Equal(t, 1, of.since, "it did nothing")
	_ = b.Leave(b.lost("w_3"), after(1, 2))
	assert.Greater(t, of.trail("BTC").Find("w_3").Ended, ended)
	_, ok = b.Course(b.order("BTC"), true, true, "ACTIVE")
	assert.False(t, ok, "a write that is not on the trail")
}

// Where more writes are open than a trail keeps, it begins anew when all have ended.
func TestATrailThatWasTooLong(t *testing.T) {
	b, of := declaredBook(t)
	var all []*Booked
	for i := range accounting.MostSince + 2 {
		all = append(all, b.lost("w_"+strconv.Itoa(i)))
	}
	require.True(t, of.trail("BTC").Full)
	assert.Equal(t, 2, of.trail("BTC").Missing)
	for _, w := range all {
		assert.True(t, of.trail("BTC").Full)
		_ = b.Leave(w, nil)
	}
	assert.False(t, of.trail("BTC").Full)
	assert.Zero(t, of.trail("BTC").Missing)
}

// A place in the list is one only where a list was read, and while lists reach back to it.
func TestPlacesInTheList(t *testing.T) {
	b := newBook(t)
	b.Declare(declared)
	b.lost("before a list")
	a := b.account(mine)
	of := &a.trails
	assert.Equal(t, -1, of.trail("BTC").Find("before a list").Place)

	a.sawList(rowsOf("BTC", 3, 2, 1), b.now)
	assert.Equal(t, 3, of.trades.End())
	b.lost("behind three")
	assert.Equal(t, 3, of.trail("BTC").Find("behind three").Place)
	of.place = 3
	a.sawList(rowsOf("BTC", 4, 3, 2, 1), b.now)
	assert.Equal(t, 3, of.place, "it reaches back")
	a.sawList(rowsOf("BTC", 9, 8, 7), b.now)
	assert.Equal(t, -1, of.place, "it does not")
}

// What a journal has begins a few rows before the baseline, and its rows are those from there on.
func TestTheRowsThatAJournalHas(t *testing.T) {
	b := newBook(t)
	b.Declare(declared)
	a := b.account(mine)
	of := &a.trails
	list := rowsOf("BTC", 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
	a.sawList(list, b.now)
	of.trades.First = 100 // older ones were forgotten
	of.trail("BTC").Base = &accounting.Base{Place: 110}
	w := b.order("BTC")
	w.Asked = asked
	s := a.saved(w)
	require.NotNil(t, s)
	assert.Equal(t, 102, s.First)
	require.Len(t, s.Rows, 10)
	assert.Equal(t, uint64(3), s.Rows[0].Digest)
	of.trail("BTC").Base.Place = 103
	assert.Equal(t, 100, a.saved(w).First, "there are no older ones")
	of.trail("BTC").Base.Place = 99
	assert.Nil(t, a.saved(w))

	next := &trails{place: 7}
	assert.Equal(t, accounting.All, next.goOn(s, b.now))
	assert.Equal(t, -1, next.place, "of a list of this process")
	late := &trail{Trail: accounting.Trail{Base: &accounting.Base{At: 1}}}
	late.end(accounting.Own{ID: "w_1", Act: accounting.Act{Sent: 2, Ran: true}, Place: 5}, b.now)
	assert.Equal(t, -1, late.Find("w_1").Place)
}

// A course is of a look that shows the newest trade that is known, and no own answer near it.
func TestStill(t *testing.T) {
	for name, row := range map[string]struct {
		known, list []accounting.Row
		heard       time.Duration // an own answer, before the look
		lag         time.Duration
		want        bool
	}{
		"none":                     {heard: time.Hour, want: true},
		"the newest":               {rowsOf("BTC", 1, 2), rowsOf("BTC", 2, 1), time.Hour, 0, true},
		"an older one":             {rowsOf("BTC", 1, 2), rowsOf("BTC", 1), time.Hour, 0, false},
		"a newer one":              {rowsOf("BTC", 1), rowsOf("BTC", 2, 1), time.Hour, 0, false},
		"one where none was":       {nil, rowsOf("BTC", 1), time.Hour, 0, false},
		"none where one was":       {rowsOf("BTC", 1), nil, time.Hour, 0, false},
		"an answer a lag before":   {heard: ledger.Lag, want: true},
		"an answer shortly before": {heard: ledger.Lag - 1},
		"an answer after it":       {heard: -ledger.Lag},
		"reads are further behind": {heard: ledger.Lag, lag: 2 * ledger.Lag},
		"an answer as long before": {heard: 2 * ledger.Lag, lag: 2 * ledger.Lag, want: true},
	} {
		c := course{acts: []accounting.Own{{Heard: origin.Add(-row.heard)}}, rows: accounting.Trades{Rows: row.known, Lag: row.lag}}
		assert.Equal(t, row.want, c.still(origin, decimal.Zero, row.list), name)
	}
}

// What waits in a market is all that may wait there.
func TestWhatMayHaveTraded(t *testing.T) {
	of := &trails{lists: origin, waited: []accounting.Waiting{
		{ID: "here", Symbol: "BTC"},
		{ID: "there", Symbol: "ETH"},
		{ID: "anywhere"},
		{ID: "gone before", Symbol: "BTC", Gone: origin},
		{ID: "gone since", Symbol: "BTC", Gone: origin.Add(time.Second)},
	}}
	assert.Equal(t, []string{"here", "anywhere", "gone since"}, IDsOf(of.waiting("BTC", origin)))
	of.lists = origin.Add(time.Second)
	assert.Len(t, of.waiting("BTC", origin), 4, "and what earlier runs left")

	w := &Booked{ID: "w_1", Asked: asked, Places: &[2]pending.Place{market("BTC")}}
	for name, row := range map[string]struct {
		did  *Did
		want []string
	}{
		"it did nothing":            {nil, nil},
		"it waits under its id":     {&Did{Own: accounting.Own{Act: accounting.Act{Kind: accounting.Limit}, WaitID: "ord_1"}}, []string{"ord_1"}},
		"it waits, under no id":     {&Did{Own: accounting.Own{Act: accounting.Act{Kind: accounting.Limit}}}, []string{"w_1"}},
		"it traded, and waits not":  {&Did{Own: accounting.Own{}}, nil},
		"a refusal settles nothing": {&Did{Own: accounting.Own{Unsure: true}}, []string{"w_1"}},
	} {
		of := &trails{waited: []accounting.Waiting{{ID: "w_1"}}}
		of.waitedFor(w, row.did)
		ids := []string(nil)
		for _, o := range of.waited {
			ids = append(ids, o.ID)
		}
		assert.Equal(t, row.want, ids, name)
	}

	full := &trails{}
	for i := range maxWaited {
		full.waits(accounting.Waiting{ID: strconv.Itoa(i)})
	}
	assert.Equal(t, "0", full.waited[0].ID)
	full.waits(accounting.Waiting{ID: "one more"})
	assert.Len(t, full.waited, maxWaited)
	assert.Empty(t, full.waited[0].ID, "one stands for any")

	for name, row := range map[string]struct {
		by   time.Time
		of   trail
		want int
	}{
		"before it was gone":            {origin.Add(-1), trail{}, 1},
		"when it was gone":              {origin, trail{}, 0},
		"a baseline from before":        {origin, trail{Trail: accounting.Trail{Base: &accounting.Base{}, From: origin.Add(-1)}}, 1},
		"a baseline since":              {origin, trail{Trail: accounting.Trail{Base: &accounting.Base{}, From: origin}}, 0},
		"an answer that may become one": {origin, trail{Trail: accounting.Trail{Acts: []accounting.Own{{Began: origin.Add(-1)}}}}, 1},
	} {
		left := &trails{waited: []accounting.Waiting{{ID: "ord_1", Gone: origin}}, of: map[string]*trail{"BTC": &row.of}}
		left.forgetGone(row.by)
		assert.Len(t, left.waited, row.want, name)
	}
}

// A write that a trail replays has one look read where the trail has no baseline for certain.
func TestWhoReadsForATrail(t *testing.T) {
	for run, want := range map[bool]bool{false: true, true: false} {
		b, of := declaredBook(t)
		of.trail("BTC").last = b.now
		b.pass(ledger.Lag)
		w := b.order("BTC")
		if run {
			w = b.pro("BTC")
		}
		assert.Equal(t, want, b.WantsRead(w, b.now))
	}
}

// An order that rests is somebody else's if it is none of the program's that have an id.
func TestOrdersOfWhichOneHasNoID(t *testing.T) {
	for id, want := range map[string]string{"ord_1": "order ord_2 rests, and the program has not placed it", "": ""} {
		b := newBook(t)
		b.Watch()
		b.read(nil)
		b.sends(b.limit("BTC"), resting(id))
		b.pass(ledger.Lag)
		b.SawOrders(mine, atOnce(b.now), []accounting.Waiting{{ID: "ord_0", Symbol: "DOGE"}, {ID: "ord_2", Symbol: "BTC"}}, nil)
		assert.Equal(t, want, b.Others(mine), "%q", id)
	}
}

// A status that has not changed a lag later makes what is suspected a sign.
func TestWhenASuspicionCounts(t *testing.T) {
	for after, want := range map[time.Duration]string{ledger.Lag - 1: "", ledger.Lag: "a sign"} {
		a := &account{lag: ledger.Lag, status: "ACTIVE", suspect: "a sign", suspectAt: origin, suspectIn: "ACTIVE"}
		a.confirm(origin.Add(after))
		assert.Equal(t, want, a.others)
	}
}

// The journal of a write says whether what waited in its market was known; the next run knows no
// more, and nothing of other markets.
func TestARestartKnowsWhatWaitedAsTheRunBefore(t *testing.T) {
	for unseen, by := range map[bool]Earlier{true: {}, false: {None: true}} {
		before := restartedBook(t, by)
		a := before.account(mine)
		a.sawList(rowsOf("BTC", 1), before.now)
		of := a.trails.trail("BTC")
		of.Base, of.From = &accounting.Base{Place: 1}, origin
		lost := before.order("BTC")
		lost.ID, lost.Asked = "lost", asked
		n := before.enter(before.journaled(lost))
		require.NotNil(t, n.Trail)
		assert.Equal(t, unseen, n.Trail.Unseen)

		next := restartedBook(t, Earlier{})
		left := next.order("BTC")
		left.ID, left.Asked = "lost", asked
		next.Restore(Left{left, n})
		without := next.order("ETH")
		without.ID, without.Asked = "without", asked
		next.Restore(Left{without, Note{}})
		_, ok := next.Course(left, true, true, "ACTIVE")
		require.True(t, ok)
		_, ok = next.Course(without, true, true, "ACTIVE")
		assert.False(t, ok, "its journal has no baseline")
		now := &next.of[mine].trails
		assert.Equal(t, unseen, now.unseen("BTC", now.trail("BTC").From))
		assert.True(t, now.unseen("ETH", now.trail("BTC").From))
	}
}

// So it is where the run before ended in order, and nothing waited any more by then.
func TestWhatWasHandedOverKnowsWhatHadWaited(t *testing.T) {
	for _, unseen := range []bool{true, false} {
		saved := &Saved{Trail: accounting.Trail{Base: &accounting.Base{}}, Unseen: unseen}
		handed := &Handed{Trades: accounting.Trades{Known: true}, Of: map[string]*Saved{"BTC": saved}}
		b := restartedBook(t, Earlier{Still: []pending.AccountID{mine.ID}, Handed: map[pending.AccountID]*Handed{mine.ID: handed}})
		now := &b.account(mine).trails
		assert.Equal(t, unseen, now.unseen("BTC", now.trail("BTC").From))
	}
}

// What is gone is kept while a read may be a baseline that does not show it.
func TestWhatIsGoneIsKeptForReadsOfBefore(t *testing.T) {
	for name, row := range map[string]struct {
		read, orders time.Duration // behind the moment at which it was gone
		want         int
	}{
		"a read that lags":       {-1, time.Second, 1},
		"reads of shortly after": {time.Second, time.Minute, 1},
		"reads of long after":    {time.Minute, time.Minute, 0},
	} {
		b := restartedBook(t, Earlier{None: true})
		a := b.account(mine)
		if row.read > 0 {
			a.posAt, a.rowsAt = origin.Add(row.read), origin.Add(row.read)
		}
		a.trails.waited = []accounting.Waiting{{ID: "ord_1", Symbol: "BTC", Gone: origin}}
		b.SawOrders(mine, atOnce(origin.Add(row.orders)), nil, nil)
		assert.Len(t, a.trails.waited, row.want, name)
	}
}

// Course is what is replayed of a write; over means that it can run no more.
func (b *Books) Course(w *Booked, over, alone bool, status string) (c course, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(w.account())
	if over {
		a.isOver(w)
	}
	return a.course(w, alone, status)
}
