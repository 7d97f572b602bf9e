package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// schedule is one life of a write, made from a seed.
type schedule struct {
	family family
	seed   uint64

	// What is sent, and how.
	op       operation
	decided  bool          // under a decision's keys
	lifetime time.Duration // of the write; below 0 for the client's own
	baseline baseline
	sole     bool // the bot declares that nobody else trades
	bound    bool // the call's context can end
	second   second
	resolve  resolve

	// The world around it.
	held     holding
	owner    act
	ownerAt  moment
	readings []int
	lag      time.Duration // of the service's reads
	latency  time.Duration // of the way to it, and of the way back

	// What breaks. Calls beyond the plan go well.
	tries, fences, reads []fault

	// Where the bot dies, and when it comes back. The first kill is a share of the
	// steps that the first process takes, so that each is as likely as the next.
	kill1       float64
	kill2       int
	away, again time.Duration // from the first send, and from the second death
	clockBack   time.Duration // the machine's clock is set back meanwhile
	elsewhere   bool          // the second process has another base URL
	beside      beside        // what the second does while it recovers
	repeat      moment        // when the second takes the decision again
	denied      time.Duration // for so long the holder's access is withdrawn
	locked      bool          // the account fails before the recovery
}

type (
	family    string
	operation string
	baseline  string
	second    string
	resolve   string
	holding   string
	act       string
	moment    string
	beside    string
)

const (
	none = ""

	single  family = ""        // one write
	many    family = "many"    // eight goroutines write at once
	control family = "control" // one write, in real time

	market      operation = "order"
	resting     operation = "limit"
	closing     operation = "close"
	timed       operation = "twap"
	conditional operation = "conditional"

	readBefore baseline = "read before"
	readByCall baseline = "read by the call"

	closesHalf second = "closes half"
	closesAll  second = "closes all"
	ordersToo  second = "orders the same again, guard skipped"
	limitsETH  second = "rests a limit in another market"

	asks      resolve = "asks"
	stillWant resolve = "still wants it"

	position holding = "a position"
	levels   holding = "a position with levels"
	waiting  holding = "a resting order of the owner's"
	running  holding = "a running TWAP of the owner's"

	sameSize  act = "trades the same size by hand"
	undoes    act = "trades it back by hand"
	cancels   act = "cancels what rests"
	moveMarks act = "sees the price move"

	beforeWrite    moment = "before the write"
	afterDeath     moment = "after the death"
	inRecovery     moment = "during the recovery"
	beforeRecovery moment = "before the recovery"
	afterRecovery  moment = "after the recovery"

	otherMarket beside = "trades another market"
	sameMarket  beside = "closes a tenth in the same market"
)

// awayTimes are how long a killed bot stays away, counted from the first send.
var awayTimes = []time.Duration{0, 5 * time.Second, 5 * time.Minute, 15*time.Minute - time.Second, 15*time.Minute + time.Second, 25 * time.Hour}

// schedule makes the schedule of a seed.
func (f family) schedule(seed uint64) schedule {
	switch f {
	case many:
		return newMany(seed)
	case control:
		return newControl(seed)
	default:
		return newSchedule(seed)
	}
}

// newSchedule makes the schedule of a seed.
func newSchedule(seed uint64) schedule {
	r := rand.New(rand.NewPCG(seed, 0x6372617368))
	chance := func(percent int) bool { return r.IntN(100) < percent }
	s := schedule{
		seed:     seed,
		op:       pick(r, market, market, market, resting, closing, closing, timed, conditional),
		decided:  chance(35),
		lifetime: pick(r, -1, -1, 0, 0, time.Minute, 12*time.Minute),
		baseline: pick(r, none, readBefore, readBefore, readByCall),
		sole:     chance(45),
		bound:    chance(50),
		held:     pick(r, none, none, position, position, levels, waiting, running),
		lag:      pick(r, 0, 0, 2*time.Second, 4900*time.Millisecond),
		latency:  pick(r, 0, 0, 30*time.Millisecond, 700*time.Millisecond),
		kill1:    r.Float64(),
		away:     pick(r, awayTimes...),
		again:    pick(r, 0, time.Minute, 15*time.Minute+time.Second, 25*time.Hour),
	}
	if s.op == closing && s.held == none {
		s.held = position
	}
	if chance(20) {
		s.kill1 = 1 // it lives to the end
	}
	if chance(50) {
		s.kill2 = 1 + r.IntN(35)
	}
	faults, goOn := writeFaults, 50
	if chance(30) {
		faults, goOn = doubtful, 75
	}
	for more := true; more && len(s.tries) < 4; more = chance(goOn) {
		s.tries = append(s.tries, pickFault(r, faults))
	}
	for chance(30) && len(s.fences) < 6 {
		s.fences = append(s.fences, pickFault(r, fenceFaults))
	}
	for chance(10) && len(s.reads) < 6 {
		s.reads = append(s.reads, pickFault(r, readFaults))
	}
	for chance(25) && len(s.readings) < 3 {
		s.readings = append(s.readings, pick(r, 6, 9, 10, 12, 13, 35, 38, 39, 43, 44, 46, 50, 51))
	}
	if chance(25) {
		s.second = pick(r, closesHalf, closesAll, ordersToo, limitsETH)
	}
	if chance(30) {
		s.resolve = pick(r, asks, stillWant)
	}
	if chance(35) {
		s.owner, s.ownerAt = pick(r, sameSize, sameSize, undoes, cancels, moveMarks), pick(r, beforeWrite, afterDeath, inRecovery, afterRecovery)
	}
	if chance(10) {
		s.clockBack = pick(r, time.Minute, time.Hour, 26*time.Hour)
	}
	s.elsewhere = chance(6)
	if chance(20) {
		s.beside = pick(r, otherMarket, sameMarket)
	}
	if s.decided && chance(70) {
		s.repeat = pick(r, beforeRecovery, afterRecovery)
	}
	if chance(5) {
		s.denied = pick(r, 30*time.Second, time.Hour)
	}
	s.locked = chance(4)
	s.keepItsWord()
	return s
}

// keepItsWord takes the declaration back where it would be false: then the client
// is allowed to be wrong.
func (s *schedule) keepItsWord() {
	others := s.owner != none && s.owner != moveMarks || s.held == waiting || s.held == running
	// By another address it is another program to the first.
	if elsewhere := s.elsewhere && (s.beside == sameMarket || s.repeat != none); others || elsewhere {
		s.sole = false
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// String tells the schedule in a few lines.
func (s schedule) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("seed %d: %s, decision %t, lifetime %s, baseline %q, sole actor %t, bound %t", s.seed, s.op, s.decided, s.lifetime, s.baseline, s.sole, s.bound)
	line("  holding %q, lag %s, latency %s, readings %v, second write %q, resolve %q", s.held, s.lag, s.latency, s.readings, s.second, s.resolve)
	line("  owner %q %q; denied for %s, locked %t", s.owner, s.ownerAt, s.denied, s.locked)
	line("  tries %s; fences %s; reads %s", faultNames(s.tries), faultNames(s.fences), faultNames(s.reads))
	line("  killed at %.2f, away %s, clock back %s, elsewhere %t, beside %q, decision again %q", s.kill1, s.away, s.clockBack, s.elsewhere, s.beside, s.repeat)
	line("  second killed at step %d, away %s", s.kill2, s.again)
	return b.String()
}

func faultNames(faults []fault) string {
	names := make([]string, len(faults))
	for i, f := range faults {
		names[i] = f.name
	}
	return "[" + strings.Join(names, " | ") + "]"
}
