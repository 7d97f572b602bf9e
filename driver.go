package trading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/transport"
)

// driver finds out what became of the writes that are in doubt. It is one goroutine,
// from the first doubt to Close; without a background it runs only while somebody
// waits. It asks the ledger of each write what may be done, and does one thing at a
// time, so that what it finds out of the service serves all.
type driver struct {
	*bookkeeper
	host       host
	baseURL    string
	closing    context.Context // ends when Close begins
	background bool

	mu      sync.Mutex
	jobs    map[*write]*job
	wake    chan struct{} // something has changed
	running bool
	closed  bool

	// Of the goroutine alone.
	looks     map[books.Account]*accountLook
	seen      map[*write]*seenLook
	namespace namespace
	fails     int // requests in a row to which nothing answered
	downUntil time.Time
}

// job is one write that the driver works on.
type job struct {
	w       *write
	due     time.Time
	waiting int           // callers
	leaving int           // those of them who are leaving the market
	asked   uint64        // the number of the last request about it
	idle    bool          // nothing is done about it until somebody asks
	changed chan struct{} // closed when it is idle or resolved
	busy    bool          // the goroutine is at it
	acked   *final        // a person's word, to be noted when the goroutine lets go
}

// namespace is how the service keeps its idempotency keys.
type namespace uint8

const (
	namespaceUnknown namespace = iota
	namespaceOne               // over all routes, as the contract reads
	namespaceByRoute
)

// host is the client as the driver sees it: what it may ask the service for, and when.
type host interface {
	levelSetter
	// send sends one request, alone on a connection of its own or over a kept one.
	send(ctx context.Context, r driverRequest) heard
	lookAt(ctx context.Context, env Environment, id AccountID) (*accountLook, error)
	// keyless returns the refusal of a request without a key, nil if there is one.
	// keyRefused reports whether it was refused, and has not worked since.
	keyless(env Environment) error
	keyRefused(env Environment) bool
	// entriesHeld returns why entries are held back, by Halt or by the health; "" if they
	// are not. Halt does not count for a program that is leaving the market.
	entriesHeld(leaving bool) string
	isExclusive(id AccountID) bool
	hookResolved(ctx context.Context, r Resolution)
	enter() bool
	leave()
}

func newDriver(closing context.Context, k *bookkeeper, h host, baseURL string, background bool) *driver {
	return &driver{
		bookkeeper: k, host: h, baseURL: baseURL, closing: closing, background: background,
		jobs: make(map[*write]*job), wake: make(chan struct{}, 1),
		looks: make(map[books.Account]*accountLook), seen: make(map[*write]*seenLook),
	}
}

// serves reports whether it asks a service, and is open.
func (d *driver) serves(baseURL string) bool { return d.baseURL == baseURL && d.closing.Err() == nil }

// adopt takes over what others left. All their settings of levels are known before work
// on the first begins.
func (d *driver) adopt(left []*write) {
	for _, w := range left {
		// One that neither ended nor is pending never left: its beginning is in no journal.
		w.newer = slices.DeleteFunc(w.newer, func(n newerSetting) bool {
			return !n.ended && d.pending.Find(string(n.Intent.ID)) == nil
		})
		d.levels.left(w)
	}
	for _, w := range left {
		d.take(w)
	}
}

// take takes a write over.
func (d *driver) take(w *write) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.job(w)
	d.start()
}

// job returns the job of a write, made when first wanted. The lock is held.
func (d *driver) job(w *write) *job {
	j := d.jobs[w]
	if j == nil {
		j = &job{w: w, changed: make(chan struct{})}
		d.jobs[w] = j
	}
	return j
}

// start runs the goroutine if there is work. The lock is held.
func (d *driver) start() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
	if d.running || d.closed || d.next() == nil || !d.host.enter() {
		return
	}
	d.running = true
	go func() {
		defer d.host.leave()
		d.run()
	}()
}

// ask has the driver go on with a write about which it does nothing more. since is the
// number of the last request when the caller began: one that came after it, such as the
// first after the journal was loaded, is the caller's, and is not repeated.
func (d *driver) ask(w *write, since uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j, ok := d.jobs[w]
	if !ok {
		return
	}
	if j.idle && !j.busy && j.asked <= since {
		w.ledger.Note(ledger.Fact{Kind: ledger.Asked, At: d.clock.now()})
		j.idle, j.due, j.changed = false, time.Time{}, make(chan struct{})
	}
	d.start()
}

// resolve waits for the outcome of a write by its id.
func (d *driver) resolve(ctx context.Context, id IntentID, since uint64) (Resolution, bool) {
	e := d.pending.Find(string(id))
	if e == nil {
		if r, ok := d.pending.resolved.find(id); ok {
			return r, true
		}
		return Resolution{Err: fmt.Errorf("%w: write %s is not pending in this client", ErrUndetermined, id)}, false
	}
	owner := d.workerOf(e.Write) // which may be another client's on this journal
	owner.ask(e.Write, since)
	return owner.wait(ctx, e.Write)
}

// workerOf returns who works on a write; this one if nobody does.
func (d *driver) workerOf(w *write) worker {
	if k := d.pending.workerOf(w); k != nil {
		return k
	}
	return d
}

// wait waits until a write is resolved, nothing more is done about it, or the
// context ends.
func (d *driver) wait(ctx context.Context, w *write) (Resolution, bool) {
	d.mu.Lock()
	j, ok := d.jobs[w]
	if !ok {
		d.mu.Unlock()
		if r, known := d.pending.resolved.find(w.intent.ID); known {
			return r, true
		}
		return d.unknown(w, ErrUndetermined), false
	}
	if ctx.Err() != nil { // nobody waits, so nothing is done on their account
		d.mu.Unlock()
		return d.unknown(w, context.Cause(ctx)), false
	}
	j.waiting++
	leaving := 0
	if pending.IsLeaving(ctx) {
		leaving, j.due = 1, time.Time{} // what Halt holds back is looked at again
	}
	j.leaving += leaving
	changed := j.changed
	d.start()
	d.mu.Unlock()
	var ended error
	select {
	case <-changed:
	case <-ctx.Done():
		ended = context.Cause(ctx)
	case <-d.closing.Done():
		ended = ErrClosed
	}
	d.mu.Lock()
	j.waiting--
	j.leaving -= leaving
	d.mu.Unlock()
	if r, known := d.pending.resolved.find(w.intent.ID); known {
		return r, true
	}
	return d.unknown(w, ended), false
}

func (d *driver) unknown(w *write, why error) Resolution {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := ErrUndetermined
	if w.reason != "" {
		err = fmt.Errorf("%w: %s", err, w.reason)
	}
	if why != nil && !errors.Is(err, why) {
		err = fmt.Errorf("%w: %w", err, why)
	}
	if w.lastErr != nil {
		err = fmt.Errorf("%w: %w", err, w.lastErr)
	}
	return Resolution{Intent: w.intent, Err: err, Looks: w.looks}
}

// describe is a write as Pending lists it.
func (d *driver) describe(w *write) PendingWrite {
	d.mu.Lock()
	defer d.mu.Unlock()
	j := d.jobs[w]
	return PendingWrite{Intent: w.intent, Reason: w.reason, Waiting: j != nil && j.idle}
}

// acknowledge notes a person's word.
func (d *driver) acknowledge(ctx context.Context, w *write, found Outcome, note string) error {
	d.mu.Lock()
	_, ours := d.jobs[w]
	d.mu.Unlock()
	if !ours && d.pending.workerOf(w) != nil {
		return fmt.Errorf("trading: Acknowledge: write %s is being sent: wait for its call", w.intent.ID)
	}
	f := final{Outcome: found, Evidence: EvidenceAcknowledged, Note: note, Dead: true}
	w.finish(&f)
	if err := d.store.end(ctx, w, f, true); err != nil {
		return fmt.Errorf("trading: Acknowledge: %w", err)
	}
	d.mu.Lock()
	j := d.jobs[w]
	if j != nil && j.busy {
		j.acked = &f
		d.mu.Unlock()
		return nil
	}
	delete(d.jobs, w) // nothing more is asked about it
	d.mu.Unlock()
	d.pending.drop(w)
	d.end(w, f, Resolution{Intent: w.intent, Outcome: found, Evidence: EvidenceAcknowledged})
	if j != nil && !j.idle {
		close(j.changed)
	}
	return nil
}

// end ends a write, and says so.
func (d *driver) end(w *write, f final, r Resolution) {
	d.settle(w, f, r)
	d.host.hookResolved(context.Background(), r)
}

// forget lets go of a write that is resolved.
func (d *driver) forget(w *write) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if j := d.jobs[w]; j != nil {
		if !j.idle {
			close(j.changed)
		}
		delete(d.jobs, w)
	}
}

// next returns the job whose turn it is; nil if there is none. Those whom somebody
// waits for are first, then the oldest. The lock is held.
func (d *driver) next() *job {
	var best *job
	for _, j := range d.jobs {
		if j.idle || !d.background && j.waiting == 0 {
			continue
		}
		if best == nil || d.before(j, best) {
			best = j
		}
	}
	return best
}

func (d *driver) before(a, b *job) bool {
	now := time.Now()
	aDue, bDue := !a.due.After(now), !b.due.After(now)
	switch {
	case aDue != bDue:
		return aDue
	case !aDue:
		return a.due.Before(b.due)
	case (a.waiting > 0) != (b.waiting > 0):
		return a.waiting > 0
	default:
		return byDecision(a, b) < 0
	}
}

// run works until there is nothing to do, or the client closes.
func (d *driver) run() {
	for {
		d.mu.Lock()
		j := d.next()
		if j == nil || d.closing.Err() != nil {
			d.running = false
			clear(d.looks) // nobody shares them any more
			d.mu.Unlock()
			return
		}
		due := j.due
		if d.fails > 0 && d.downUntil.After(due) {
			due = d.downUntil // nothing answers: one asks, and the others wait with it
		}
		if wait := time.Until(due); wait > 0 {
			d.mu.Unlock()
			d.sleep(wait)
			continue
		}
		j.busy = true
		d.mu.Unlock()
		d.work(j)
	}
}

// sleep waits, or until something has changed.
func (d *driver) sleep(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.wake:
	case <-d.closing.Done():
	}
}

// work does the one thing that a write's ledger allows next.
func (d *driver) work(j *job) {
	w := j.w
	now := d.clock.now()
	limits, held := d.limits(j)
	step := d.nextStep(w, now, limits)
	idle := false
	keyless := d.host.keyless(w.intent.Environment)
	switch {
	case step.Do == ledger.Stop:
		idle = true
	case keyless != nil:
		idle = true
		d.say(func() { w.lastErr, w.reason = keyless, "nothing can be asked about it without an API key" })
	case step.At > now.Mono:
	case d.host.keyRefused(w.intent.Environment):
		step.At = now.Mono + retryRefusedKey
	default:
		d.say(func() { j.asked = d.pending.requests.Add(1) })
		if err := d.carryOut(w, step); err != nil {
			d.say(func() { w.lastErr = err })
			step.At = now.Mono + time.Second // the journal, or the client is closing
			if errors.Is(err, CodeAccountNotFound) {
				step.At = now.Mono + retryUnreachable
			}
		} else {
			now = d.clock.now()
			step = d.nextStep(w, now, limits)
			idle = step.Do == ledger.Stop
		}
		// Of an earlier run it is not a passing fault: the journal is not this key's.
		idle = idle || w.left && errors.Is(w.lastErr, CodeAccountNotFound)
	}
	if held != "" && !idle && step != w.ledger.Next(now, ledger.Limits{}) {
		d.say(func() { w.reason = held })
		step.At = min(step.At, now.Mono+askHeldAgain)
	}
	due := d.clock.began.Add(step.At)
	resolved := w.ledger.Done() && w.ledger.Outcome() != ledger.Unknown
	if resolved {
		if again, more := d.levels.restore(d.closing, w, d.host, d.noteService); more {
			due, resolved, idle = again, false, false
		}
	}
	d.mu.Lock()
	j.busy = false
	j.due = due
	acked := j.acked
	if idle && !resolved && acked == nil && !j.idle {
		j.idle = true
		close(j.changed)
	}
	d.mu.Unlock()
	switch {
	case resolved && w.answer != nil: // the service's own word, whatever a person has found
		d.finish(w)
	case acked != nil:
		d.end(w, *acked, Resolution{Intent: w.intent, Outcome: acked.Outcome, Evidence: acked.Evidence})
		d.forget(w)
	case resolved:
		d.finish(w)
	}
}

// retryRefusedKey is how long a write waits for an API key that works.
const retryRefusedKey = 5 * time.Second

// retryUnreachable is how long a write waits for an API key that reaches its account.
const retryUnreachable = time.Minute

// say changes what others may read of a write, or its job, meanwhile.
func (d *driver) say(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// askHeldAgain is how long a probe that is held back waits until that is asked again.
const askHeldAgain = 5 * time.Second

// limits are what holds a probe back, and why: an entry is not placed while entries are
// not. What can place nothing goes on.
func (d *driver) limits(j *job) (limits ledger.Limits, held string) {
	if !j.w.intent.Entry {
		return ledger.Limits{}, ""
	}
	d.mu.Lock()
	leaving := j.leaving > 0
	d.mu.Unlock()
	held = d.host.entriesHeld(leaving)
	return ledger.Limits{NoProbe: held != ""}, held
}

// nextStep is what the ledger allows next. The reads of a look are a lag behind those of
// the one before it, however long that has taken.
func (d *driver) nextStep(w *write, now ledger.Instant, limits ledger.Limits) ledger.Step {
	step := w.ledger.Next(now, limits)
	if seen := d.seen[w]; seen != nil && step.Do == ledger.Look {
		step.At = max(step.At, d.clock.at(seen.look.ended).Mono+ledger.Lag)
	}
	return step
}

// carryOut does one step.
func (d *driver) carryOut(w *write, step ledger.Step) error {
	switch step.Do {
	case ledger.Fence:
		return d.fence(w)
	case ledger.Probe:
		return d.probe(w)
	default:
		return d.look(w, step.At)
	}
}

// noteDown makes a fact durable before the byte that it is about.
func (d *driver) noteDown(w *write, kind ledger.FactKind) error {
	f := ledger.Fact{Kind: kind, At: d.clock.now()}
	if err := d.store.before(d.closing, w, f); err != nil {
		return fmt.Errorf("the journal cannot be written: %w", err)
	}
	w.ledger.Note(f)
	return nil
}

// heardBack notes how a request of the driver ended.
func (d *driver) heardBack(w *write, kind ledger.FactKind, h *heard, ownRoute bool) {
	f := ledger.Fact{Kind: kind, At: d.clock.now(), Answer: h.said(), OwnRoute: ownRoute}
	w.ledger.Note(f)
	d.say(func() { w.lastErr, w.reason = h.err, whyUnreachable(w, h.err) })
	if !w.ledger.Done() { // else the end says it
		d.store.note(w, f)
	}
	d.noteService(h.class, h.err)
}

// whyUnreachable is the reason why nothing can be found out where the service does not
// know the account; empty for any other error.
func whyUnreachable(w *write, err error) string {
	if !errors.Is(err, CodeAccountNotFound) {
		return ""
	}
	reason := fmt.Sprintf("the API key does not reach account %s", w.intent.Account)
	if w.left {
		reason += ": the journal may be of another account holder"
	}
	return reason
}

// noteService counts the requests that nothing answered: then the service is asked
// for one write alone, less and less often.
func (d *driver) noteService(c ledger.Class, err error) {
	if refusal := (*Error)(nil); errors.As(err, &refusal) && refusal.Local {
		return // the client's own rate limits say nothing of the service
	}
	if c == ledger.Success || c == ledger.Refusal {
		d.fails = 0
		return
	}
	d.downUntil = time.Now().Add(time.Second << min(d.fails, 5))
	d.fails++
}

// fence spends the write's key on a request that does nothing: the cancel of an order
// that cannot exist. Once the service has answered it, the write's own bytes can
// never run under that key, however late a copy of them arrives.
func (d *driver) fence(w *write) error {
	if err := d.noteDown(w, ledger.FenceBegun); err != nil {
		return err
	}
	own := d.namespace == namespaceByRoute
	h := d.sendFence(w, own)
	if !own && h.refusal != nil && h.refusal.Code == CodeOrderNotFound && d.namespace == namespaceUnknown {
		d.calibrate(w.intent.Account)
		if d.namespace == namespaceUnknown { // what the answer proves is not known yet
			h = heard{class: ledger.Foreign, err: errors.New("how the service keeps idempotency keys is not known yet")}
		}
		if d.namespace == namespaceByRoute {
			own, h = true, d.sendFence(w, true)
		}
	}
	d.heardBack(w, ledger.FenceEnded, &h, own)
	return nil
}

// probe sends the original bytes once more, to have the stored answer. Neither a
// context nor Close cuts it.
func (d *driver) probe(w *write) error {
	if err := d.noteDown(w, ledger.ProbeBegun); err != nil {
		return err
	}
	// It may run now, so no read beside it shows the account before or after it.
	d.books.SendBegan(w.booked.Account)
	h := d.sendProbe(w)
	d.books.SendEnded(w.booked.Account, time.Now())
	d.heardBack(w, ledger.ProbeEnded, &h, false)
	if h.class == ledger.Success || h.refusal != nil && h.attempt.replayed() {
		w.answer = &h
		w.by = EvidenceReplay
		if h.class == ledger.Success && !h.attempt.replayed() {
			w.by = EvidenceAnswer
		}
	}
	return nil
}

// look reads the account, and has accounting judge it.
func (d *driver) look(w *write, due time.Duration) error {
	key := bookOf(w.intent.Environment, w.intent.Account)
	l := d.looks[key]
	seen := d.seen[w]
	// A look that another write has just had serves this one too, if it began when this
	// one was due, and far enough from the one before.
	if l == nil || d.clock.at(l.at).Mono < due || seen != nil && l.at.Sub(seen.look.ended) < ledger.Lag {
		var err error
		if l, err = d.host.lookAt(d.closing, w.intent.Environment, w.intent.Account); err != nil {
			d.noteService(classOf(err), err)
			if reason := whyUnreachable(w, err); reason != "" {
				d.say(func() { w.reason = reason })
			}
			return err
		}
		d.looks[key] = l
	}
	d.noteService(ledger.Success, nil)
	d.say(func() {
		w.lastErr = nil
		w.looks = append(slices.Clone(w.looks[max(len(w.looks)-3, 0):]), l.shown(w.intent.Symbol))
	})
	shown := &seenLook{look: l, began: []time.Time{l.at}, equal: 1}
	if seen != nil && seen.look.state(w.intent.Symbol).Equal(l.state(w.intent.Symbol), w.intent.Symbol) {
		shown.began, shown.equal = append(slices.Clone(seen.began[max(len(seen.began)-2, 0):]), l.at), seen.equal+1
	}
	d.seen[w] = shown
	d.mu.Lock()
	maps.DeleteFunc(d.seen, func(w *write, _ *seenLook) bool { return d.jobs[w] == nil }) // acknowledged meanwhile
	d.mu.Unlock()
	f := ledger.Fact{Kind: ledger.Looked, At: d.clock.at(l.at)}
	v := d.decide(w, shown)
	if len(shown.began) == 1 { // which decides nothing, but may agree with a stored refusal
		f.Verdict.Outcome = ledger.Outcome(v.Likely)
	} else {
		d.say(func() {
			w.reason = string(v.Reason)
			if w.gap && v.Reason == accounting.NotExclusive {
				w.reason = "an exit went out beside it that the journal did not take"
			}
		})
		f.Verdict = ledger.Verdict{Equal: v.Reason != accounting.LookAgain, Outcome: ledger.Outcome(v.Outcome), Lasting: lasting(v.Reason) || v.Reason == accounting.PendingBeside && shown.equal > looksBeside}
		w.by = EvidenceAccounting
	}
	w.ledger.Note(f)
	return nil
}

// looksBeside is how many equal looks wait for another pending write, about ten minutes:
// two can wait for each other. The end of either begins the looks at the other anew.
const looksBeside = 8

// goOn goes on with a write that has waited for another one to end.
func (d *driver) goOn(w *write) {
	d.mu.Lock()
	waits := d.jobs[w] != nil && w.reason == string(accounting.PendingBeside)
	d.mu.Unlock()
	if waits {
		d.ask(w, d.pending.requests.Load())
	}
}

// lasting reports whether time does not change why a write is Unknown.
func lasting(r accounting.Reason) bool {
	switch r {
	case accounting.NotExclusive, accounting.Contradiction, accounting.NoBaseline, accounting.AccountingEnded,
		accounting.NothingShows, accounting.ListIncomplete, accounting.RowUnreadable, accounting.OwnWriteUnclear,
		accounting.StatusChanged, accounting.OrdersRested, accounting.DoesNotFit, accounting.OwnRowMissing:
		return true
	default:
		return false
	}
}

// finish ends a write whose outcome is known.
func (d *driver) finish(w *write) {
	f := final{Outcome: outcomeOf(w.ledger.Outcome()), Evidence: w.by, Dead: w.ledger.Held() || w.answer != nil}
	r := Resolution{
		Intent: w.intent, Outcome: f.Outcome, Evidence: w.by,
		Late: w.ledger.Late(), MaybeLate: w.ledger.MaybeLate(), Looks: w.looks,
		Superseded: w.superseded, Overwritten: w.overwritten,
	}
	if w.answer != nil {
		if w.answer.refusal != nil {
			f.Code, r.Err = w.answer.refusal.Code, w.answer.refusal
		} else if f.Outcome == Applied {
			r.Answer = w.answer.attempt.Body
			f.Answer = w.answer.attempt.Body
		}
	}
	if r.Err == nil && f.Outcome == NotApplied {
		r.Err = notExecuted(fmt.Sprintf("not executed (%s: %s)", w.by, w.reason))
	}
	if r.Err == nil && f.Outcome == Applied && w.answer == nil {
		r.Err = fmt.Errorf("executed (%s: %s), and its answer is lost", w.by, w.reason)
	}
	if err := w.restore.err; err != nil {
		r.Err = errors.Join(r.Err, fmt.Errorf("the newer levels could not be set again: %w", err))
	}
	w.finish(&f)
	delete(d.seen, w)
	d.end(w, f, r)
	d.forget(w)
}

// close ends the goroutine's work: the client's context has ended. It returns once
// nothing of it runs.
func (d *driver) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// writes are those that it works on, oldest first.
func (d *driver) writes() []*write {
	d.mu.Lock()
	defer d.mu.Unlock()
	jobs := make([]*job, 0, len(d.jobs))
	for _, j := range d.jobs {
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, byDecision)
	writes := make([]*write, len(jobs))
	for i, j := range jobs {
		writes[i] = j.w
	}
	return writes
}

func byDecision(a, b *job) int {
	return cmp.Or(a.w.intent.Decided.Compare(b.w.intent.Decided), cmp.Compare(a.w.Entry.ID, b.w.Entry.ID))
}

// decide judges a write by equal looks.
func (d *driver) decide(w *write, shown *seenLook) accounting.Verdict {
	now, first := shown.look, shown.began[0]
	if w.intent.Operation == OpTPSL {
		return decideLevels(w, now, w.ledger.IsGone(d.clock.now()))
	}
	asked := *w.askedFor()
	at := d.clock.now()
	asked.From = serviceTime(w.ledger.Decided, w.intent.Decided).Add(-clockTolerance)
	if asked.Kind == accounting.Entry || asked.Kind == accounting.ReduceOnly || asked.Kind == accounting.Close {
		asked.Until = serviceTime(at, at.Wall).Add(clockTolerance)
	}
	if !w.ledger.FirstUseKnown {
		asked.From = w.ledger.Since
	}
	// First whether another write is pending: one that ends meanwhile is in the evidence.
	beside := d.pending.Beside(&w.Entry)
	shows := w.books.Evidence(&w.booked)
	f := accounting.Facts{
		Write:     asked,
		Held:      w.ledger.Held() || w.intent.Environment == EnvSandbox,
		Gone:      w.ledger.IsGone(at),
		Base:      shows.Base,
		Look:      accounting.Look{State: now.state(w.intent.Symbol), At: serviceTime(d.clock.at(first), first), Equal: len(shown.began)},
		Own:       shows.Own,
		Exclusive: d.host.isExclusive(w.intent.Account) && !w.gap, // what others did is not known
		Ended:     shows.Ended,

		PendingBeside: beside, PendingID: beside,
	}
	f.Known = idsOf(f.Own)
	if f.Base != nil {
		f.Look.Rows = upTo(f.Look.Rows, f.Base.Rows)
	}
	if f.Base != nil && !w.ledger.FirstUseKnown {
		base := *f.Base
		base.BeforeFirstUse = false
		f.Base = &base
	}
	return accounting.Decide(f)
}

// sendFence sends a fence.
func (d *driver) sendFence(w *write, ownRoute bool) heard {
	r, err := fenceOf(&w.intent, ownRoute)
	if err != nil {
		return heard{class: ledger.Foreign, err: err}
	}
	return d.sendOnce(r)
}

// sendProbe sends the write's own bytes under its own key, over a connection of its own.
// Neither a context nor Close cuts it.
func (d *driver) sendProbe(w *write) heard {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(d.closing), probePatience, transport.ErrTimeout)
	defer cancel()
	in := &w.intent
	return d.host.send(ctx, driverRequest{endpoint: endpointOf(in.Operation), account: in.Account, key: in.Key, body: in.Body, alone: true})
}

func (d *driver) sendOnce(r driverRequest) heard {
	ctx, cancel := context.WithTimeoutCause(d.closing, defaultAttemptTimeout, transport.ErrTimeout)
	defer cancel()
	return d.host.send(ctx, r)
}

// calibrate finds out whether the service has one namespace of keys: under a fresh
// key it cancels a run and then an order that cannot exist. The second is another
// request under the same key, which one namespace refuses with 422.
func (d *driver) calibrate(account AccountID) {
	run, order := calibrationOf(account, NewKey())
	first := d.sendOnce(run)
	if first.refusal == nil || first.refusal.Code != CodeRunNotFound {
		return
	}
	second := d.sendOnce(order)
	switch {
	case second.refusal == nil:
	case second.refusal.Code == CodeIdempotencyKeyReused:
		d.namespace = namespaceOne
	case second.refusal.Code == CodeOrderNotFound:
		d.namespace = namespaceByRoute
	}
}
