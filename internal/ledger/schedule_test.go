package ledger

import (
	"slices"
	"testing"
	"time"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// depth is how many answers and looks of a schedule are chosen freely, from the first
// send on, and from the end of an unheard one on; after them one answer comes for ever.
const depth, depthUnheard = 3, 4

var (
	wallStart    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	serviceStart = servicetime.Shown(wallStart.Add(70 * time.Millisecond))
)

// wholeSecond is the service's time at a moment, as a Date says it.
func wholeSecond(mono time.Duration) servicetime.Time {
	return servicetime.Shown(wallStart.Add(70*time.Millisecond + mono).Truncate(time.Second))
}

// at is a moment of the process that decided the write, or, after a crash, of the one
// that took it over.
func at(mono time.Duration) Instant {
	return Instant{Wall: wallStart.Add(mono), Mono: mono, Service: wholeSecond(mono)}
}

func refusal(code string, status int, says Outcome, advice Resend) Answer {
	return Answer{Class: Refusal, Code: code, Status: status, Says: says, Advice: advice}
}

func replayed(a Answer) Answer {
	a.Replayed = true
	return a
}

var (
	success     = Answer{Class: Success, Status: 200}
	refused     = refusal("MIN_NOTIONAL", 400, NotApplied, End)
	stalePrice  = Answer{Class: Refusal, Code: "STALE_PRICE", Status: 409, Says: NotApplied, Advice: NewKey, Price: true}
	tooMany     = Answer{Class: Refusal, Code: "rate_limited", Status: 429, Says: NotApplied, Advice: WaitFirst, InFront: true, RetryAfter: 7 * time.Second}
	unavailable = refusal(codeUnavailable, 503, NotApplied, SameKey)
	inFlight    = refusal(codeInFlight, 409, Unknown, SameKey)
	partWay     = refusal(codeResultUnknown, 409, Unknown, End)
	reused      = refusal(codeKeyReused, 422, NotApplied, End)
	failed      = refusal("internal_error", 500, Unknown, End)
	noOrder     = refusal(codeOrderNotFound, 404, NotApplied, End)
	noAccount   = refusal(codeNoAccount, 404, NotApplied, End)
	locked      = refusal("account_locked", 403, NotApplied, End)
	foreign     = Answer{Class: Foreign, Status: 502}
	silence     = Answer{Class: Silence}
	unsent      = Answer{Class: Unsent}
)

var (
	sendAnswers  = []Answer{success, refused, replayed(refused), stalePrice, tooMany, replayed(tooMany), unavailable, inFlight, partWay, reused, failed, foreign, silence, unsent}
	fenceAnswers = []Answer{reused, success, noOrder, replayed(locked), partWay, locked, inFlight, noAccount, replayed(noAccount), silence}
	lateAnswers  = []Answer{success, refused, replayed(refused), stalePrice, tooMany, inFlight, partWay, reused, failed, silence}
	probeAnswers = []Answer{silence, replayed(success), success, replayed(refused), refused, partWay, inFlight, tooMany, reused, failed, unsent}
	verdicts     = []Finding{{Enough: true}, {Enough: true, Outcome: Applied}, {Enough: true, Outcome: NotApplied}, {Outcome: NotApplied}, {Enough: true, Stays: true}}
)

// kinds are the writes that the schedules are walked for.
func kinds() map[string]Terms {
	retry := Bounds{Attempts: 3, PriceAttempts: 2, MinWait: 200 * time.Millisecond, MaxWait: 5 * time.Second}
	fresh := Terms{Keyed: true, Entry: true, Resolves: true, Lasting: true, TTL: 2 * time.Minute, FirstUseKnown: true, Decided: at(0), Retry: retry}
	with := func(change func(t *Terms)) Terms {
		t := fresh
		change(&t)
		return t
	}
	return map[string]Terms{
		"market order":          fresh,
		"exclusive account":     with(func(t *Terms) { t.Exclusive = true }),
		"resting limit":         with(func(t *Terms) { t.Lasting = false }),
		"derived key":           with(func(t *Terms) { t.Source = Derived }),
		"derived, shared":       with(func(t *Terms) { t.Source, t.FirstUseKnown = Derived, false }),
		"given":                 with(func(t *Terms) { t.Source = Given }),
		"given, not used since": with(func(t *Terms) { t.Source, t.FirstUseKnown, t.NotBefore = Given, false, true }),
		"sent once":             with(func(t *Terms) { t.TTL = 0 }),
		"without probe":         with(func(t *Terms) { t.NoProbe = true }),
		"cancel":                with(func(t *Terms) { t.Entry, t.Resolves = false, false }),
		"full close":            with(func(t *Terms) { t.Entry, t.Idempotent = false, true }),
		"paper":                 with(func(t *Terms) { t.Keyed = false }),
	}
}

// walk is one schedule being walked.
type walk struct {
	t       *testing.T
	name    string
	l       Ledger
	facts   []Fact
	now     time.Duration
	crashed bool
	late    bool // an answer came late
	left    int
	alone   bool // no other schedule shares the facts
	count   *int
}

// TestSchedules walks every schedule of answers up to depth, with a crash after
// every fact, and holds each step and each outcome against rules of its own.
func TestSchedules(t *testing.T) {
	total := 0
	for name, terms := range kinds() {
		w := walk{t: t, name: name, l: New(terms), left: depth, count: &total}
		w.goOn()
		w.left = depthUnheard
		w.note(Fact{Kind: SendBegun})
		w.note(Fact{Kind: SendEnded, Answer: silence})
		w.note(Fact{Kind: SendingOver})
		w.goOn()
	}
	if total < 50_000 {
		t.Errorf("only %d schedules", total)
	}
	t.Logf("%d schedules", total)
}

func (w walk) goOn() {
	if w.t.Failed() {
		return
	}
	w.hearLate(walk.goOn)
	step := w.l.Next(at(w.now), Limits{})
	w.checkStep(step)
	if step.Do == Stop {
		if w.l.Sending() {
			w.note(Fact{Kind: SendingOver})
			w.goOn()
			return
		}
		w.end()
		return
	}
	w.now = max(w.now, step.At)
	if w.left == 0 {
		w.runOut()
		return
	}
	w.left--
	switch step.Do {
	case Rekey:
		w.note(Fact{Kind: KeyChanged})
		w.goOn()
	case Send:
		w.request(SendBegun, SendEnded, sendAnswers)
	case Fence:
		w.request(FenceBegun, FenceEnded, fenceAnswers)
	case Probe:
		w.request(ProbeBegun, ProbeEnded, probeAnswers)
	case Look:
		for _, v := range verdicts {
			next := w
			next.note(Fact{Kind: Looked, Finding: v})
			next.goOn()
		}
	}
}

func (w walk) request(begun, ended FactKind, answers []Answer) {
	w.note(Fact{Kind: begun})
	w.crash()
	w.now += 100 * time.Millisecond
	w.hearLate(func(next walk) { next.ends(ended, answers) })
	w.ends(ended, answers)
}

func (w walk) ends(ended FactKind, answers []Answer) {
	for _, a := range answers {
		next := w
		next.note(Fact{Kind: ended, Answer: a})
		next.crash()
		next.goOn()
	}
}

// hearLate goes on, once in a schedule, from each late answer to a send that went unheard.
func (w walk) hearLate(goOn func(walk)) {
	if w.late || w.crashed || w.left == 0 || w.t.Failed() {
		return
	}
	w.left--
	sends := 0
	for _, f := range w.facts {
		switch {
		case f.Kind == SendBegun:
			sends++
		case f.Kind == SendEnded && f.Answer == silence:
			for _, a := range lateAnswers {
				next := w
				next.late = true
				next.note(Fact{Kind: SendHeard, Answer: a, Send: sends})
				next.crash()
				goOn(next)
			}
		}
	}
}

func (w *walk) note(f Fact) {
	f.At = at(w.now)
	was, done := w.l.Outcome(), w.l.Done()
	if w.l.inquiry != nil { // other schedules go on from here too
		own := *w.l.inquiry
		w.l.inquiry = &own
	}
	w.l.Note(f)
	if !w.alone {
		w.facts = slices.Clip(w.facts)
	}
	w.facts = append(w.facts, f)
	if done && (was != Unknown || f.Kind != SendHeard) && (w.l.Outcome() != was || !w.l.Done()) {
		w.fail("left a decided outcome")
	}
	if w.l.Done() && w.l.Outcome() != Unknown && !justified(&w.l.Terms, w.facts, w.l.Outcome()) {
		w.fail("not justified")
	}
}

// crash lets a new process take the write over, with every tail of the facts lost
// that may be.
func (w walk) crash() {
	if w.crashed {
		return
	}
	w.crashed = true
	whole := Restore(w.l.Terms, w.facts, at(0))
	for n := len(w.facts); ; n-- {
		next := w
		next.l = Restore(w.l.Terms, w.facts[:n], at(0))
		if o := next.l.Outcome(); o != Unknown && o != whole.Outcome() && !whole.Contradicted() {
			w.fail("a lost fact made it more certain")
		}
		if o := whole.Outcome(); o != Unknown && (w.l.Done() && o != w.l.Outcome() && !whole.Contradicted() || !justified(&w.l.Terms, w.facts, o)) {
			w.fail("a restart made it more certain")
		}
		next.now, next.left = time.Minute, 0 // the service's clock says a minute
		next.facts = append(w.facts[:len(w.facts):len(w.facts)], Fact{Kind: Restarted, At: at(0)})
		next.goOn()
		if n == 0 || durable(w.facts[:n]) {
			return
		}
	}
}

// durable reports whether the last fact is on disk before its byte leaves.
func durable(facts []Fact) bool {
	switch facts[len(facts)-1].Kind {
	case KeyChanged, FenceBegun, ProbeBegun:
		return true
	case SendBegun:
		sends := 0
		for _, f := range facts {
			switch f.Kind {
			case SendBegun:
				sends++
			case KeyChanged:
				sends = 0
			}
		}
		return sends > 1
	}
	return false
}

// runOut lets one answer come for ever, and looks that see nothing, and checks that
// there is an end or that time goes on.
func (w walk) runOut() {
	*w.count++
	if *w.count%256 != 0 { // they come to the same few ends
		return
	}
	for _, a := range []Answer{silence, reused, tooMany, inFlight} {
		next := w
		next.facts, next.alone = append(make([]Fact, 0, len(w.facts)+600), w.facts...), true
		for n := 0; n < 300; n++ {
			step := next.l.Next(at(next.now), Limits{NoProbe: n%2 == 0})
			next.checkStep(step)
			if step.Do == Stop && !next.l.Sending() {
				break
			}
			if n == 299 && next.now < Gone {
				next.fail("300 steps, and no half hour has passed")
			}
			next.now = max(next.now, step.At)
			next.carryOut(step.Do, a)
		}
	}
}

func (w *walk) carryOut(do Action, a Answer) {
	switch do {
	case Stop:
		w.note(Fact{Kind: SendingOver})
	case Rekey:
		w.note(Fact{Kind: KeyChanged})
	case Look:
		w.note(Fact{Kind: Looked, Finding: Finding{Enough: true}})
	default:
		begun := map[Action]FactKind{Send: SendBegun, Fence: FenceBegun, Probe: ProbeBegun}[do]
		w.note(Fact{Kind: begun})
		w.now += 100 * time.Millisecond
		w.note(Fact{Kind: begun + 1, Answer: a})
	}
}

func (w *walk) end() {
	*w.count++
	w.hearLate(func(walk) {}) // which changes nothing that is decided
	if w.l.Sending() || !w.l.Done() && !w.l.known().look.final {
		w.fail("stopped, and nothing is decided")
	}
	if w.l.Forget() && w.l.Outcome() != Unknown {
		w.fail("forgotten, and decided")
	}
}

// checkStep holds a step against the rules, by the facts alone.
func (w *walk) checkStep(s Step) {
	now := max(w.now, s.At)
	switch s.Do {
	case Send, Rekey:
		if w.crashed {
			w.fail("a send after a restart")
		}
		if now >= w.l.SendTTL() || w.l.TTL == 0 && w.l.Sent() {
			w.fail("a send after the TTL")
		}
		if s.Do == Rekey && !unplaced(w.facts) && !eachRefused(&w.l.Terms, w.facts) {
			w.fail("a new key in doubt")
		}
		if slices.ContainsFunc(w.facts, func(f Fact) bool { return f.Kind == SendHeard && (f.Answer == failed || f.Answer == partWay) }) {
			w.fail("a send after one that may have run")
		}
	case Probe:
		w.checkProbe(now)
	case Fence:
		if !w.l.Keyed {
			w.fail("a fence without a key")
		}
	}
}

func (w *walk) checkProbe(now time.Duration) {
	if w.l.NoProbe || w.l.TTL == 0 || now >= Window {
		w.fail("a probe that is not allowed")
	}
	answers, from, quiet, told := 0, time.Duration(0), time.Duration(0), false
	fences, probes, before := 0, 0, false
	earlier, lost, open := servicetime.Time{}, servicetime.Time{}, false // the first 422 of the process before, also behind such an answer; whether a fence has none
	for _, f := range w.facts {
		switch f.Kind {
		case Restarted: // it may have lost the late answer, whose fences are over
			told = told || before
			if earlier = lost; answers > 0 && !open {
				earlier = at(from).Service
			}
			quiet, answers = f.At.Mono, 0
		case SendBegun, SendEnded:
			quiet, answers = f.At.Mono, 0
		case ProbeBegun:
			probes++
			quiet, answers = f.At.Mono, 0
		case ProbeEnded:
			quiet = f.At.Mono
		case SendHeard:
			if f.Answer == failed {
				if answers > 0 && !open {
					lost = at(from).Service
				}
				answers, told, before = 0, false, told
			}
		case FenceBegun:
			fences, open = fences+1, true
		case FenceEnded:
			open = false
			if f.Answer == inFlight && fences == 1 && probes == 0 && w.l.FirstUseKnown {
				told = true
			}
			if f.Answer != reused {
				answers, earlier = 0, servicetime.Time{}
				continue
			}
			if answers == 0 {
				from = f.At.Mono
			}
			answers++
		}
	}
	n := len(w.facts) - 1
	for w.facts[n].Kind == SendHeard { // beside it
		n--
	}
	last := w.facts[n]
	switch {
	case last.Kind != FenceEnded || last.Answer != reused || now-last.At.Mono > time.Second:
		w.fail("a probe that follows no 422")
	case now-quiet < 5*time.Second:
		w.fail("a probe that is not quiet")
	case !told && passed(earlier, last.At) < Gap && (answers < 2 || last.At.Mono-from < Gap):
		w.fail("a probe after one 422")
	}
}

func (w *walk) fail(what string) {
	w.t.Helper()
	if w.t.Failed() {
		return
	}
	for _, f := range w.facts {
		w.t.Logf("%8v kind %d %+v %+v", f.At.Mono, f.Kind, f.Answer, f.Finding)
	}
	w.t.Errorf("%s: %s: %+v", w.name, what, w.l.Next(at(w.now), Limits{}))
	w.t.FailNow()
}
