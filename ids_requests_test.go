package trading_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/tradingsim"
)

// tradesBy returns, for each live operation that trades, the method that sends it: what the
// client really sends.
func tradesBy(t *testing.T) map[trading.Operation]func(context.Context, *trading.Client) error {
	t.Helper()
	by := map[trading.Operation]func(context.Context, *trading.Client) error{}
	for name, method := range methods {
		liveTest(t, nil, nil, func(r rig) {
			_ = method(r.t.Context(), r.Client)
			for _, request := range r.sim.Requests() {
				if by[trading.Operation(request.Operation)] == nil {
					by[trading.Operation(request.Operation)] = methods[name]
				}
			}
		})
	}
	trades := map[trading.Operation]func(context.Context, *trading.Client) error{}
	for _, o := range spec.Operations() {
		if op := trading.Operation(o.Method + " " + o.Path); o.Trades && o.Env == "live" {
			require.NotNil(t, by[op], op)
			trades[op] = by[op]
		}
	}
	require.Len(t, trades, 10)
	return trades
}

// Of a write whose every answer is hidden, whatever it is, the client asks for half an hour,
// and then no more until somebody wants to know.
func TestEdge43_RequestsAboutAWriteInDoubt(t *testing.T) {
	for op, method := range tradesBy(t) {
		t.Run(string(op), func(t *testing.T) {
			liveTest(t, nil, nil, func(r rig) {
				r = r.restart(newDisk())
				r.readAll()
				r.sim.FaultEach(func(operation string) tradingsim.Fault {
					if operation == string(op) {
						return tradingsim.GatewayErrorAfter(502)
					}
					return nil
				})
				err := method(r.t.Context(), r.Client)
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				time.Sleep(40 * time.Minute)
				asked := len(r.sim.Requests())
				assert.LessOrEqual(r.t, asked, 120)
				time.Sleep(24 * time.Hour)
				assert.Len(r.t, r.sim.Requests(), asked)
				open, err := r.Pending(r.t.Context())
				require.NoError(r.t, err)
				for _, w := range open {
					assert.True(r.t, w.Waiting, "%s", w.Reason)
					assert.NotContains(r.t, w.Reason, "incomplete")
				}
			})
		})
	}
}
