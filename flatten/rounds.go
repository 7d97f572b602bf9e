package flatten

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// target is what a step is made on.
type target struct {
	do Action
	on string
}

// job is one account on its way out.
type job struct {
	Options
	id     trading.AccountID
	trader trading.Trader
	live   *trading.Account // nil for the paper account, where nothing rests or runs
	slots  chan struct{}    // bounds how many accounts are at work at once; nil is no bound
	report *Report

	steps     turn            // to add a step: those of one stage go beside each other
	notBefore map[target]held // what failed, and when it is tried again
	patience  patience        // when to look again, and when to give up
	refusals  []error         // of the last round: what stands in the way
	urgent    urgent
	entries   entries
}

func newJob(o Options, id trading.AccountID, t trading.Trader, live *trading.Account) *job {
	return &job{
		Options: o, id: id, trader: t, live: live,
		report:    newReport(id),
		entries:   entries{asking: make(map[trading.IntentID]bool), asked: make(map[trading.IntentID]bool)},
		steps:     newTurn(),
		notBefore: make(map[target]held),
		patience:  patience{interval: o.interval()},
	}
}

// run goes round by round until there is proof, or no way on.
func (j *job) run(ctx context.Context) error {
	j.report.Began = time.Now()
	defer func() { j.report.Ended = time.Now() }()
	calls := j.begin(ctx)
	defer j.end()
	var quiet *Look // the last look, if it found nothing
	for {
		look, wait, err := j.round(calls)
		if err != nil {
			return j.notFlat(err)
		}
		switch {
		case look == nil: // it failed, and says nothing: not even against the one before
		case !look.Empty() || j.urgent.hung || j.entries.open: // what hangs, or is pending, may still do something
			quiet = nil
		case quiet != nil && look.Began.Sub(quiet.Ended) >= j.patience.interval:
			j.report.Flat = true
			return nil
		default:
			quiet = look
		}
		if err := sleep(ctx, wait); err != nil {
			return j.notFlat(err)
		}
	}
}

// round looks once, and does what can be done about what it finds. The look is nil
// if it failed. The error is why there is no other round.
func (j *job) round(ctx context.Context) (found *Look, wait time.Duration, err error) {
	if err := j.take(ctx); err != nil {
		return nil, 0, err
	}
	defer j.release()
	j.refusals = nil
	j.entries.open = false
	j.pend(ctx)
	j.urgent.hung = len(j.urgent.flying) > 0
	look, err := j.look(ctx)
	if err != nil {
		j.refusals = []error{err}
		if j.Urgent && len(look.Positions) > 0 { // what waits is not known, and does not keep them open
			var status accountStatus
			j.actUrgently(ctx, j.closes(look), &status)
		}
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if j.patience.ends(err) {
			return nil, 0, ErrStuck
		}
		return nil, j.patience.after(err), nil
	}
	j.report.Looks = append(j.report.Looks, look)
	if j.Looked != nil {
		j.Looked(look)
	}
	if look.Empty() {
		j.await(ctx)
		j.pend(ctx) // one that was decided meanwhile
		if j.entries.open && j.entries.stuck {
			if j.patience.lose(time.Now()) {
				return &look, 0, ErrStuck
			}
			return &look, j.patience.interval, nil
		}
		j.patience.hope()
		j.patience.renew()
		return &look, j.patience.interval, nil
	}
	hope := j.act(ctx, look)
	if ctx.Err() != nil {
		return &look, 0, context.Cause(ctx)
	}
	if hope {
		j.patience.hope()
	} else if j.patience.lose(time.Now()) {
		return &look, 0, ErrStuck
	}
	return &look, j.patience.next(), nil
}

// look reads what waits and then the positions. What fills between the two reads
// shows in the second; the other way round it would show in neither. Where it is urgent,
// positions that could be read come beside the error of what could not.
func (j *job) look(ctx context.Context) (Look, error) {
	began := time.Now()
	var waiting trading.OpenOrders
	var unread error
	if j.live != nil {
		open, err := j.live.OpenOrders(ctx, j.reading()...)
		switch {
		case err == nil:
			waiting = *open
		case j.Urgent:
			unread = j.failed(trading.OpOpenOrders, began, err)
		default:
			return Look{}, j.failed(trading.OpOpenOrders, began, err)
		}
	}
	read := trading.OpPositions
	if j.live == nil {
		read = trading.OpSandboxPositions
	}
	positions, err := j.trader.Positions(ctx, j.reading()...)
	if err != nil {
		return Look{}, j.failed(read, began, err)
	}
	look := j.pick(positions, waiting)
	look.Account, look.Began, look.Ended = j.id, began, time.Now()
	return look, unread
}

// reading is how the reads here are made: at the priority of what they serve, and
// without waiting for a rate limit, since the wait between rounds does that.
func (j *job) reading() []trading.CallOption {
	opts := []trading.CallOption{trading.ForExit(), trading.FailFast()}
	if j.Urgent {
		opts = append(opts, trading.WithAttemptTimeout(urgentTry), trading.WithRetry(trading.Retry{Attempts: 1}))
	}
	return opts
}

// failed notes a read that failed.
func (j *job) failed(read trading.Operation, at time.Time, err error) error {
	j.note(Step{At: at, Do: Read, Target: string(read), Outcome: trading.NotApplied, Err: err})
	return err
}

func (j *job) note(s Step) {
	defer j.steps.take()()
	s.Account = j.id
	j.report.Steps = append(j.report.Steps, s)
	if j.Progress != nil {
		j.Progress(s)
	}
}

// take waits for a place among the accounts that are at work.
func (j *job) take(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if j.slots == nil {
		return nil
	}
	select {
	case j.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (j *job) release() {
	if j.slots != nil {
		<-j.slots
	}
}

// notFlat is the error of an account that is not proven flat: why it ended, and
// what stood in the way last.
func (j *job) notFlat(why error) error {
	left, what := "it could not be looked at", errors.Join(append([]error{why, j.pendingError()}, j.refusals...)...)
	if look, ok := j.report.Left(); ok {
		left = "last seen: " + look.String()
	}
	return fmt.Errorf("flatten: %s: %w (%s): %w", name(j.id), ErrNotFlat, left, what)
}
