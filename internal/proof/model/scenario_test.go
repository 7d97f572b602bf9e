package model

import (
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// scenario is one kind of write, under one kind of key, in one world.
type scenario struct {
	name  string
	terms ledger.Terms
	readings
	levels      levels        // of a TP/SL setting
	ownRoute    bool          // the client knows that keys are per route, and fences there
	named       bool          // the key comes from a decision that is taken again
	second      bool          // by a second program too
	ownJournals bool          // which has a journal of its own
	forgetful   bool          // no durable journal
	vanish      bool          // the order's trace can be taken away
	edges       bool          // with the accidents of disks, connections, limits and unheard-of codes
	leased      bool          // the journal is held under a lease
	listens     bool          // a send that had no answer in time is listened to
	firstFor    time.Duration // how long the first send is waited for; 0 as long as any
	lies        lies
	only        []string // the accidents that there are; all if there is none
	trace       bool
}

// lies are what a client does that leaves out a rule.
type lies struct {
	terms         func(t *ledger.Terms)
	fact          func(p *program, f *ledger.Fact) bool
	step          func(p *program, s ledger.Step) ledger.Step
	look          func(v *ledger.Finding)
	sendsAgain    bool // a restarted program goes on sending
	journalLate   bool
	noGate        bool // what was held up leaves all the same
	noGap         bool // a taking counts as an orderly restart
	noLease       bool // the gate does not ask for the lease
	knowsDecision bool // a process without the lease says what became of a decision that it did not send
	nextKey       bool // a pending decision goes on under the next key
	leavesLate    bool // a send that was held up leaves behind a late answer
	volatile      map[ledger.FactKind]bool
}

func (l *lies) onTerms(t *ledger.Terms) {
	if l.terms != nil {
		l.terms(t)
	}
}

func (l *lies) onFact(p *program, f *ledger.Fact) bool { return l.fact == nil || l.fact(p, f) }

func (l *lies) onStep(p *program, s ledger.Step) ledger.Step {
	if l.step != nil {
		return l.step(p, s)
	}
	return s
}

func (l *lies) onLook(v *ledger.Finding) {
	if l.look != nil {
		l.look(v)
	}
}

func (l *lies) restore(t ledger.Terms, facts []ledger.Fact, now ledger.Instant) ledger.Ledger {
	if !l.sendsAgain {
		return ledger.Restore(t, facts, now)
	}
	t.Decided = now
	return ledger.New(t)
}

// market is a market order under a fresh key on an account that others trade too.
func market() scenario {
	return scenario{name: "market order", terms: ledger.Terms{
		Keyed: true, Entry: true, Resolves: true, Lasting: true, FirstUseKnown: true, TTL: time.Minute,
		Retry: ledger.Bounds{Attempts: 3, PriceAttempts: 2, MinWait: 200 * time.Millisecond, MaxWait: 5 * time.Second},
	}}
}

func with(name string, changes ...func(s *scenario)) scenario {
	s := market()
	for _, change := range changes {
		change(&s)
	}
	s.name = name
	return s
}

func exclusive(s *scenario) { s.terms.Exclusive = true }
func once(s *scenario)      { s.terms.TTL = 0 }
func exit(s *scenario)      { s.terms.Entry = false }
func limit(s *scenario)     { s.terms.Lasting = false }
func cancel(s *scenario)    { s.terms.Entry, s.terms.Resolves, s.terms.Lasting = false, false, false }
func paper(s *scenario)     { s.terms.Keyed = false }
func given(s *scenario)     { s.terms.Source, s.named = ledger.Given, true }
func derived(s *scenario)   { s.terms.Source, s.named = ledger.Derived, true }
func firstUse(s *scenario)  { s.terms.FirstUseKnown = false }
func since(s *scenario) {
	given(s)
	firstUse(s)
	s.terms.NotBefore, s.terms.Since = true, servicetime.Shown(start)
}

// edges is a search of its own: the accidents of disks, machines, connections, limits and
// codes, and of the others those that they meet.
func edges(s *scenario) {
	s.edges = true
	s.only = append([]string{"reply lost", "request lost", "5xx after", "part-way, after", "dies", "takes 6 s", "takes 14 min", "delayed 9 min",
		"caller leaves", "CRASH after the byte, facts lost; again after 1 min", "CRASH after the byte, all facts kept; again after 1 h",
		"wall clock", "without a Date", "the machine sleeps"}, edgeNames()...)
}
func twoJournals(s *scenario) { s.second, s.ownJournals = true, true }
func noJournal(s *scenario)   { s.forgetful = true }
func others(s *scenario)      { s.vanish = true }

func reading10(s *scenario) { s.inFlightToOthers = true }
func reading50(s *scenario) { s.releasesFirst = true }
func ownRoute(s *scenario)  { s.keysPerRoute, s.ownRoute = true, true }
func partWayToAll(s *scenario) {
	s.unknownToOthers = true
}

// scenarios are those in which the protocol must hold.
var scenarios = []scenario{
	market(),
	with("market order, exclusive", exclusive),
	with("market order, sent once", once),
	with("market order, 10", reading10),
	with("market order, 50", reading50),
	with("market order, 10 and 50, exclusive", reading10, reading50, exclusive, partWayToAll),
	with("market order, 49", ownRoute),
	with("market order, edges", edges),
	with("close, edges, exclusive", edges, exit, exclusive),
	with("order id, edges", edges, derived),
	with("market order, sent once, edges", edges, once),
	with("given key, first use unknown, edges", edges, given, firstUse),
	with("paper order, edges", edges, paper),
	with("market order, under a lease", leased),
	with("market order, under a lease, 10 and 50", leased, reading10, reading50),
	with("close, under a lease, exclusive", leased, exit, exclusive),
	with("order id, under a lease", leased, derived),
	with("exit under an order id, under a lease", leased, derived, exit),
	with("paper order, under a lease", leased, paper),
	with("close", exit),
	with("resting limit", limit, others),
	with("resting limit, exclusive", limit, exclusive),
	with("Pro order, 10 and 50", limit, others, reading10, reading50),
	with("cancel", cancel),
	with("TP/SL, edit", cancel, exit, reading50),
	with("paper order", paper),
	with("paper order, exclusive", paper, exclusive),
	with("order id", derived),
	with("order id, exclusive, 10", derived, exclusive, reading10),
	with("order id, 50", derived, reading50),
	with("exit under an order id", derived, exit),
	with("Pro order under an order id", derived, limit, exclusive),
	with("order id, no journal", derived, firstUse, noJournal),
	with("order id, two programs, two journals", derived, firstUse, twoJournals),
	with("order id, two programs, two journals, 10 and 50", derived, firstUse, twoJournals, reading10, reading50, exclusive),
	with("given key", given),
	with("given key, first use unknown", given, firstUse),
	with("given key, not used before", since, exclusive),
	with("market order, listened to", listens),
	with("partial close, listened to", exit, listens),
	with("full close, asked twice", asksTwice),
	with("full close, asked twice, 10 and 50, exclusive", asksTwice, reading10, reading50, exclusive),
	with("full close under an order id, asked twice, under a lease", asksTwice, derived, leased),
	with("full close, given key, first use unknown, asked twice", asksTwice, given, firstUse),
	with("cancel, asked twice", cancel, asksTwice),
}
