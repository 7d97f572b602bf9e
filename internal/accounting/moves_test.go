package accounting

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// spanOf is a position of a side.
func spanOf(side Side, lo, hi, slack int64) span {
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
		kind Kind
		full bool
		from span
		want []span
	}{
		"reduces":                  {Entry, false, spanOf(Long, 5, 5, 0), []span{spanOf(Long, 2, 2, 0)}},
		"reduces, or flips":        {Entry, false, spanOf(Long, 2, 5, 0), []span{spanOf(Long, 0, 2, 0), spanOf(Short, 0, 1, 1)}},
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

// A close takes its share of what there is: of nothing, nothing.
func TestAShare(t *testing.T) {
	for name, c := range map[string]struct {
		percent, size int64 // of the row
		from          span
		want          []span
	}{
		"a quarter":                     {250_000, 4, spanOf(Long, 16, 16, 0), []span{spanOf(Long, 12, 12, 0)}},
		"a quarter of so little is all": {250_000, 3, spanOf(Long, 3, 3, 0), []span{{}}},
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
