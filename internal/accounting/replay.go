package accounting

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// maxActs is how many own writes a replay takes; maxStates bounds its work.
const (
	maxActs   = 64
	maxStates = 20_000
)

// Act is what a write asks for, and whether it ran.
type Act struct {
	Kind ActKind `json:"kind,omitempty"`
	// Side is that of an order. A close has none: the position gives it.
	Side Direction `json:"side,omitempty"`
	// Size is that of an order in base units, of its fill where that is known; Percent is that of a close.
	Size    decimal.Decimal `json:"size,omitzero"`
	Percent decimal.Decimal `json:"percent,omitzero"`
	// Sent and Ended are places in the order of what the program sent and heard. Ended is
	// when the write was answered, or could run no more; 0 before.
	Sent  int `json:"sent,omitempty"`
	Ended int `json:"done,omitempty"`
	// Ran: its answer says so. Any other may have run.
	Ran bool `json:"ran,omitempty"`
	// Late: it was answered so shortly before the list was read that its row need not
	// show yet, nor what its answer shows.
	Late bool `json:"-"`
	// After is the position that its answer carried; negative for a short.
	After decimal.NullDecimal `json:"after,omitzero"`
}

// endedBefore reports whether an act had ended when another was sent.
func (a *Act) endedBefore(b *Act) bool { return a.Ended > 0 && a.Ended < b.Sent }

// Waiting is an order that rests, or a run: it may trade at any moment, any amount up to its size. NoSide is
// either; a size that is not valid is no bound. Of a write under way its ID is that, and where nothing names
// it, it has none.
type Waiting struct {
	ID     string              `json:"id,omitempty"`
	Symbol string              `json:"symbol,omitempty"` // any, if it is empty
	Side   Direction           `json:"side,omitempty"`
	Size   decimal.NullDecimal `json:"size,omitzero"`
	Run    bool                `json:"run,omitempty"`
	// Gone is when the first read ended that showed it no more; zero while it may wait.
	Gone time.Time `json:"-"`
}

// Replay is what is known of a symbol since its baseline, from which every order of
// events is tried.
type Replay struct {
	// From is the position at the baseline. Newer: the rows may begin later than that, and an older one may
	// have closed a part of it.
	From  decimal.Decimal
	Newer bool
	// Rows are the symbol's closed trades since, oldest first.
	Rows []Row
	// Near: the position and the list were read one after the other, once. The first rows
	// may be in the position, as long as no write left them.
	Near bool
	// Anywhere: the baseline's position is an answer's, and any of the rows may be older.
	Anywhere bool
	// Cut: older rows may be missing.
	Cut     bool
	Acts    []Act
	Waiting []Waiting // those that may have traded
	// Part: of the order that is asked about no more than nine tenths need be filled.
	Part bool
	// Exp is a decimal place that sizes of the market are known to have.
	Exp int32
	// Halted: the account's status is another than at the baseline.
	Halted bool
	// To is the position that equal looks show; not valid without them.
	To decimal.NullDecimal
}

// Stranger has somebody else trade too, as an order that never ends. What he closes he closes as where
// flips net.
func (r *Replay) Stranger() { r.Waiting = append(r.Waiting, Waiting{}) }

// Rests adds a limit, which may fill at any time since it was sent, and returns its place among the acts. The
// position in an answer of since then may be of after that.
func (r *Replay) Rests(limit Act) int {
	limit.Ended = 0
	for i := range r.Acts {
		if a := &r.Acts[i]; !a.endedBefore(&limit) {
			a.After = decimal.NullDecimal{}
		}
	}
	r.Acts = append(r.Acts, limit)
	return len(r.Acts) - 1
}

// ReplayResult is what the orders of events that fit have in common.
type ReplayResult struct {
	// With and Without: the act that was asked about is in one, and is missing in one.
	// Neither: none fits.
	With, Without bool
	// Place is how many rows there were when the anchor's answer was; -1 if that differs.
	Place int
	// Failed is why there is no finding; empty if there is one.
	Failed Reason
}

// noPlace is the place before any order of events fits.
const noPlace = -2

// AtStart is the anchor whose place is where the replay begins, NoAct stands for no act and no
// anchor.
const (
	AtStart = -2
	NoAct   = -1
)

// Of tries every order of events. It is asked about one act, or by what anchor, an act
// whose answer carried the position, the books go on; [NoAct] for neither.
func (r *Replay) Of(asked, anchor int) ReplayResult {
	s := &replaying{asked: asked, anchor: anchor}
	return s.find(r)
}

func (s *replaying) find(r *Replay) ReplayResult {
	if why := s.take(r); why != "" {
		return ReplayResult{Place: -1, Failed: why}
	}
	s.found.Place = noPlace
	s.seen = make(map[state][]state)
	for _, s.fullFlip = range [...]bool{false, true} {
		s.begin()
		for n := len(s.open); n > 0 && !s.over(); n = len(s.open) {
			next := s.open[n-1]
			s.open = s.open[:n-1]
			s.step(next)
		}
		clear(s.seen)
		s.states = 0
		s.open = s.open[:0]
	}
	if s.found.Failed != "" || s.found.Place == noPlace {
		s.found.Place = -1
	}
	return s.found
}

// over reports whether nothing that is open can change what was found.
func (s *replaying) over() bool {
	both := s.asked == NoAct || s.found.With && s.found.Without
	return s.found.Failed != "" || both && (s.anchor == NoAct || s.found.Place == -1) && (s.asked != NoAct || s.anchor != NoAct)
}

// Verdict is the outcome of the act that was asked about.
func (f ReplayResult) Verdict() (ledger.Outcome, Reason) {
	switch {
	case f.Failed != "":
		return ledger.Unknown, f.Failed
	case f.With && f.Without:
		return ledger.Unknown, BothFit
	case f.With:
		return ledger.Applied, ReplayFits
	case f.Without:
		return ledger.NotApplied, ReplayFits
	default:
		return ledger.Unknown, NothingFits
	}
}

// replaying is a replay on its way. Sizes are in units of their last place.
type replaying struct {
	rows         []tradeRow
	acts         []act
	first        state
	either       int // so many of the first rows may be in the position
	near, cut    bool
	halts, rests bool
	shrunk       bool // something has closed a part of what it begins at
	to           int64
	ends         bool   // at to
	must         uint64 // the acts that ran, and whose rows show
	fullFlip     bool   // an order that meets an opposite position closes all of it, and opens its full size

	asked, anchor int
	found         ReplayResult
	seen          map[state][]state // by those that differ in what may be traded alone
	states        int
	open          []state
}

type tradeRow struct {
	side Direction
	size int64
	// byItself: a stop or a take-profit may have left it. byWrite: a write may.
	byItself, byWrite bool
}

type act struct {
	kind    ActKind
	side    Direction
	size    int64
	part    int64 // so much of it need not be filled
	percent int64 // in millionths of the whole
	after   int64
	carries bool
	// before are those that had run when it was sent, later those that were sent when it
	// had, or could no more.
	before, later uint64
	twins         uint64 // acts like it, of which it is not the first to run
}

// state is where an order of events has come to.
type state struct {
	done  uint64 // the acts that ran
	rows  int    // how many of them are there
	place int    // how many were, at the anchor's answer
	pos   span
	// buys and sells are what resting orders may trade yet.
	buys, sells int64
	halted      bool // the change of status has closed what there was
}

// span is a position: at least lo and at most hi, on a side. What is between may be there or not: slack of it by
// what did not fill, or was closed unseen, the rest by a resting order. What raises lo takes slack first.
type span struct {
	side          Direction // NoSide: flat
	lo, hi, slack int64
}

// begin opens the states in which it can begin.
func (s *replaying) begin() {
	for rows := range s.either + 1 {
		first := s.first
		first.rows = rows
		s.start(first)
		if s.shrunk {
			s.start(first.shrunk())
		}
		if !s.halts {
			continue
		}
		first.pos, first.halted = span{}, true // and the position shows it late
		s.start(first)
		if first.rows++; s.near && rows < len(s.rows) && s.rows[rows].byWrite {
			s.start(first)
		}
	}
}

func (s *replaying) start(first state) {
	if s.anchor == AtStart {
		first.place = first.rows
	}
	s.reach(first)
}

// reach takes a state in, with what resting orders can have traded by then.
func (s *replaying) reach(to state) {
	if !s.rests {
		s.push(to)
		return
	}
	for _, side := range [...]Direction{Long, Short} {
		if next := to; next.facing(side) {
			s.push(next)
		}
	}
}

// facing looks at a state as one with a position on a side, as large as resting orders
// can have made it; false if it cannot be on that side.
func (s *state) facing(side Direction) bool {
	if s.pos.side == -side && side != NoSide && !s.atMost(0) {
		return false
	}
	p := &s.pos
	if p.hi = max(p.hi, plus(p.lo+p.slack, *s.left(side))); p.hi > 0 {
		p.side = side
	}
	return true
}

// push opens a state, unless another allows all that it does.
func (s *replaying) push(to state) {
	kind := to
	kind.pos, kind.buys, kind.sells = span{side: to.pos.side}, 0, 0
	alike := s.seen[kind]
	for i := range alike {
		if alike[i].allows(&to) {
			return
		}
	}
	if s.states++; s.states > maxStates {
		s.found.Failed = TooManyOrders
		return
	}
	s.seen[kind] = append(s.seen[kind], to)
	s.open = append(s.open, to)
}

// allows reports whether all that can follow another state of its kind can follow this one.
func (s state) allows(o *state) bool {
	mine := s
	if s.pos.lo > o.pos.lo || s.pos.hi < o.pos.hi || !mine.clip(o.pos.lo, o.pos.hi) {
		return false
	}
	return mine.pos.slack >= o.pos.slack && mine.buys >= o.buys && mine.sells >= o.sells
}

// step goes on from a state in every way.
func (s *replaying) step(from state) {
	if from.rows == len(s.rows) && from.done&s.must == s.must && (!s.ends || from.meets(s.to)) {
		s.fits(&from)
	}
	for i := range s.acts {
		a := &s.acts[i]
		switch {
		case from.done>>i&1 == 1, a.twins&^from.done != 0:
		case a.before&^from.done != 0, a.later&from.done != 0:
		default:
			next := from
			next.done |= 1 << i
			s.run(next, i)
		}
	}
	s.byItself(from)
}

// fits takes in an order of events that fits.
func (s *replaying) fits(end *state) {
	if s.asked >= 0 {
		ran := end.done>>s.asked&1 == 1
		s.found.With, s.found.Without = s.found.With || ran, s.found.Without || !ran
	} else {
		s.found.Without = true
	}
	switch {
	case s.found.Place == noPlace:
		s.found.Place = end.place
	case s.found.Place != end.place:
		s.found.Place = -1
	}
}
