package model

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// The contract's periods.
const (
	claimLasts  = 15 * time.Minute
	answerLasts = 24 * time.Hour
)

// kind of request.
type kind uint8

const (
	order kind = iota
	fence
)

// request is one request on its way.
type request struct {
	kind    kind
	key     int
	probe   bool
	program *program
	id      int
	send    int // its number among the sends of its write; 0 of another
	write   int
	sent    time.Duration

	knows5xx bool // a program had heard a 5xx when it left
}

type status uint8

const (
	free status = iota
	running
	stored
	partWay
)

// record is what the service holds under a key.
type record struct {
	status status
	kind   kind
	since  time.Duration
	answer ledger.Answer
	claim  int // tells workers apart
}

// execution is one time that the order ran.
type execution struct {
	at      time.Duration
	probe   bool
	key     int
	program *program
}

var (
	ok          = ledger.Answer{Class: ledger.Success, Status: 200}
	refused     = ledger.Answer{Class: ledger.Refusal, Code: "NO_EQUITY", Status: 400, Says: ledger.NotApplied}
	stalePrice  = ledger.Answer{Class: ledger.Refusal, Code: "STALE_PRICE", Status: 409, Says: ledger.NotApplied, Advice: ledger.NewKey, Price: true}
	tooMany     = ledger.Answer{Class: ledger.Refusal, Code: "rate_limited", Status: 429, Says: ledger.NotApplied, Advice: ledger.WaitFirst, RetryAfter: time.Second}
	unavailable = ledger.Answer{Class: ledger.Refusal, Code: "idempotency_unavailable", Status: 503, Says: ledger.NotApplied, Advice: ledger.SameKey}
	failed      = ledger.Answer{Class: ledger.Refusal, Code: "internal_error", Status: 500}
	inFlight    = ledger.Answer{Class: ledger.Refusal, Code: "idempotency_in_flight", Status: 409, Advice: ledger.SameKey}
	unknown     = ledger.Answer{Class: ledger.Refusal, Code: "idempotency_result_unknown", Status: 409}
	reused      = ledger.Answer{Class: ledger.Refusal, Code: "idempotency_key_reused", Status: 422, Says: ledger.NotApplied}
	noOrder     = ledger.Answer{Class: ledger.Refusal, Code: "order_not_found", Status: 404, Says: ledger.NotApplied}
	badSymbol   = ledger.Answer{Class: ledger.Refusal, Code: "asset_disabled", Status: 403, Says: ledger.NotApplied}
	silence     = ledger.Answer{Class: ledger.Silence}
	unheardOf   = ledger.Answer{Class: ledger.Unclear, Code: "database_error", Status: 500}
	page        = ledger.Answer{Class: ledger.Foreign, Status: 502}
	turnedAway  = ledger.Answer{Class: ledger.Refusal, Code: "invalid_api_key", Status: 401, Says: ledger.NotApplied, InFront: true, Confirm: true}
)

// How a request travels.
var travels = []option{
	{"arrives", 0}, {"request lost", 1},
	{"request delayed 2.5 s", 1}, {"request delayed 7 s", 1}, {"request delayed 9 min", 1}, {"request delayed 14 min", 1},
	{"request delayed 40 min", 1},
}

var delays = []time.Duration{2500 * time.Millisecond, 7 * time.Second, 9 * time.Minute, 14 * time.Minute, 40 * time.Minute}

// What stands in front of the key.
var fronts = []option{{"", 0}, {"429 in front", 1}, {"503 in front", 1}, {"refused in front (51)", 1}}

// How a worker goes about an order.
const (
	works = iota
	refuses
	stale
	failsBefore
	failsAfter
	breaksBefore
	breaksAfter
	diesBefore
	diesAfter
	limits
	placesNothing
	slow2
	slow6
	slow12
	slow14m
	outlives
)

var workers = []option{
	works: {"executes", 0}, refuses: {"refuses", 0}, stale: {"refuses for its price", 1},
	failsBefore: {"5xx before the work", 1}, failsAfter: {"5xx after the work", 1},
	breaksBefore: {"part-way, before the work", 1}, breaksAfter: {"part-way, after the work", 1},
	diesBefore: {"dies before the work", 1}, diesAfter: {"dies after the work", 1},
	limits: {"429, stored", 1}, placesNothing: {"503, nothing placed", 1},
	slow2: {"takes 2 s", 1}, slow6: {"takes 6 s", 1}, slow12: {"takes 12 s", 1}, slow14m: {"takes 14 min", 1},
	outlives: {"works on after 15 min", 1},
}

var slow = []time.Duration{2 * time.Second, 6 * time.Second, 12 * time.Second, 14 * time.Minute}

// How a worker goes about a fence, and how an answer travels back.
var (
	fencers = []option{{"", 0}, {"fence: 5xx", 1}, {"fence: dies", 1}, {"fence: part-way", 1}}
	replies = []option{{"", 0}, {"reply lost", 1}, {"reply becomes a page", 1}}

	edgeReplies = append(slices.Clone(replies), option{"reply becomes an error with a code of no table", 1},
		option{"reply becomes a refusal in the service's words", 1}, option{"reply becomes a refusal of the key", 1})
	seconds = []option{{"", 0}, {"request lost, of the second question", 1}}
)

// send puts a request on its way.
func (w *world) send(r request) {
	r.sent, r.knows5xx = w.now, w.heard5xx
	switch t := w.pick(w.travels()); t {
	case 0:
		w.after(50*time.Millisecond, func() { w.arrives(r) })
	case 1:
		w.after(100*time.Millisecond, func() { r.program.hears(r, silence) })
	case len(travels):
	case len(travels) + 1, len(travels) + 2, len(travels) + 3:
		w.after(stays[t-len(travels)-1], func() { w.arrives(r) })
	default:
		if delays[t-2] > claimLasts {
			w.cause = longDelay
		}
		w.late(delays[t-2])
		w.after(delays[t-2], func() { w.arrives(r) })
		w.after(100*time.Millisecond, func() { r.program.hears(r, silence) })
	}
}

// late notes that a paper order runs after it was taken for lost.
func (w *world) late(d time.Duration) {
	if w.paper() && d > 20*time.Second {
		w.cause = latePaper
	}
}

// answers brings an answer back, if it is still waited for.
func (w *world) answers(r request, a ledger.Answer) {
	if !r.program.waitsFor(r) {
		return
	}
	o := w.pick(w.replies())
	if w.listens && o >= len(replies) {
		if o > len(replies) {
			w.after(late[o-len(replies)-1], func() { r.program.hears(r, a) })
		}
		return
	}
	switch o {
	case 0:
	case 1:
		a = silence
	case 2:
		a = page
	case 3:
		a = unheardOf
	case 5:
		a = turnedAway
	default:
		w.cause = inItsWords
		a = refused
	}
	w.after(50*time.Millisecond, func() { r.program.hears(r, a) })
}

func (w *world) slot(r request) *record {
	if w.keysPerRoute && r.kind == fence && !w.ownRoute {
		return &w.records[len(w.records)-1-r.key]
	}
	return &w.records[r.key]
}

// arrives is a request at the service's door.
func (w *world) arrives(r request) {
	if w.paper() {
		w.worksOn(r, 0)
		return
	}
	switch w.pick(fronts) {
	case 1:
		limited := tooMany
		limited.InFront = true
		w.answers(r, limited)
		return
	case 2:
		w.answers(r, unavailable)
		return
	case 3:
		if r.kind == order {
			w.answers(r, refused)
		} else {
			w.answers(r, badSymbol)
		}
		return
	}
	w.meets(r)
}

// confirms answers the second, different question about a refusal of the key: the service
// does not refuse it.
func (w *world) confirms() ledger.Answer {
	if w.pick(seconds) == 1 {
		return silence
	}
	return ok
}

// meets is a request that meets what is held under its key.
func (w *world) meets(r request) {
	k := w.slot(r)
	same := k.kind == r.kind
	if k.status == running && w.now-k.since >= claimLasts && (same || w.releasesFirst) {
		k.status = free
	}
	if k.status > running && w.now-k.since >= answerLasts {
		k.status = free
	}
	switch {
	case k.status == free:
		k.claim++
		k.status, k.kind, k.since = running, r.kind, w.now
		w.worksOn(r, k.claim)
	case k.status == running && (same || w.inFlightToOthers):
		w.answers(r, inFlight)
	case k.status == partWay && (same || w.unknownToOthers):
		w.answers(r, unknown)
	case !same:
		w.answers(r, reused)
	default:
		a := k.answer
		a.Replayed = true
		w.answers(r, a)
	}
}

// worksOn lets a worker do its work.
func (w *world) worksOn(r request, claim int) {
	if r.kind == fence {
		answer := noOrder
		if w.ownRoute {
			answer = badSymbol
		}
		switch w.pick(fencers) {
		case 0:
			w.stores(r, claim, stored, answer)
		case 1:
			w.stores(r, claim, free, failed)
		case 3:
			w.stores(r, claim, partWay, unknown)
		}
		return
	}
	options := workers
	if w.levels.on {
		options = settingWorkers
	}
	switch o := w.pick(options); o {
	case slow2, slow6, slow12, slow14m:
		w.late(slow[o-slow2])
		w.after(slow[o-slow2], func() { w.ends(r, claim, w.pick(options[:slow2])) })
	case outlives:
		w.cause = outlived
		w.after(claimLasts+time.Minute, func() { w.executes(r) })
	default:
		w.ends(r, claim, o)
	}
}

func (w *world) ends(r request, claim, how int) {
	switch how {
	case works:
		w.executes(r)
		w.stores(r, claim, stored, ok)
	case refuses:
		w.stores(r, claim, stored, refused)
	case stale:
		w.stores(r, claim, stored, stalePrice)
	case failsBefore:
		w.stores(r, claim, free, failed)
	case failsAfter:
		w.executes(r)
		w.failedAfter = true
		w.stores(r, claim, free, failed)
	case breaksBefore:
		w.stores(r, claim, partWay, unknown)
	case breaksAfter:
		w.executes(r)
		w.stores(r, claim, partWay, unknown)
	case diesAfter:
		w.executes(r)
	case limits:
		w.stores(r, claim, stored, tooMany)
	case placesNothing:
		w.stores(r, claim, free, unavailable)
	}
}

// stores ends a claim, and answers.
func (w *world) stores(r request, claim int, s status, a ledger.Answer) {
	k := w.slot(r)
	if k.status == running && k.claim == claim {
		k.status, k.answer, k.since = s, a, w.now
	}
	w.answers(r, a)
}
