package live

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
)

// hangsUp has a service take the first close, and hang up after a while.
func hangsUp(service http.Handler, after time.Duration) http.Handler {
	var taken atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/positions/close") || taken.Swap(true) {
			service.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(after)
		panic(http.ErrAbortHandler)
	})
}

// A send whose stages wait passes all of them, although the service hangs up on an earlier one meanwhile.
func TestASecondSendPassesItsStagesThoughTheFirstIsHungUpOn(t *testing.T) {
	const hangs, opens = 8 * time.Second, 30 * time.Second
	var asked atomic.Int64
	guard := func(ctx context.Context, w trading.Write) error {
		if w.Operation != trading.OpClose || asked.Add(1) == 1 {
			return nil
		}
		select {
		case <-time.After(opens - hangs):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	half := trading.Percent(rig.Dec("50"))
	for name, c := range map[string]struct {
		option trading.Option
		part   trading.Part
		leaves time.Duration // the second send, at the earliest
	}{
		"a rate limit": {trading.WithRateLimits(trading.RateLimits{PerClass: 1}), half, time.Minute},
		"a guard":      {trading.WithGuard(guard), half, opens - hangs},
		// A second ask has no place after a second, and is left out.
		"a rate limit, of what is asked for twice": {trading.WithRateLimits(trading.RateLimits{PerClass: 1}), trading.All, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := rig.NewSim()
				r := rig.Join(t, sim, rig.OverPipes(t, hangsUp(sim, hangs)).Option(), c.option, trading.WithJournal(journal.NewMemory()))
				r.Open(rig.Buy("0.05"))
				began := time.Now()
				_, err := r.Account().ClosePosition(r.T.Context(), "BTC", c.part)
				require.NoError(r.T, err)
				assert.GreaterOrEqual(r.T, time.Since(began), c.leaves)
				assert.Equal(r.T, 1, r.Ran(trading.OpClose))
			})
		})
	}
}
