package accounting

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

type hash uint64

func (h *hash) add(x int64) {
	hi, lo := bits.Mul64(uint64(*h)^uint64(x)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	*h = hash(hi ^ lo + 0x632be59bd9b4e019)
}

func (h *hash) bool(b bool) {
	if b {
		h.add(1)
	} else {
		h.add(0)
	}
}

func (s *search) key(base, look *view, end *world) uint64 {
	h := hash(1)
	h.add(int64(s.ask.kind)<<8 | int64(s.ask.pct))
	h.bool(s.fmt.times)
	h.bool(s.fmt.symbols)
	h.bool(s.fmt.sizes)
	h.bool(s.fmt.priced)
	if base != nil {
		s.hashView(&h, base)
	}
	s.hashView(&h, look)
	for _, o := range end.own[:end.nOwn] {
		h.add(int64(o.t) | int64(o.slot)<<8 | int64(o.side)<<16 | int64(o.kind)<<24 | int64(o.size)<<32 | int64(o.percent)<<40 | int64(o.after)<<48)
		h.bool(o.answered)
		h.bool(o.inPosition)
	}
	if base != nil {
		h.bool(apart(base))
	}
	h.add(int64(end.known))
	h.bool(end.beside)
	h.bool(end.pendingID)
	h.bool(end.ended)
	return uint64(h)
}

func (s *search) hashView(h *hash, v *view) {
	h.add(int64(v.n)<<32 + int64(v.pos.pos))
	h.add(v.pos.entry)
	h.add(int64(v.pos.opened))
	for _, r := range v.rows.rows[:v.rows.nRows] {
		h.add(int64(s.digest(r)) + int64(r.copies))
	}
	h.add(-1)
	for _, l := range []*list[order]{&v.ids.orders, &v.ids.runs} {
		for _, o := range l.at[:l.n] {
			h.add(int64(o.id))
		}
		h.add(-2)
	}
	for _, id := range v.finished.finished.at[:v.finished.finished.n] {
		h.add(int64(id))
	}
	h.add(int64(v.status.status))
}

// digest is of what the rows show.
func (s *search) digest(r row) uint64 {
	h := hash(2)
	if s.fmt.times {
		h.add(int64(r.t))
	}
	if r.burst > 0 {
		h.add(int64(r.t) | int64(r.burst)<<16) // prices of their own
		return uint64(h)
	}
	if s.fmt.sizes {
		h.add(int64(r.size) | int64(r.side)<<32)
	}
	h.add(int64(r.cause))
	if s.fmt.priced {
		h.add(r.entry)
	}
	h.add(r.exit)
	h.add(pnlOf(r))
	return uint64(h)
}

// at is a second of the world by the program's clock, served by the service's.
func at(t int8) time.Time { return time.Unix(1_700_000_000+int64(t), 0) }

func served(t int8) servicetime.Time { return servicetime.Shown(at(t).Add(-time.Hour)) }

func micro(x int64) decimal.Decimal { return decimal.New(x, -6) }

func shown(d decimal.Decimal, is bool) decimal.NullDecimal {
	return decimal.NullDecimal{Decimal: d, Valid: is}
}

func (s *search) facts(base, look *view, end *world) seen {
	f := seen{At: at(lookTime), Facts: Facts{
		Asked: Act{
			Kind: s.ask.kind, Side: Long, Size: decimal.NewFromInt(unit),
			Percent: decimal.NewFromInt(int64(s.ask.pct)), Sent: sentPlace,
		},
		Symbol: "X", From: served(fromTime),
		Look: s.state(look), EqualLooks: look.n,
		PendingBeside: end.beside || end.pendingID, Ended: end.ended,
	}, InSymbol: end.beside, Known: s.knownIDs(end.known)}
	if s.ask.kind == Close {
		f.Asked.Side = NoSide
	}
	if base != nil {
		was := s.state(base)
		f.Base = &seenBase{
			Base: Base{Position: was.Position.Size, Status: was.Status},
			Rows: was.Rows, IDs: IDs{Orders: was.Orders, Runs: was.Runs, Finished: was.Finished}, Apart: apart(base),
		}
	}
	for i := range end.own[:end.nOwn] {
		if end.own[i].answered {
			f.Own = append(f.Own, end.own[i].record(i))
		}
	}
	return f
}

// The places of the write in the order of what was sent and heard.
const (
	sentPlace = 1000
	heldPlace = 2000
)

// record is what the program has of its own write of a number.
func (o *ownWrite) record(i int) Own {
	own := Own{
		Act: Act{
			Kind: o.kind, Side: Direction(o.side), Size: decimal.NewFromInt(int64(o.size)), Percent: decimal.NewFromInt(int64(o.percent)), Ran: true,
			After: shown(decimal.NewFromInt(int64(o.after)), o.kind == Entry || o.kind == ReduceOnly),
		},
		Heard: at(o.t),
	}
	switch own.Sent = 10*i + 1; {
	case o.slot > 3:
		own.Sent += sentPlace + heldPlace
	case o.slot > 1:
		own.Sent += sentPlace
	}
	own.Ended = own.Sent + 5
	return own
}

// apart reports whether a baseline's position is of another moment than its rows, and something has traded
// between the two.
func apart(base *view) bool {
	p, r := base.pos, base.rows
	return p.pos != r.pos || p.entry != r.entry || p.opened != r.opened || p.nRows != r.nRows
}

func (s *search) knownIDs(mask uint32) map[string]bool {
	if known, ok := s.known[mask]; ok {
		return known
	}
	known := map[string]bool{}
	for id := range 32 {
		if mask>>id&1 == 1 {
			known[fmt.Sprint(id)] = true
		}
	}
	for i := range (maxIDs + 1) * idsBurst {
		known[fmt.Sprintf("b%d", i)] = true
	}
	if s.known == nil {
		s.known = map[uint32]map[string]bool{}
	}
	s.known[mask] = known
	return known
}

var idNames = func() (names [32]string) {
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	return names
}()

func (s *search) state(v *view) State {
	st := State{
		Position: Holding{Size: decimal.NewFromInt(int64(v.pos.pos)), EntryPrice: micro(v.pos.entry)},
		Status:   [...]string{"ACTIVE", "PASSED", "FAILED"}[v.status.status],
		Orders:   ids(&v.ids.orders), Runs: ids(&v.ids.runs),
	}
	if v.pos.pos != 0 {
		st.Position.OpenedAt = served(v.pos.opened)
	}
	for i := int(v.rows.nRows) - 1; i >= 0; i-- {
		st.Rows = append(st.Rows, s.shownRows(v.rows.rows[i])...)
	}
	st.Rows = st.Rows[:min(len(st.Rows), s.cut)]
	done := &v.finished.finished
	for i := done.n - 1; i >= 0; i-- {
		if done.at[i] != idBurst {
			st.Finished.IDs = append(st.Finished.IDs, idNames[done.at[i]])
			continue
		}
		for n := range idsBurst {
			st.Finished.IDs = append(st.Finished.IDs, fmt.Sprintf("b%d", int(i+1)*idsBurst-n))
		}
	}
	st.Finished.IDs = st.Finished.IDs[:min(len(st.Finished.IDs), s.cut)]
	return st
}

func ids(l *list[order]) []string {
	var out []string
	for _, o := range l.at[:l.n] {
		out = append(out, idNames[o.id])
	}
	return out
}

func (s *search) shownRows(r row) []Row {
	out := Row{
		Digest: s.digest(r), Symbol: "X", Side: Direction(r.side), Cause: Cause(r.cause),
		ExitPrice: shown(micro(r.exit), true), GrossPnL: shown(micro(pnlOf(r)), true),
		EntryPrice: shown(micro(r.entry), s.fmt.priced),
		Size:       shown(decimal.NewFromInt(int64(r.size)), s.fmt.sizes),
		Fee:        shown(micro((r.entry+r.exit)*int64(r.size)).Mul(takerFee), true),
		ClosedAt:   served(r.t),
	}
	if !s.fmt.sizes {
		out.Side = NoSide
	}
	if !s.fmt.times {
		out.ClosedAt = servicetime.Time{}
	}
	if r.burst > 0 {
		out.Symbol = "Y"
	}
	if !s.fmt.symbols {
		out.Symbol = ""
	}
	rows := make([]Row, max(1, r.burst+r.copies))
	for i := range rows {
		if rows[i] = out; r.burst > 0 {
			rows[i].Digest += uint64(i)
		}
	}
	return rows
}
