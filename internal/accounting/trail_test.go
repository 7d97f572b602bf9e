package accounting

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// TestABaselineIsNotCarriedOverTheEndOfAnAccount: the account fails, and the service closes what
// is open. An answer from before is no baseline with the status of after, by which that row
// would have to be the lost close's. Nor does a status that was read before the list say that it
// is not of the service.
func TestABaselineIsNotCarriedOverTheEndOfAnAccount(t *testing.T) {
	for _, status := range []string{"FAILED", "PASSED", "ACTIVE"} {
		began := time.UnixMilli(0)
		k := Trades{}
		k.Take(nil, began, 20)
		trail := Trail{Base: &Base{Status: "ACTIVE"}}
		trail.Add(Own{ID: "buy", Began: began, Heard: began, Act: Act{Kind: Entry, Side: Long, Size: num("1"), Sent: 1, Ended: 2, Ran: true, After: opt("1")}})
		trail.Add(Own{ID: "lost", Began: began, Act: Act{Kind: Close, Percent: num("100"), Sent: 3, Ended: 4}})
		row := market(Long, "1")
		row.Digest, row.Symbol = 1, "X"
		k.Take([]Row{row}, began.Add(time.Minute), 20)
		trail.Follow("X", &k, func(time.Time) []Waiting { return nil }, status)
		r, asked, ok := trail.Replay("X", &k, nil, status, "lost")
		want := ledger.Unknown
		if status == "ACTIVE" {
			want = ledger.Applied
		}
		if o, why := r.Of(asked, -1).Verdict(); !ok || o != want {
			t.Errorf("%s: %d, %s", status, o, why)
		}
	}
}

// TestAnAccountThatEndsBehindItsStatus: the account fails as its status has been read. The trade by
// which the service closed what a sell had opened is not of before that sell, whose answer is the
// newest baseline.
func TestAnAccountThatEndsBehindItsStatus(t *testing.T) {
	began := time.UnixMilli(0)
	k := Trades{}
	k.Take(nil, began, 20)
	trail := Trail{}
	trail.Add(Own{ID: "sell", Began: began, Heard: began, Act: Act{Kind: Entry, Side: Short, Size: num("2"), Sent: 1, Ended: 2, Ran: true, After: opt("-2")}})
	trail.Add(Own{ID: "lost", Began: began, Act: Act{Kind: Entry, Side: Short, Size: num("1"), Sent: 3, Ended: 4}})
	row := market(Short, "3")
	row.Digest, row.Symbol = 1, "X"
	k.Take([]Row{row}, began.Add(time.Minute), 20)
	trail.Follow("X", &k, func(time.Time) []Waiting { return nil }, "ACTIVE")
	if r, asked, ok := trail.Replay("X", &k, nil, "FAILED", "lost"); ok {
		r.To = opt("0")
		if o, why := r.Of(asked, -1).Verdict(); o == ledger.NotApplied {
			t.Errorf("it ran: %s", why)
		}
	}
}

// ran is an own order, with the places of its sending and its answer, and the position in that.
func ran(side Direction, size string, sent, ended int, after string) Own {
	return Own{Act: Act{Kind: Entry, Side: side, Size: num(size), Sent: sent, Ended: ended, Ran: true, After: opt(after)}}
}

// in is a closed trade of a market.
func in(symbol string, r Row) Row {
	r.Symbol = symbol
	return r
}

// The last answer whose course is certain becomes the baseline, at the place of its trade.
func TestWhichAnswerBecomesTheBaseline(t *testing.T) {
	read := time.UnixMilli(0)
	bought, open := ran(Long, "1", 1, 2, "1"), Own{Act: Act{Kind: Close, Percent: num("100"), Sent: 3}}
	heard := func(b Own, at time.Time) []Own { b.Heard = at; return []Own{b} }
	sentAt := func(place int) []Own { b := bought; b.Place = place; return []Own{b} }
	point := func(size string, place int) *Base {
		return &Base{Position: num(size), Place: place, Status: "ACTIVE"}
	}
	long := in("X", market(Long, "1"))
	for name, c := range map[string]struct {
		base   *Base
		acts   []Own
		trades Trades
		rests  []Waiting
		status string // ACTIVE if empty
		want   *Base
		left   int // acts behind it
	}{
		"the only one":                        {base: point("0", 0), acts: []Own{bought}, want: point("1", 0)},
		"the newest":                          {base: point("0", 0), acts: []Own{bought, ran(Long, "1", 3, 4, "2")}, want: point("2", 0)},
		"the last before one that is open":    {base: point("0", 0), acts: []Own{bought, open}, want: point("1", 0), left: 1},
		"behind its trade":                    {base: point("2", 0), acts: []Own{ran(Short, "1", 1, 2, "1")}, trades: Trades{Rows: []Row{long}}, want: point("1", 1)},
		"behind two trades":                   {base: point("3", 0), acts: []Own{ran(Short, "1", 1, 2, "2"), ran(Short, "1", 3, 4, "1")}, trades: Trades{Rows: []Row{long, long}}, want: point("1", 2)},
		"behind its trade among others":       {base: point("2", 0), acts: []Own{ran(Short, "1", 1, 2, "1")}, trades: Trades{Rows: []Row{in("Y", long), long, in("Y", long)}}, want: point("1", 2)},
		"behind a trade of an unknown market": {base: point("2", 5), acts: []Own{ran(Short, "1", 1, 2, "1")}, trades: Trades{First: 4, Rows: []Row{long, in("", long)}}, want: point("1", 6)},
		"not beside another":                  {base: point("0", 0), acts: []Own{ran(Long, "1", 1, 4, "2"), ran(Long, "1", 2, 3, "2")}, want: point("0", 0), left: 2},
		"not behind one without an end":       {base: point("0", 0), acts: []Own{{Act: Act{Kind: Close, Percent: num("100"), Sent: 1}, Unsure: true}, ran(Long, "1", 2, 3, "1")}, want: point("0", 0), left: 2},
		"heard a lag before the list":         {base: point("0", 0), acts: heard(bought, read.Add(-ledger.Lag)), want: point("1", 0)},
		"not heard within a lag of the list":  {base: point("0", 0), acts: heard(bought, read.Add(1-ledger.Lag)), want: point("0", 0), left: 1},
		"not within a lag that is longer":     {base: point("0", 0), acts: heard(bought, read.Add(-ledger.Lag)), trades: Trades{Lag: ledger.Lag + 1}, want: point("0", 0), left: 1},
		"not with the status of an end":       {base: point("0", 0), acts: []Own{bought}, status: "FAILED", want: point("0", 0), left: 1},
		"not by a trade that is not readable": {base: point("0", 0), acts: []Own{bought}, trades: Trades{Rows: []Row{{Symbol: "X"}}}, want: point("0", 0), left: 1},
		"not with two places":                 {base: point("1", 0), acts: []Own{ran(Long, "1", 1, 2, "2")}, trades: Trades{Rows: []Row{in("X", stopped(Long, "1"))}}, rests: []Waiting{{Side: Long, Size: opt("1")}}, want: point("1", 0), left: 1},
		"none, where no course leads to it":   {base: point("0", 0), acts: []Own{ran(Long, "1", 1, 2, "5")}},
		"the first":                           {acts: []Own{bought}, want: point("1", 0)},
		"the first, and the list goes on":     {acts: sentAt(1), trades: Trades{Rows: []Row{long}, Open: 1}, want: point("1", 1)},
		"the first in a list that begins":     {acts: sentAt(1), trades: Trades{First: 1}, want: point("1", 1)},
		"none before a list that begins":      {acts: sentAt(1), trades: Trades{First: 2}, left: 1},
		"none where older trades are missing": {acts: []Own{bought}, trades: Trades{Open: 1}, left: 1},
		"none where no list was known":        {acts: sentAt(-1), left: 1},
	} {
		trail := Trail{Base: c.base, Acts: c.acts}
		c.trades.Begun = read
		if c.status == "" {
			c.status = "ACTIVE"
		}
		trail.Follow("X", &c.trades, func(time.Time) []Waiting { return c.rests }, c.status)
		if gone := len(c.acts) - c.left; c.want != nil && gone > 0 {
			c.want.At = c.acts[gone-1].Ended
		}
		assert.Equal(t, c.want, trail.Base, name)
		assert.Len(t, trail.Acts, c.left, name)
	}
}

// What a trail says of a lost close of all, by the trades since the baseline.
func TestWhatATrailSays(t *testing.T) {
	read := time.UnixMilli(0)
	long, late := in("X", market(Long, "1")), ran(Short, "1", 1, 2, "0")
	late.Heard = read.Add(1 - ledger.Lag)
	early := late
	early.Heard = read.Add(-ledger.Lag)
	for name, c := range map[string]struct {
		place    int
		was, is  string // the status
		beside   []Own
		trades   Trades
		position string
		want     ledger.Outcome
		why      Reason
	}{
		"its trade shows":                      {was: "ACTIVE", is: "ACTIVE", trades: Trades{Rows: []Row{long}}, position: "0", want: ledger.Applied, why: ReplayFits},
		"its trade may be of the end":          {was: "ACTIVE", is: "PASSED", trades: Trades{Rows: []Row{long}}, position: "0", why: BothFit},
		"an end that is not known":             {was: "ACTIVE", is: "", trades: Trades{Rows: []Row{long}}, position: "0", why: BothFit},
		"no end, and the status was not known": {was: "", is: "FUNDED", trades: Trades{Rows: []Row{long}}, position: "0", want: ledger.Applied, why: ReplayFits},
		"an end, and the status was not known": {was: "", is: "FAILED", trades: Trades{Rows: []Row{long}}, position: "0", why: BothFit},
		"the same end":                         {was: "FAILED", is: "FAILED", trades: Trades{Rows: []Row{long}}, position: "0", want: ledger.Applied, why: ReplayFits},
		"its trade may be one of no market":    {was: "ACTIVE", is: "ACTIVE", trades: Trades{Rows: []Row{in("", long)}}, position: "0", want: ledger.Applied, why: ReplayFits},
		"a trade of another market":            {was: "ACTIVE", is: "ACTIVE", trades: Trades{Rows: []Row{in("Y", long)}}, position: "1", want: ledger.NotApplied, why: ReplayFits},
		"a trade before the baseline":          {place: 1, was: "ACTIVE", is: "ACTIVE", trades: Trades{Rows: []Row{long}}, position: "1", want: ledger.NotApplied, why: ReplayFits},
		"its trade may have left the list":     {was: "ACTIVE", is: "ACTIVE", trades: Trades{Open: 1}, position: "0", why: BothFit},
		"its trade cannot have left the list":  {was: "ACTIVE", is: "ACTIVE", position: "0", why: NothingFits},
		"nor one behind the baseline":          {place: 1, was: "ACTIVE", is: "ACTIVE", trades: Trades{Rows: []Row{long}, Open: 1}, position: "0", why: NothingFits},
		"another may not show yet":             {was: "ACTIVE", is: "ACTIVE", beside: []Own{late}, position: "1", want: ledger.NotApplied, why: ReplayFits},
		"another would show":                   {was: "ACTIVE", is: "ACTIVE", beside: []Own{early}, position: "1", why: NothingFits},
	} {
		trail := Trail{Base: &Base{Position: num("1"), Place: c.place, Status: c.was}, Acts: append(c.beside, Own{ID: "lost", Act: Act{Kind: Close, Percent: num("100"), Sent: 3, Ended: 4}})}
		c.trades.Begun = read
		r, asked, ok := trail.Replay("X", &c.trades, nil, c.is, "lost")
		if !assert.True(t, ok, name) {
			continue
		}
		r.To = decimal.NewNullDecimal(num(c.position))
		got, why := r.Of(asked, NoAct).Verdict()
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.why, why, name)
	}
	trail := Trail{Base: &Base{Place: 1}}
	_, asked, ok := trail.Replay("X", &Trades{First: 2}, nil, "ACTIVE", "none")
	assert.False(t, ok, "trades are missing behind the baseline")
	assert.Equal(t, NoAct, asked)
}

// A place counts as long as lists reach back to it, that of the start also where only older trades
// may be missing.
func TestWhatAListLeavesOfATrail(t *testing.T) {
	for name, c := range map[string]struct {
		reach Reach
		base  *Base
		kept  bool
		place int
	}{
		"all":                              {All, &Base{Place: 1}, true, 1},
		"none":                             {None, &Base{}, false, -1},
		"only the start":                   {OnlyStart, &Base{}, true, -1},
		"only the start, and it is behind": {OnlyStart, &Base{Place: 1}, false, -1},
		"only the start, and none is":      {OnlyStart, nil, false, -1},
	} {
		trail := Trail{Base: c.base, Acts: []Own{{ID: "open", Place: 1}}}
		trail.Keep(c.reach)
		assert.Equal(t, c.kept, trail.Base != nil, name)
		assert.Equal(t, c.place, trail.Acts[0].Place, name)
	}
}

// A trail needs the trades from its baseline on, and from where each write was sent.
func TestWhichTradesATrailNeeds(t *testing.T) {
	base := &Base{Place: 5}
	for _, c := range []struct {
		base   *Base
		places []int
		want   int
	}{{nil, nil, 9}, {base, nil, 5}, {base, []int{7, -1}, 5}, {base, []int{7, 3, 4}, 3}, {nil, []int{8}, 8}, {nil, []int{0}, 0}} {
		trail := Trail{Base: c.base}
		for _, p := range c.places {
			trail.Acts = append(trail.Acts, Own{Place: p})
		}
		assert.Equal(t, c.want, trail.Needs(9), "%v", c.places)
	}
}

// A write that did nothing is taken out, and no other.
func TestAWriteThatDidNothing(t *testing.T) {
	trail := Trail{Acts: []Own{{ID: "one"}, {ID: "two"}}}
	trail.Remove("two")
	assert.Nil(t, trail.Find("two"))
	assert.NotNil(t, trail.Find("one"))
}
