package transport_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/faultproxy"
)

// newEcho is a service that answers each request with the market that it asked for.
func newEcho(t *testing.T) (*faultproxy.Proxy, *trading.Client) {
	t.Helper()
	// net/http tells of what came unasked.
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	proxy := faultproxy.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"symbol":%q,"price":1}`, r.URL.Query().Get("symbol"))
	}))
	client, err := trading.New(proxy.URL()+"/v1",
		trading.WithSandboxKey("pk_test_x"),
		trading.WithRateLimits(trading.RateLimits{Off: true}),
		trading.WithRetry(trading.Retry{Attempts: 20, MinWait: time.Nanosecond, MaxWait: time.Nanosecond}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return proxy, client
}

// asks reads the price of a market and returns the market that the answer is for.
func asks(t *testing.T, client *trading.Client, symbol string) string {
	var meta trading.Meta
	_, err := client.Sandbox.Price(t.Context(), symbol, trading.ResponseInto(&meta))
	assert.NoError(t, err)
	var got string
	_, _ = fmt.Sscanf(string(meta.Body), `{"symbol":%q`, &got)
	return got
}

// Something in front that answers each request twice: no second answer is taken
// for the answer to the next request, however busy the connections are.
func TestASecondAnswerIsNobodys(t *testing.T) {
	proxy, client := newEcho(t)
	proxy.Rest(func(x *faultproxy.Exchange) {
		answer := x.CarryOut()
		x.Say(answer + answer)
	})
	var callers sync.WaitGroup
	for caller := range 64 {
		callers.Go(func() {
			for i := range 15 {
				symbol := fmt.Sprintf("S%dX%d", caller, i)
				assert.Equal(t, symbol, asks(t, client, symbol))
			}
		})
	}
	callers.Wait()
}
