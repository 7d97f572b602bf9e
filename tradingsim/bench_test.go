package tradingsim_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/tradingsim"
)

// BenchmarkTicks is an hour of the live engine.
func BenchmarkTicks(b *testing.B) {
	for _, failed := range []int{0, 50} {
		b.Run(fmt.Sprintf("failed=%d", failed), func(b *testing.B) {
			sim := ticking(b, failed)
			for b.Loop() {
				sim.Advance(time.Hour)
			}
		})
	}
}

// ticking is a simulation in which a limit waits on one account, and so many others have
// failed.
func ticking(t testing.TB, failed int) *tradingsim.Sim {
	opts := []tradingsim.Option{
		tradingsim.WithManualClock(time.Unix(0, 0)),
		tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 2)),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}),
	}
	for i := range failed {
		opts = append(opts, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprintf("failed_%d", i), Status: "FAILED"}))
	}
	sim := tradingsim.New(opts...)
	send(t, sim, "/orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":5,"limitPrice":2000}`, "")
	return sim
}

// An account that is closed costs a tick nothing: no refusal is made for it that nobody
// reads.
func TestClosedAccountsCostATickNothing(t *testing.T) {
	allocations := func(failed int) float64 {
		sim := ticking(t, failed)
		return testing.AllocsPerRun(3, func() { sim.Advance(10 * time.Minute) })
	}
	none, many := allocations(0), allocations(50)
	assert.Less(t, many-none, 50.0, "of %.0f in 10 minutes", none)
}

// BenchmarkLiveOrders opens a position and closes it, each under a key of its own.
func BenchmarkLiveOrders(b *testing.B) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithKeyLimit(1<<30), tradingsim.WithUserLimits(1<<30, 1<<30),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "1000000000000"}))
	for i := 0; b.Loop(); i++ {
		send(b, sim, "/orders", smallBTC, fmt.Sprintf("o%d", i))
		send(b, sim, "/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`, fmt.Sprintf("c%d", i))
	}
}

// send sends a live write that must succeed.
func send(b testing.TB, sim *tradingsim.Sim, path, body, key string) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, sim.URL()+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("X-API-Key", sim.LiveKey())
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := sim.Transport().RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		b.Fatalf("%s: %d %s", path, res.StatusCode, text)
	}
}
