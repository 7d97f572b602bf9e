package trading_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// hanging is a journal whose syncs hang.
type hanging struct {
	handle
	hangs atomic.Bool
}

func (h *hanging) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if durable && h.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.handle.Append(ctx, durable, records...)
}

// D 17: an exit waits for a disk that hangs as long as for one that fails, and goes out with
// the gap noted. An entry waits, and is not sent. Close does not wait for the disk.
func TestEdge17_AnExitDoesNotWaitForADiskThatHangs(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		disk := &hanging{handle: handle{Store: d.kept, disk: d}}
		r = join(r.t, r.sim, trading.WithJournal(disk))
		r.open(buy("0.1"))
		disk.hangs.Store(true)
		for n, exit := range map[string]func() error{
			"close": func() error { return exitCall(r) },
			"levels": func() error {
				return r.levels(trading.TPSL{TakeProfit: at("70000"), StopLoss: at("60000")})
			},
		} {
			began := time.Now()
			_ = exit()
			assert.LessOrEqual(r.t, time.Since(began), 300*time.Millisecond, n)
		}
		assert.Equal(r.t, 1, r.ran(trading.OpClose))
		assert.True(r.t, d.gap)
		began := time.Now()
		ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second)
		defer cancel()
		_, err := r.account().PlaceOrder(ctx, buy("0.05"))
		require.Error(r.t, err)
		assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(r.t, 1, r.ran(trading.OpOrder))
		assert.Greater(r.t, time.Since(began), time.Second)
		began = time.Now()
		closeClient(r.t, r.Client)
		assert.LessOrEqual(r.t, time.Since(began), time.Second)
	})
}
