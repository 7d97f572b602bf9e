package trading_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
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
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d)
				r.readAll()
				r.sim.Fault("POST /orders", row.fault)
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
				id := intentOf(r.t, err)
				r = r.restart(d)
				_, err = r.account().PlaceOrder(r.t.Context(), buy("0.05"))
				require.ErrorIs(r.t, err, trading.ErrPendingWrite, "what the run before left is in the way")
				began := time.Now()
				found, err := r.Recover(r.t.Context())
				require.NoError(r.t, err)
				require.Len(r.t, found, 1)
				assert.Equal(r.t, id, found[0].Intent.ID)
				assert.Equal(r.t, row.outcome, found[0].Outcome)
				assert.Equal(r.t, row.evidence, found[0].Evidence)
				assert.False(r.t, found[0].Late)
				assert.LessOrEqual(r.t, time.Since(began), row.within)
				assert.Empty(r.t, r.pendingIDs())
				assert.Empty(r.t, d.pending())
				assert.Equal(r.t, row.outcome == trading.Applied, r.ran(trading.OpOrder) == 1)
				r.open(buy("0.05"))
			})
		})
	}
}

// A person's word ends what cannot be found out, and is kept over a restart.
func TestAcknowledge(t *testing.T) {
	liveTest(t, nil, []trading.Option{trading.WithoutBackground()}, func(r rig) {
		d := newDisk()
		r = r.restart(d, trading.WithoutBackground())
		lost := r.doubtful(tradingsim.DropResponse(), buy("0.05"))
		id := intentOf(r.t, lost)
		require.ErrorContains(r.t, r.Acknowledge(r.t.Context(), id, trading.Unknown, ""), "must be Applied or NotApplied")
		require.ErrorContains(r.t, r.Acknowledge(r.t.Context(), "nobody's", trading.Applied, ""), "not pending")
		require.NoError(r.t, r.Acknowledge(r.t.Context(), id, trading.Applied, "seen in the terminal"))
		resolution, err := r.Resolve(r.t.Context(), lost)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		assert.Equal(r.t, trading.EvidenceAcknowledged, resolution.Evidence)
		r.open(buy("0.05"))
		assert.Empty(r.t, d.pending())
		r = r.restart(d)
		found, err := r.Recover(r.t.Context())
		require.NoError(r.t, err)
		assert.Empty(r.t, found)
	})
}

// Without a background the writes that an earlier run left are resolved beside each other
// too, while Recover waits for them.
func TestRecoverWithoutBackgroundOverlapsTheWaits(t *testing.T) {
	symbols := []string{"BTC", "ETH", "SOL"}
	recovers := func(r rig, n int) (took time.Duration) {
		d := newDisk()
		r = r.restart(d, trading.WithoutBackground())
		for _, symbol := range symbols[:n] {
			r.sim.Fault("POST /orders", tradingsim.DropRequest())
			_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05", func(o *trading.Order) { o.Symbol = symbol }), once, trading.WithResolveTimeout(0))
			require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		}
		r = r.restart(d, trading.WithoutBackground())
		began := time.Now()
		found, err := r.Recover(r.t.Context())
		require.NoError(r.t, err)
		require.Len(r.t, found, n)
		for i := range found {
			assert.Equal(r.t, symbols[i], found[i].Intent.Symbol, "in the order of the decisions")
			assert.Equal(r.t, trading.NotApplied, found[i].Outcome)
		}
		return time.Since(began)
	}
	var one time.Duration
	liveTest(t, nil, nil, func(r rig) { one = recovers(r, 1) })
	require.Positive(t, one)
	liveTest(t, nil, nil, func(r rig) { assert.Less(t, recovers(r, 3), 2*one) })
}

// Close names what is left.
func TestCloseNamesWhatIsPending(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		lost := r.doubtful(tradingsim.DropResponse(), buy("0.05"))
		err := r.Close()
		left := (*trading.PendingError)(nil)
		require.ErrorAs(r.t, err, &left)
		assert.Equal(r.t, []trading.IntentID{intentOf(r.t, lost)}, left.IDs)
		require.ErrorContains(r.t, err, string(left.IDs[0]))
		_, err = r.Resolve(r.t.Context(), lost)
		require.Error(r.t, err)
	})
}

// Close waits for a probe: its answer is the order's.
func TestCloseWaitsForAProbe(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		r.sim.Fault("POST /orders", tradingsim.DropResponse(), tradingsim.DelayResponse(3*time.Second))
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		for r.sent(trading.OpOrder) < 2 {
			time.Sleep(100 * time.Millisecond)
		}
		began := time.Now()
		require.NoError(r.t, r.Close(), "the answer came")
		assert.Greater(r.t, time.Since(began), 2*time.Second)
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
	})
}

// Two clients on one journal's handle share what is pending: neither places beside the
// other's write in doubt, either can ask, and both go on once it is known.
func TestTwoClientsOnOneJournal(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		intents := trading.WithJournal(newDisk().open())
		first, second := join(r.t, r.sim, intents), join(r.t, r.sim, intents)
		lost := first.doubtful(tradingsim.DropRequest(), buy("0.05"))
		id := intentOf(r.t, lost)
		assert.Equal(r.t, []trading.IntentID{id}, second.pendingIDs())
		require.ErrorIs(r.t, entryCall(second), trading.ErrPendingWrite)
		resolution, err := second.ResolveID(r.t.Context(), id)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
		assert.Empty(r.t, first.pendingIDs())
		require.NoError(r.t, entryCall(first))
		require.NoError(r.t, entryCall(second))
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
		"a client beside it, without a background": {true, []trading.Option{trading.WithoutBackground()}},
		"a client after it":                        {},
	} {
		t.Run(name, func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				opts := append(row.opts, trading.WithJournal(newDisk().open()))
				first := join(r.t, r.sim, opts...)
				second := first
				if row.before {
					second = join(r.t, r.sim, opts...)
				}
				r.sim.Fault("POST /orders", tradingsim.DropResponse())
				_, lost := first.account().PlaceOrder(r.t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
				id := intentOf(r.t, lost)
				if row.before {
					found, err := second.Recover(r.t.Context())
					require.NoError(r.t, err)
					assert.Empty(r.t, found, "it is the first's")
				}
				closeClient(r.t, first.Client)
				if !row.before {
					second = join(r.t, r.sim, opts...)
				}
				left, err := second.Pending(r.t.Context())
				require.NoError(r.t, err)
				require.Len(r.t, left, 1)
				assert.True(r.t, left[0].Left)
				began := time.Now()
				found, err := second.Recover(r.t.Context())
				require.NoError(r.t, err)
				require.Len(r.t, found, 1)
				assert.Equal(r.t, id, found[0].Intent.ID)
				assert.Equal(r.t, trading.Applied, found[0].Outcome)
				assert.LessOrEqual(r.t, time.Since(began), 8*time.Second)
				assert.Empty(r.t, second.pendingIDs())
				require.NoError(r.t, entryCall(second))
			})
		})
	}
}

// D 35: recovery asks with an API key that was refused again, but no more than once a minute,
// and goes on by itself when it works.
func TestEdge35_ARefusedKeyIsTriedAgain(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		lost := r.doubtful(tradingsim.Together(tradingsim.DropRequest()), buy("0.05"))
		r.sim.SetAccess(false)
		time.Sleep(10 * time.Minute)
		refused := 0
		for _, request := range r.sim.Requests() {
			if request.Status == 403 {
				refused++
			}
		}
		assert.LessOrEqual(r.t, refused, 6+10)
		left, err := r.Pending(r.t.Context())
		require.NoError(r.t, err)
		require.Len(r.t, left, 1)
		assert.Equal(r.t, "the API key is refused, and asked with again", left[0].Reason)
		r.sim.SetAccess(true)
		time.Sleep(90 * time.Second)
		assert.Empty(r.t, r.pendingIDs())
		resolution, err := r.Resolve(r.t.Context(), lost)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.NotApplied, resolution.Outcome)
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
			liveTest(t, nil, []trading.Option{trading.WithExclusiveAccounts()}, func(r rig) {
				time.Sleep(10 * time.Second)
				r.state()
				r.positions()
				r.trades()
				r.sim.Fault("POST /sandbox/orders", row.fault)
				_, lost := r.Sandbox.PlaceOrder(r.t.Context(), buy("0.5"), trading.WithResolveTimeout(0))
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(lost))
				gone, before := time.Now(), len(r.sim.Requests())
				time.Sleep(29 * time.Second)
				assert.Len(r.t, r.sim.Requests(), before, "not before half a minute has passed")
				resolution, err := r.Sandbox.Resolve(r.t.Context(), lost)
				require.NoError(r.t, err)
				assert.Equal(r.t, row.want, resolution.Outcome)
				assert.GreaterOrEqual(r.t, time.Since(gone), 35*time.Second, "two looks, a read lag apart")
				assert.Equal(r.t, 1, r.sent(trading.OpSandboxOrder))
			})
		})
	}
}
