package flatten

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// besides is how many calls of one stage go at once: one that hangs must not keep
// the other positions open.
const besides = 8

// task is a step that is about to be made.
type task struct {
	Step
	entry bool // the service takes it only where it takes entries too
	call  func(ctx context.Context, opts ...trading.CallOption) error
}

// act cancels the runs, then the limits, then closes the positions that a look
// found, and reports whether anything can still come of that.
func (j *job) act(ctx context.Context, look Look) (hope bool) {
	stages := [][]task{make([]task, 0, len(look.Runs)), make([]task, 0, len(look.Limits)), j.closes(look)}
	cancels := func(stage int, what string, do Action, id, symbol string, cancel func(context.Context, ...trading.CallOption) (*trading.Ack, error)) {
		if j.leaves(symbol) {
			j.refusals = append(j.refusals, fmt.Errorf("%s %s has no symbol in its record and was left alone", what, id))
			return
		}
		stages[stage] = append(stages[stage], task{Step{Do: do, Target: id}, true, func(ctx context.Context, opts ...trading.CallOption) error {
			_, err := cancel(ctx, opts...)
			return err
		}})
	}
	for _, run := range look.Runs {
		cancels(0, "run", CancelRun, string(run.ID), run.Symbol, func(ctx context.Context, opts ...trading.CallOption) (*trading.Ack, error) {
			return j.live.CancelRun(ctx, run.ID, opts...)
		})
	}
	for _, limit := range look.Limits {
		cancels(1, "limit", CancelLimit, string(limit.ID), limit.Symbol, func(ctx context.Context, opts ...trading.CallOption) (*trading.Ack, error) {
			return j.live.CancelOrder(ctx, limit.ID, opts...)
		})
	}
	var status accountStatus
	if j.Urgent {
		return j.actUrgently(ctx, slices.Concat(stages[2], stages[0], stages[1]), &status)
	}
	for _, tasks := range stages {
		for i, err := range j.stage(ctx, tasks) {
			if j.weigh(ctx, tasks[i], err, &status) {
				hope = true
			}
		}
	}
	return hope
}

// closes close the positions of a look.
func (j *job) closes(look Look) (tasks []task) {
	for _, p := range look.Positions {
		tasks = append(tasks, task{Step{Do: Close, Target: p.Symbol}, false,
			func(ctx context.Context, opts ...trading.CallOption) error {
				_, err := j.trader.ClosePosition(ctx, p.Symbol, trading.All, opts...)
				return err
			}})
	}
	return tasks
}

// held is a call that failed, and is not made again before a time: its Retry-After,
// or a wait that doubles with each failure in a row. Without that, what cannot be
// closed for want of a price would use up the rate limit of what can. Why it failed
// still stands in the way.
type held struct {
	until time.Time
	pause time.Duration
	error
}

func (h held) Unwrap() error { return h.error }

// stage makes calls beside each other and returns when all have ended.
func (j *job) stage(ctx context.Context, tasks []task) []error {
	errs := make([]error, len(tasks))
	places := make(chan struct{}, besides)
	var wg sync.WaitGroup
	for i := range tasks {
		if before := j.notBefore[target{tasks[i].Do, tasks[i].Target}]; time.Now().Before(before.until) {
			errs[i] = before
			continue
		}
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			errs[i] = j.make(ctx, tasks[i])
		})
	}
	wg.Wait()
	return errs
}

// make makes one call.
func (j *job) make(ctx context.Context, t task) error {
	step := t.Step
	step.At = time.Now()
	step.Err = t.call(ctx, j.calling(&step.Meta)...)
	step.Outcome = trading.OutcomeOf(step.Err)
	j.note(step)
	return step.Err
}

// weigh reports whether a call that has ended leaves hope: it was made, or it may
// be accepted in another round.
func (j *job) weigh(ctx context.Context, t task, err error, status *accountStatus) (hope bool) {
	on := target{t.Do, t.Target}
	if err == nil {
		delete(j.notBefore, on)
		j.patience.renew()
		return true
	}
	if errors.As(err, new(held)) {
		j.refusals = append(j.refusals, err)
		return true
	}
	err = fmt.Errorf("%s %s: %w", t.Do, t.Target, err)
	hope = !hopeless(err)
	if !hope && errors.Is(err, trading.ErrAccountLocked) {
		// One code for an account that has failed and for one that has passed.
		known, takes := status.of(ctx, j)
		hope = !known || takes(t.entry)
		if !hope {
			err = fmt.Errorf("the account is %s: %w", status.text, err)
		}
	}
	j.refusals = append(j.refusals, err)
	if hope {
		asked, _ := trading.RetryAfter(err)
		pause := min(max(2*j.notBefore[on].pause, firstPause), longestHold)
		j.notBefore[on] = held{time.Now().Add(max(asked, pause)), pause, err}
	}
	return hope
}

// accountStatus is what an account is in, read once a round if it is asked for.
type accountStatus struct {
	asked, known bool
	text         trading.AccountStatus
	locked       bool
}

func (s *accountStatus) of(ctx context.Context, j *job) (known bool, takes func(entry bool) bool) {
	if !s.asked {
		s.asked = true
		began := time.Now()
		state, err := j.trader.State(ctx, j.reading()...)
		if err != nil {
			read := trading.OpState
			if j.live == nil {
				read = trading.OpSandboxState
			}
			_ = j.failed(read, began, err) // it is in the steps; the refusal stands
		} else {
			s.known, s.text, s.locked = true, state.Status, state.Locked
		}
	}
	return s.known, func(entry bool) bool {
		if s.locked || !s.text.AllowsExit() {
			return false
		}
		// Whether an account that has passed takes cancels, the contract leaves open.
		return !entry || s.text.AllowsEntry()
	}
}
