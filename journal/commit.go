package journal

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
)

// write is a Begin or a Settle on its way to the disk.
type write struct {
	apply func(*change) error
	err   error
	done  chan struct{} // closed when err is final
}

// submit hands a write to the committer, and starts one if none is at work: a
// lone writer waits for nobody. Those that come while a commit is under way are
// the next batch.
func (j *Journal) submit(ctx context.Context, apply func(*change) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &write{apply: apply, done: make(chan struct{})}
	j.mu.Lock()
	if err := j.refuses(); err != nil {
		j.mu.Unlock()
		return err
	}
	j.queue = append(j.queue, w)
	if !j.committing {
		j.committing = true
		j.work.Go(j.commitAll)
	}
	j.mu.Unlock()

	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
	}
	// A disk can hang for longer than an order may wait. What has not been taken
	// yet is withdrawn; what has may be written all the same.
	j.mu.Lock()
	j.queue = slices.DeleteFunc(j.queue, func(other *write) bool { return other == w })
	j.mu.Unlock()
	select {
	case <-w.done:
		return w.err
	default:
		return ctx.Err()
	}
}

// refuses says why no write can be taken; j.mu is held.
func (j *Journal) refuses() error {
	switch {
	case j.closed:
		return ErrClosed
	case j.failed != nil:
		return j.failed
	case j.options.ReadOnly:
		return ErrReadOnly
	}
	return nil
}

// commitAll commits batch after batch until nobody waits.
func (j *Journal) commitAll() {
	for {
		j.mu.Lock()
		batch, failed := j.queue, j.failed
		j.queue = nil
		if len(batch) == 0 {
			j.committing = false
			j.mu.Unlock()
			return
		}
		j.mu.Unlock()

		if failed == nil {
			if err := guard(func() error { return j.commit(batch) }); err != nil {
				failed = j.fail(err)
			}
		}
		for _, w := range batch {
			if failed != nil {
				w.err = failed
			}
			close(w.done)
		}
		if failed == nil {
			if err := guard(j.tidy); err != nil {
				_ = j.fail(err) // of what comes next
			}
		}
	}
}

// commit makes a batch durable, and then visible. Its error is a failure of the
// file; a write that is refused has its own.
func (j *Journal) commit(batch []*write) error {
	c, err := j.stage(batch)
	if err != nil || c.top().empty() {
		return err
	}
	if err := j.log.append(c.top(), c.totals); err != nil {
		return err
	}
	now := published{rows: j.now.rows.under(c.top()), state: j.now.state}
	now.state.totals = c.totals
	j.publish(now)
	return nil
}

// stage finds out what a batch changes.
func (j *Journal) stage(batch []*write) (*change, error) {
	over, now, err := j.snapshot()
	if err != nil {
		return nil, err
	}
	defer rollback(over.tx)
	c := newChange(over, now.totals)
	for _, w := range batch {
		err := w.apply(c)
		if refused := (refusal{}); errors.As(err, &refused) {
			w.err = refused.error
		} else if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// idle reports whether nobody waits for the next batch.
func (j *Journal) idle() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.queue) == 0
}

// fail makes the first failure final, and returns it.
func (j *Journal) fail(err error) *FailedError {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		j.failed = &FailedError{Path: j.path, Err: err}
	}
	return j.failed
}

// guard turns a panic into an error: of a file that has been cut or cannot be
// read, which is mapped into memory, and of bbolt about what it finds there.
func guard(f func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}
