package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/journal"
)

// ErrUndetermined is the error of a write whose outcome the evidence does not decide.
var ErrUndetermined = errors.New("trading: the outcome could not be determined")

// Driver finds out what became of the writes that are in doubt. It is one goroutine,
// from the first doubt to Close; without a background it runs only while somebody
// waits. It asks the ledger of each write what may be done, and does one thing at a
// time, so that what it finds out of the service serves all.
type Driver struct {
	Clock *Clock
	Books *books.Books

	host         Host
	baseURL      string
	closing      context.Context
	errClosed    error
	background   bool
	withoutProbe bool
	store        store
	pending      *shared
	levels       *settings

	mu      sync.Mutex
	jobs    map[*Write]*job
	wake    chan struct{} // something has changed
	running bool
	closed  bool

	// Of the goroutine alone.
	looks     map[books.Account]*Look
	seen      map[*Write]*seenLook
	namespace namespace
	fails     int // requests in a row to which nothing answered
	downUntil time.Time
}

// Config is what a driver is made of.
type Config struct {
	Host    Host
	Journal journal.Store // nil without one
	BaseURL string
	Closing context.Context // ends when Close begins
	// ErrClosed is the error of those who wait then.
	ErrClosed error
	// Background means that it asks although nobody waits.
	Background   bool
	WithoutProbe bool
	// NewJournal is called if a journal has nothing of earlier runs, Unwritten for each
	// record that it did not take.
	NewJournal func()
	Unwritten  func(*Intent, error)
}

// Host is the client as the driver sees it: what it may ask the service for, and when.
type Host interface {
	// Send sends one request, alone on a connection of its own or over a kept one.
	Send(ctx context.Context, r Request) Answer
	// Look reads everything on an account in which a write can show. ReadBaseline does so
	// for an entry that waits for it.
	Look(ctx context.Context, environment, account string) (*Look, error)
	ReadBaseline(ctx context.Context, account string)
	// Levels reads the levels of a position, SetLevels sets them in place of a setting, once,
	// as a write of its own, which is found out about like any other.
	Levels(ctx context.Context, account, symbol string) (has Levels, held bool, err error)
	SetLevels(ctx context.Context, of *Intent, wanted Levels) error
	// Judge says what an error of these is.
	Judge(err error) Judgment
	// Kind says what is known of an operation.
	Kind(operation string) Kind
	// Keyless returns the refusal of a request without a key, nil if there is one.
	// KeyRefused reports whether it was refused, and has not worked since.
	Keyless(environment string) error
	KeyRefused(environment string) bool
	// EntriesHeld reports whether entries are held back: by Halt, or by the health.
	EntriesHeld() bool
	IsExclusive(account string) bool
	// Resolved reports how a write in doubt ended.
	Resolved(r Resolution)
	// Enter counts what Close waits for; false once Close has begun.
	Enter() bool
	Leave()
}

// Judgment is what an error of a request is.
type Judgment struct {
	Class ledger.Class
	// Local means that the client itself refused it.
	Local bool
	// Unreachable means that the service does not know the account.
	Unreachable bool
}

// Resolution is what became of a write, and what that rests on.
type Resolution struct {
	Intent                  Intent
	Outcome                 ledger.Outcome
	Evidence                Evidence
	Late, MaybeLate         bool
	Superseded, Overwritten bool
	Answer                  []byte // the service's, where it repeated it
	Err                     error
	Looks                   []*Look
}

// PendingWrite is a write whose outcome is not known yet, and why.
type PendingWrite struct {
	Intent  Intent
	Reason  string
	Left    bool
	Waiting bool // nothing more is done about it until somebody asks
}

// New returns the driver of a client.
func New(c Config) *Driver {
	var began time.Time
	if opened, ok := c.Journal.(interface{ New() bool }); ok && opened.New() {
		c.NewJournal() // nothing was written before, or what was is lost
	} else {
		began = time.Now()
	}
	r := sharedOf(c.Journal)
	known := r.viewOf(c.BaseURL, began)
	d := &Driver{
		Clock: r.clock, Books: known.books, levels: &known.levels, pending: r,
		store: store{journal: c.Journal, unwritten: c.Unwritten},
		host:  c.Host, baseURL: c.BaseURL, closing: c.Closing, errClosed: c.ErrClosed,
		background: c.Background, withoutProbe: c.WithoutProbe,
		jobs: make(map[*Write]*job), wake: make(chan struct{}, 1),
		looks: make(map[books.Account]*Look), seen: make(map[*Write]*seenLook),
	}
	r.join(d)
	return d
}

// job is one write that the driver works on.
type job struct {
	w       *Write
	due     time.Time
	waiting int           // callers
	asked   uint64        // the number of the last request about it
	idle    bool          // nothing is done about it until somebody asks
	changed chan struct{} // closed when it is idle or resolved
	busy    bool          // the goroutine is at it
	acked   *Final        // a person's word, to be noted when the goroutine lets go
}

// serves reports whether it asks a service, and is open.
func (d *Driver) serves(baseURL string) bool { return d.baseURL == baseURL && d.closing.Err() == nil }

// take takes a write over.
func (d *Driver) take(w *Write) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.job(w)
	d.start()
}

// job returns the job of a write, made when first wanted. The lock is held.
func (d *Driver) job(w *Write) *job {
	j := d.jobs[w]
	if j == nil {
		j = &job{w: w, changed: make(chan struct{})}
		d.jobs[w] = j
	}
	return j
}

// start runs the goroutine if there is work. The lock is held.
func (d *Driver) start() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
	if d.running || d.closed || d.next() == nil || !d.host.Enter() {
		return
	}
	d.running = true
	go func() {
		defer d.host.Leave()
		d.run()
	}()
}

// ask has the driver go on with a write about which it does nothing more. since is the
// number of the last request when the caller began: one that came after it, such as the
// first after the journal was loaded, is the caller's, and is not repeated.
func (d *Driver) ask(w *Write, since uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j, ok := d.jobs[w]
	if !ok {
		return
	}
	if j.idle && !j.busy && j.asked <= since {
		w.Ledger.Note(ledger.Fact{Kind: ledger.Asked, At: d.Clock.Now()})
		j.idle, j.due, j.changed = false, time.Time{}, make(chan struct{})
	}
	d.start()
}

// workerOf returns who works on a write; this one if nobody does.
func (d *Driver) workerOf(w *Write) *Driver {
	if other := d.pending.workerOf(w); other != nil {
		return other
	}
	return d
}

// wait waits until a write is resolved, nothing more is done about it, or the
// context ends.
func (d *Driver) wait(ctx context.Context, w *Write) (Resolution, bool) {
	d.mu.Lock()
	j, ok := d.jobs[w]
	if !ok {
		d.mu.Unlock()
		if r, known := d.pending.resolved.find(w.Intent.ID); known {
			return r, true
		}
		return d.unknown(w, ErrUndetermined), false
	}
	if ctx.Err() != nil { // nobody waits, so nothing is done on their account
		d.mu.Unlock()
		return d.unknown(w, context.Cause(ctx)), false
	}
	j.waiting++
	changed := j.changed
	d.start()
	d.mu.Unlock()
	var ended error
	select {
	case <-changed:
	case <-ctx.Done():
		ended = context.Cause(ctx)
	case <-d.closing.Done():
		ended = d.errClosed
	}
	d.mu.Lock()
	j.waiting--
	d.mu.Unlock()
	if r, known := d.pending.resolved.find(w.Intent.ID); known {
		return r, true
	}
	return d.unknown(w, ended), false
}

func (d *Driver) unknown(w *Write, why error) Resolution {
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
	return Resolution{Intent: w.Intent, Err: err, Looks: w.looks}
}

// describe is a write as Pending lists it.
func (d *Driver) describe(w *Write) PendingWrite {
	d.mu.Lock()
	defer d.mu.Unlock()
	j := d.jobs[w]
	return PendingWrite{Intent: w.Intent, Reason: w.reason, Left: w.Left, Waiting: j != nil && j.idle}
}

// acknowledge notes a person's word.
func (d *Driver) acknowledge(ctx context.Context, w *Write, found ledger.Outcome, note string) error {
	d.mu.Lock()
	_, ours := d.jobs[w]
	d.mu.Unlock()
	if !ours && d.pending.workerOf(w) != nil {
		return fmt.Errorf("trading: Acknowledge: write %s is being sent: wait for its call", w.Intent.ID)
	}
	f := Final{Outcome: found, Evidence: ByAcknowledged, Note: note, Dead: true}
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
	d.end(w, f, Resolution{Intent: w.Intent, Outcome: found, Evidence: ByAcknowledged})
	if j != nil && !j.idle {
		close(j.changed)
	}
	return nil
}

// end ends a write that was in doubt, and says so.
func (d *Driver) end(w *Write, f Final, r Resolution) {
	d.pending.resolved.keep(w.Intent.ID, r)
	d.leaveBooks(w, f, w.Answer)
	d.host.Resolved(r)
}

// forget lets go of a write that is resolved.
func (d *Driver) forget(w *Write) {
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
func (d *Driver) next() *job {
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

func (d *Driver) before(a, b *job) bool {
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
func (d *Driver) run() {
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
func (d *Driver) sleep(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.wake:
	case <-d.closing.Done():
	}
}

// work does the one thing that a write's ledger allows next.
func (d *Driver) work(j *job) {
	w := j.w
	now := d.Clock.Now()
	step := w.Ledger.Next(now, d.limits(w))
	idle := false
	keyless := d.host.Keyless(w.Intent.Environment)
	switch {
	case step.Do == ledger.Stop:
		idle = true
	case keyless != nil:
		idle = true
		d.say(func() { w.lastErr, w.reason = keyless, "nothing can be asked about it without an API key" })
	case step.At > now.Mono:
	case d.host.KeyRefused(w.Intent.Environment):
		step.At = now.Mono + retryRefusedKey
	default:
		d.say(func() { j.asked = d.pending.requests.Add(1) })
		if err := d.carryOut(w, step); err != nil {
			d.say(func() { w.lastErr = err })
			step.At = now.Mono + time.Second // the journal, or the client is closing
			if d.host.Judge(err).Unreachable {
				step.At = now.Mono + retryUnreachable
			}
		} else {
			now = d.Clock.Now()
			step = w.Ledger.Next(now, d.limits(w))
			idle = step.Do == ledger.Stop
		}
		// Of an earlier run it is not a passing fault: the journal is not this key's.
		idle = idle || w.Left && w.lastErr != nil && d.host.Judge(w.lastErr).Unreachable
	}
	due := d.Clock.began.Add(step.At)
	resolved := w.Ledger.Done() && w.Ledger.Outcome() != ledger.Unknown
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
	case resolved && w.Answer != nil: // the service's own word, whatever a person has found
		d.finish(w)
	case acked != nil:
		d.end(w, *acked, Resolution{Intent: w.Intent, Outcome: acked.Outcome, Evidence: acked.Evidence})
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
func (d *Driver) say(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// goOn goes on with a write that has waited for another one to end.
func (d *Driver) goOn(w *Write) {
	d.mu.Lock()
	waits := d.jobs[w] != nil && w.reason == string(accounting.PendingBeside)
	d.mu.Unlock()
	if waits {
		d.ask(w, d.pending.requests.Load())
	}
}

// Close ends the goroutine's work: the client's context has ended. It returns once
// nothing of it runs.
func (d *Driver) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// writes are those that it works on, oldest first.
func (d *Driver) writes() []*Write {
	d.mu.Lock()
	defer d.mu.Unlock()
	jobs := make([]*job, 0, len(d.jobs))
	for _, j := range d.jobs {
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, byDecision)
	writes := make([]*Write, len(jobs))
	for i, j := range jobs {
		writes[i] = j.w
	}
	return writes
}

func byDecision(a, b *job) int {
	return cmp.Or(a.w.Intent.Decided.Compare(b.w.Intent.Decided), cmp.Compare(a.w.Entry.ID, b.w.Entry.ID))
}
