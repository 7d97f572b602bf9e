package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingtest/trial"
)

// The bot orders nothing twice and remembers its position, under nineteen scenarios of faults and kills.
func TestTrial(t *testing.T) {
	trial.Run(t, func(ctx context.Context, at trial.Service) error {
		id := trading.AccountID(at.Account)
		return trade(ctx, at.BaseURL, append(options(at.Journal, id, slog.New(slog.DiscardHandler)), trading.WithTransport(at.Transport),
			trading.WithLiveKey(at.LiveKey), trading.WithSandboxKey(at.SandboxKey)), id, time.Minute, slog.New(slog.DiscardHandler))
	}, trial.Manifest{
		Period:     trial.Duration(time.Minute),
		Markets:    map[string]trial.Market{"BTC": {Price: trading.Dec("64000"), Most: trading.Dec("0.01")}},
		StopWithin: trial.Duration(2 * time.Minute),
	})
}
