package accounting

import (
	"math/bits"

	"github.com/shopspring/decimal"
)

// whole is all of a position, in the unit of percents.
const whole = 1_000_000

// take reads what a replay begins with, in units of the last place; it returns why that
// cannot be done.
func (s *replaying) take(r *Replay) Reason {
	if len(r.Acts) > maxActs {
		return TooManyOrders
	}
	rows := make([]entry, len(r.Rows))
	for i := range r.Rows {
		rows[i].Row = r.Rows[i]
		if !rows[i].measure() {
			return RowUnreadable
		}
	}
	u := &units{exp: r.Exp, ok: true}
	u.widen(r.From, r.To.Decimal)
	for i := range r.Acts {
		u.widen(r.Acts[i].Size, r.Acts[i].After.Decimal)
	}
	for i := range rows {
		if rows[i].Size.Valid {
			u.widen(rows[i].size)
		}
	}
	for _, o := range r.Waiting {
		u.widen(o.Size.Decimal)
	}
	s.rows = make([]tradeRow, len(rows))
	for i := range rows {
		e := &rows[i]
		s.rows[i] = tradeRow{side: e.Side, size: u.size(e), byItself: e.Cause != Market, byWrite: e.market()}
	}
	for r.Anywhere && s.either < len(rows) || r.Near && s.either < len(rows) && s.rows[s.either].byItself {
		s.either++
	}
	s.takeActs(r.Acts, u)
	if r.Part {
		s.acts[s.asked].part = s.acts[s.asked].size / 10
	}
	s.takeWaiting(r.Waiting, u)
	s.shrunk = r.Newer
	from := u.of(r.From.Abs())
	s.first.pos = span{side: Direction(r.From.Sign()), lo: from, hi: from}
	s.first.place = -1
	s.near, s.cut, s.halts = r.Near, r.Cut, r.Halted
	if s.ends = r.To.Valid; s.ends {
		s.to = u.of(r.To.Decimal)
	}
	switch {
	case u.fine || s.most() == unbounded:
		return SizesTooFine
	case !u.ok:
		return RowUnreadable
	default:
		return ""
	}
}

// most is what the position can come to at the most, by what is known of it.
func (s *replaying) most() int64 {
	most := s.first.pos.hi
	for i := range s.acts {
		most = plus(most, s.acts[i].size)
	}
	return most
}

func (s *replaying) takeActs(acts []Act, u *units) {
	s.acts = make([]act, len(acts))
	for i := range acts {
		a := &acts[i]
		s.acts[i] = act{kind: a.Kind, side: a.Side, size: u.of(a.Size), percent: percentOf(a), carries: a.After.Valid && a.Ran && !a.Late, after: u.of(a.After.Decimal)}
		u.ok = u.ok && (a.Kind == Close && (s.acts[i].percent > 0 || a.Percent.IsZero()) || (a.Kind == Entry || a.Kind == ReduceOnly || a.Kind == Limit) && a.Side != NoSide && a.Size.IsPositive())
		s.rests = s.rests || a.Kind == Limit
		if a.Ran && !a.Late {
			s.must |= 1 << i
		}
		for j := range acts {
			b := &acts[j]
			if b.Ran && b.endedBefore(a) {
				s.acts[i].before |= 1 << j
			}
			if a.endedBefore(b) {
				s.acts[i].later |= 1 << j
			}
		}
	}
	for i := range acts {
		for j := range i {
			if s.alike(acts, i, j) {
				s.acts[i].twins |= 1 << j
			}
		}
	}
}

// alike reports whether it makes no difference which of two acts runs first.
func (s *replaying) alike(acts []Act, i, j int) bool {
	a, b := &acts[i], &acts[j]
	named := func(k int) bool { return k == s.asked || k == s.anchor }
	return !named(i) && !named(j) && a.Kind == b.Kind && a.Side == b.Side && a.Size.Equal(b.Size) && a.Percent.Equal(b.Percent) &&
		a.Sent == b.Sent && a.Ended == b.Ended && a.Ran == b.Ran && a.Late == b.Late && !a.After.Valid && !b.After.Valid
}

func (s *replaying) takeWaiting(waiting []Waiting, u *units) {
	for _, o := range waiting {
		s.rests = true
		size := unbounded
		if o.Size.Valid {
			size = u.of(o.Size.Decimal)
		}
		if o.Side != Short {
			s.first.buys = plus(s.first.buys, size)
		}
		if o.Side != Long {
			s.first.sells = plus(s.first.sells, size)
		}
	}
}

// percentOf is the share that a close takes, in millionths of the whole; 0 if it is none, or not named.
func percentOf(a *Act) int64 {
	if p := a.Percent.Shift(4); p.IsInteger() && p.IsPositive() && p.LessThanOrEqual(decimal.NewFromInt(whole)) {
		return p.IntPart()
	}
	return 0
}

// closedBy are the positions of which a close leaves a row of a size: of which the share
// is the size within 2 percent, or within one unit.
func (a *act) closedBy(size int64) (lo, hi int64) {
	switch a.percent {
	case whole:
		return size, size
	case 0:
		return size, unbounded
	}
	lo = min(mulDiv(size, 100*whole, 102*a.percent, true), mulDiv(size-1, whole, a.percent, true))
	hi = max(mulDiv(size, 100*whole, 98*a.percent, false), mulDiv(size+1, whole, a.percent, false))
	return lo, hi
}

// mulDiv is a times b over c, rounded.
func mulDiv(a, b, c int64, up bool) int64 {
	hi, lo := bits.Mul64(uint64(max(a, 0)), uint64(b))
	if up {
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(c-1), 0)
		hi += carry
	}
	if hi >= uint64(c) {
		return unbounded
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return min(int64(min(q, uint64(unbounded))), unbounded)
}

// units are sizes in units of the last place that any of them has.
type units struct {
	exp  int32
	ok   bool
	fine bool // one has more places, or is larger, than can be counted
}

// widen takes in the places of sizes. Trailing zeros are none.
func (u *units) widen(sizes ...decimal.Decimal) {
	for _, d := range sizes {
		if d.NumDigits() > 18 {
			u.fine = true
			continue
		}
		c, exp := d.CoefficientInt64(), d.Exponent()
		for ; exp < u.exp && c%10 == 0; exp++ {
			c /= 10
		}
		u.exp = min(u.exp, exp)
	}
}

func (u *units) of(d decimal.Decimal) int64 {
	n := d.Shift(-u.exp)
	if !n.IsInteger() || !n.IsZero() && n.NumDigits()+int(n.Exponent()) > 18 {
		u.fine = true
		return 0
	}
	return n.IntPart()
}

// size is that of a row. One that is derived has to be so near to a unit that rounding
// the result to cents cannot have moved it to another.
func (u *units) size(e *entry) int64 {
	if e.Size.Valid {
		return u.of(e.size)
	}
	n := e.size.Shift(-u.exp)
	moved := e.ExitPrice.Decimal.Sub(e.EntryPrice.Decimal).Abs()
	off := decimal.New(1, -2).Shift(-u.exp) // of the result, in units times the move
	near := n.Round(0)
	if moved.LessThanOrEqual(off.Mul(decimal.NewFromInt(4))) || n.Sub(near).Abs().GreaterThan(decimal.New(25, -2)) {
		u.ok = false
		return 0
	}
	return u.of(near.Shift(u.exp))
}
