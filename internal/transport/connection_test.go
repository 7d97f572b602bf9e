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
	"github.com/tradingapi/trading-go/internal/proof/faultproxy"
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

// The same where the second answer comes late, but before the next request.
func TestALateSecondAnswerIsNobodys(t *testing.T) {
	proxy, client := newEcho(t)
	late, came := make(chan struct{}), make(chan struct{})
	for i := range 200 {
		proxy.Next("GET /v1/sandbox/prices", func(x *faultproxy.Exchange) {
			answer := x.CarryOut()
			x.Say(answer)
			<-late
			x.Say(answer)
			came <- struct{}{}
		})
		first, second := fmt.Sprintf("FIRST%d", i), fmt.Sprintf("SECOND%d", i)
		assert.Equal(t, first, asks(t, client, first))
		late <- struct{}{}
		<-came
		assert.Equal(t, second, asks(t, client, second))
	}
}

// A write for which there is a kept connection that the service has closed meanwhile
// is not sent into nowhere: it is known that nothing left, and so it is sent, once,
// on another. That takes none of its attempts, and no wait.
func TestAWriteOnAConnectionThatHasEnded(t *testing.T) {
	for i := range 50 {
		proxy := faultproxy.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"ok":true,"trades":[]}`)
		}))
		closed := make(chan struct{})
		proxy.Next("GET /v1/sandbox/trades", func(x *faultproxy.Exchange) {
			faultproxy.Pass(x)
			if i%2 == 0 {
				_ = x.Close()
			} else {
				_ = x.CloseWrite()
			}
			close(closed)
		})
		client, err := trading.New(proxy.URL()+"/v1", trading.WithSandboxKey("pk_test_x"),
			trading.WithHealthGate(trading.HealthGate{Off: true}),
			trading.WithRetry(trading.Retry{Attempts: 1}))
		require.NoError(t, err)
		_, err = client.Sandbox.Trades(t.Context())
		require.NoError(t, err)
		<-closed
		_, err = client.Sandbox.SetTPSL(t.Context(), "BTC", trading.TPSL{StopLoss: trading.At(trading.Dec("1"))})
		assert.Equal(t, trading.Applied, trading.OutcomeOf(err), "%v", err)
		writes := 0
		for _, request := range proxy.Requests() {
			if request.Operation == "POST /v1/sandbox/positions/tpsl" {
				writes++
			}
		}
		assert.Equal(t, 1, writes)
		require.NoError(t, client.Close())
	}
}
