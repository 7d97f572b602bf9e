package tradingsim_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// TestManyCallersAtOnce runs bots of both environments against one simulation,
// with faults, over loopback. Each key is executed once at most, and the
// position is the sum of what the ledger says.
func TestManyCallersAtOnce(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
		tradingsim.WithKeyLimit(1_000_000), tradingsim.WithUserLimits(1_000_000, 1_000_000))
	for range 50 {
		sim.Fault("POST /orders", tradingsim.DropResponse(), tradingsim.Delay(time.Millisecond), tradingsim.Pass(),
			tradingsim.GatewayErrorAfter(502), tradingsim.DropRequest(), tradingsim.TruncateResponse(), tradingsim.Repeat())
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	defer transport.CloseIdleConnections()
	send := func(key, method, path, body, idempotencyKey string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, sim.URL()+path, strings.NewReader(body))
		if err != nil {
			return 0
		}
		r.Header.Set("X-API-Key", key)
		if idempotencyKey != "" {
			r.Header.Set("Idempotency-Key", idempotencyKey)
			r.GetBody = nil // or net/http itself sends it again
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			return 0
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			live, paper := sim.LiveKey(), sim.SandboxKey()
			for i := range 20 {
				id := fmt.Sprintf("%d-%d", worker, i)
				for range 3 { // a bot that sends it again, whatever came back
					send(live, "POST", "/orders", instead(smallBTC, "0.01", "0.001"), id)
				}
				send(paper, "POST", "/sandbox/orders", `{"symbol":"ETH","side":"long","size":0.01}`, "")
				send(live, "GET", "/positions?accountId=acc_1", "", "")
				send(paper, "GET", "/sandbox/account", "", "")
				sim.SetMark("ETH", fmt.Sprint(3200+i))
			}
		})
	}
	wg.Wait()

	seen := map[string]int{}
	size := decimal.Zero
	for _, e := range sim.Ledger() {
		if e.Account == "acc_1" {
			seen[e.Key]++
			size = size.Add(e.Size)
		}
	}
	require.NotEmpty(t, seen)
	for key, n := range seen {
		require.Equal(t, 1, n, key)
	}
	require.Equal(t, size.String(), liveBot(t, sim).get("/positions?accountId=acc_1").ok().text("positions.0.size"))
}
