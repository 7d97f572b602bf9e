package resolve

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/journal"
)

// A write that the run before left is found out about like any other: by its stored
// answer within ten minutes of the service's time, by looks after that.
func TestRestart(t *testing.T) {
	for _, row := range []struct {
		name       string
		operation  string
		left       func(t *testing.T, d *Driver, w *OpenWrite) // what the run before did, beyond its send
		undated    bool
		later      time.Duration
		answers    map[string][]ledger.Answer
		outcome    ledger.Outcome
		maybeLate  bool
		asked, key string
		after      time.Duration
	}{
		{
			name: "its stored answer", operation: order, later: time.Minute, answers: answered(),
			outcome: ledger.Applied, asked: "fence, fence, /orders", after: 5 * time.Second,
		},
		{
			name: "nobody knows how old it is", operation: order, later: time.Minute, undated: true, answers: answered(),
			outcome: ledger.NotApplied, asked: "fence, fence, look, look, fence, look, fence, look, look", after: ledger.Gone + 5*time.Second,
		},
		{
			name: "it is too old to be asked", operation: order, later: 11 * time.Minute, answers: answered(),
			outcome: ledger.NotApplied, asked: "fence, fence, look, look, fence, look, fence, look, look", after: 20*time.Minute + 8*time.Second,
		},
		{
			name: "a probe had begun", operation: order, later: time.Minute, answers: answered(),
			left: func(t *testing.T, d *Driver, w *OpenWrite) {
				require.NoError(t, d.noteDown(w, ledger.ProbeBegun))
			},
			outcome: ledger.Applied, maybeLate: true, asked: "fence, fence, /orders", after: 5 * time.Second,
		},
		{
			name: "it was sent under the next key", operation: order, later: time.Minute, answers: answered(),
			left: func(t *testing.T, d *Driver, w *OpenWrite) {
				w.Ledger = ledger.New(w.Ledger.Terms)
				d.ChangeKey(w, "the next key")
				require.NoError(t, d.Before(t.Context(), w, false))
			},
			outcome: ledger.Applied, asked: "fence, fence, /orders", after: 5 * time.Second, key: "the next key",
		},
		{
			name: "an exit", operation: exit, later: time.Minute, answers: answered(),
			outcome: ledger.Applied, asked: "fence, fence, /positions/close", after: 5 * time.Second,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDisk()
				before := client(t, &service{}, on(k), foreground)
				if !row.undated {
					date(before)
				}
				w := lost(t, before, "w_1", row.operation)
				if row.left != nil {
					row.left(t, before, w)
				}
				time.Sleep(row.later)
				s := &service{answers: row.answers, body: `{}`}
				k = k.restart()
				d := client(t, s, on(k))
				if !row.undated {
					date(d)
				}
				began := time.Now()
				found, err := d.Recover(t.Context())
				require.NoError(t, err)
				require.Len(t, found, 1)
				assert.Equal(t, row.outcome, found[0].Outcome)
				assert.Equal(t, row.maybeLate, found[0].MaybeLate)
				assert.Equal(t, row.asked, s.asks())
				assert.Equal(t, row.after, time.Since(began))
				if row.key == "" {
					row.key = "key of w_1"
				}
				assert.Equal(t, row.key, string(found[0].Intent.Key))
				assert.Equal(t, row.key, string(s.sent[0].Key))
				end := k.end(t, "w_1")
				assert.Equal(t, row.outcome, end.Outcome)
				assert.Equal(t, row.outcome == ledger.Applied, end.Dead, "the service has an answer under its key")
				again, err := client(t, s, on(k.restart())).Recover(t.Context())
				require.NoError(t, err)
				assert.Empty(t, again, "it is over")
			})
		})
	}
}

// The option of the present run counts too: a write is not sent to ask about it.
func TestARestartWithoutProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		before := client(t, &service{}, on(k), foreground)
		date(before)
		lost(t, before, "w_1", order)
		s := &service{answers: answered()}
		d := client(t, s, on(k.restart()), func(c *Config) { c.WithoutProbe = true })
		date(d)
		_, err := d.Recover(t.Context())
		require.NoError(t, err)
		assert.NotContains(t, s.asked, order)
	})
}

// What was known before a write is in its journal: the account decides after a restart too.
// What others did meanwhile counts against it.
func TestTheBaselineOutlivesTheProcess(t *testing.T) {
	for _, row := range []struct {
		name string
		left func(t *testing.T, d *Driver, k *disk)
		want ledger.Outcome
		says string
	}{
		{name: "nothing beside it", want: ledger.Applied, says: string(accounting.ReplayFits)},
		{
			name: "another order beside it, whose answer cannot be read", want: ledger.NotApplied, says: string(accounting.NoTrace),
			left: func(t *testing.T, d *Driver, _ *disk) {
				_, err := send(t, d, newWrite(d, "w_2", order), success)
				require.NoError(t, err)
			},
		},
		{
			name: "an exit beside it that the journal did not take", says: "an exit went out beside it that the journal did not take",
			left: func(t *testing.T, d *Driver, k *disk) {
				k.failsAt("begin")
				_, err := send(t, d, newWrite(d, "w_2", exit, func(w *OpenWrite) { w.Intent.Symbol = "ETH" }), success)
				require.NoError(t, err)
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDisk()
				before := client(t, &service{}, on(k), foreground)
				readTwice(before)
				lost(t, before, "w_1", order)
				if row.left != nil {
					row.left(t, before, k)
				}
				s := &service{answers: map[string][]ledger.Answer{cancelOrder: {partWay}}}
				one := decimal.NewFromInt(1)
				s.look = func() (AccountLook, error) {
					return AccountLook{Status: "ACTIVE", Orders: []string{"ord_0"}, Positions: map[string]accounting.Holding{"BTC": {Size: one, EntryPrice: one}}}, nil
				}
				k = k.restart()
				d := client(t, s, on(k))
				found, err := d.Recover(t.Context())
				require.Len(t, found, 1)
				assert.Equal(t, row.want, found[0].Outcome)
				require.ErrorContains(t, errors.Join(err, found[0].Err), row.says)
				assert.Equal(t, row.want == ledger.Unknown && k.gap, k.gap)
			})
		})
	}
}

// That the journal lacks an exit matters as long as a write is left that it is beside.
func TestTheGapIsClosed(t *testing.T) {
	for _, left := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			if left {
				lost(t, client(t, &service{}, on(k), foreground), "w_1", order)
			}
			k.gap = true
			k = k.restart()
			require.NoError(t, client(t, &service{}, on(k), foreground).Load(t.Context()))
			assert.Equal(t, left, k.gap)
		})
	}
}

// What is in the journal without its beginning was never sent; what cannot be read is an
// error that names it.
func TestHistoriesThatAreNotWhole(t *testing.T) {
	for _, row := range []struct {
		name, data, says string
	}{
		{"without its beginning", `{"fact":{"k":2,"t":[0,0,0]}}`, ""},
		{"not JSON", `{"fact"`, "trading: journal: write w_1, record 1: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := newDisk()
			require.NoError(t, k.Store.Append(t.Context(), true, journal.Record{Intent: "w_1", Data: []byte(row.data)}))
			d := client(t, &service{}, on(k))
			open, err := d.Pending(t.Context())
			if row.says != "" {
				require.ErrorContains(t, err, row.says)
			} else {
				require.NoError(t, err)
			}
			assert.Empty(t, open)
		})
	}
}

// Two ends of one write in a journal: the last counts. One that cannot be read is an error.
func TestTheLastWriteUnderAName(t *testing.T) {
	k := newDisk()
	d := client(t, &service{}, on(k))
	for i, outcome := range []ledger.Outcome{ledger.NotApplied, ledger.Applied} {
		data, err := json.Marshal(record{End: &Final{Outcome: outcome}})
		require.NoError(t, err)
		require.NoError(t, k.Store.Append(t.Context(), true, journal.Record{Intent: []string{"w_1", "w_2"}[i], Name: "entry 7", Final: true, Data: data}))
	}
	last, err := d.store.last(t.Context(), "entry 7")
	require.NoError(t, err)
	assert.Equal(t, ledger.Applied, last.Outcome)
	require.NoError(t, d.Forget(t.Context(), "entry 7"))
	last, err = d.store.last(t.Context(), "entry 7")
	require.NoError(t, err)
	assert.Nil(t, last)
	require.NoError(t, k.Store.Append(t.Context(), true, journal.Record{Intent: "w_3", Name: "entry 7", Data: []byte("?")}))
	d.pending.kept.keep("entry 7", Final{})
	require.Error(t, d.Forget(t.Context(), "entry 7"), "it is pending")
	assert.NotNil(t, d.pending.kept.find("entry 7"))
	d.pending.kept.keep("entry 8", Final{})
	require.NoError(t, d.Forget(t.Context(), "entry 8"))
	assert.Nil(t, d.pending.kept.find("entry 8"), "what this run alone knows of it goes too")
	d.pending.kept.forget("entry 7")
	_, err = d.store.last(t.Context(), "entry 7")
	require.ErrorContains(t, err, "write w_3, record 1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.store.last(ctx, "entry 7")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, client(t, &service{}).Forget(t.Context(), "entry 7"), "the client has no journal")
}

// A client without a journal remembers so many names.
func TestTheNamesThatAreRemembered(t *testing.T) {
	s := store{shared: &shared{}}
	name := func(n int) string { return "entry " + time.Duration(n).String() }
	for n := range maxFinals {
		for range 2 {
			s.shared.kept.keep(name(n), Final{Try: n})
		}
	}
	last, err := s.last(t.Context(), name(0))
	require.NoError(t, err)
	assert.NotNil(t, last)
	s.shared.kept.keep("one more", Final{})
	for n, kept := range map[string]bool{name(0): false, name(1): true, "one more": true} {
		last, err := s.last(t.Context(), n)
		require.NoError(t, err)
		assert.Equal(t, kept, last != nil, n)
	}
}
