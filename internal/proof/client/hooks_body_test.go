package client

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// A record of a write has to have its body before the first byte leaves: what is
// killed in between would leave none.
func TestHooksSeeTheBodyBeforeItIsSent(t *testing.T) {
	var mu sync.Mutex
	var started, sent []string
	r := rig.New(t, nil, trading.WithHooks(trading.Hooks{
		CallStart: func(ctx context.Context, c trading.Call) context.Context {
			mu.Lock()
			defer mu.Unlock()
			started = append(started, string(c.Operation)+" "+string(c.Body))
			return ctx
		},
		AttemptDone: func(_ context.Context, c trading.Call, a trading.Attempt) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, string(c.Operation)+" "+string(a.Request))
		},
	}), trading.WithHealthGate(trading.HealthGate{Off: true}))
	_, err := r.Live.Account("acc_1").PlaceOrder(t.Context(), rig.Buy("0.01"))
	require.NoError(t, err)
	_, err = r.Live.Account("acc_1").Positions(t.Context())
	require.NoError(t, err)
	require.Len(t, started, 2)
	assert.Contains(t, started[0], `"symbol":"BTC"`)
	assert.Equal(t, "GET /positions ", started[1], "a read has no body")
	assert.Equal(t, sent, started, "what is sent is what was told before")
}
