package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// Log is a [Store] in a file. [Open] makes one.
type Log struct {
	path   string
	disk   storage
	unlock func() error
	sizes  sizes
	shared Shared
	work   sync.WaitGroup // the one goroutine that syncs and rewrites, while there is something to do

	isNew    bool
	quiet    []byte
	repaired int64

	turn  chan struct{} // full while somebody has what follows
	state *state
	segment
	waiters []chan error
	working bool
	closed  bool
	failed  error
}

// sizes are the same for all journals, but in tests.
type sizes struct {
	growth int64 // how large the file may be, whatever is alive
	chunk  int64 // by how much the file grows: a sync is faster where the size stays
}

var usual = sizes{growth: 4 << 20, chunk: 256 << 10}

// New reports whether Open has created the file.
func (l *Log) New() bool { return l.isNew }

// Quiet returns the Data of the last record that Open found, if it is a Final one and nothing
// was pending; else nil.
func (l *Log) Quiet() []byte { return bytes.Clone(l.quiet) }

// Repaired returns how many bytes Open found behind the last valid frame, and left
// out: appends that a power cut had torn. None of them was reported as durable.
func (l *Log) Repaired() int64 { return l.repaired }

// Shared implements [Store].
func (l *Log) Shared() *Shared { return &l.shared }

// Append implements [Store]. The records of one call take at most 1 MiB.
func (l *Log) Append(ctx context.Context, durable bool, records ...Record) error {
	return l.change(ctx, durable, func() error {
		if err := l.state.check(records); err != nil || len(records) == 0 {
			return err
		}
		b := beginFrame()
		for _, r := range records {
			b = appendRecord(b, r)
		}
		if err := l.write(b); err != nil {
			return err
		}
		for _, r := range records {
			r.Data = bytes.Clone(r.Data)
			l.state.apply(r)
		}
		return nil
	})
}

// Forget implements [Store].
func (l *Log) Forget(ctx context.Context, name string) error {
	return l.change(ctx, true, func() error {
		known, err := l.state.forgettable(name)
		if err != nil || !known {
			return err
		}
		if err := l.write(appendForget(beginFrame(), name)); err != nil {
			return err
		}
		l.state.forget(name)
		return nil
	})
}

// Pending implements [Store].
func (l *Log) Pending(ctx context.Context) iter.Seq2[History, error] {
	return yieldAll(ctx, func(ctx context.Context) ([]History, error) {
		if err := l.lock(ctx); err != nil {
			return nil, err
		}
		defer l.unlockTurn()
		return snapshot(l.state.pending), nil
	})
}

// Named implements [Store].
func (l *Log) Named(ctx context.Context, name string) ([]History, error) {
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.unlockTurn()
	return l.state.named(name), nil
}

// Close makes everything durable and closes the file. It returns [ErrFailed] if it
// could not, or if an earlier write had failed.
func (l *Log) Close() error {
	l.turn <- struct{}{}
	if l.closed {
		l.unlockTurn()
		return nil
	}
	l.closed = true
	l.unlockTurn()
	l.work.Wait()
	l.turn <- struct{}{}
	defer l.unlockTurn()
	l.step(l.checkFile)
	l.step(l.flush)
	l.step(l.checkFile)
	err := l.failed
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return errors.Join(err, l.unlock())
}

// step does something to the file, unless a step before it has failed.
func (l *Log) step(do func() error) {
	if l.failed != nil {
		return
	}
	if err := do(); err != nil {
		l.fail(err)
	}
}

// fail ends the log, and whoever waits.
func (l *Log) fail(err error) {
	l.failed = fmt.Errorf("%w: %q: %w", ErrFailed, l.path, err)
	answer(l.waiters, l.failed)
	l.waiters = nil
}

func answer(waiters []chan error, err error) {
	for _, waiter := range waiters {
		waiter <- err // which has room for it
	}
}

// lock takes turns, as a mutex does, but does not outwait the context.
func (l *Log) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.closed {
		l.unlockTurn()
		return ErrClosed
	}
	return nil
}

func (l *Log) unlockTurn() { <-l.turn }

// change does something to the log. If that has no error, and is to be durable, it
// waits until it is.
func (l *Log) change(ctx context.Context, durable bool, do func() error) error {
	if err := l.lock(ctx); err != nil {
		return err
	}
	err := l.failed
	if err == nil {
		err = do()
	}
	var waiter chan error
	if err == nil && durable && l.synced < l.end {
		waiter = make(chan error, 1)
		l.waiters = append(l.waiters, waiter)
	}
	if !l.working && l.busy() {
		l.working = true
		l.work.Go(l.run)
	}
	l.unlockTurn()
	if waiter == nil {
		return err
	}
	select {
	case err := <-waiter:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write puts a frame into the file. Whether it is durable is for others to say.
func (l *Log) write(b []byte) error {
	if length := len(b) - frameHead; length > frameMost {
		return fmt.Errorf("%w: the records of one call must take at most %d bytes, take %d", ErrInvalid, frameMost, length)
	}
	l.step(func() error { return l.put(b, l.sizes.chunk) })
	return l.failed
}

// busy says whether there is something to do for run.
func (l *Log) busy() bool {
	return l.failed == nil && (len(l.waiters) > 0 || l.bloated(l.sizes.growth))
}

// run syncs for those who wait, all of them at once, and rewrites the file when it
// has grown, until there is nothing to do.
func (l *Log) run() {
	l.turn <- struct{}{}
	defer l.unlockTurn()
	for l.busy() {
		if len(l.waiters) > 0 {
			l.sync()
		} else {
			l.step(l.rewrite)
		}
	}
	l.working = false
}

// sync makes durable what was written, in the file that the next process opens, and
// lets others write meanwhile: they share the next one.
func (l *Log) sync() {
	waiters, end, chain := l.waiters, l.end, l.chain
	l.waiters = nil
	l.unlockTurn()
	err := l.file.Sync()
	if err == nil {
		err = l.checkFile()
	}
	l.turn <- struct{}{}
	if err != nil {
		l.waiters = append(l.waiters, waiters...)
		l.fail(err)
		return
	}
	answer(waiters, nil)
	l.step(func() error { return l.putMark(end, chain) })
}
