package main

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/program"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

const want = `market   64000, 0 resting
resting  ord_1 at 63800
resting  ord_2 at 63600
resting  ord_3 at 63400
market   63750, 2 resting
market   64300, 2 resting
resting  ord_4 at 64100
resting  ord_5 at 63900
resting  ord_6 at 63700
market   63900, 1 resting
flat     true
`

func TestNothingConfigured(t *testing.T) { program.Prints(t, want, run) }

// Whatever replies are lost, a level rests once, and nothing is left at the end.
func TestLostReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark(symbol, "64000"))
		sim.Fault("POST /orders/limit", tradingsim.DropResponse(), tradingsim.DropRequest())
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		var out bytes.Buffer
		require.NoError(t, newGrid(tradingtest.Client(t, sim), "acc_1", &out).run(ctx, 10*time.Second))
		require.Contains(t, out.String(), "64000, 3 resting")
		require.NotContains(t, out.String(), "4 resting")
		require.Contains(t, out.String(), "flat     true")
	})
}
