package live

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// silent answers no close for a minute.
type silent struct{ *tradingsim.Sim }

func (s silent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/close") {
		body, _ := io.ReadAll(r.Body) // else nobody says that the caller has gone
		r.Body = io.NopCloser(bytes.NewReader(body))
		select {
		case <-time.After(time.Minute):
		case <-r.Context().Done():
			return
		}
	}
	s.Sim.ServeHTTP(w, r)
}

// A thousand callers close at a service that answers nothing for a minute: of each call two attempts are listened
// to beside the one that it waits for, of all calls that are over 64, and none is left after Close, which
// waits for none.
func TestAThousandCallersWithoutAnAnswer(t *testing.T) {
	callers := 1000
	if depth.Race {
		callers = 50
	}
	synctest.Test(t, func(t *testing.T) {
		sim := rig.NewSim(tradingsim.WithKeyLimit(1_000_000), tradingsim.WithUserLimits(100_000, 100_000))
		pipes := rig.OverPipes(t, silent{sim})
		client := rig.ClientOf(t, sim, pipes.Option(), trading.WithRateLimits(trading.RateLimits{Off: true}))
		before, began := memory(), time.Now()
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				_, err := client.Live.Account(rig.Acc).ClosePosition(t.Context(), "BTC", trading.All)
				assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
			})
		}
		connections, routines := 0, 0
		for range 40 {
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			connections, routines = max(connections, pipes.Open()), max(routines, runtime.NumGoroutine())
		}
		used := memory() - before
		all.Wait()
		t.Logf("%d connections, %d goroutines, %d KiB, the last call is over after %v", connections, routines, used>>10, time.Since(began))
		assert.LessOrEqual(t, connections, 3*callers+10)
		assert.LessOrEqual(t, routines, 20*callers) // with the service's own
		assert.LessOrEqual(t, used, int64(400<<20))
		synctest.Wait()
		assert.LessOrEqual(t, pipes.Open(), 64+10)
		closing := time.Now()
		require.ErrorAs(t, client.Close(), new(*trading.PendingError))
		assert.LessOrEqual(t, time.Since(closing), 5*time.Second)
		synctest.Wait()
		assert.Zero(t, pipes.Open())
	})
}

func memory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// Of those 64 none counts that has its answer: one that is slow is still heard after a hundred others have been.
func TestASlowAnswerBehindAHundredOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, resolved := rig.NewSim(), make(chan trading.Resolution, 200)
		r := rig.Join(t, sim, rig.OverPipes(t, sim).Option(), trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
			trading.WithHooks(trading.Hooks{Resolved: func(_ context.Context, r trading.Resolution) { resolved <- r }}))
		leave := func(works time.Duration) trading.IntentID {
			sim.Fault(string(trading.OpOrder), tradingsim.Delay(works))
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.01"), trading.AllowPending())
			return rig.IntentOf(t, err)
		}
		slow := leave(time.Minute)
		for range 100 {
			leave(200 * time.Millisecond)
			time.Sleep(200 * time.Millisecond)
			assert.Equal(t, trading.Applied, (<-resolved).Outcome)
		}
		last := <-resolved
		assert.Equal(t, slow, last.Intent.ID)
		assert.Equal(t, trading.Applied, last.Outcome)
	})
}
