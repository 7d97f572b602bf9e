package resolve

import (
	"context"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
)

// Entries on one account wait together for one look, and all looks together leave most of recovery's
// share of the rate limits to what is in doubt.

// wantsDate reports, once, whether no answer has said the service's time yet.
func (d *Driver) wantsDate() bool {
	d.view.mu.Lock()
	defer d.view.mu.Unlock()
	asked := d.dateAsked
	d.dateAsked = true
	return !asked && d.Clocks.Now().Service.IsZero()
}

// AwaitBaseline has the first entry on a declared account wait until a look that begins then
// can be its baseline: what is lost before there is one stays unknown. Here it reads what rests
// and runs at the most; the look itself is that of [Driver.Before]. Who has not that much time
// goes without. The journal is read first, so that what earlier runs left is found out about
// meanwhile. An entry that a write in doubt holds back anyway waits for nothing; besideDoubt
// means that none does.
func (d *Driver) AwaitBaseline(ctx context.Context, w *OpenWrite, besideDoubt bool) error {
	if w.registered || !w.Ledger.Keyed || !w.Intent.Entry || d.cfg.WithoutBaseline {
		return nil
	}
	if d.askJournal(ctx, w.Intent.Account, notePatience) != nil || !d.Exclusive(w.Intent.Account) {
		return nil
	}
	if d.Load(ctx) != nil || !besideDoubt && len(d.pending.doubtedBeside(w)) > 0 {
		return nil // which a guard says
	}
	end := time.Now().Add(min(mostAwaited*w.Ledger.Without.ReadLag(), w.Intent.SendTTL))
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		end = deadline
	}
	for asked := false; ; {
		now := time.Now()
		left, orders := d.Books.FirstLook(w.account(), w.Places[0].Symbol, now)
		if orders && !asked {
			asked = true
			wait(ctx, d.share(w.account(), ListOrders, d.cfg.Baselines))
			continue
		}
		if left == 0 || now.Add(left+lookPatience).After(end) {
			return nil
		}
		if err := pause(ctx, left); err != nil {
			return err
		}
	}
}

// Touch begins in the background with the look that the first entry on a declared account would
// wait for. What fails of it is left to that entry, or to the next touch. The journal is not asked
// whether others trade there, since a write may wait for that too: then the look is in vain.
func (d *Driver) Touch(account books.AccountKey) {
	if !d.cfg.Background || d.cfg.WithoutBaseline || !d.cfg.IsExclusive(account.ID) || d.Books.Others(account) != "" || d.Books.Looked(account) {
		return
	}
	d.view.mu.Lock()
	defer d.view.mu.Unlock()
	if d.touched[account] {
		return
	}
	d.touched[account] = d.cfg.Life.Go(func() {
		defer func() {
			d.view.mu.Lock()
			defer d.view.mu.Unlock()
			delete(d.touched, account)
		}()
		d.lookAhead(account)
	})
}

// lookAhead reads what waits, where an earlier run may have left that, and everything a lag later. A
// program that reads its account itself has a second for each, and it is not read twice. Half
// of the looks of a minute are left to entries.
func (d *Driver) lookAhead(account books.AccountKey) {
	ctx, most := d.cfg.Life.Closing, max(d.cfg.Baselines/2, 1)
	for asked := false; ; {
		left, _ := d.Books.FirstLook(account, "", time.Now())
		if d.Books.Looked(account) || pause(ctx, left+lookPatience) != nil || d.Books.Looked(account) {
			return
		}
		left, orders := d.Books.FirstLook(account, "", time.Now())
		switch {
		case left > 0: // since an own write
		case orders && !asked:
			asked = true
			wait(ctx, d.share(account, ListOrders, most))
		case orders:
			return
		default:
			wait(ctx, d.share(account, AllLists, most))
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mostAwaited bounds the wait for a look that exits put off, each by a lag, in lags. lookPatience is
// how long the look may take.
const (
	mostAwaited  = 3
	lookPatience = time.Second
)

// readBaseline has the account of an entry read, if that is worth the wait, or if the
// service's time is not known yet: what a restart leaves has no age without it. The look is
// of all who wait for it, and does not end with one of them. An exit does not wait: it has
// the time by when it is in doubt.
func (d *Driver) readBaseline(ctx context.Context, w *OpenWrite) {
	of, most := d.wantedRead(w)
	if most == 0 {
		return
	}
	if over := d.share(w.account(), of, most); w.Intent.Entry {
		wait(ctx, over)
	}
}

// share joins a read of all who want one of an account, and returns when that is over: the one under
// way, or another if it may begin; nil if it may not. In any minute there are so many at the most.
func (d *Driver) share(account books.AccountKey, of List, most int) <-chan struct{} {
	v := d.view
	v.mu.Lock()
	defer v.mu.Unlock()
	if over := v.reads[account]; over != nil {
		return over
	}
	now := time.Now()
	v.began = slices.DeleteFunc(v.began, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if len(v.began) >= most {
		return nil
	}
	over := make(chan struct{})
	begun := d.cfg.Life.Go(func() {
		defer func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			delete(v.reads, account)
			close(over)
		}()
		ctx, cancel := context.WithTimeout(d.cfg.Life.Closing, lookPatience)
		defer cancel()
		// The books have what it shows, as of each read of the program's (call.saw). Without it the
		// entry goes all the same, and is harder to find out about.
		_, _ = d.cfg.Host.Read(ctx, account, of, true)
	})
	if !begun {
		return nil
	}
	v.reads[account], v.began = over, append(v.began, now)
	return over
}

// wait waits for the end of a read, if there is one.
func wait(ctx context.Context, over <-chan struct{}) {
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// wantedRead is what an entry reads before it is sent: the account where no baseline is
// known; on a declared account the closed trades where the list would soon not reach back
// to those that are known. Beside an exit one list is read, for the service's time alone.
// There are at most so many in a minute.
func (d *Driver) wantedRead(w *OpenWrite) (of List, most int) {
	switch {
	case !w.Ledger.Keyed:
		return AllLists, 0
	case !w.Intent.Entry:
		if w.Ledger.Resolves && d.Durable() && d.wantsDate() {
			return ListTrades, d.cfg.Baselines
		}
		return AllLists, 0
	}
	list, all, declared := false, false, d.Exclusive(w.Intent.Account)
	if declared {
		list, all = d.Books.WantsList(w.account())
	}
	switch {
	case list && all, (d.Durable() || declared && !d.cfg.WithoutBaseline) && (d.Books.WantsRead(&w.booked, time.Now()) || d.wantsDate()):
		return AllLists, d.cfg.Baselines
	case list:
		return ListTrades, 5 * d.cfg.Baselines // one request, and not five
	default:
		return AllLists, 0
	}
}
