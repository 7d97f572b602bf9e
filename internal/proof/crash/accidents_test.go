package crash

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// troubles are what goes wrong beside the calls' own faults. The zero value is none.
type troubles struct {
	skew, drift time.Duration // of the service's clock against the machine's: from the start, and more in each hour
	dates       dating        // what the answers' Date says
	stopAt      int           // step of the first life at which the machine stops, and goes on later; 0: never
	stopFor     time.Duration
	slowAt      int // append of the first life from which on a sync takes so long; 0: never
	slow        time.Duration
	losesAt     int           // append of the first life that is lost
	dials       time.Duration // until a connection is there
	swallowAt   int           // request of the write that no answer and no error comes to; 0: none
	swallowed   bool          // it arrives all the same
	pipes       piping        // how the client's connections are its own
	dieAfter    time.Duration // so long after the decision they die
	limits      trading.RateLimits
	degraded    bool          // the health, for 8 seconds, a second after the decision
	guard       time.Duration // a guard takes so long, over the first send
	refuses     int           // question to the guard that it says no to
	pace        time.Duration // own orders before the write, so far apart
	edge        bool          // something in front marks each answer as its own
	cached      time.Duration // something in front answers reads with what it has, for so long
	described   bool          // it answers the contract with one of an hour ago
	since       bool          // the id was not used before now, says the caller
	whole       bool          // a close is of all
	rows        int           // lists of closed trades are so short; 0: as long as they are
	givenUp     givenUp       // own orders before the write
	elsewhere   elsewhere
}

// piping is what becomes of connections of the client's own, on which it listens to its writes and asks twice
// for an exit.
type piping uint8

const (
	unpiped  piping = iota // a transport of the program's, on which it does neither
	piped                  // nothing
	swallows               // they swallow what is sent, and acknowledge it
	drops                  // their path drops packets
)

// dating is what is wrong with an answer's Date.
type dating uint8

const (
	dated      dating = iota
	undated           // there is none
	datedFirst        // a replay has that of the first answer
	datedAhead        // it is of something in front, 4 s ahead
	datedBack         // and 4 s behind
)

// accident is one trouble, by the name that reports use.
type accident struct {
	name   string
	happen func(*schedule, *rand.Rand)
}

var accidents = slices.Concat(clockAccidents(), machineAccidents(), []accident{
	{name: "answers without a Date", happen: func(s *schedule, _ *rand.Rand) { s.dates = undated }},
	{name: "a replay has the Date of the first answer", happen: func(s *schedule, _ *rand.Rand) { s.dates = datedFirst }},
	{name: "Date 4s ahead of the rows", happen: func(s *schedule, _ *rand.Rand) { s.dates = datedAhead }},
	{name: "Date 4s behind the rows", happen: func(s *schedule, _ *rand.Rand) { s.dates = datedBack }},
	{name: "the contract from a cache, an hour old", happen: func(s *schedule, _ *rand.Rand) { s.described = true }},
	{name: "reads from a cache for 12s", happen: func(s *schedule, _ *rand.Rand) { s.cached = 12 * time.Second }},
	{name: "an edge that marks each answer", happen: func(s *schedule, _ *rand.Rand) { s.edge = true }},
	{name: "connections take 4s", happen: func(s *schedule, _ *rand.Rand) { s.dials = 4 * time.Second }},
	{name: "a connection swallows the request", happen: func(s *schedule, r *rand.Rand) { s.swallowAt = pick(r, 1, 1, 2, 3) }},
	{name: "a connection swallows the answer", happen: func(s *schedule, r *rand.Rand) { s.swallowAt, s.swallowed = pick(r, 1, 1, 2, 3), true }},
	{name: "over connections", happen: func(s *schedule, _ *rand.Rand) { s.pipes = piped }},
	{name: "over connections that swallow and acknowledge", happen: func(s *schedule, r *rand.Rand) { s.overConnections(swallows, r) }},
	{name: "over a path that drops", happen: func(s *schedule, r *rand.Rand) { s.overConnections(drops, r) }},
	{name: "the class is nearly full", happen: func(s *schedule, _ *rand.Rand) { s.limits.PerClass = 9 }},
	{name: "the key is nearly full", happen: func(s *schedule, _ *rand.Rand) { s.limits.PerKey = 36 }},
	{name: "health degrades for 8s", happen: func(s *schedule, _ *rand.Rand) { s.degraded = true }},
	{name: "a guard takes 3s", happen: func(s *schedule, _ *rand.Rand) { s.guard = 3 * time.Second }},
	{name: "a guard takes 45m", happen: func(s *schedule, _ *rand.Rand) { s.guard = 45 * time.Minute }},
	{name: "a guard refuses", happen: func(s *schedule, r *rand.Rand) {
		s.refuses, s.named, s.repeat, s.otherAt = pick(r, 1, 2, 2), true, true, pick(r, 0, time.Second, 12*time.Second)
	}},
	{name: "not used before now", happen: func(s *schedule, r *rand.Rand) {
		s.named, s.since, s.skew = true, true, pick(r, 0, 50*time.Millisecond, -50*time.Millisecond)
		s.startCold(r)
	}},
	{name: "lists of 5 closed trades", happen: func(s *schedule, _ *rand.Rand) { s.rows = 5 }},
	{name: closesElsewhere, happen: (*schedule).hidesWhatClosed},
	{name: "own orders 0.2s apart", happen: func(s *schedule, _ *rand.Rand) { s.pace = 200 * time.Millisecond }},
	{name: "own orders 1s apart", happen: func(s *schedule, _ *rand.Rand) { s.pace = time.Second }},
	{name: "own orders 3s apart", happen: func(s *schedule, _ *rand.Rand) { s.pace = 3 * time.Second }},
	{name: "own orders 6s apart", happen: func(s *schedule, _ *rand.Rand) { s.pace = 6 * time.Second }},
	{name: "orders are given up before", happen: (*schedule).givesUp},
}, codeAccidents())

// overConnections has the client's connections die soon after the decision, and exits be of all as often as not:
// they are asked for twice.
func (s *schedule) overConnections(how piping, r *rand.Rand) {
	s.pipes, s.looks, s.whole = how, true, r.IntN(2) == 0
	s.dieAfter = pick(r, 0, 500*time.Millisecond, 3*time.Second, 6*time.Second)
	if s.op = pick(r, s.op, s.op, closing); s.ttl == 0 {
		s.ttl = -1
	}
}

func clockAccidents() (all []accident) {
	for _, d := range []time.Duration{-time.Hour, -10 * time.Second, -3 * time.Second, 50 * time.Millisecond, 3 * time.Second, 10 * time.Second, time.Hour} {
		all = append(all, accident{name: "the service's clock " + d.String() + " off", happen: func(s *schedule, r *rand.Rand) {
			s.skew = d
			s.startCold(r)
		}})
	}
	for _, d := range []time.Duration{-30 * time.Second, 4 * time.Second} {
		all = append(all, accident{name: "the service's clock " + d.String() + " an hour off", happen: func(s *schedule, _ *rand.Rand) { s.drift = d }})
	}
	return all
}

// startCold lets every second schedule begin with a close, so that the program knows
// nothing of the service's clock when it decides.
func (s *schedule) startCold(r *rand.Rand) {
	if r.IntN(2) == 0 {
		s.op, s.whole, s.looks = closing, r.IntN(2) == 0, false
		s.kill1, s.away = r.Float64(), pick[time.Duration](r, 0, 5*time.Second)
	}
}

// machineAccidents are of the machine that the program runs on, and of its disk.
func machineAccidents() (all []accident) {
	for _, d := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour} {
		all = append(all, accident{name: "the machine stops for " + d.String(), happen: func(s *schedule, r *rand.Rand) {
			s.stopAt, s.stopFor = 1+r.IntN(25), d
		}})
	}
	for _, d := range []time.Duration{time.Second, time.Minute, 10 * time.Minute} {
		all = append(all, accident{name: "a sync takes " + d.String(), happen: func(s *schedule, r *rand.Rand) {
			s.slowAt, s.slow = 1+r.IntN(6), d
		}})
	}
	return append(all, accident{name: "an append is lost", happen: func(s *schedule, r *rand.Rand) {
		s.losesAt = 1 + r.IntN(8)
		if r.IntN(2) == 0 { // an ending, of an id that is taken again when the service has forgotten it
			s.named, s.repeat, s.away, s.losesAt = true, true, 25*time.Hour, pick(r, 2, 2, 3, 4)
		}
	}})
}

func codeAccidents() (all []accident) {
	for _, f := range unheardOf {
		all = append(all, accident{name: f.Name, happen: func(s *schedule, r *rand.Rand) {
			s.tries[r.IntN(len(s.tries))] = f
		}})
	}
	return all
}

// befall lets as many accidents happen to a schedule as the flags say: none, one or two
// without them, and then one in eight goes over connections besides.
func (s *schedule) befall(r *rand.Rand) {
	n := *beside
	if n < 0 {
		n = pick(r, 0, 1, 1, 2)
	}
	for range n {
		if *only != "" {
			s.meets(accidentOf(*only), r)
			continue
		}
		s.meets(accidents[r.IntN(len(accidents))], r)
	}
	if *beside < 0 && r.IntN(8) == 0 {
		s.meets(accidentOf(pick(r, "over connections", "over connections that swallow and acknowledge", "over a path that drops")), r)
	}
}

func (s *schedule) meets(a accident, r *rand.Rand) {
	if slices.Contains(s.beside, a.name) {
		return
	}
	s.beside = append(s.beside, a.name)
	a.happen(s, r)
}

func accidentOf(name string) accident {
	i := slices.IndexFunc(accidents, func(a accident) bool { return a.name == name })
	if i < 0 {
		panic("there is no accident " + name)
	}
	return accidents[i]
}

// dateOf changes an answer's Date, as the schedule says.
func (p *process) dateOf(header http.Header, key string) {
	w := p.world
	switch w.dates {
	case undated:
		header.Del("Date")
	case datedAhead, datedBack:
		off := 4 * time.Second
		if w.dates == datedBack {
			off = -off
		}
		header.Set("Date", w.clock().Add(off).UTC().Format(http.TimeFormat))
	case datedFirst:
		w.mu.Lock()
		defer w.mu.Unlock()
		if first, ok := w.firstDates[key]; ok && header.Get("Idempotent-Replayed") != "" {
			header.Set("Date", first)
		} else if key != "" && !ok {
			w.firstDates[key] = header.Get("Date")
		}
	}
}
