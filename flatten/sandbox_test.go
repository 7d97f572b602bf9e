package flatten_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

func (r rig) flattenPaper(within time.Duration, o flatten.Options) (*flatten.Report, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	report, err := flatten.Sandbox(ctx, r.Sandbox, o)
	r.consistent(report, err, o)
	return report, err
}

func (r rig) openPaper(side trading.Side, size, symbol string) {
	r.t.Helper()
	_, err := r.Sandbox.PlaceOrder(r.t.Context(), order(side, size, symbol))
	require.NoError(r.t, err)
}

// T60: on the paper account a full close says that no position is left by null.
func TestTrap_T60_ThePaperAccountIsClosedInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tradingsim.Option{tradingsim.WithLag(2 * time.Second)})
		r.openPaper(trading.Long, "0.1", "BTC")
		r.openPaper(trading.Short, "1", "ETH")
		time.Sleep(3 * time.Second)
		report, err := r.flattenPaper(time.Minute, flatten.Options{})
		require.NoError(t, err)
		r.holdsNothing("", "BTC", "ETH")
		assert.Equal(t, 2, closes(report, trading.Applied))
		assert.Contains(t, report.String(), "the paper account")
		assert.Zero(t, r.wrote(trading.OpOpenOrders))
	})
}

// T79: a pass closes the book meanwhile, as a breach does. That there is no position then is no
// failure, and the looks are the proof.
func TestTrap_T79_APassClosesTheBookMeanwhile(t *testing.T) {
	for name, mark := range map[string]string{"a pass": "90000", "a breach": "40000"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r rig) {
				r.openPaper(trading.Long, "1", "BTC")
				r.sim.FaultEach(func(operation string) tradingsim.Fault {
					if operation == string(trading.OpSandboxClose) {
						r.sim.SetMark("BTC", mark)
					}
					return nil
				})
				report, err := r.flattenPaper(time.Minute, flatten.Options{})
				require.NoError(t, err)
				r.holdsNothing("", "BTC")
				require.NotEmpty(t, report.Steps)
				assert.Error(t, report.Steps[0].Err)
			})
		})
	}
}

// A locked paper account whose positions stay open accepts nothing.
func TestALockedPaperAccount(t *testing.T) {
	inBubble(t, func(t *testing.T, r rig) {
		r.openPaper(trading.Long, "0.1", "BTC")
		locked := `{"ok":true,"account":{"id":"paper","environment":"sandbox","balance":1,"equity":1,"unrealizedPnL":0,` +
			`"profitTarget":9,"dailyLossFloor":2,"globalLossFloor":2,"profitSplit":0.8,"status":"locked","isLocked":true}}`
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			switch trading.Operation(operation) {
			case trading.OpSandboxClose:
				return tradingsim.Fail(403, "account_locked")
			case trading.OpSandboxState:
				return tradingsim.Raw(200, nil, locked)
			}
			return nil
		})
		_, err := r.flattenPaper(time.Hour, flatten.Options{})
		require.ErrorIs(t, err, flatten.ErrStuck)
		require.ErrorIs(t, err, trading.ErrAccountLocked)
		assert.ErrorContains(t, err, "the account is locked")
	})
}
