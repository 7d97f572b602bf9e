package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
)

// Audit is an append-only record of every write of a client: what was wanted, each
// attempt, each wait, and what became of it. It is safe for concurrent use, and for
// several clients of one program.
type Audit struct {
	options Options
	lock    *disk.File
	run     uint64        // the line of KindOpened
	calls   atomic.Uint64 // of this run

	mu     sync.Mutex
	chain  segments
	failed error // why it cannot be written; nil while it can
	final  bool  // and will not be, until it is opened again
	closed bool
	since  time.Time // when it failed
	held   []Event   // of the time since
	heldB  int       // and how much memory they take
	lost   int       // how many were not held

	syncing sync.Mutex
}

// ErrClosed is the error of an audit that was closed.
var ErrClosed = errors.New("record: the audit is closed")

// ErrLocked means that another process, or another Audit of this one, has it open.
var ErrLocked = errors.New("record: the audit is open already")

// FailedError means that an audit cannot be written, on a full disk for instance.
type FailedError struct {
	// Since is when it failed first.
	Since time.Time
	// Final means that it will not be tried again: a sync has failed, and it has to be
	// opened anew.
	Final bool
	// Err is the last failure.
	Err error
}

// Error says since when.
func (e *FailedError) Error() string {
	again := ""
	if e.Final {
		again = ", and has to be opened again"
	}
	return fmt.Sprintf("record: the audit cannot be written since %s%s: %v", e.Since.Format(time.RFC3339), again, e.Err)
}

// Unwrap returns the last failure.
func (e *FailedError) Unwrap() error { return e.Err }

// maxHeld bounds what is held in memory while the audit cannot be written.
const maxHeld = 1 << 20

// OpenAudit opens the audit at path for this process alone, and makes it if there is
// none; the directory has to be there. Its files are readable by their owner only.
//
// It verifies the latest file: one that is not what was written is a
// [*TamperedError], and nothing is appended to it. Keep it as evidence, and begin
// another. A last line that a crash has torn is no such error: the file is left as it
// is, under its number, and a new one says how it ends.
func OpenAudit(path string, o Options) (*Audit, error) { return openAudit(realDisk, path, o) }

func openAudit(on storage, path string, o Options) (*Audit, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil { // the program may go to another folder
		return nil, fmt.Errorf("record: %w", err)
	}
	lock, err := disk.Lock(path+".lock", os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, openError(path, err)
	}
	a := &Audit{options: o, lock: lock, chain: segments{path: path, holder: o.Holder, max: o.MaxFile, sync: o.Sync == SyncDone, disk: on}}
	err = a.chain.load()
	if err == nil {
		err = a.chain.append(&Event{At: now(), Kind: KindOpened, Holder: a.chain.holder})
	}
	if err != nil {
		if a.chain.file != nil {
			err = errors.Join(err, a.chain.file.Close())
		}
		return nil, errors.Join(openError(path, err), lock.Close())
	}
	a.run = a.chain.seq
	return a, nil
}

// openError is why an audit does not open.
func openError(path string, err error) error {
	tampered, other := (*TamperedError)(nil), (*HolderError)(nil)
	switch {
	case errors.Is(err, disk.ErrLocked):
		return fmt.Errorf("%w: %s", ErrLocked, path)
	case errors.As(err, &tampered), errors.As(err, &other):
		return err
	default:
		return fmt.Errorf("record: %w", err)
	}
}

// Close ends the audit with a line that says so, syncs it, and gives it to whoever
// opens it next. Close the clients first: what they still hear is not recorded after
// this. The error is about events that are not on the disk. A second
// Close does nothing.
func (a *Audit) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	err := a.err()
	if a.failed == nil || a.resume() {
		if err = a.chain.append(&Event{At: now(), Kind: KindClosed}); err == nil {
			err = a.chain.file.Sync()
		}
	}
	if a.chain.file != nil {
		err = errors.Join(err, a.chain.file.Close())
	}
	if err = errors.Join(err, a.lock.Close()); err != nil {
		return fmt.Errorf("record: closing: %w", err)
	}
	return nil
}

// Err is nil while the audit can be written. Otherwise it is a [*FailedError], or
// [ErrClosed].
func (a *Audit) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err()
}

// err is Err; a.mu is held.
func (a *Audit) err() error {
	switch {
	case a.closed && a.failed == nil:
		return ErrClosed
	case a.failed != nil:
		return &FailedError{Since: a.since, Final: a.final, Err: a.failed}
	}
	return nil
}

// Head returns the number and the hash of the last line. Kept elsewhere now and then,
// it shows what the chain alone cannot: that lines are missing at its end, or that all
// of it was written anew.
func (a *Audit) Head() (seq uint64, hash string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.chain.seq, a.chain.head
}

// Guard returns the guard that refuses entries while the audit cannot be written; it
// tries first. Exits pass: their events are held in memory, up to a MiB, and written
// once that is possible. Give it to the client that has the Hooks.
func (a *Audit) Guard() trading.Guard {
	return func(_ context.Context, w trading.Write) error {
		if !w.Entry {
			return nil
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.closed {
			return ErrClosed
		}
		if a.failed != nil && !a.resume() {
			return a.err()
		}
		return nil
	}
}

// newCall names a call, uniquely in all files of the audit.
func (a *Audit) newCall() string {
	return strconv.FormatUint(a.run, 10) + "." + strconv.FormatUint(a.calls.Add(1), 10)
}

// write appends an event, or holds it while that is not possible. It returns the
// line's number, 0 while there is none.
func (a *Audit) write(e *Event) (seq uint64) {
	e.bound()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0
	}
	e.At = now() // under the lock, so that lines are in the order of their times
	if a.failed != nil && !a.resume() {
		a.hold(e)
		return 0
	}
	if err := a.chain.append(e); err != nil {
		a.fail(err)
		a.hold(e)
		return 0
	}
	return e.Seq
}

// fail notes why the audit cannot be written.
func (a *Audit) fail(err error) {
	if a.failed == nil {
		a.since = now()
	}
	a.failed = err
	if sync := (*syncError)(nil); errors.As(err, &sync) {
		a.final = true
	}
}

// hold keeps an event for later, unless too much is kept already.
func (a *Audit) hold(e *Event) {
	if size := e.bytes(); a.heldB+size <= maxHeld {
		a.held = append(a.held, e.clone())
		a.heldB += size
		return
	}
	a.lost++
}

// resume tries to write again: that it could not for a while, and what it has held
// since. It reports whether all of that is written.
func (a *Audit) resume() bool {
	if a.final {
		return false
	}
	if !a.chain.usable() {
		if err := a.chain.rotate(); err != nil {
			a.fail(err)
			return false
		}
	}
	resumed := Event{
		At: now(), Kind: KindResumed, Since: a.since, Held: len(a.held), Lost: a.lost,
		Err: cutText(a.failed.Error(), a.options.MaxBody),
	}
	if err := a.chain.append(&resumed); err != nil {
		a.fail(err)
		return false
	}
	a.lost = 0
	for i := range a.held {
		if err := a.chain.append(&a.held[i]); err != nil {
			a.held = a.held[i:]
			a.fail(err)
			return false
		}
		a.heldB -= a.held[i].bytes()
	}
	a.held, a.failed = nil, nil
	return true
}

// durable syncs up to a line. Those who wait for one sync share the next.
func (a *Audit) durable(seq uint64) {
	if a.options.Sync != SyncDone || seq == 0 {
		return
	}
	a.syncing.Lock()
	defer a.syncing.Unlock()
	a.mu.Lock()
	file, upTo := a.chain.file, a.chain.seq
	done := a.chain.synced >= seq || a.closed || file == nil
	a.mu.Unlock()
	if done {
		return
	}
	err := file.Sync()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.chain.synced = max(a.chain.synced, upTo)
	case a.chain.synced < seq && !a.closed: // else it was synced on its way out
		a.fail(&syncError{err})
	}
}
