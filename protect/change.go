package protect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
)

const (
	beatEvery  = 20 * time.Second
	flattenFor = time.Minute
	stuckPause = 5 * time.Second
)

func (w *watcher) state() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.record.State
}

// become changes the state: on the disk first. A disk that fails keeps nothing from being
// flattened, but entries are refused.
func (w *watcher) become(to State, reason string) {
	w.mu.Lock()
	there := w.record.State == to && w.record.Reason == reason && w.record.Broken == ""
	w.mu.Unlock()
	if !there {
		w.change(func(r *record) { r.State, r.Reason = to, reason })
	}
}

// errUnwritten means that a change is not on the disk.
var errUnwritten = errors.New("the state could not be written")

// change is write for what has to be, whether the disk takes it or not.
func (w *watcher) change(edit func(*record)) { _ = w.write(edit) }

// write changes the record, and writes it before anybody acts on it.
func (w *watcher) write(edit func(*record)) error {
	w.mu.Lock()
	from := w.record.State
	next := w.record
	edit(&next)
	if next.State != from {
		next.Since = w.p.now().wall
	}
	next.Beat = w.p.now().wall
	err := w.save(&next, true)
	if err != nil {
		next.Broken = err.Error()
	}
	w.record = next
	w.beat = w.p.now()
	event := w.event(Changed, next.Reason)
	event.From = from
	w.mu.Unlock()

	if next.State != from {
		w.p.hub.emit(event)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w: %w", errUnwritten, err)
	w.alert(err.Error())
	return err
}

// event describes the account as it is. The lock is held.
func (w *watcher) event(kind EventKind, reason string) Event {
	return Event{
		At: w.p.now().wall, Account: w.id, Kind: kind, From: w.record.State, To: w.record.State,
		Reason: reason, Room: w.known.Room, Need: w.known.Need,
	}
}

func (w *watcher) tell(kind EventKind, reason string) {
	w.mu.Lock()
	e := w.event(kind, reason)
	w.mu.Unlock()
	w.p.hub.emit(e)
}

func (w *watcher) alert(reason string) { w.tell(Alert, reason) }

// keepAlive lets those who follow see that the protection runs.
func (w *watcher) keepAlive(now instant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.record.Broken == "" && now.since(w.beat) < beatEvery {
		return
	}
	w.beat = now
	next := w.record
	next.Beat, next.Broken = now.wall, ""
	if err := w.save(&next, false); err != nil {
		next.Broken = err.Error()
	}
	w.record = next
}

// broken refuses entries until a step has succeeded.
func (w *watcher) broken(why string) {
	w.change(func(r *record) { r.Broken = why })
	w.alert(why)
}

// blind refuses entries once the last good look is too old.
func (w *watcher) blind() { w.blindAs("the account could not be read") }

func (w *watcher) blindAs(why string) {
	w.mu.Lock()
	late := !w.record.Blind && !w.goodAt.unset() && w.p.now().since(w.goodAt) >= w.p.options.BlindAfter
	w.mu.Unlock()
	if late {
		w.change(func(r *record) { r.Blind = true })
		w.tell(BlindBegan, why)
	}
}

func (w *watcher) sighted() {
	w.mu.Lock()
	was := w.record.Blind
	w.mu.Unlock()
	if was {
		w.change(func(r *record) { r.Blind = false })
		w.tell(BlindEnded, "")
	}
}

// stopped ends the watching: entries are refused from here on.
func (w *watcher) stopped() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	next := w.record
	next.Beat = time.Time{} // for those who follow
	if err := w.save(&next, false); err != nil {
		next.Broken = err.Error()
	}
	w.record = next
}

// flatten cancels and closes everything, in turns of a minute, until it is proven flat.
func (w *watcher) flatten(ctx context.Context) time.Duration {
	within, cancel := context.WithTimeout(ctx, flattenFor)
	defer cancel()
	report, err := flatten.Account(within, w.account, flatten.Options{
		Urgent: true,
		Looked: func(flatten.Look) { w.keepAlive(w.p.now()) },
	})
	if ctx.Err() != nil {
		return 0 // the state stands, and the next run goes on
	}
	if report.Flat {
		return w.flat(ctx)
	}
	state, unread := w.account.State(ctx, reading()...)
	switch {
	case unread == nil && (!state.Status.AllowsExit() || state.Locked):
		w.become(Lost, fmt.Sprintf("the account is %s", state.Status))
		return 0
	default:
		w.become(Stuck, errors.Join(err, unread).Error())
		return stuckPause
	}
}

// flat is an account that is proven flat: a look says what it is then.
func (w *watcher) flat(ctx context.Context) time.Duration {
	if err := w.observe(ctx, true); err != nil {
		return time.Second // it is flattened, and proven, again
	}
	w.mu.Lock()
	status, locked := w.look.state.Status, w.look.state.Locked
	reason := "flat: " + w.record.Reason
	w.mu.Unlock()
	switch {
	case status == trading.StatusPassed:
		w.become(Passed, "the account has passed, and is flat")
	case !status.AllowsExit() || locked:
		w.become(Lost, fmt.Sprintf("the account is %s", status))
	default:
		w.become(Held, reason)
	}
	return 0
}

// nextDay ends Held where the policy says so.
func (w *watcher) nextDay() {
	w.mu.Lock()
	r := w.record
	w.mu.Unlock()
	if w.p.options.ResumeNextDay && r.State == Held && !r.Manual {
		w.change(func(r *record) { r.State, r.Reason, r.Again = Starting, "another day has begun", 0 })
	}
}

// ask does what a person asks for.
func (w *watcher) ask(kind RequestKind, reason string) error {
	var refused error
	err := w.write(func(r *record) { refused = r.ask(kind, reason) })
	w.nudge()
	switch {
	case refused != nil:
		return fmt.Errorf("protect: account %s: %w", w.id, refused)
	case err != nil:
		return fmt.Errorf("protect: account %s: %w", w.id, err)
	default:
		return nil
	}
}

func (r *record) ask(kind RequestKind, reason string) error {
	switch {
	case kind == RequestFlatten && r.State.ended():
		return fmt.Errorf("it is %s: it is not flattened", r.State)
	case kind == RequestFlatten:
		r.Manual, r.State, r.Reason = true, Flattening, "asked for: "+reason
	case kind == RequestResume && r.State.cannotResume():
		return fmt.Errorf("it is %s: it cannot be resumed", r.State)
	case kind == RequestResume:
		r.Manual, r.Again, r.Broken = false, 0, ""
		r.State, r.Reason = Starting, "resumed"
	default:
		r.Manual = true
		if r.State == Starting || r.State == OK || r.State == Warned || r.State == SoftHalt {
			r.State, r.Reason = SoftHalt, "halted: "+reason
		}
	}
	return nil
}

// cannotResume reports whether the state ends by itself, or never.
func (s State) cannotResume() bool { return s == Flattening || s == Stuck || s.ended() }

// nudge makes the goroutine look now.
func (w *watcher) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.known
	s.Account, s.State, s.Since, s.Reason = w.id, w.record.State, w.record.Since, w.record.Reason
	s.Running, s.Blind, s.Manual = w.running, w.record.Blind, w.record.Manual
	s.Interval, s.Reserved = w.interval, w.own()
	if err := w.closed(); err != nil {
		s.Refusal = err.Error()
	}
	s.Entries = s.Refusal == ""
	if w.look != nil {
		s.Seen = w.look.began.wall
	}
	return s
}

// closed is why entries are refused without being judged; nil if they are judged. The
// lock is held.
func (w *watcher) closed() error {
	switch {
	case !w.running:
		return fmt.Errorf("%w: the protection does not run", ErrHalted)
	case !w.record.allowsEntry():
		return fmt.Errorf("%w: %s", ErrHalted, w.record.why())
	default:
		return nil
	}
}
