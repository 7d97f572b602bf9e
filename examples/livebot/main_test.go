package main

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestNothingConfigured(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "")
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		require.NoError(t, run(t.Context(), slog.New(slog.NewTextHandler(&log, nil))))
		require.Contains(t, log.String(), "msg=bought")
		require.Contains(t, log.String(), "msg=out\n")
	})
}

// An order that is found out about right before a round is in no read of that round yet, and is not placed again.
func TestAnOrderThatIsFoundOutBetweenTwoRounds(t *testing.T) {
	for late := time.Duration(45); late < 75; late++ {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark(symbol, "64000"), tradingsim.WithLag(5*time.Second))
			defer sim.Close()
			sim.Fault("POST /orders", tradingsim.Delay(late*time.Second))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			log := slog.New(slog.DiscardHandler)
			require.NoError(t, trade(ctx, sim.URL(), append(options(journal.NewMemory(), "acc_1", log), trading.WithSandboxKey(sim.SandboxKey()),
				trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport())), "acc_1", time.Minute, log))
			bought := 0
			for _, e := range sim.Ledger() {
				if e.Operation == string(trading.OpOrder) {
					bought++
				}
			}
			require.Equal(t, 1, bought, "%d s late", late)
		})
	}
}

// What no order can help ends the bot: an account that the key does not reach, or a key that is refused.
func TestNothingHelps(t *testing.T) {
	for id, want := range map[trading.AccountID]error{"acc_none": trading.CodeAccountNotFound, "acc_1": trading.ErrKeyRefused} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark(symbol, "64000"))
			defer sim.Close()
			key := sim.LiveKey()
			if id == "acc_1" {
				key += "x"
			}
			log := slog.New(slog.DiscardHandler)
			err := trade(t.Context(), sim.URL(), append(options(journal.NewMemory(), id, log), trading.WithSandboxKey(sim.SandboxKey()),
				trading.WithLiveKey(key), trading.WithTransport(sim.Transport())), id, time.Minute, log)
			require.ErrorIs(t, err, want)
		})
	}
}
