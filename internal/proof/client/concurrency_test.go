package client

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/leak"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Sixty-four goroutines on one paper account, over loopback: their writes never
// meet each other, and what was executed is what succeeded.
func TestTrap_T101_ManyGoroutinesOnOneSandbox(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithKeyLimit(100_000))
	client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()), trading.WithSendTTL(time.Minute))
	require.NoError(t, err)

	var applied, refused atomic.Int64
	count := func(err error) {
		switch {
		case err == nil:
			applied.Add(1)
		case errors.Is(err, trading.CodeNoPosition):
			refused.Add(1)
		default:
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	for worker := range 64 {
		group.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for i := range 4 {
				var err error
				switch (worker + i) % 4 {
				case 0:
					_, err = client.Sandbox.PlaceOrder(ctx, rig.Buy("0.001"))
					count(err)
				case 1:
					_, err = client.Sandbox.ClosePosition(context.Background(), "BTC", trading.Percent(rig.Dec("50")))
					count(err)
				case 2:
					_, err = client.Sandbox.State(ctx)
					assert.NoError(t, err)
				default:
					_, err = client.Sandbox.Prices(ctx)
					assert.NoError(t, err)
				}
			}
		})
	}
	group.Wait()
	require.NoError(t, client.Close())

	assert.EqualValues(t, 128, applied.Load()+refused.Load())
	assert.EqualValues(t, applied.Load(), len(sim.Ledger()))
	for _, request := range sim.Requests() {
		assert.NotEqual(t, 409, request.Status, "two writes of this client met: %s", request.Operation)
	}
}

// Another program on the same paper account is waited for.
func TestTrap_T101_AnotherProgramsWriteIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("POST /sandbox/positions/close", tradingsim.Delay(300*time.Millisecond))
		go r.Raw(trading.OpSandboxClose, `{"symbol":"BTC"}`)
		synctest.Wait()
		bought := r.Place(rig.Buy("1"))
		assert.Greater(t, bought.Meta.Attempts, 1)
		assert.Len(t, r.Fills(), 1)
		time.Sleep(time.Second)
	})
}

// After Close nothing of the client runs, whatever it was doing.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	sim := tradingsim.Start(t)
	before := stacks()
	for range 3 {
		client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()),
			trading.WithHealthGate(trading.HealthGate{KeepWarm: true}))
		require.NoError(t, err)
		sim.Fault("POST /sandbox/orders", tradingsim.DelayResponse(50*time.Millisecond))
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := client.Sandbox.PlaceOrder(ctx, rig.Buy("0.01"))
			left <- err
		}()
		for len(sim.Ledger()) == 0 {
			runtime.Gosched()
		}
		cancel()
		require.Error(t, <-left)
		rig.CloseClient(t, client)
		_, err = client.Sandbox.Reset(t.Context())
		require.ErrorIs(t, err, trading.ErrClosed)
		assert.Empty(t, newIn(before), "after Close")
		require.Equal(t, 200, rig.Join(t, sim).Raw(trading.OpSandboxReset, "").Status)
	}
}

// After Close no connection is open: what the client has kept to use again is of no
// more use to anybody, and each holds two goroutines.
func TestCloseEndsConnections(t *testing.T) {
	sim := tradingsim.Start(t)
	before := leak.Snapshot()
	client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()))
	require.NoError(t, err)
	_, err = client.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01"))
	require.NoError(t, err)
	require.NoError(t, client.Close())
	assert.Empty(t, before.Left(), "of the client, or of the service for its sake")
}

// Close waits for a write in flight, also one whose caller cannot leave.
func TestCloseWaitsForWritesInFlight(t *testing.T) {
	for name, ctx := range map[string]func() (context.Context, context.CancelFunc){
		"a caller who cannot leave": func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		"a caller who can":          func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, nil)
				r.Sim.Fault("POST /sandbox/orders", tradingsim.DelayResponse(3*time.Second))
				ctx, cancel := ctx()
				defer cancel()
				var placed atomic.Bool
				go func() {
					_, err := r.Sandbox.PlaceOrder(ctx, rig.Buy("1"))
					assert.NoError(t, err)
					placed.Store(true)
				}()
				synctest.Wait()
				began := time.Now()
				require.NoError(t, r.Close())
				synctest.Wait()
				assert.True(t, placed.Load())
				assert.Equal(t, 3*time.Second, time.Since(began))
				require.NoError(t, r.Close(), "again")
			})
		})
	}
}

// stacks returns what the goroutines of this package's code are doing, by what no other
// goroutine of the process has: the number in "goroutine 7 [...".
func stacks() map[string]string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	found := map[string]string{}
	for _, stack := range strings.Split(string(buf), "\n\n") {
		head, frames, _ := strings.Cut(stack, "\n")
		if strings.Contains(frames, "trading-go.") { // the root package
			number, _, _ := strings.Cut(head, " [")
			found[number] = stack
		}
	}
	return found
}

// newIn returns what runs now and did not before. A goroutine that has said that it is
// done may still be about to return: so it looks again, for no longer than that takes.
func newIn(before map[string]string) (added []string) {
	for range 100 {
		added = nil
		for number, stack := range stacks() {
			if before[number] == "" {
				added = append(added, stack)
			}
		}
		if added == nil {
			break
		}
		runtime.Gosched()
	}
	return added
}
