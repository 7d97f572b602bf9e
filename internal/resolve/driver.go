package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/journal"
)

// ErrUndetermined is the error of a write whose outcome the evidence does not decide.
var ErrUndetermined = errors.New("the outcome could not be determined")

// Driver finds out what became of the writes that are in doubt. It is one goroutine,
// which lasts while a write has a turn; without a background it runs only while somebody
// waits. It asks the ledger of each write what may be done, and does one thing at a
// time, so that what it finds out of the service serves all.
type Driver struct {
	*view
	cfg       Config
	store     store
	pending   *shared // with the registry of the open writes
	undeclare func()
	schedule  *schedule

	mu      sync.Mutex         // of what others may read of a write that is in doubt
	exiting map[*OpenWrite]int // callers who wait for it and are getting out of the market

	// Of the goroutine alone.
	looks       map[books.AccountKey]*AccountLook
	seen        map[*OpenWrite]*seenLook
	namespace   namespace
	calibrating []Request                  // under one fresh key; none of a calibration that has not begun
	calibrated  []reply                    // to the first of them
	full        map[spec.Operation]*noRoom // of operations
	cuts        int                        // looks in a row that the limits cut short
	noteWaits   time.Duration              // how long the journal is waited for next
	dated       bool                       // it has asked for the service's time
	fails       int                        // requests in a row to which nothing answered
	downUntil   time.Time                  // when it is asked again: one write asks, and the others wait with it
}

// Config is what a driver is made of.
type Config struct {
	Host    Host
	Journal journal.Store // nil without one
	BaseURL string
	Life    *Life
	// Background means that it asks although nobody waits.
	Background   bool
	WithoutProbe bool
	// Without is what is not relied on of what begins now.
	Without func() ledger.Without
	// WithoutBaseline means that the first entry on a declared account does not wait for one.
	WithoutBaseline bool
	// Baselines is how many looks for entries there are in a minute at the most.
	Baselines int
	// IsExclusive says whether nobody else trades an account.
	IsExclusive func(account pending.AccountID) bool
	// Others is called with the first sign that somebody else trades such an account.
	Others func(account pending.AccountID, sign string)
	// NewJournal is called of one client of a journal that has nothing of earlier runs, Unwritten for each
	// record that it did not take.
	NewJournal func()
	Unwritten  func(*pending.Intent, error)
}

// Host is the client as the driver sees it: what it may ask the service for, and when.
type Host interface {
	// Prepare gets a request, which goes alone on a connection of its own or over a kept one,
	// what it needs, at once or not at all.
	Prepare(ctx context.Context, r Request) (Prepared, error)
	// Read reads an account, or one list of it. An entry may await it, for a second at the most.
	Read(ctx context.Context, account books.AccountKey, of List, awaited bool) (*AccountLook, error)
	// SetLevels sets the levels of a position in place of a setting, once, as a write of its own, which is
	// found out about like any other.
	SetLevels(ctx context.Context, of *pending.Intent, wanted Levels) error
	// Judge says what an error of these is.
	Judge(err error) Judgment
	// Keyless returns the refusal of a request without a key, nil if there is one.
	Keyless(environment spec.Environment) error
	// EntriesHeld returns why a probe of an entry is held back, by Halt or by the health, and
	// how long it waits until that is asked again; "" if it is not. Halt does not count for
	// a program that is getting out of the market.
	EntriesHeld(exiting bool) (why string, again time.Duration)
	// Resolved reports how a write in doubt ended, and what contradicts that later.
	Resolved(r Found)
}

// Judgment is what an error of a request is.
type Judgment struct {
	Class ledger.Class
	// Local means that the client itself refused it, Wait for how long it has no room for it.
	Local bool
	Wait  time.Duration
	// KeyRefused means that the API key does not work, Unreachable that the service does not
	// know the account.
	KeyRefused, Unreachable bool
}

// Found is what became of a write, and what that rests on.
type Found struct {
	Intent                  pending.Intent
	Outcome                 ledger.Outcome
	Evidence                Evidence
	Late, MaybeLate         bool
	Superseded, Overwritten bool
	Contradicted            bool   // it ran after all, or may have run twice
	Answer                  []byte // the service's, where it repeated it
	Err                     error
	Why                     error // Err without what the last request met
	Looks                   []*AccountLook
}

// New returns the driver of a client.
func New(c Config) *Driver {
	opened, ok := c.Journal.(interface{ New() bool })
	first := ok && opened.New()
	r := sharedOf(c.Journal)
	if first {
		r.anew.Do(c.NewJournal) // nothing was written before, or what was is lost
	}
	s := store{journal: c.Journal, unwritten: c.Unwritten, shared: r, baseURL: c.BaseURL}
	s.view = r.viewOf(c.BaseURL, first, s.lastOf)
	d := &Driver{
		view: s.view, pending: r, store: s, cfg: c,
		looks: make(map[books.AccountKey]*AccountLook), full: make(map[spec.Operation]*noRoom), seen: make(map[*OpenWrite]*seenLook), exiting: make(map[*OpenWrite]int),
	}
	d.schedule = &schedule{
		life: c.Life, background: c.Background, jobs: make(map[*OpenWrite]*job), wake: make(chan struct{}, 1),
		work: d.work, notBefore: func() time.Time { return d.downUntil },
		rest: func() { clear(d.looks) }, // nobody shares them any more
	}
	d.Books.LagBehind(d.cfg.Without().ReadLag())
	r.join(d)
	return d
}

// serves reports whether it asks a service, and is open.
func (d *Driver) serves(baseURL string) bool {
	return d.cfg.BaseURL == baseURL && d.cfg.Life.Closing.Err() == nil
}

// workerOf returns who works on a write; this one if nobody does.
func (d *Driver) workerOf(w *OpenWrite) *Driver {
	if other := d.pending.workerOf(w); other != nil {
		return other
	}
	return d
}

// wait waits until a write is resolved, nothing more is done about it, or the
// context ends.
func (d *Driver) wait(ctx context.Context, w *OpenWrite) (Found, bool) {
	if IsExiting(ctx) && ctx.Err() == nil {
		d.say(func() { d.exiting[w]++ })
		defer d.say(func() {
			if d.exiting[w]--; d.exiting[w] == 0 {
				delete(d.exiting, w)
			}
		})
		d.schedule.hurry(w) // what Halt holds back is looked at again
	}
	ended := d.schedule.wait(ctx, w)
	if r, known := d.pending.resolved.find(w.Intent.ID); known {
		return r, true
	}
	return d.unknown(w, ended), false
}

func (d *Driver) unknown(w *OpenWrite, why error) Found {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := ErrUndetermined
	known := w.noted()
	if known.reason != "" {
		err = fmt.Errorf("%w: %s", err, known.reason)
	}
	if why != nil && !errors.Is(err, why) {
		err = fmt.Errorf("%w: %w", err, why)
	}
	r := Found{Intent: w.intent(), Err: err, Why: err, Looks: known.looks}
	if known.lastErr != nil && !errors.Is(err, known.lastErr) {
		r.Err = fmt.Errorf("%w: %w", err, known.lastErr)
	}
	return r
}

// describe is a write as Pending lists it.
func (d *Driver) describe(w *OpenWrite) pending.Doubt {
	_, idle := d.schedule.has(w)
	left := d.pending.wasLeft(w)
	d.mu.Lock()
	defer d.mu.Unlock()
	return pending.Doubt{Intent: w.intent(), Reason: w.noted().reason, Left: left, Waiting: idle, MarketOpen: w.marketOpen.Load()}
}

// acknowledge notes a person's word, like any other fact: it is durable before anybody learns of it. It
// waits for the turn that the write may be having, whose answer can be the service's word.
func (d *Driver) acknowledge(ctx context.Context, w *OpenWrite, found ledger.Outcome, note string) error {
	release, there, err := d.schedule.hold(ctx, w)
	if err != nil {
		return fmt.Errorf("trading: Acknowledge: write %s is being asked about: %w", w.Intent.ID, err)
	}
	defer release()
	switch {
	case !d.IsOpen(w):
		return notPending(w.Intent.ID)
	case !there && w.isForAPerson():
		d.pending.remove(w)
		return nil
	case !there && !d.pending.claim(w):
		return fmt.Errorf("trading: Acknowledge: write %s is being sent: wait for its call", w.Intent.ID)
	}
	f := ledger.Fact{Kind: ledger.Acknowledged, At: d.Clocks.Now(), Finding: ledger.Finding{Outcome: found}}
	given := ctx.Err() == nil // else the journal takes nothing
	err = d.store.before(ctx, w, record{Fact: &f, Note: note})
	switch {
	case err == nil:
	case given && mayBeThere(ctx, err): // what cannot be taken back counts
		err = fmt.Errorf("trading: Acknowledge: it counts, and whether the journal has it is not known: %w", err)
	default:
		if !there {
			d.pending.giveBack(w)
		}
		return fmt.Errorf("trading: Acknowledge: %w", err)
	}
	w.Ledger.Note(f)
	d.say(func() { w.by, w.noting().note, w.Answer = ByAcknowledged, note, nil })
	d.finish(w)
	return err
}

func notPending(id pending.IntentID) error {
	return fmt.Errorf("trading: Acknowledge: write %s is not pending", id)
}

// hookWaits is how long the driver waits for who hears of an outcome, so that most hear of it before
// those do who wait for it. What else is in doubt does not wait for a hook that hangs: by then the
// program may have traded on, and the account show it no more.
const hookWaits = time.Second

func (d *Driver) report(r Found) {
	heard := make(chan struct{})
	begun := d.cfg.Life.Go(func() {
		defer close(heard)
		d.cfg.Host.Resolved(r)
	})
	if !begun {
		d.cfg.Host.Resolved(r)
		return
	}
	select {
	case <-heard:
	case <-time.After(hookWaits):
	}
}

// work is the turn of a write: it does the one thing that the ledger of the write allows next, if that is due.
func (d *Driver) work(w *OpenWrite) (due time.Time, idle, stuck bool) {
	now := d.Clocks.Now()
	limits, whyHeld, askAgain := d.limits(w, now)
	step := d.nextStep(w, now, limits)
	if step.Do != ledger.Stop && step.At > now.Mono && d.learnTime(w) {
		now = d.Clocks.Now()
		step = d.nextStep(w, now, limits)
	}
	keyless := d.cfg.Host.Keyless(w.Intent.Environment)
	switch {
	case step.Do == ledger.Stop:
		idle = true
	case keyless != nil:
		idle = true
		d.say(func() {
			q := w.noting()
			q.lastErr, q.reason = keyless, "nothing can be asked about it without an API key"
		})
	case step.At > now.Mono:
	default:
		d.schedule.requested(w, d.pending.requests.Add(1))
		err := d.doStep(w, step, limits)
		now = d.Clocks.Now()
		step = d.nextStep(w, now, limits)
		if err != nil {
			d.say(func() { q := w.noting(); q.lastErr, q.reason = err, cmp.Or(d.whyBlocked(w, err), q.reason) })
			step.At = now.Mono + d.putOff(w, err)
		}
		idle = step.Do == ledger.Stop
	}
	if whyHeld != "" && !idle && step != w.Ledger.Next(now, ledger.Limits{}) {
		d.say(func() { w.noting().reason = whyHeld })
		step.At = min(step.At, now.Mono+askAgain)
	}
	stuck = step.At-now.Mono >= longestWait && d.whyBlocked(w, w.noted().lastErr) != ""
	switch {
	case w.Ledger.Forget(): // nothing is to be found out
	case !w.Ledger.Done() || w.Ledger.Outcome() == ledger.Unknown:
		return d.Clocks.began.Add(step.At), idle, stuck
	default:
		if again, more := d.restoreLevels(w); more {
			return again, false, false
		}
	}
	d.worked(w)
	return time.Time{}, false, false
}

// learnTime asks for the service's time, once, where a write of an earlier run is about to wait: what that run
// has waited for counts by no other clock.
func (d *Driver) learnTime(w *OpenWrite) bool {
	if d.dated || !w.Left || !d.Clocks.Now().Service.IsZero() || d.cfg.Host.Keyless(w.Intent.Environment) != nil {
		return false
	}
	d.dated = true
	_, err := d.cfg.Host.Read(d.cfg.Life.Closing, w.account(), ListTrades, false)
	return err == nil
}

// worked ends a write of which a turn has found out all that there is.
func (d *Driver) worked(w *OpenWrite) {
	delete(d.seen, w)
	if !w.Ledger.Forget() {
		d.finish(w)
		return
	}
	// It was turned away, and what became of an earlier use of its key is not its to find out.
	d.pending.resolved.keep(w.Intent.ID, Found{Intent: w.intent(), Err: w.Answer.Refusal})
	d.concluded(w, w.Answer)
	d.schedule.remove(w)
}

// say changes what others may read of a write, or its job, meanwhile.
func (d *Driver) say(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// goOn goes on with a write that has waited for another one to end.
func (d *Driver) goOn(w *OpenWrite) {
	d.mu.Lock()
	waits := w.noted().reason == string(accounting.PendingBeside)
	d.mu.Unlock()
	if waits {
		d.Ask(w, d.Requests())
	}
}

// isYoung reports whether a write may still be asked about with its own bytes. That takes two
// fences, and with many in doubt the second has its place a minute after the first: so one that
// has had none is too old a minute before.
func isYoung(w *OpenWrite) bool {
	window := ledger.Window
	if !w.received.Load() {
		window -= limitWindow
	}
	return Elapsed(w.Intent.Decided) < window
}

func byDecision(a, b *OpenWrite) int {
	return cmp.Or(a.Intent.Decided.Compare(b.Intent.Decided), cmp.Compare(a.Intent.ID, b.Intent.ID))
}
