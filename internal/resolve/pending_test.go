package resolve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// The lists of open writes: those in doubt, oldest first, and with an account the writes
// that are being sent.
func TestListsOfOpenWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{}, foreground)
		first := lost(t, d, "w_1", order)
		time.Sleep(time.Second)
		lost(t, d, "w_2", limit, func(w *OpenWrite) { w.Intent.Symbol = "ETH" })
		lost(t, d, "w_3", order, func(w *OpenWrite) { w.Intent.Account = "acc_2" })
		sent := newWrite(d, "w_4", order)
		d.Own(sent, "")
		require.NoError(t, d.Before(t.Context(), sent, false))
		sent2 := newWrite(d, "w_5", paper)
		d.Own(sent2, "")
		require.NoError(t, d.Before(t.Context(), sent2, false))

		ids := func(open []pending.Doubt, err error) (ids []string) {
			require.NoError(t, err)
			for _, w := range open {
				ids = append(ids, string(w.Intent.ID))
			}
			return ids
		}
		assert.Equal(t, []string{"w_1", "w_2", "w_3"}, ids(d.Pending(t.Context())))
		assert.Equal(t, []string{"w_1", "w_2", "w_4"}, ids(d.PendingOn(t.Context(), "live", "acc_1")))
		assert.Equal(t, []string{"w_3"}, ids(d.PendingOn(t.Context(), "live", "acc_2")))
		assert.Equal(t, []string{"w_5"}, ids(d.PendingOn(t.Context(), "sandbox", "")))
		open, err := d.PendingOn(t.Context(), "live", "acc_1")
		require.NoError(t, err)
		assert.Equal(t, first.intent(), open[0].Intent)
		assert.Equal(t, "its call has not returned", open[2].Reason)
		assert.Equal(t, pending.Key("key of w_4"), open[2].Key)
		assert.Equal(t, sent.Intent.Body, open[2].Intent.Body)

		for place, want := range map[pending.Place][]pending.IntentID{
			{Environment: "live", Account: "acc_1", Symbol: "BTC"}: {"w_1"},
			{Environment: "live", Account: "acc_1", Symbol: "ETH"}: {"w_2"},
			{Environment: "live", Account: "acc_1"}:                {"w_2"},
			{Environment: "sandbox", Symbol: "BTC"}:                nil,
		} {
			in, err := d.DoubtedIn(t.Context(), place)
			require.NoError(t, err)
			assert.Equal(t, want, in, "%v", place)
		}
		assert.Equal(t, []pending.IntentID{"w_1", "w_2", "w_3"}, shut(d))
	})
}

// Resolve waits for the outcome of a write, in the background or not, and keeps it for who
// asks again.
func TestResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: answered(), body: `{}`}
		d := client(t, s, foreground)
		w := lost(t, d, "w_1", order)
		for range 2 {
			r, known, err := d.Resolve(t.Context(), "w_1")
			require.NoError(t, err)
			assert.True(t, known)
			assert.Equal(t, ledger.Applied, r.Outcome)
			assert.Equal(t, "{}", string(r.Answer))
		}
		assert.False(t, d.IsOpen(w))
		assert.Equal(t, "fence, fence, /orders", s.asks())
		assert.Equal(t, uint64(2), d.Requests(), "the probe is of the second fence's turn")
		r, known, err := d.Resolve(t.Context(), "w_2")
		require.NoError(t, err)
		assert.False(t, known)
		require.ErrorIs(t, r.Err, ErrUndetermined)
		require.ErrorContains(t, r.Err, "write w_2 is not pending in this client")
	})
}

// A caller whose context has ended has nothing done on their account.
func TestAContextThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: answered()}
		d := client(t, s, foreground)
		lost(t, d, "w_1", order)
		ctx, cancel := context.WithCancel(Exiting(t.Context()))
		cancel()
		r, known, err := d.Resolve(ctx, "w_1")
		require.NoError(t, err)
		assert.False(t, known)
		require.ErrorIs(t, r.Err, context.Canceled)
		assert.Empty(t, s.asks())
	})
}

// Recover waits for what was left alone, all at once, and names those without an outcome.
func TestRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		before := client(t, &service{}, on(k), foreground)
		date(before)
		lost(t, before, "w_1", order)
		time.Sleep(time.Second)
		lost(t, before, "w_2", paper, func(w *OpenWrite) { w.Ledger.Keyed = true }) // nothing answers
		k = k.restart()
		s := &service{answers: answered()}
		d := client(t, s, on(k), foreground)
		date(d)
		own := lost(t, d, "w_3", order)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		found, err := d.Recover(ctx)
		require.Len(t, found, 2)
		assert.Equal(t, ledger.Applied, found[0].Outcome)
		assert.Equal(t, pending.IntentID("w_1"), found[0].Intent.ID)
		assert.Equal(t, ledger.Unknown, found[1].Outcome)
		require.ErrorContains(t, err, "write w_2, POST /sandbox/orders BTC: ")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotContains(t, err.Error(), "w_1")
		assert.True(t, d.IsOpen(own))
	})
}

// A person's word ends a write, is in the journal before that, and gives way to the
// service's own.
func TestAcknowledge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		s := &service{}
		d := client(t, s, on(k))
		w := lost(t, d, "w_1", order, named("entry 7"))
		waits := make(chan Found)
		go func() {
			r, _ := d.Wait(t.Context(), w)
			waits <- r
		}()
		time.Sleep(time.Second / 2)
		require.NoError(t, d.Acknowledge(t.Context(), "w_1", ledger.NotApplied, "looked by hand"))
		r := <-waits
		assert.Equal(t, ledger.NotApplied, r.Outcome)
		assert.Equal(t, ByAcknowledged, r.Evidence)
		end := k.end(t, "w_1")
		assert.Equal(t, "looked by hand", end.Note)
		assert.True(t, end.Dead)
		assert.Equal(t, "begin!, beside, answer, fence!, fenced, acknowledged!, end", k.of("w_1"))
		assert.Len(t, s.resolved, 1)
		last, err := d.store.last(t.Context(), "entry 7")
		require.NoError(t, err)
		assert.Equal(t, ledger.NotApplied, last.Outcome)
		require.ErrorContains(t, d.Acknowledge(t.Context(), "w_1", ledger.Applied, ""), "write w_1 is not pending")
		asked := len(s.asked)
		time.Sleep(time.Hour)
		assert.Len(t, s.asked, asked)
	})
}

func TestAcknowledgeThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newDisk()
		d := client(t, &service{}, on(k), foreground)
		lost(t, d, "w_1", order)
		k.failsAt("acknowledged")
		require.ErrorIs(t, d.Acknowledge(t.Context(), "w_1", ledger.Applied, ""), errDisk)
		open, err := d.Pending(t.Context())
		require.NoError(t, err)
		assert.Len(t, open, 1)
		sent := newWrite(d, "w_2", order)
		d.Own(sent, "")
		require.NoError(t, d.Before(t.Context(), sent, false))
		require.ErrorContains(t, d.Acknowledge(t.Context(), "w_2", ledger.Applied, ""), "write w_2 is being sent: wait for its call")
	})
}

// A person's word that comes while the service is asked waits for the answer: it holds, unless
// that decides, and then the person is told. One who waits no longer has said nothing.
func TestAcknowledgeBesideATurn(t *testing.T) {
	for _, row := range []struct {
		name    string
		answer  ledger.Answer
		waits   time.Duration
		says    string
		outcome ledger.Outcome
		by      Evidence
	}{
		{"nothing answers", silence, time.Minute, "", ledger.NotApplied, ByAcknowledged},
		{"the service has its answer", replayed(success), time.Minute, "write w_1 is not pending", ledger.Applied, ByReplay},
		{"nobody waits", replayed(success), time.Second, "write w_1 is being asked about: context deadline exceeded", ledger.Applied, ByReplay},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newDisk()
				s := &service{answers: map[string][]ledger.Answer{cancelOrder: {reused}, order: {row.answer}}, body: `{}`}
				d := client(t, s, on(k), foreground)
				w := lost(t, d, "w_1", order)
				said := make(chan error, 1)
				s.onAsk = func(operation string) {
					if operation == order {
						go func() {
							ctx, cancel := context.WithTimeout(t.Context(), row.waits)
							defer cancel()
							said <- d.Acknowledge(ctx, "w_1", ledger.NotApplied, "")
						}()
						time.Sleep(2 * time.Second)
						assert.True(t, d.IsOpen(w), "its turn ends first")
						assert.NotContains(t, k.of("w_1"), "acknowledged")
					}
				}
				r, known := d.Wait(t.Context(), w)
				assert.True(t, known)
				assert.Equal(t, row.outcome, r.Outcome)
				assert.Equal(t, row.by, r.Evidence)
				assert.False(t, d.IsOpen(w))
				if err := <-said; row.says != "" {
					require.ErrorContains(t, err, row.says)
				} else {
					require.NoError(t, err)
				}
				assert.Equal(t, row.outcome, k.end(t, "w_1").Outcome)
				assert.Len(t, s.resolved, 1)
			})
		})
	}
}

// A person's word is on the disk before anybody is told: where the process ends between the
// two, the next run goes on with it.
func TestAcknowledgeAndThenACrash(t *testing.T) {
	for _, found := range []ledger.Outcome{ledger.Applied, ledger.NotApplied} {
		synctest.Test(t, func(t *testing.T) {
			k := newDisk()
			d := client(t, &service{}, on(k), foreground, func(c *Config) { c.Unwritten = func(*pending.Intent, error) {} })
			lost(t, d, "w_1", order, named("entry 7"))
			k.failsAt("end")
			require.NoError(t, d.Acknowledge(t.Context(), "w_1", found, "looked by hand"))
			k = k.restart()
			s := &service{}
			d = client(t, s, on(k), foreground)
			open, err := d.Pending(t.Context())
			require.NoError(t, err)
			assert.Empty(t, open)
			end := k.end(t, "w_1")
			assert.Equal(t, found, end.Outcome)
			assert.Equal(t, ByAcknowledged, end.Evidence)
			assert.Equal(t, "looked by hand", end.Note)
			require.Len(t, s.resolved, 1)
			assert.ErrorContains(t, s.resolved[0].Err, "(acknowledged: looked by hand)")
			assert.Nil(t, d.taker("entry 7"))
			assert.Empty(t, s.asks())
		})
	}
}

// The evidence in words, which are in errors.
func TestEvidence(t *testing.T) {
	seen := map[string]bool{}
	for e := ByNothing; e <= ByAcknowledged; e++ {
		seen[e.String()] = true
	}
	assert.Equal(t, map[string]bool{
		"none": true, "its answer": true, "its stored answer": true, "never sent": true, "accounting": true, "acknowledged": true,
	}, seen)
}
