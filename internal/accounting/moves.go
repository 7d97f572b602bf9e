package accounting

import "cmp"

// What can happen next, in a replay.

// run lets an own write run.
func (s *replaying) run(from state, i int) {
	a := &s.acts[i]
	switch {
	case a.kind == Close:
		s.close(from, i)
		return
	case a.kind == Limit:
		s.fill(from, a)
		return
	case a.kind == Entry && from.halted: // it would have been refused
		return
	}
	opposite := from.pos.side == -a.side
	if next := from; a.kind == Entry && (!opposite || next.atMost(0)) {
		next.pos.side = a.side
		next.pos.lo, next.pos.hi = next.pos.lo+a.size-a.part, plus(next.pos.hi, a.size)
		next.pos.slack += a.part
		s.answered(next, i)
	}
	if opposite {
		s.reduce(from, i)
	}
}

// reduce lets an order meet an opposite position.
func (s *replaying) reduce(from state, i int) {
	a := &s.acts[i]
	flips := func(next state, least, most int64) { // to what it has left
		if next.pos = (span{}); a.kind == Entry {
			least = max(0, least-a.part)
			next.pos = span{side: a.side, lo: least, hi: most, slack: most - least}
		}
		s.answered(next, i)
	}
	if next, size, ok := s.row(from, from.pos.side); ok {
		switch {
		case s.fullFlip && a.kind == Entry:
			if next.clip(size, size) {
				flips(next, a.size, a.size)
			}
		case size < a.size:
			if all := next; all.clip(size, size) {
				flips(all, a.size-size, a.size-size)
			}
			if size >= a.size-a.part && next.take(size, unbounded, size) {
				s.answered(next, i)
			}
		case size == a.size && next.take(size, unbounded, size):
			s.answered(next, i)
		}
	}
	if !s.hides(&from) {
		return
	}
	if s.fullFlip && a.kind == Entry {
		flips(from, a.size, a.size)
		return
	}
	if next := from; a.part > 0 {
		s.answered(next.shrunk(), i)
	} else if next.take(a.size, unbounded, a.size) {
		s.answered(next, i)
	}
	if next := from; next.atMost(a.size) {
		flips(next, a.size-next.pos.hi, a.size-next.pos.lo)
	}
}

// fill lets a limit trade for the first time: a unit or more of it. What is left may trade later. It may
// be one that only reduces, which nobody sees of it.
func (s *replaying) fill(from state, a *act) {
	then := func(next state, left int64) {
		more := next.left(a.side)
		*more = plus(*more, left)
		s.reach(next)
	}
	opens := func(next state) {
		if !from.halted { // else it would have been refused
			next.pos.side, next.pos.lo, next.pos.hi = a.side, next.pos.lo+1, plus(next.pos.hi, 1)
			then(next, a.size-1)
		}
	}
	opposite := from.pos.side == -a.side
	if next := from; !opposite || next.atMost(0) {
		opens(next)
	}
	if !opposite {
		return
	}
	if next, size, ok := s.row(from, from.pos.side); ok {
		if all := next; s.fullFlip && all.clip(size, size) {
			all.pos = span{}
			opens(all)
		}
		if size <= a.size && next.take(size, unbounded, size) {
			then(next, a.size-size)
		}
	}
	if s.hides(&from) {
		then(from.shrunk(), a.size)
	}
}

// close lets a close run.
func (s *replaying) close(from state, i int) {
	a := &s.acts[i]
	if next, size, ok := s.row(from, from.pos.side); ok {
		if all := next; a.percent > 0 && size <= (whole-1)/a.percent && all.take(size, size, size) {
			s.answered(all, i)
		}
		if lo, hi := a.closedBy(size); next.take(lo, hi, size) {
			s.answered(next, i)
		}
	}
	if s.hides(&from) && from.pos.hi > 0 {
		if next := from; a.percent == whole {
			next.pos = span{}
			s.answered(next, i)
		} else {
			s.answered(next.shrunk(), i)
		}
	}
}

// row is the state with one more row, which closed a position on a side by a write.
func (s *replaying) row(from state, side Direction) (next state, size int64, ok bool) {
	if from.rows == len(s.rows) {
		return from, 0, false
	}
	r := s.rows[from.rows]
	from.rows++
	return from, r.size, r.byWrite && r.side == side
}

// hides reports whether something can have left a row here that the list does not show.
func (s *replaying) hides(from *state) bool { return s.cut && from.rows == 0 }

// answered goes on behind a write. The position that its answer carried must be met, with
// rows that no write left just before it.
func (s *replaying) answered(next state, i int) {
	if !s.acts[i].carries {
		s.reach(next)
		return
	}
	s.carried(next, i)
	if s.hides(&next) {
		s.carried(next.shrunk(), i)
	}
	for _, side := range [...]Direction{Long, Short} {
		from := next
		if s.rests && !from.facing(side) || !s.rests && side != next.pos.side { // with what it may have added
			continue
		}
		if then, ok := s.trigger(from); ok {
			s.answered(then, i)
		}
		if then := from; s.fills(&then) {
			s.answered(then, i)
		}
	}
}

func (s *replaying) carried(next state, i int) {
	side, size := signed(s.acts[i].after)
	if s.rests && !next.facing(side) || next.pos.side != side && next.pos.lo > 0 || !next.clip(size, size) {
		return
	}
	if size == 0 {
		next.pos = span{}
	}
	if i == s.anchor {
		next.place = next.rows
	}
	s.reach(next)
}

// signed are the side and the size of a position that is negative for a short.
func signed(position int64) (Direction, int64) {
	return Direction(cmp.Compare(position, 0)), max(position, -position)
}

// trigger lets the next row be that of a stop or a take-profit.
func (s *replaying) trigger(from state) (next state, ok bool) {
	if from.rows == len(s.rows) {
		return from, false
	}
	r := s.rows[from.rows]
	from.rows++
	return from, r.byItself && r.side == from.pos.side && from.take(r.size, unbounded, r.size)
}

// byItself lets something happen that no write of the program is.
func (s *replaying) byItself(from state) {
	if next, ok := s.trigger(from); ok {
		s.reach(next)
	}
	if s.hides(&from) && from.pos.hi > 0 {
		s.reach(from.shrunk())
	}
	next, size, ok := s.row(from, from.pos.side)
	if !ok {
		return
	}
	if s.halts && !from.halted {
		if halted := next; halted.clip(size, size) {
			halted.pos, halted.halted = span{}, true
			s.reach(halted)
		}
	}
	if next = from; s.fills(&next) {
		s.reach(next)
	}
}

// fills lets the next row be that of what rests, which closes a position or a part of it.
func (s *replaying) fills(from *state) bool {
	side := from.pos.side
	next, size, ok := s.row(*from, side)
	left := next.left(-side)
	if !ok || side == NoSide || *left == 0 || !s.fullFlip && size > *left {
		return false
	}
	hi, spent := unbounded, less(*left, size)
	if s.fullFlip {
		hi, spent = size, *left
	}
	if !next.take(size, hi, size) {
		return false
	}
	*next.left(-side) = spent
	*from = next
	return true
}

// left is what resting orders may yet trade in a direction.
func (s *state) left(side Direction) *int64 {
	if side == Short {
		return &s.sells
	}
	return &s.buys
}

// clip leaves the positions from lo to hi; false if there are none.
func (s *state) clip(lo, hi int64) bool {
	p := &s.pos
	if lo > p.hi || hi < p.lo {
		return false
	}
	by, left := max(0, lo-p.lo), s.left(p.side)
	*left = less(*left, max(0, by-p.slack))
	p.lo, p.slack = p.lo+by, max(0, p.slack-by)
	p.hi = min(p.hi, hi)
	p.slack = min(p.slack, p.hi-p.lo)
	if p.hi == 0 {
		p.side = NoSide
	}
	return true
}

// atMost leaves the positions up to a size, none included.
func (s *state) atMost(size int64) bool { return s.clip(0, size) }

// take leaves the positions from lo to hi, and closes a part of them.
func (s *state) take(lo, hi, size int64) bool {
	if !s.clip(max(lo, size), hi) {
		return false
	}
	p := &s.pos
	p.lo -= size
	if p.hi < unbounded {
		p.hi -= size
	}
	if p.hi == 0 {
		*p = span{}
	}
	return true
}

// shrunk is the state after something closed any part of the position. What resting orders
// may have added to it they still have to.
func (s state) shrunk() state {
	s.pos.lo, s.pos.slack = 0, s.pos.lo+s.pos.slack
	return s
}

// meets reports whether the position can be another, negative for a short.
func (s *state) meets(position int64) bool {
	p := &s.pos
	side, size := signed(position)
	return p.lo <= size && size <= p.hi && (p.side == side || size == 0)
}

// unbounded is a size without an end.
const unbounded = int64(1) << 60

func plus(a, b int64) int64 { return min(a+b, unbounded) }

func less(left, size int64) int64 {
	if left == unbounded {
		return left
	}
	return max(0, left-size)
}
