package accounting

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// asked is the write whose outcome is asked. It buys, unless it closes.
type asked struct {
	name string
	kind ActKind
	pct  int
}

var writes = []asked{
	{"entry", Entry, 0}, {"limit", Limit, 0}, {"Pro order", Pro, 0}, {"reduce-only", ReduceOnly, 0},
	{"close", Close, 100}, {"close of a half", Close, 50}, {"edit of a run", EditRun, 0},
}

// start is a state in which the baseline is read.
type start struct {
	name string
	w    world
}

func startWith(name string, pos int, orders, runs []int8, rows int) start {
	w := world{pos: pos}
	if pos != 0 {
		w.entry, w.opened = 100_000_000, -50
	}
	copies := 0
	if rows < 0 {
		rows, copies = 1, -rows
	}
	for i := range rows { // each may be equal to the write's own row, but for its time
		side := int8(-1)
		if i%2 == 1 {
			side = 1
		}
		w.rows[i] = row{side: side, cause: int8(Market), t: int8(-60 + i), size: unit, entry: 100_000_000, exit: 100_000_000}
		w.rows[i].copies = int8(copies)
	}
	w.nRows = int8(rows)
	for i, side := range orders {
		size := unit
		if side == 2 || side == -2 { // a small one
			side, size = side/2, unit/2
		}
		w.orders.add(order{id: idOrder + uint8(i)*2, side: side, left: size, isOwn: true})
		w.note(ownWrite{kind: Limit, answered: true, inPosition: true, side: side, size: size})
	}
	for _, side := range runs {
		w.runs.add(order{id: idRun, side: side, left: unit, isOwn: true})
		w.note(ownWrite{kind: Pro, answered: true, inPosition: true, side: side, size: unit})
	}
	w.known = 1<<idOrder | 1<<idRun | 1<<(idOrder+2)
	return start{name, w}
}

var starts = []start{
	startWith("flat", 0, nil, nil, 1),
	startWith("flat, nothing ever closed", 0, nil, nil, 0),
	startWith("long", unit, nil, nil, 1),
	startWith("long twice", 2*unit, nil, nil, 0),
	startWith("short", -unit, nil, nil, 1),
	startWith("short twice", -2*unit, nil, nil, 1),
	startWith("short half", -unit/2, nil, nil, 0),
	startWith("flat, a limit to buy", 0, []int8{1}, nil, 1),
	startWith("short, a small limit to buy", -unit, []int8{2}, nil, 1),
	startWith("long, a limit to sell", unit, []int8{-1}, nil, 1),
	startWith("flat, a run that buys", 0, nil, []int8{1}, 1),
	startWith("long, a run that sells", unit, nil, []int8{-1}, 1),
	startWith("flat, four rows", 0, nil, nil, 4),
	startWith("short, twenty equal rows", -unit, nil, nil, -20),
}

// format is what the rows show.
type format struct {
	name                              string
	times, symbols, sizes, priced, id bool
}

var formats = []format{
	{"all", true, true, true, true, false},
	{"no times", false, true, true, true, false},
	{"no symbols", true, false, true, true, false},
	{"sizes to derive", true, true, false, true, false},
	{"prices only", false, true, false, false, false},
}

// step is an event in a slot.
type step struct {
	slot, event int
}

// search walks through every order of events up to a bound, and judges each pair
// of a truth and what can be seen of it.
type search struct {
	bound   int
	formats []format
	// early: the first look may be read before the write ran.
	early bool
	// flats and flips are the prices and the kinds of flip that are tried; without
	// are the slots in which nothing happens.
	flats, flips []bool
	without      []int
	cut          int // how many rows, or ended runs, a list has at the most
	// beside are the events that happen; all if none is named.
	beside []string
	// report is told of each new pair. It returns false to stop.
	report func(sc *schedule) bool

	start    start
	ask      asked
	fmt      format
	fill     int
	runs     bool
	steps    []step
	states   []world
	slotEnd  [8]int // index of the last state of each slot
	seen     []seenPair
	known    map[uint32]map[string]bool
	judged   int
	distinct int
	stopped  bool
}

// seenPair remembers which truths were judged beside an observation. A place that
// another observation takes only costs time.
type seenPair struct {
	key    uint64
	truths uint8
}

// schedule is one pair of a truth and what is seen of it.
type schedule struct {
	s                             *search
	facts                         seen
	falseNot, falseApplied        bool
	exclusive, held, gone, noBase bool
}

func (sc *schedule) String() string {
	s := sc.s
	var b strings.Builder
	fmt.Fprintf(&b, "%s; rows show %s; %s", s.start.name, s.fmt.name, s.ask.name)
	marks := [...]string{"between the baseline's reads", "after the baseline", "before the write's moment", "after it", "later", "as the first look is read", "as the second look is read", "as the third look is read"}
	wrote := false
	for _, st := range s.steps {
		if st.slot > 2 && !wrote {
			wrote = true
			fmt.Fprintf(&b, "; ran=%v", s.runs)
		}
		fmt.Fprintf(&b, "; %s: %s", marks[st.slot], events[st.event].name)
	}
	if !wrote {
		fmt.Fprintf(&b, "; ran=%v", s.runs)
	}
	fmt.Fprintf(&b, " (exclusive=%v held=%v gone=%v baseline=%v)", sc.exclusive, sc.held, sc.gone, !sc.noBase)
	return b.String()
}

func (s *search) run(starts []start, writes []asked) {
	s.seen = make([]seenPair, 1<<20)
	for bound := range s.bound + 1 {
		for _, s.fmt = range s.formats {
			for _, s.start = range starts {
				for _, s.ask = range writes {
					s.variants(bound)
				}
			}
		}
	}
}

func (s *search) variants(bound int) {
	fills := 1
	if s.ask.kind == Limit {
		fills = 3
	}
	for _, flat := range s.flats {
		for _, flip := range s.flips {
			for variant := range fills + 1 {
				if s.stopped {
					return
				}
				if s.runs, s.fill = variant > 0, variant-1; flip && s.start.w.pos == 0 && bound < 2 {
					continue
				}
				w := s.start.w
				w.flatPrice, w.fullFlip = flat, flip
				s.steps = s.steps[:0]
				s.states = append(s.states[:0], w)
				s.walk(0, bound)
			}
		}
	}
}

// walk goes on from the last state, in a slot, with exactly so many events to come.
func (s *search) walk(slot, left int) {
	if s.stopped {
		return
	}
	n := len(s.states)
	if left > 0 && !slices.Contains(s.without, slot) {
		for i := range events {
			if len(s.beside) == 0 || slices.Contains(s.beside, events[i].name) {
				s.try(slot, i, left)
			}
		}
	}
	s.slotEnd[slot] = n - 1
	switch {
	case slot == s.lastSlot():
		if left == 0 {
			s.observe()
		}
		return
	case slot == 2 && s.runs:
		w := s.states[n-1]
		if !w.run(s.ask, s.fill) {
			return
		}
		s.states = append(s.states, w)
	}
	s.walk(slot+1, left)
	s.states = s.states[:n]
}

// happens lets an event happen; false if it cannot.
func (s *search) happens(slot, i int) bool {
	e, w := &events[i], s.states[len(s.states)-1]
	full := w.nRows > maxRows-3 || w.nOwn >= maxOwn || max(w.finished.n, w.orders.n, w.runs.n) == maxIDs
	if full || slot == 0 && (e.unans || w.nOwn > 3) || !e.do(&w, slotTime[slot]+len(s.steps)&1, uint8(10+len(s.steps))) {
		return false
	}
	if slot == 0 && e.own {
		w.own[w.nOwn-1].inPosition = true
	}
	s.states = append(s.states, w)
	s.steps = append(s.steps, step{slot, i})
	return true
}

func (s *search) try(slot, i, left int) {
	n := len(s.states)
	if !s.happens(slot, i) {
		return
	}
	ends := s.slotEnd
	s.walk(slot, left-1)
	s.slotEnd = ends
	s.states, s.steps = s.states[:n], s.steps[:len(s.steps)-1]
}

// random plays one world of so many events.
func (s *search) random(dice *rand.Rand, n int) {
	s.fmt, s.start, s.ask = formats[dice.IntN(len(formats))], starts[dice.IntN(len(starts))], writes[dice.IntN(len(writes)-1)]
	variants := 2
	if s.ask.kind == Limit {
		variants = 4
	}
	variant := dice.IntN(variants)
	s.runs, s.fill = variant > 0, variant-1
	w := s.start.w
	w.flatPrice, w.fullFlip = s.flats[dice.IntN(len(s.flats))], s.flips[dice.IntN(len(s.flips))]
	s.steps, s.states = s.steps[:0], append(s.states[:0], w)
	in := make([]int, s.lastSlot()+1)
	for range n {
		in[dice.IntN(len(in))]++
	}
	for slot := range in {
		for range 6 * in[slot] { // some cannot happen
			if in[slot] > 0 && s.happens(slot, dice.IntN(len(events))) {
				in[slot]--
			}
		}
		s.slotEnd[slot] = len(s.states) - 1
		if slot == 2 && s.runs {
			w := s.states[len(s.states)-1]
			if !w.run(s.ask, s.fill) {
				return
			}
			s.states = append(s.states, w)
		}
	}
	s.observe()
}

// view is what a set of reads shows.
type view struct {
	n                                int // looks
	pos, rows, ids, finished, status *world
}

func (s *search) observe() {
	end := s.states[len(s.states)-1]
	if s.runs != end.ran {
		return
	}
	looks := s.looks(2)
	if s.slotEnd[5] > s.slotEnd[4] {
		looks = append(looks, s.looks(1)...)
	}
	if s.ask.kind == Limit {
		looks = append(looks, s.looks(3)...)
	}
	for _, base := range s.baselines() {
		for i := range looks {
			s.judge(base, &looks[i], &end)
		}
	}
}

// looks returns what so many equal looks can have shown: each endpoint lags apart.
func (s *search) looks(n int) []view {
	from := s.slotEnd[4]
	if s.early {
		from = s.slotEnd[1]
	}
	pick := func(same func(a, b *world) bool) []*world {
		var found []*world
		for y := s.slotEnd[3+n]; y <= s.slotEnd[min(4+n, s.lastSlot())]; y++ {
			is := &s.states[y]
			if len(found) > 0 && same(found[len(found)-1], is) {
				continue
			}
			all, start := true, from
			for look := range n - 1 { // the earlier ones showed the same
				end := s.slotEnd[5+look]
				all = all && slices.ContainsFunc(s.states[start:end+1], func(w world) bool { return same(&w, is) })
				start = end
			}
			if all {
				found = append(found, is)
			}
		}
		return found
	}
	var views []view
	for _, p := range pick(func(a, b *world) bool { return a.pos == b.pos && a.entry == b.entry && a.opened == b.opened }) {
		for _, r := range pick(func(a, b *world) bool { return a.rows == b.rows && a.nRows == b.nRows }) {
			for _, o := range pick(func(a, b *world) bool { return a.orders == b.orders && a.runs == b.runs }) {
				for _, f := range pick(func(a, b *world) bool { return a.finished == b.finished }) {
					for _, st := range pick(func(a, b *world) bool { return a.status == b.status }) {
						views = append(views, view{n, p, r, o, f, st})
					}
				}
			}
		}
	}
	return views
}

func (s *search) lastSlot() int {
	if s.ask.kind == Limit {
		return len(slotTime) - 1
	}
	return len(slotTime) - 2
}

// baselines returns the ways in which the baseline can have been read: its rows
// before its position, or after it.
func (s *search) baselines() []*view {
	a, b := &s.states[0], &s.states[s.slotEnd[0]]
	older := view{0, b, a, a, a, a}
	young := view{}
	if s.slotEnd[0] == 0 {
		after := &s.states[s.slotEnd[3]]
		young = view{0, after, after, after, after, after}
		return []*view{&older, nil, &young}
	}
	for _, st := range s.steps {
		if st.slot == 0 && events[st.event].own { // then it is none
			return nil
		}
	}
	return []*view{&older, {0, a, b, b, b, b}}
}

// The modes in which a pair is judged.
type mode struct{ exclusive, held, gone bool }

var modes = []mode{
	{true, true, false}, {false, true, false}, {true, false, true}, {false, false, true}, {true, false, false},
}

func (s *search) judge(base, look *view, end *world) {
	others := false
	for _, st := range s.steps {
		others = others || events[st.event].others
	}
	rests := false
	for _, o := range end.orders.at {
		rests = rests || o.id == idWrite
	}
	young := base != nil && base.pos != &s.states[s.slotEnd[0]] && base.pos != &s.states[0]
	key := s.key(base, look, end)
	var f seen
	built := false
	for i, m := range modes {
		if m.exclusive && others {
			continue
		}
		s.judged++
		did := end.ran
		if s.ask.kind == Limit && m.held {
			did = rests || end.filled > 0
		}
		falseNot, falseApplied := did || !m.held && !m.gone, !end.ran
		bit := uint8(1)
		if falseNot {
			bit = 2
		}
		if falseApplied {
			bit <<= 2
		}
		k := key + uint64(i)*0x9e3779b97f4a7c15
		if young {
			k ^= 0x5555
		}
		seen := &s.seen[k%uint64(len(s.seen))]
		if seen.key != k {
			*seen = seenPair{key: k}
		}
		if seen.truths&bit != 0 {
			continue
		}
		seen.truths |= bit
		s.distinct++
		if !built {
			f, built = s.facts(base, look, end), true
			if young {
				f.Base = nil
			}
		}
		f.Exclusive, f.Held, f.Gone = m.exclusive, m.held, m.gone
		if f.Asked.Ended = 0; m.held || m.gone {
			f.Asked.Ended = heldPlace
		}
		if !s.report(&schedule{s, f, falseNot, falseApplied, m.exclusive, m.held, m.gone, base == nil}) {
			s.stopped = true
			return
		}
	}
}
