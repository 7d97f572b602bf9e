package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// kind is who takes part in a schedule.
type kind string

const (
	solo      kind = "one program"
	oneHandle kind = "two clients on one journal"
	twoFiles  kind = "two programs with journals of their own"
	paper     kind = "the paper account"
)

var kinds = []kind{solo, oneHandle, twoFiles, paper}

type (
	operation string
	holding   string
	act       string
)

const (
	none = ""

	market  operation = "order"
	resting operation = "limit"
	closing operation = "close"
	timed   operation = "twap"
	levels  operation = "levels"

	position holding = "a position"
	withStop holding = "a position with a stop"
	opposite holding = "an opposite position"
	waiting  holding = "a resting order of the person's"

	sameSize act = "trades the same size"
	undoes   act = "trades it back"
	cancels  act = "cancels what rests"
	moves    act = "sees the price move"
)

// schedule is one life of a write, made from a seed.
type schedule struct {
	kind kind
	seed uint64

	op        operation
	named     bool          // under a client order id
	ttl       time.Duration // below 0: the client's own, as patience
	patience  time.Duration
	exclusive bool
	leaves    time.Duration // the caller, after so long; 0: never
	looks     bool          // the program has read its account before
	exits     bool          // closes a tenth beside the write in doubt

	held     holding
	person   act
	personAt time.Duration // after the first send
	readings []int
	lags     rig.Lags
	latency  time.Duration

	tries, fences, reads []fault // calls beyond them go well

	kill1       float64 // share of the first life's steps; 1: it lives
	kill2       int     // step of the second life; 0: it lives
	powerCut    bool    // with it goes what was not synced
	disk        int     // append from which on the first life's disk fails; 0: never
	away, again time.Duration
	jump        time.Duration // of the machine's clock against the service's, over the restart
	repeat      bool          // the second life takes the named decision again
	otherAt     time.Duration // when the second client or program takes the decision

	troubles
	beside []string // names of the accidents that made them
}

func newSchedule(k kind, seed uint64) schedule {
	return draw(k, seed, (*schedule).befall)
}

// draw makes a schedule from a seed, with the accidents of befall.
func draw(k kind, seed uint64, befall func(*schedule, *rand.Rand)) schedule {
	r := rand.New(rand.NewPCG(seed, uint64(len(k))))
	chance := func(percent int) bool { return r.IntN(100) < percent }
	minutes := func(n ...int) time.Duration { return time.Duration(pick(r, n...)) * time.Minute }
	s := schedule{
		kind: k, seed: seed,
		op:        pick(r, market, market, market, resting, closing, closing, timed, levels),
		named:     chance(40),
		ttl:       pick(r, -1, -1, 0, time.Minute),
		patience:  pick[time.Duration](r, -1, -1, 0),
		exclusive: chance(60),
		looks:     chance(60),
		exits:     chance(15),
		held:      pick(r, none, none, position, withStop, opposite, waiting),
		latency:   pick(r, 0, 30*time.Millisecond, 700*time.Millisecond),
		kill1:     1, powerCut: chance(30),
		away:    pick(r, 0, 5*time.Second, minutes(1, 9, 14, 16, 29, 31), 25*time.Hour),
		again:   pick[time.Duration](r, 0, minutes(1, 15), 25*time.Hour),
		otherAt: pick(r, 0, time.Second, 12*time.Second, minutes(1, 20)),
	}
	for i := range s.lags {
		s.lags[i] = pick(r, 0, 0, 2*time.Second, 4900*time.Millisecond)
	}
	if chance(75) {
		s.kill1 = r.Float64()
	}
	if chance(40) {
		s.kill2 = 1 + r.IntN(40)
	}
	if chance(25) {
		s.leaves = time.Duration(1+r.IntN(20_000)) * time.Millisecond
	}
	for more := true; more && len(s.tries) < 4; more = chance(50) {
		s.tries = append(s.tries, pick(r, writeFaults...))
	}
	for chance(30) && len(s.fences) < 6 {
		s.fences = append(s.fences, pick(r, fenceFaults...))
	}
	for chance(15) && len(s.reads) < 6 {
		s.reads = append(s.reads, pick(r, readFaults...))
	}
	for chance(20) && len(s.readings) < 3 {
		s.readings = append(s.readings, pick(r, 6, 9, 10, 12, 13, 35, 38, 39, 43, 44, 46, 49, 50, 51, 53))
	}
	if chance(30) {
		s.person, s.personAt = pick(r, sameSize, sameSize, undoes, cancels, moves), pick(r, 0, 3*time.Second, minutes(1, 20))
	}
	if chance(8) {
		s.jump = pick(r, -26*time.Hour, -time.Hour, -time.Minute, time.Minute, time.Hour, 26*time.Hour)
	}
	if chance(8) {
		s.disk = 1 + r.IntN(6)
	}
	s.repeat = s.named && chance(70)
	befall(&s, r)
	s.fit()
	return s
}

// fit takes back what does not go together.
func (s *schedule) fit() {
	if s.kind == paper { // it has no orders but market ones, no keys and no journal
		s.named, s.repeat, s.since, s.disk, s.kill1, s.kill2 = false, false, false, 0, 1, 0
		if s.op != closing {
			s.op = market
		}
		if s.person != none {
			s.person = moves
		}
	}
	if (s.op == closing || s.op == levels) && (s.held == none || s.held == waiting) {
		s.held = position
	}
	if s.kind == twoFiles {
		s.named = true
	}
	// A declaration is true: somebody else who trades makes the client's word worthless.
	if s.kind == twoFiles || s.person != none && s.person != moves || s.held == waiting {
		s.exclusive = false
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// String tells the schedule in a few lines.
func (s schedule) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s, seed %d: %s, named %t, ttl %s, patience %s, exclusive %t, leaves %s, looks before %t, exits %t", s.kind, s.seed, s.op, s.named, s.ttl, s.patience, s.exclusive, s.leaves, s.looks, s.exits)
	line("  holding %q, person %q at %s, lags %s, latency %s, readings %v", s.held, s.person, s.personAt, s.lags, s.latency, s.readings)
	line("  tries %s; fences %s; reads %s", faultNames(s.tries), faultNames(s.fences), faultNames(s.reads))
	line("  killed at %.2f, power cut %t, disk fails at %d, away %s, clock jumps %s, again %t", s.kill1, s.powerCut, s.disk, s.away, s.jump, s.repeat)
	line("  second killed at step %d, away %s, other at %s", s.kill2, s.again, s.otherAt)
	line("  beside: %s; %+v", strings.Join(s.beside, " | "), s.troubles)
	return b.String()
}

func faultNames(faults []fault) string {
	names := make([]string, len(faults))
	for i, f := range faults {
		names[i] = f.Name
	}
	return "[" + strings.Join(names, " | ") + "]"
}
