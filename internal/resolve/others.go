package resolve

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

// What a program says of an account, that nobody else trades it, ends with the first sign
// of the contrary, for later runs too: until the program says it anew.

// signOf is the name under which a journal keeps the sign of an account.
func signOf(baseURL string, account pending.AccountID) string {
	return "others " + baseURL + " " + string(account)
}

func liveBook(account pending.AccountID) books.AccountKey {
	return books.AccountKey{Environment: "live", ID: account}
}

// Exclusive reports whether nobody else trades an account: the program says so, and
// nothing has shown the contrary. While that cannot be read, somebody may.
func (d *Driver) Exclusive(account pending.AccountID) bool {
	return d.cfg.IsExclusive(account) && d.askJournal(d.cfg.Life.Closing, account, exitWaits) == nil && d.Books.Others(liveBook(account)) == ""
}

// askJournal has the books know the sign that an earlier run has seen. It waits so long for a journal
// that hangs, and holds up nobody else meanwhile.
func (d *Driver) askJournal(ctx context.Context, account pending.AccountID, waits time.Duration) error {
	if !d.Durable() || account == "" || !d.cfg.IsExclusive(account) {
		return nil
	}
	d.view.mu.Lock()
	asked := d.asked[account]
	d.view.mu.Unlock()
	if asked {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, waits, errHangs)
	defer cancel()
	last, err := d.store.last(ctx, signOf(d.cfg.BaseURL, account))
	if err != nil {
		return fmt.Errorf("the journal cannot be read: %w", err)
	}
	d.view.mu.Lock()
	defer d.view.mu.Unlock()
	if last != nil && !d.asked[account] { // else it may have been declared anew since
		d.Books.NoteOthers(liveBook(account), last.Note)
	}
	d.asked[account] = true
	return nil
}

// trades notes that a write trades an account. By two base URLs it may be one account or two: what
// is done by the one the other does not know, and it may be what somebody else does.
func (d *Driver) trades(in *pending.Intent) {
	if in.Account == "" {
		return
	}
	r := d.pending
	r.mu.Lock()
	if r.first == nil {
		r.first = make(map[pending.AccountID]string)
	}
	if r.first[in.Account] == "" {
		r.first[in.Account] = in.BaseURL
	}
	first := r.first[in.Account]
	r.mu.Unlock()
	if first == in.BaseURL {
		return
	}
	id := liveBook(in.Account)
	for _, baseURL := range []string{first, in.BaseURL} {
		v := d.pending.viewOf(baseURL, false, nil)
		if v.Books.Others(id) != "" {
			continue
		}
		v.Books.NoteOthers(id, byTwoBaseURLs)
		if !d.pending.othersTrade(baseURL, id, byTwoBaseURLs) { // nobody declares it at the moment
			d.keepSign(baseURL, in.Account, byTwoBaseURLs)
		}
	}
}

const byTwoBaseURLs = "the program writes to it by two base URLs"

// othersTrade passes the first sign that somebody else trades an account on to a client
// that declares it; false if none does.
func (r *shared) othersTrade(baseURL string, id books.AccountKey, sign string) bool {
	r.mu.Lock()
	var by *Driver
	for _, d := range r.workers {
		if d.serves(baseURL) && d.cfg.IsExclusive(id.ID) {
			by = d
		}
	}
	r.mu.Unlock()
	return by != nil && by.cfg.Life.Go(func() {
		by.cfg.Others(id.ID, sign)
		by.keepSign(baseURL, id.ID, sign)
	})
}

// keepSign keeps a sign for later runs.
func (d *Driver) keepSign(baseURL string, account pending.AccountID, sign string) {
	if !d.Durable() {
		return
	}
	now := time.Now()
	name := signOf(baseURL, account)
	data, err := json.Marshal(&record{End: &Final{At: now, Note: sign}})
	if err == nil {
		ctx, cancel := context.WithTimeoutCause(context.Background(), notePatience, errHangs)
		defer cancel()
		err = d.store.journal.Append(ctx, true, journal.Record{
			Intent: fmt.Sprintf("%s %d", name, now.UnixNano()), Name: name, Final: true, Data: data,
		})
	}
	if err != nil {
		d.store.unwritten(&pending.Intent{Account: account}, err)
	}
}

// DeclareAnew forgets the signs that somebody else trades an account.
func (d *Driver) DeclareAnew(ctx context.Context, account pending.AccountID) error {
	if d.Durable() {
		if err := d.store.journal.Forget(ctx, signOf(d.cfg.BaseURL, account)); err != nil {
			return err
		}
	}
	d.view.mu.Lock()
	defer d.view.mu.Unlock()
	d.asked[account] = true
	d.Books.NoteOthers(liveBook(account), "")
	return nil
}
