package hostile

import (
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/faultproxy"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// T2: a kept connection that dies under a keyed POST is where net/http would send
// it again by itself. It does not: the order is sent once by a call that sends
// once, and its key is on the wire under the contract's name.
func TestTrap_T2_AKeyedOrderOnADyingConnection(t *testing.T) {
	var answered atomic.Bool
	server := newHostile(t, func(x *faultproxy.Exchange) {
		if !answered.Swap(true) {
			_, _ = io.WriteString(x, plainAnswer(200, `{"trades":[]}`))
			return
		}
		_ = x.Close()
	})
	client := server.client(t, trading.WithLiveKey("pk_live_x"))
	account := client.Live.Account(rig.Acc)
	_, err := account.Trades(t.Context())
	require.NoError(t, err)
	_, err = account.PlaceOrder(t.Context(), rig.Buy("0.05"), trading.WithSendTTL(0), trading.SkipHealthGate(), trading.WithIdempotencyKey("once"))
	require.Error(t, err)
	assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
	assert.Equal(t, 1, server.seen("POST"))
	requests := server.Requests()
	last := requests[len(requests)-1]
	assert.Equal(t, "once", last.Header.Get("Idempotency-Key"), "a server does not see the case of a header's name")
}
