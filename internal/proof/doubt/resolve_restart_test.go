package doubt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// After a restart Recover finds out what the process left, with the README's own code.
func TestRecoverAfterARestart(t *testing.T) {
	for name, row := range map[string]struct {
		fault    tradingsim.Fault
		outcome  trading.Outcome
		evidence trading.Evidence
		within   time.Duration
	}{
		"reply lost":   {tradingsim.DropResponse(), trading.Applied, trading.EvidenceReplay, 8 * time.Second},
		"request lost": {tradingsim.DropRequest(), trading.NotApplied, trading.EvidenceAccounting, 15 * time.Second},
		"refusal lost": {tradingsim.Together(tradingsim.Fail(400, "MIN_NOTIONAL"), tradingsim.DropResponse()),
			trading.NotApplied, trading.EvidenceReplay, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
				r.ReadAll()
				r.Sim.Fault("POST /orders", row.fault)
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
				id := rig.IntentOf(r.T, err)
				r = r.Restart(d)
				_, err = r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"))
				require.ErrorIs(r.T, err, trading.ErrPendingWrite, "what the run before left is in the way")
				began := time.Now()
				found, err := r.Recover(r.T.Context())
				require.NoError(r.T, err)
				require.Len(r.T, found, 1)
				assert.Equal(r.T, id, found[0].Intent.ID)
				assert.Equal(r.T, row.outcome, found[0].Outcome)
				assert.Equal(r.T, row.evidence, found[0].Evidence)
				assert.False(r.T, found[0].Late)
				assert.LessOrEqual(r.T, time.Since(began), row.within)
				assert.Empty(r.T, r.PendingIDs())
				assert.Empty(r.T, d.Pending())
				assert.Equal(r.T, row.outcome == trading.Applied, r.Ran(trading.OpOrder) == 1)
				r.Open(rig.Buy("0.05"))
			})
		})
	}
}

// A person's word ends what cannot be found out, and is kept over a restart.
func TestAcknowledge(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{trading.WithRecovery(trading.Recovery{WithoutBackground: true})}, func(r rig.Rig) {
		d := rig.NewDisk()
		r = r.Restart(d, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		lost := r.Doubtful(tradingsim.DropResponse(), rig.Buy("0.05"))
		id := rig.IntentOf(r.T, lost)
		require.ErrorContains(r.T, r.Acknowledge(r.T.Context(), id, trading.Unknown, ""), "must be Applied or NotApplied")
		require.ErrorContains(r.T, r.Acknowledge(r.T.Context(), "nobody's", trading.Applied, ""), "not pending")
		require.NoError(r.T, r.Acknowledge(r.T.Context(), id, trading.Applied, "seen in the terminal"))
		resolution, err := r.Resolve(r.T.Context(), lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
		assert.Equal(r.T, trading.EvidenceAcknowledged, resolution.Evidence)
		r.Open(rig.Buy("0.05"))
		assert.Empty(r.T, d.Pending())
		r = r.Restart(d)
		found, err := r.Recover(r.T.Context())
		require.NoError(r.T, err)
		assert.Empty(r.T, found)
	})
}

// Without a background the writes that an earlier run left are resolved beside each other
// too, while Recover waits for them.
func TestRecoverWithoutBackgroundOverlapsTheWaits(t *testing.T) {
	symbols := []string{"BTC", "ETH", "SOL"}
	recovers := func(r rig.Rig, n int) (took time.Duration) {
		d := rig.NewDisk()
		r = r.Restart(d, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		for _, symbol := range symbols[:n] {
			r.Sim.Fault("POST /orders", tradingsim.DropRequest())
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05", func(o *trading.Order) { o.Symbol = symbol }), rig.Once, trading.WithResolveTimeout(0))
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		}
		r = r.Restart(d, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		began := time.Now()
		found, err := r.Recover(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, found, n)
		for i := range found {
			assert.Equal(r.T, symbols[i], found[i].Intent.Symbol, "in the order of the decisions")
			assert.Equal(r.T, trading.NotApplied, found[i].Outcome)
		}
		return time.Since(began)
	}
	var one time.Duration
	rig.LiveTest(t, nil, nil, func(r rig.Rig) { one = recovers(r, 1) })
	require.Positive(t, one)
	rig.LiveTest(t, nil, nil, func(r rig.Rig) { assert.Less(t, recovers(r, 3), 2*one) })
}

// Close names what is left.
func TestCloseNamesWhatIsPending(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		lost := r.Doubtful(tradingsim.DropResponse(), rig.Buy("0.05"))
		err := r.Close()
		left := (*trading.PendingError)(nil)
		require.ErrorAs(r.T, err, &left)
		assert.Equal(r.T, []trading.IntentID{rig.IntentOf(r.T, lost)}, left.IDs)
		require.ErrorContains(r.T, err, string(left.IDs[0]))
		_, err = r.Resolve(r.T.Context(), lost)
		require.Error(r.T, err)
	})
}

// Close waits for a probe: its answer is the order's.
func TestCloseWaitsForAProbe(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault("POST /orders", tradingsim.DropResponse(), tradingsim.DelayResponse(3*time.Second))
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		for r.Sent(trading.OpOrder) < 2 {
			time.Sleep(100 * time.Millisecond)
		}
		began := time.Now()
		require.NoError(r.T, r.Close(), "the answer came")
		assert.Greater(r.T, time.Since(began), 2*time.Second)
		assert.Equal(r.T, 1, r.Ran(trading.OpOrder))
	})
}

// Two clients on one journal's handle share what is pending: neither places beside the
// other's write in doubt, either can ask, and both go on once it is known.
func TestTwoClientsOnOneJournal(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		intents := trading.WithJournal(rig.NewDisk().Open())
		first, second := rig.Join(r.T, r.Sim, intents), rig.Join(r.T, r.Sim, intents)
		lost := first.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		id := rig.IntentOf(r.T, lost)
		assert.Equal(r.T, []trading.IntentID{id}, second.PendingIDs())
		require.ErrorIs(r.T, rig.EntryCall(second), trading.ErrPendingWrite)
		resolution, err := second.ResolveID(r.T.Context(), id)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
		assert.Empty(r.T, first.PendingIDs())
		require.NoError(r.T, rig.EntryCall(first))
		require.NoError(r.T, rig.EntryCall(second))
	})
}

// What a client leaves that closes is another's on the same journal, whether that was there
// before or comes after, and Recover waits for it.
func TestRecoverTakesWhatAClosedClientLeft(t *testing.T) {
	for name, row := range map[string]struct {
		before bool
		opts   []trading.Option
	}{
		"a client beside it":                       {before: true},
		"a client beside it, without a background": {true, []trading.Option{trading.WithRecovery(trading.Recovery{WithoutBackground: true})}},
		"a client after it":                        {},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				opts := append(row.opts, trading.WithJournal(rig.NewDisk().Open()))
				first := rig.Join(r.T, r.Sim, opts...)
				second := first
				if row.before {
					second = rig.Join(r.T, r.Sim, opts...)
				}
				r.Sim.Fault("POST /orders", tradingsim.DropResponse())
				_, lost := first.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
				id := rig.IntentOf(r.T, lost)
				if row.before {
					found, err := second.Recover(r.T.Context())
					require.NoError(r.T, err)
					assert.Empty(r.T, found, "it is the first's")
				}
				rig.CloseClient(r.T, first.Client)
				if !row.before {
					second = rig.Join(r.T, r.Sim, opts...)
				}
				left, err := second.Pending(r.T.Context())
				require.NoError(r.T, err)
				require.Len(r.T, left, 1)
				assert.True(r.T, left[0].Left)
				began := time.Now()
				found, err := second.Recover(r.T.Context())
				require.NoError(r.T, err)
				require.Len(r.T, found, 1)
				assert.Equal(r.T, id, found[0].Intent.ID)
				assert.Equal(r.T, trading.Applied, found[0].Outcome)
				assert.LessOrEqual(r.T, time.Since(began), 8*time.Second)
				assert.Empty(r.T, second.PendingIDs())
				require.NoError(r.T, rig.EntryCall(second))
			})
		})
	}
}

// D 35: recovery asks with an API key that was refused again, but no more than once a minute,
// and goes on by itself when it works.
func TestEdge35_ARefusedKeyIsTriedAgain(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		lost := r.Doubtful(tradingsim.Together(tradingsim.DropRequest()), rig.Buy("0.05"))
		r.Sim.SetAccess(false)
		time.Sleep(10 * time.Minute)
		refused := 0
		for _, request := range r.Sim.Requests() {
			if request.Status == 403 {
				refused++
			}
		}
		assert.LessOrEqual(r.T, refused, 6+10)
		left, err := r.Pending(r.T.Context())
		require.NoError(r.T, err)
		require.Len(r.T, left, 1)
		assert.Equal(r.T, "the API key is refused, and asked with again", left[0].Reason)
		r.Sim.SetAccess(true)
		time.Sleep(90 * time.Second)
		assert.Empty(r.T, r.PendingIDs())
		resolution, err := r.Resolve(r.T.Context(), lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.NotApplied, resolution.Outcome)
	})
}

// The paper account has no keys: a write in doubt is judged by two looks, half a minute
// after its last byte, and is never sent again.
func TestThePaperAccountIsResolvedByTwoLooks(t *testing.T) {
	for name, row := range map[string]struct {
		fault tradingsim.Fault
		want  trading.Outcome
	}{
		"executed":      {tradingsim.DropResponse(), trading.Applied},
		"never arrived": {tradingsim.DropRequest(), trading.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig.Rig) {
				r.ReadPaper()
				r.Sim.Fault("POST /sandbox/orders", row.fault)
				_, lost := r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.5"), trading.WithResolveTimeout(0))
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(lost))
				gone, before := time.Now(), len(r.Sim.Requests())
				time.Sleep(29 * time.Second)
				assert.Len(r.T, r.Sim.Requests(), before, "not before half a minute has passed")
				resolution, err := r.Sandbox.Resolve(r.T.Context(), lost)
				require.NoError(r.T, err)
				assert.Equal(r.T, row.want, resolution.Outcome)
				assert.GreaterOrEqual(r.T, time.Since(gone), 35*time.Second, "two looks, a read lag apart")
				assert.Equal(r.T, 1, r.Sent(trading.OpSandboxOrder))
			})
		})
	}
}
