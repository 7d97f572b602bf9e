package accounting

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
)

// spanOf is a position of a side.
func spanOf(side Direction, lo, hi, slack int64) span {
	return span{side: side, lo: lo, hi: hi, slack: slack}
}

// What is cut off a position's low end its slack has first, and then what resting orders may yet trade.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		lo, hi int64
		want   span
		buys   int64
		ok     bool
	}{
		{2, 8, spanOf(Long, 2, 8, 3), 10, true},
		{4, 8, spanOf(Long, 4, 8, 1), 10, true},
		{5, 8, spanOf(Long, 5, 8, 0), 10, true},
		{7, 9, spanOf(Long, 7, 8, 0), 8, true},
		{8, 9, spanOf(Long, 8, 8, 0), 7, true},
		{0, 4, spanOf(Long, 2, 4, 2), 10, true},
		{0, 2, spanOf(Long, 2, 2, 0), 10, true},
		{9, 10, spanOf(Long, 2, 8, 3), 10, false},
		{0, 1, spanOf(Long, 2, 8, 3), 10, false},
	} {
		s := state{pos: spanOf(Long, 2, 8, 3), buys: 10, sells: 5}
		assert.Equal(t, c.ok, s.clip(c.lo, c.hi), "%d to %d", c.lo, c.hi)
		assert.Equal(t, state{pos: c.want, buys: c.buys, sells: 5}, s, "%d to %d", c.lo, c.hi)
	}
	short := state{pos: spanOf(Short, 0, 5, 0), buys: 10, sells: 5}
	assert.True(t, short.clip(2, 5))
	assert.Equal(t, state{pos: spanOf(Short, 2, 5, 0), buys: 10, sells: 3}, short)
	none := state{pos: spanOf(Long, 0, 5, 0)}
	assert.True(t, none.clip(0, 0))
	assert.Equal(t, state{}, none)
}

// moved are the positions to which a move leads.
func moved(move func(*replaying), change func(*replaying)) (to []span) {
	s := &replaying{asked: -1, anchor: -1, seen: make(map[state][]state)}
	change(s)
	move(s)
	for i := range s.open {
		to = append(to, s.open[i].pos)
	}
	return to
}

// An order that meets an opposite position, of which the row may be one that the list lacks.
func TestAnOrderThatMeetsAnOppositePosition(t *testing.T) {
	for name, c := range map[string]struct {
		kind ActKind
		full bool
		from span
		want []span
	}{
		"reduces":                  {Entry, false, spanOf(Long, 5, 5, 0), []span{spanOf(Long, 2, 2, 0)}},
		"reduces, or flips":        {Entry, false, spanOf(Long, 2, 5, 0), []span{spanOf(Long, 0, 2, 0), spanOf(Short, 0, 1, 1)}},
		"flips, by one or by two":  {Entry, false, spanOf(Long, 1, 2, 0), []span{spanOf(Short, 1, 2, 1)}},
		"closes all, and opens":    {Entry, true, spanOf(Long, 5, 5, 0), []span{spanOf(Short, 3, 3, 0)}},
		"never flips, reduce-only": {ReduceOnly, true, spanOf(Long, 5, 5, 0), []span{spanOf(Long, 2, 2, 0)}},
		"closes all, reduce-only":  {ReduceOnly, false, spanOf(Long, 2, 2, 0), []span{{}}},
	} {
		got := moved(func(s *replaying) { s.reduce(state{pos: c.from}, 0) }, func(s *replaying) {
			s.cut, s.fullFlip, s.acts = true, c.full, []act{{kind: c.kind, side: Short, size: 3}}
		})
		assert.Equal(t, c.want, got, name)
	}
}

// A limit that trades for the first time opens by a unit, where there may be no opposite position.
func TestALimitThatMeetsAnOppositePosition(t *testing.T) {
	for name, c := range map[string]struct {
		from span
		want []span
	}{
		"there may be none": {spanOf(Long, 0, 5, 0), []span{spanOf(Short, 1, 1, 0), spanOf(Long, 0, 5, 0)}},
		"there is one":      {spanOf(Long, 2, 5, 0), []span{spanOf(Long, 0, 5, 2)}},
		"there is none":     {span{}, []span{spanOf(Short, 1, 1, 0)}},
	} {
		got := moved(func(s *replaying) { s.fill(state{pos: c.from}, &s.acts[0]) }, func(s *replaying) {
			s.cut, s.acts = true, []act{{kind: Limit, side: Short, size: 3}}
		})
		assert.Equal(t, c.want, got, name)
	}
}

// A close takes its share of what there is: of nothing, nothing.
func TestAShare(t *testing.T) {
	for name, c := range map[string]struct {
		percent, size int64 // of the row
		from          span
		want          []span
	}{
		"a quarter":                     {250_000, 4, spanOf(Long, 16, 16, 0), []span{spanOf(Long, 12, 12, 0)}},
		"a quarter of so little is all": {250_000, 3, spanOf(Long, 3, 3, 0), []span{{}}},
		"a quarter of much is not all":  {250_000, 1 << 49, spanOf(Long, 1<<49, 1<<49, 0), nil},
		"a quarter is not all":          {250_000, 4, spanOf(Long, 4, 4, 0), nil},
		"of another side":               {250_000, 4, spanOf(Short, 16, 16, 0), nil},
		"of nothing":                    {1_000_000, 4, span{}, nil},
	} {
		got := moved(func(s *replaying) { s.close(state{pos: c.from}, 0) }, func(s *replaying) {
			s.rows = []tradeRow{{side: Long, size: c.size, byWrite: true}}
			s.acts = []act{{kind: Close, percent: c.percent}}
		})
		assert.Equal(t, c.want, got, name)
	}
	for name, c := range map[string]struct {
		percent int64
		from    span
		want    []span
	}{
		"a hidden row of all":     {whole, spanOf(Long, 5, 5, 0), []span{{}}},
		"a hidden row of a share": {250_000, spanOf(Long, 5, 5, 0), []span{spanOf(Long, 0, 5, 5)}},
		"a hidden row of nothing": {whole, span{}, nil},
	} {
		got := moved(func(s *replaying) { s.close(state{pos: c.from}, 0) }, func(s *replaying) {
			s.cut, s.acts = true, []act{{kind: Close, percent: c.percent}}
		})
		assert.Equal(t, c.want, got, name)
	}
	for pos, want := range map[span][]span{{}: nil, spanOf(Long, 5, 5, 0): {spanOf(Long, 0, 5, 5)}} {
		got := moved(func(s *replaying) { s.byItself(state{pos: pos}) }, func(s *replaying) { s.cut = true })
		assert.Equal(t, want, got, "something hidden closed a part of %v", pos)
	}
}

// What resting orders traded of a position they have no more to trade, and no more than they had.
func TestARestingOrderTrades(t *testing.T) {
	for name, c := range map[string]struct {
		sells, size int64
		full        bool
		from        span
		want        []state
	}{
		"all that rests":             {3, 3, false, spanOf(Long, 5, 5, 0), []state{{rows: 1, pos: spanOf(Long, 2, 2, 0), buys: 7}}},
		"a part":                     {3, 2, false, spanOf(Long, 5, 5, 0), []state{{rows: 1, pos: spanOf(Long, 3, 3, 0), buys: 7, sells: 1}}},
		"more than rests":            {2, 3, false, spanOf(Long, 5, 5, 0), nil},
		"nothing rests on that side": {0, 3, false, spanOf(Long, 5, 5, 0), nil},
		"there is nothing":           {3, 3, false, span{}, nil},
		"all of it, and none rests":  {0, 5, true, spanOf(Long, 5, 5, 0), nil},
		"all of it, if that flips":   {2, 5, true, spanOf(Long, 5, 5, 0), []state{{rows: 1, buys: 7, sells: 2}}},
	} {
		s := &replaying{seen: make(map[state][]state), fullFlip: c.full, rows: []tradeRow{{side: Long, size: c.size, byWrite: true}}}
		s.byItself(state{pos: c.from, buys: 7, sells: c.sells})
		assert.Equal(t, c.want, s.open, name)
	}
}

// The position that an answer carried must be one that there can be.
func TestThePositionOfAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		from  span
		after int64
		cut   bool
		want  []span
	}{
		"as it is":                        {spanOf(Long, 5, 5, 0), 5, false, []span{spanOf(Long, 5, 5, 0)}},
		"as it can be":                    {spanOf(Short, 2, 5, 0), -3, false, []span{spanOf(Short, 3, 3, 0)}},
		"none, where there may be none":   {spanOf(Long, 0, 5, 0), 0, false, []span{{}}},
		"another side":                    {spanOf(Long, 3, 5, 0), -4, false, nil},
		"less, and nothing hides a trade": {spanOf(Long, 5, 5, 0), 2, false, nil},
		"less, by a trade that is hidden": {spanOf(Long, 5, 5, 0), 2, true, []span{spanOf(Long, 2, 2, 0)}},
		"more":                            {spanOf(Long, 5, 5, 0), 6, true, nil},
	} {
		got := moved(func(s *replaying) { s.answered(state{pos: c.from}, 0) }, func(s *replaying) {
			s.cut, s.acts = c.cut, []act{{kind: Entry, side: Long, size: 1, carries: true, after: c.after}}
		})
		assert.Equal(t, c.want, got, name)
	}
}

// A size without an end keeps having none, and what may have been closed is slack.
func TestPositionsWithoutAnEnd(t *testing.T) {
	s := state{pos: spanOf(Long, 2, unbounded, 0)}
	assert.True(t, s.take(0, unbounded, 3))
	assert.Equal(t, spanOf(Long, 0, unbounded, 0), s.pos)
	assert.Equal(t, spanOf(Long, 0, 8, 7), state{pos: spanOf(Long, 5, 8, 2)}.shrunk().pos)
}

// A position is of a side if resting orders can have made it so.
func TestFacing(t *testing.T) {
	for name, c := range map[string]struct {
		from span
		side Direction
		buys int64
		want span
		ok   bool
	}{
		"of the same side":    {spanOf(Long, 2, 2, 0), Long, 3, spanOf(Long, 2, 5, 0), true},
		"with what may be":    {spanOf(Long, 2, 4, 2), Long, 3, spanOf(Long, 2, 7, 2), true},
		"of the other":        {spanOf(Short, 5, 5, 0), Long, 3, spanOf(Short, 5, 5, 0), false},
		"of the other, or no": {spanOf(Short, 0, 5, 0), Long, 3, spanOf(Long, 0, 3, 0), true},
		"none, and none can":  {span{}, Long, 0, span{}, true},
		"none, and one can":   {span{}, Long, 3, spanOf(Long, 0, 3, 0), true},
		"of none":             {span{}, NoSide, 3, spanOf(NoSide, 0, 3, 0), true},
	} {
		s := state{pos: c.from, buys: c.buys}
		assert.Equal(t, c.ok, s.facing(c.side), name)
		assert.Equal(t, c.want, s.pos, name)
	}
}

// A replay gives up where there are too many states, and one that gives up, or that nothing fits, has
// no place.
func TestWhatHasNoPlace(t *testing.T) {
	s := &replaying{seen: make(map[state][]state), states: maxStates - 1}
	s.push(state{rows: 1})
	assert.Empty(t, s.found.Failed)
	s.push(state{rows: 2})
	assert.Equal(t, TooManyOrders, s.found.Failed)

	bought := Act{Kind: Entry, Side: Long, Size: num("5"), Sent: 1, Ended: 2, Ran: true, After: opt("5")}
	r := Replay{Acts: slices.Repeat([]Act{{Kind: Close, Percent: num("100")}}, maxActs+1)}
	assert.Equal(t, ReplayResult{Place: -1, Failed: TooManyOrders}, r.Of(NoAct, NoAct))
	r.Acts = r.Acts[1:]
	assert.Equal(t, ReplayResult{Place: -1, Without: true}, r.Of(NoAct, NoAct))
	r = Replay{Acts: []Act{bought}, To: opt("4")}
	assert.Equal(t, ReplayResult{Place: -1}, r.Of(NoAct, 0))
	r.To = opt("5")
	assert.Equal(t, ReplayResult{Without: true}, r.Of(NoAct, 0), "before all rows")
	r.Rows, r.To = []Row{market(Long, "2")}, opt("3")
	r.Acts = append(r.Acts, Act{Kind: ReduceOnly, Side: Short, Size: num("2"), Sent: 3, Ended: 4, Ran: true})
	assert.Equal(t, ReplayResult{Without: true}, r.Of(NoAct, 0))
	assert.Equal(t, ReplayResult{Without: true}, r.Of(NoAct, AtStart))
	r.To = opt("4")
	r.Acts = append(r.Acts, Act{Kind: Entry, Side: Long, Size: num("1"), Sent: 5, Ended: 6, Ran: true, After: r.To})
	assert.Equal(t, ReplayResult{Without: true}, r.Of(NoAct, AtStart))
	assert.Equal(t, ReplayResult{Without: true, Place: 1}, r.Of(NoAct, 2), "behind the row")
	unheard := Replay{Acts: []Act{{Kind: Close, Percent: num("100"), Sent: 1}}}
	assert.Equal(t, ReplayResult{Without: true, Place: -1}, unheard.Of(NoAct, 0), "no course has it")
	r.Acts, r.Waiting = nil, []Waiting{{}}
	r.From, r.To, r.Anywhere = num("5"), decimal.NullDecimal{}, true
	for n := range 2 {
		r.Rows = slices.Repeat([]Row{market(Long, "1")}, n+1)
		assert.Equal(t, ReplayResult{Without: true, Place: -1}, r.Of(NoAct, AtStart), "it begins anywhere")
	}
}

// Where the account may have ended, it may have before the replay begins, and its row may be the next.
func TestWhereAReplayBegins(t *testing.T) {
	begin := func(rows []tradeRow, near bool) (places []int) {
		s := &replaying{seen: make(map[state][]state), anchor: AtStart, halts: true, near: near, rows: rows}
		s.first = state{pos: spanOf(Long, 5, 5, 0), place: -1}
		s.begin()
		for i := range s.open {
			assert.Equal(t, i > 0, s.open[i].halted)
			places = append(places, s.open[i].place)
		}
		return places
	}
	row := tradeRow{side: Long, size: 5, byWrite: true}
	assert.Equal(t, []int{0, 0, 1}, begin([]tradeRow{row}, true))
	assert.Equal(t, []int{0, 0}, begin([]tradeRow{row}, false))
	assert.Equal(t, []int{0, 0}, begin(nil, true))
	assert.Equal(t, []int{0, 0}, begin([]tradeRow{{side: Long, size: 5, byItself: true}}, true))
}
