package flatten

import (
	"context"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

const (
	// urgentRound is how long an urgent round waits for its calls before it looks again.
	urgentRound = time.Second
	// urgentTry is how long one attempt of an urgent call may hang.
	urgentTry = 2 * time.Second
)

// ended is an urgent call that has ended.
type ended struct {
	task
	err error
}

// urgent are the calls under way: at most one for each target.
type urgent struct {
	flying map[target]bool
	hung   bool // one was under way when the last look began
	ends   chan ended
	calls  sync.WaitGroup
	cancel context.CancelFunc
}

// actUrgently begins every call that is not under way yet, waits a moment for them, and
// reports whether anything can still come of them.
func (j *job) actUrgently(ctx context.Context, tasks []task, status *accountStatus) (hope bool) {
	for i := range tasks {
		t := tasks[i]
		on := target{t.Do, t.Target}
		if j.urgent.flying[on] {
			continue
		}
		if before := j.notBefore[on]; time.Now().Before(before.until) {
			j.refusals = append(j.refusals, before)
			hope = true
			continue
		}
		j.urgent.flying[on] = true
		j.urgent.calls.Go(func() {
			err := j.make(ctx, t)
			select {
			case j.urgent.ends <- ended{t, err}:
			case <-ctx.Done():
			}
		})
	}
	return j.collect(ctx, status) || hope
}

// await gives calls that hang a moment, where a look has found nothing.
func (j *job) await(ctx context.Context) {
	var status accountStatus
	_ = j.collect(ctx, &status)
}

// collect takes the calls that end within a moment.
func (j *job) collect(ctx context.Context, status *accountStatus) (hope bool) {
	timer := time.NewTimer(urgentRound)
	defer timer.Stop()
	for len(j.urgent.flying) > 0 {
		select {
		case e := <-j.urgent.ends:
			delete(j.urgent.flying, target{e.Do, e.Target})
			if j.weigh(ctx, e.task, e.err, status) {
				hope = true
			}
		case <-timer.C:
			return true // what hangs may still end well
		case <-ctx.Done():
			return true
		}
	}
	return hope
}

// begin makes ready for urgent calls, which end with the returned context.
func (j *job) begin(ctx context.Context) context.Context {
	ctx, j.urgent.cancel = context.WithCancel(ctx)
	j.urgent.flying, j.urgent.ends = make(map[target]bool), make(chan ended)
	return ctx
}

// end ends the urgent calls that still hang.
func (j *job) end() {
	j.urgent.cancel()
	j.urgent.calls.Wait()
}

// calling are the options of a step: it does not wait for a rate limit, which would hold
// up what is under another one, nor for a price, which the rounds do.
func (j *job) calling(into *trading.Meta) []trading.CallOption {
	opts := []trading.CallOption{
		trading.FailFast(), trading.WithRetry(trading.Retry{PriceAttempts: 1}), trading.ResponseInto(into),
	}
	if j.Urgent {
		opts = append(opts, trading.WithAttemptTimeout(urgentTry))
	}
	return opts
}
