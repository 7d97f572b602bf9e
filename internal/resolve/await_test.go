package resolve

import (
	"cmp"
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// The first entry on a declared account waits until one look shows all that was done there
// before. Who has less time than that goes without.
func TestTheFirstEntryWaitsForALook(t *testing.T) {
	waits := func(c *Config) { c.WithoutBaseline = false }
	old := newDisk()
	for name, row := range map[string]struct {
		change []func(*Config)
		after  time.Duration // of the client's start
		ttl    time.Duration
		within time.Duration // the caller's patience
		want   time.Duration
	}{
		"without a journal an earlier run may have traded just now": {change: []func(*Config){waits}, want: ledger.Lag},
		"with a journal that has seen other runs too":               {change: []func(*Config){waits, on(old)}, want: ledger.Lag},
		"a while after the start":                                   {change: []func(*Config){waits}, after: ledger.Lag - time.Second, want: time.Second},
		"later":                                                     {change: []func(*Config){waits}, after: ledger.Lag},
		"with less time to send":                                    {change: []func(*Config){waits}, ttl: ledger.Lag},
		"with less patience":                                        {change: []func(*Config){waits}, within: ledger.Lag},
		"with enough of both":                                       {change: []func(*Config){waits}, within: 2 * ledger.Lag, want: ledger.Lag},
		"of a bot that cannot wait":                                 {},
		"where others trade":                                        {change: []func(*Config){waits, notDeclared}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := client(t, &service{}, append(row.change, foreground)...)
				time.Sleep(row.after)
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				if row.within > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), row.within)
				}
				defer cancel()
				w := newWrite(d, "w_1", order)
				if row.ttl > 0 {
					w.Intent.SendTTL = row.ttl
				}
				d.Own(w, "")
				require.NoError(t, d.AwaitBaseline(ctx, w, false))
				assert.Equal(t, row.want, time.Since(began))
				require.NoError(t, d.Before(ctx, w, false))

				began = time.Now()
				require.NoError(t, d.AwaitBaseline(ctx, newWrite(d, "w_2", exit), false), "an exit waits for nothing")
				require.NoError(t, d.AwaitBaseline(ctx, newWrite(d, "w_3", order), false), "it is not the first")
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

// On an account that nobody declares there is nothing to wait for, the journal of earlier runs included.
func TestAnEntryOnAnAccountThatIsNotDeclaredReadsNoJournal(t *testing.T) {
	for _, declared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k, reads := newDisk(), 0
			k.onRead = func() { reads++ }
			d := client(t, &service{}, on(k), foreground, func(c *Config) {
				c.WithoutBaseline = false
				c.IsExclusive = func(pending.AccountID) bool { return declared }
			})
			require.NoError(t, d.AwaitBaseline(t.Context(), newWrite(d, "w_1", order), true))
			assert.Equal(t, declared, reads > 0)
		})
	}
}

// A caller who leaves does not wait on.
func TestWhoLeavesWhileItWaitsForALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{}, foreground, func(c *Config) { c.WithoutBaseline = false })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, d.AwaitBaseline(ctx, newWrite(d, "w_1", order), false), context.Canceled)
	})
}

// What a journal shows of the run before spares the first entry of the next one the wait: where
// nothing was left pending, and the service's clock says that the last write is long ago.
func TestTheFirstEntryAfterAQuietRun(t *testing.T) {
	waits := func(c *Config) { c.WithoutBaseline = false }
	for name, row := range map[string]struct {
		pause time.Duration // between the two runs
		left  bool          // a write is pending
		gap   bool          // an exit went out beside the journal
		mute  bool          // no answer of the first run says the time
		to    string        // another service than before
		skew  time.Duration // of the service's clock, in the second run
		want  time.Duration
		reads bool // the look that follows counts
	}{
		"an hour":                           {pause: time.Hour, reads: true},
		"20 s":                              {pause: 20 * time.Second, reads: true},
		"a second":                          {pause: time.Second, want: ledger.Lag, reads: true},
		"a write is pending":                {pause: time.Hour, left: true, want: ledger.Lag, reads: true},
		"the journal lacks an exit":         {pause: time.Hour, gap: true, want: ledger.Lag, reads: true},
		"the time was never said":           {pause: time.Hour, mute: true, want: ledger.Lag, reads: true},
		"another service":                   {pause: time.Hour, to: "there", want: ledger.Lag, reads: true},
		"the wall clock was set an hour on": {pause: time.Hour, skew: time.Second - time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hear := func(d *Driver, skew time.Duration) {
					now := time.Now()
					d.Clocks.Heard(http.Header{"Date": {now.Add(skew).UTC().Format(http.TimeFormat)}}, now, now)
				}
				k := newDisk()
				k.isNew = true
				before := client(t, &service{}, on(k), foreground)
				if !row.mute {
					hear(before, 0)
				}
				if row.left {
					lost(t, before, "w_0", order)
				}
				concluded, err := send(t, before, newWrite(before, "w_1", order), success)
				require.NoError(t, err)
				require.True(t, concluded)
				k.gap = row.gap
				shut(before)
				time.Sleep(row.pause)

				d := client(t, &service{}, on(k.restart()), foreground, waits, func(c *Config) { c.BaseURL = cmp.Or(row.to, c.BaseURL) })
				began, w := time.Now(), newWrite(d, "w_2", order)
				require.NoError(t, d.AwaitBaseline(t.Context(), w, false))
				assert.Equal(t, row.want, time.Since(began))
				hear(d, row.skew)
				of := w.account()
				d.Books.SawPositions(of, books.Read{Begun: time.Now(), Ended: time.Now()}, nil)
				assert.Equal(t, row.reads, d.Books.ReadSince(of, began.Add(-1)))
			})
		})
	}
}

// leased is a journal that is held under a lease.
type leased struct {
	*disk
	older bool // it may be an older copy
}

func (leased) Deadline() time.Time           { return time.Now().Add(time.Minute) }
func (leased) Kept(context.Context) bool     { return true }
func (leased) Covers(string, string) bool    { return true }
func (leased) Halted() (why string, is bool) { return "", false }
func (l leased) CompleteFrom() (from time.Time) {
	if l.older {
		from = time.Now()
	}
	return from
}

// A holder that releases its lease hands over what it knows of its accounts. The next one takes entries
// at once in the markets of which that is enough, and judges what is lost by it.
func TestTheFirstEntryAfterARelease(t *testing.T) {
	for name, row := range map[string]struct {
		file   bool   // the next one has it in a file, as after an export
		older  bool   // it may be an older copy
		gap    bool   // an exit went out beside it
		left   bool   // a write is pending
		more   bool   // another client goes on
		idle   bool   // another holder has held it meanwhile, and done nothing
		symbol string // of the entry; that which the holder traded unless set
		want   time.Duration
	}{
		"at once":                              {},
		"after one that did nothing":           {idle: true},
		"in another market":                    {symbol: "ETH", want: ledger.Lag},
		"the next one has it in a file":        {file: true, want: ledger.Lag},
		"the journal may be an older copy":     {older: true, want: ledger.Lag},
		"the journal lacks an exit":            {gap: true, want: ledger.Lag},
		"a write is pending":                   {left: true, want: ledger.Lag},
		"another client went on, and was lost": {more: true, want: ledger.Lag},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				holds := func(k *disk) func(*Config) {
					return func(c *Config) { c.WithoutBaseline, c.Journal = false, leased{k, row.older} }
				}
				k := newDisk()
				k.isNew = true
				before := client(t, &service{}, foreground, holds(k))
				now := time.Now()
				before.Clocks.Heard(http.Header{"Date": {now.UTC().Format(http.TimeFormat)}}, now, now)
				of := newWrite(before, "w_0", order).account()
				before.Books.SawStatus(of, now, "ACTIVE")
				before.Books.SawPositions(of, atOnce(now), nil)
				before.Books.SawTrades(of, atOnce(now), func(int) []accounting.Row { return nil })
				before.Books.SawOrders(of, atOnce(now), nil, nil)
				trades := func(d *Driver, id string) {
					concluded, err := send(t, d, newWrite(d, id, order), success)
					require.NoError(t, err)
					require.True(t, concluded)
				}
				trades(before, "w_1")
				if row.left {
					lost(t, before, "w_2", order)
				}
				if row.more {
					other := client(t, &service{}, foreground, holds(k))
					shut(before)
					trades(other, "w_3")
					k = k.restart() // as after a kill that no lease knows of
				} else {
					shut(before)
					k = k.restart()
				}
				k.gap = row.gap
				if row.idle {
					idles := client(t, &service{}, foreground, holds(k))
					shut(idles)
					again := k.restart()
					again.quiet = k.quiet // nothing was appended
					k = again
				}
				time.Sleep(100 * time.Millisecond)

				d := client(t, &service{}, foreground, holds(k), func(c *Config) {
					if row.file {
						c.Journal = k
					}
				})
				began := time.Now()
				w := newWrite(d, "w_4", order)
				w.Intent.Symbol = cmp.Or(row.symbol, w.Intent.Symbol)
				w.Places = w.Traits.places(&w.Intent)
				require.NoError(t, d.AwaitBaseline(t.Context(), w, row.left)) // else a guard holds it back
				assert.Equal(t, row.want, time.Since(began))
				if row.want > 0 {
					return
				}
				w.booked = d.bookWrite(w)
				d.Books.Enter(&w.booked)
				known := d.Books.Known(&w.booked, true, true, accounting.State{Status: "ACTIVE"}, time.Time{})
				assert.NotNil(t, known.Course, "it is judged by what was handed over")
			})
		})
	}
}

// An order that an earlier run left resting may trade as the first look reads. So what waits is read
// a lag before that look, once; but not where the journal says that nothing was left.
func TestTheFirstEntryWaitsForWhatEarlierRunsLeft(t *testing.T) {
	for name, row := range map[string]struct {
		left  string // the write of the earlier run
		fails bool   // the read
		want  time.Duration
		asked []string
	}{
		"nothing that waits":             {left: order},
		"an order that rests":            {left: limit, want: ledger.Lag, asked: []string{"orders"}},
		"an order, and no read succeeds": {left: limit, fails: true, asked: []string{"orders"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hear := func(d *Driver) {
					now := time.Now()
					d.Clocks.Heard(http.Header{"Date": {now.UTC().Format(http.TimeFormat)}}, now, now)
				}
				k := newDisk()
				k.isNew = true
				before := client(t, &service{body: `{"success":true,"order":{"id":"ord_1"}}`}, on(k), foreground)
				hear(before)
				_, err := send(t, before, newWrite(before, "w_1", row.left), success)
				require.NoError(t, err)
				shut(before)
				time.Sleep(time.Hour)

				s := &service{}
				d := client(t, s, on(k.restart()), foreground, func(c *Config) { c.WithoutBaseline = false })
				hear(d)
				s.orders = func() {
					if !row.fails {
						d.Books.SawOrders(liveBook("acc_1"), books.Read{Begun: time.Now(), Ended: time.Now()}, nil, nil)
					}
				}
				began := time.Now()
				require.NoError(t, d.AwaitBaseline(t.Context(), newWrite(d, "w_2", order), false))
				assert.Equal(t, row.want, time.Since(began))
				assert.Equal(t, row.asked, s.asked)
			})
		})
	}
}
