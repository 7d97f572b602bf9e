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

// atOnce is how many accounts are at work at the same time. One that waits is not
// at work, so an account that cannot be closed for an hour keeps no other waiting.
const atOnce = 8

// All flattens every account of the key, several at once. Archived accounts and
// those that accept nothing any more are looked at like the others: that they hold
// nothing is to be seen, not assumed. When all have ended it lists them again, since a pass can issue a new one, until the list has
// nothing new.
//
// There is a report for each account that was listed, in the order of the list.
// The error is nil only if the list could be read and every account is proven flat;
// it joins the errors of those that are not, and one account's does not end the
// others.
func All(ctx context.Context, live *trading.Live, o Options) ([]*Report, error) {
	o.halt()
	if err := o.check(); err != nil {
		return nil, err
	}
	if live == nil {
		return nil, fmt.Errorf("flatten: %w: no live accounts were given", ErrNotFlat)
	}
	o.oneAtATime()
	o.Halt = nil // done
	var (
		reports []*Report
		errs    []error
		seen    = make(map[trading.AccountID]bool)
		slots   = make(chan struct{}, atOnce)
	)
	for {
		accounts, err := list(ctx, live, o)
		if err != nil {
			return reports, errors.Join(append(errs, err)...)
		}
		accounts = slices.DeleteFunc(accounts, func(a trading.AccountInfo) bool { return seen[a.ID] })
		if len(accounts) == 0 {
			return reports, errors.Join(errs...)
		}
		jobs := make([]*job, len(accounts))
		for i, a := range accounts {
			seen[a.ID] = true
			handle := live.Account(a.ID)
			jobs[i] = newJob(o, a.ID, handle, handle)
			jobs[i].slots = slots
			reports = append(reports, jobs[i].report)
		}
		errs = append(errs, together(ctx, jobs)...)
		if err := errors.Join(errs...); err != nil && ctx.Err() != nil {
			return reports, err
		}
	}
}

// together runs jobs beside each other.
func together(ctx context.Context, jobs []*job) []error {
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i := range jobs {
		wg.Go(func() { errs[i] = jobs[i].run(ctx) })
	}
	wg.Wait()
	return errs
}

// list reads the accounts, as patiently as an account is looked at.
func list(ctx context.Context, live *trading.Live, o Options) ([]trading.AccountInfo, error) {
	patience := patience{interval: o.interval()}
	for {
		began := time.Now()
		accounts, err := live.Accounts(ctx, trading.ForExit(), trading.FailFast())
		if err == nil {
			return accounts, nil
		}
		if o.Progress != nil {
			o.Progress(Step{At: began, Do: Read, Target: string(trading.OpAccounts), Outcome: trading.NotApplied, Err: err})
		}
		why := ErrStuck
		if !patience.ends(err) {
			why = sleep(ctx, patience.after(err))
		}
		if why != nil {
			return nil, fmt.Errorf("flatten: %w (the accounts could not be listed): %w", ErrNotFlat, errors.Join(why, err))
		}
	}
}

// oneAtATime keeps the accounts from calling the program at the same time.
func (o *Options) oneAtATime() {
	turn := newTurn()
	if progress := o.Progress; progress != nil {
		o.Progress = func(s Step) {
			defer turn.take()()
			progress(s)
		}
	}
	if looked := o.Looked; looked != nil {
		o.Looked = func(l Look) {
			defer turn.take()()
			looked(l)
		}
	}
}

// turn is a lock that is held while the program's own functions run. They may
// sleep, and a goroutine that waits for a channel does not stop virtual time as
// one that waits for a mutex does.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn and returns what ends it.
func (t turn) take() (end func()) {
	t <- struct{}{}
	return func() { <-t }
}
