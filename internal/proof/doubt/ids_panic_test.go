package doubt

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A guard that panics leaves nothing behind: not the place of the paper account's one writer,
// not an id, not a write that nobody finds out about.
func TestEdge19_AGuardThatPanics(t *testing.T) {
	panics := func(run func()) {
		defer func() { require.Equal(t, "the guard", recover()) }()
		run()
	}
	at := 0 // of the guard's calls
	guard := trading.WithGuard(func(context.Context, trading.Write) error {
		if at--; at == 0 {
			panic("the guard")
		}
		return nil
	})
	t.Run("the paper account", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := rig.New(t, nil, guard)
			at = 1
			panics(func() { _, _ = r.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.05")) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := r.Sandbox.PlaceOrder(ctx, rig.Buy("0.05"))
			require.NoError(t, err)
		})
	})
	for name, sent := range map[string]bool{"before a byte": false, "behind a lost reply": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, nil, guard, trading.WithJournal(rig.NewDisk().Open()))
				at = 1
				if sent {
					at = 2
					r.Sim.Fault("POST /orders", tradingsim.DropResponse())
				}
				panics(func() { _, _ = r.Account().PlaceOrder(t.Context(), rig.Buy("0.05"), rig.Breakout) })
				open, err := r.Pending(t.Context())
				require.NoError(t, err)
				assert.Len(t, open, map[bool]int{true: 1}[sent])
				result, err := r.Account().PlaceOrder(t.Context(), rig.Buy("0.05"), rig.Breakout)
				require.NoError(t, err)
				assert.Equal(t, sent, result.Meta.Replayed)
				assert.Equal(t, 1, r.Ran(trading.OpOrder))
				usage, err := r.RateLimitUsage(t.Context())
				require.NoError(t, err)
				assert.NotEmpty(t, usage)
			})
		})
	}
}

// A line of the log about a write names its account and its intent, by which it is found in
// the journal and in Pending.
func TestEdge28_TheLogNamesTheWrite(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		var logged bytes.Buffer
		d := rig.NewDisk()
		r = r.Restart(d, trading.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		lost := r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		write := (*trading.WriteError)(nil)
		require.ErrorAs(r.T, lost, &write)
		onceFinal(d, false)
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05", func(o *trading.Order) { o.Symbol = "ETH" }))
		require.NoError(r.T, err)
		lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
		for _, text := range []string{"write of unknown outcome", "journal not written"} {
			at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, text) })
			require.GreaterOrEqual(r.T, at, 0, text)
			assert.Contains(r.T, lines[at], "account=acc_1")
			assert.Contains(r.T, lines[at], "intent=")
		}
		assert.Contains(r.T, logged.String(), "intent="+string(write.Intent))
		assert.ErrorContains(r.T, lost, "(write "+string(write.Intent)+" on acc_1)", "nor has it to be looked for where the error alone is printed")
	})
}

// A write of the paper account has no account to name.
func TestAnUnknownPaperWriteIsNamed(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r.Sim.Fault("POST /sandbox/orders", tradingsim.DropResponse())
		_, err := r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithSendTTL(0), trading.WithResolveTimeout(0))
		write := (*trading.WriteError)(nil)
		require.ErrorAs(r.T, err, &write)
		require.Equal(r.T, trading.Unknown, write.Outcome)
		assert.ErrorContains(r.T, err, "(write "+string(write.Intent)+" on the paper account)")
	})
}

// After a restart the reason of a write is what its journal last has of it, before anybody
// asks.
func TestEdge24_TheReasonAfterARestart(t *testing.T) {
	for name, row := range map[string]struct {
		waits  time.Duration
		reason string
	}{
		"its answer is lost": {0, "it was sent: no answer came"},
		"asked about":        {time.Minute, "the service knows its key, so that it has arrived"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				d := rig.NewDisk()
				opts := []trading.Option{trading.WithRecovery(trading.Recovery{WithoutProbe: true})}
				if row.waits == 0 {
					opts = append(opts, trading.WithRecovery(trading.Recovery{WithoutBackground: true})) // or it may have been asked about by then
				}
				r = r.Restart(d, opts...)
				_ = r.Doubtful(tradingsim.DropResponse(), rig.Buy("0.05"))
				time.Sleep(row.waits)
				before, err := r.Pending(r.T.Context())
				require.NoError(r.T, err)
				r = r.Restart(d, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
				after, err := r.Pending(r.T.Context())
				require.NoError(r.T, err)
				require.Len(r.T, after, 1)
				assert.Equal(r.T, row.reason, after[0].Reason)
				if row.waits == 0 {
					assert.NotEmpty(r.T, before[0].Reason)
				}
			})
		})
	}
}

// An error says plainly why it waits no longer, and each cause once.
func TestEdge29_Texts(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		r = r.Restart(rig.NewDisk())
		r.Sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.DropResponse() })
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), trading.WithResolveTimeout(3*time.Second), trading.SkipHealthGate())
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		ctx, cancel := context.WithCancel(r.T.Context())
		cancel()
		_, resolveErr := r.Account().Resolve(ctx, err)
		for _, text := range []string{err.Error(), resolveErr.Error()} {
			for _, cause := range []string{"no answer: ", "trading: ", "could not be determined"} {
				assert.LessOrEqual(r.T, strings.Count(text, cause), 1, text)
			}
			assert.NotContains(r.T, text, "deadline exceeded")
		}
		require.ErrorContains(r.T, err, "the call waits no longer (WithResolveTimeout)")
	})
}
