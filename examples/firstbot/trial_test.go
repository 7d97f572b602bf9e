package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingtest/trial"
)

// Neither on the paper account nor on a live one does the bot do what no bot must.
func TestTrial(t *testing.T) {
	for _, environment := range []string{"sandbox", "live"} {
		t.Run(environment, func(t *testing.T) {
			trial.Run(t, func(ctx context.Context, at trial.Service) error {
				client, err := at.Client(trading.WithExclusiveAccounts(trading.AccountID(at.Account)))
				if err != nil {
					return err
				}
				defer client.Close()
				b := &bot{account: client.Sandbox, prices: client.Sandbox.MarketData, log: slog.New(slog.DiscardHandler)}
				if environment == "live" {
					b.account = client.Live.Account(trading.AccountID(at.Account))
				}
				return b.run(ctx)
			}, trial.Manifest{
				Environment: environment,
				Period:      trial.Duration(time.Minute),
				Markets:     map[string]trial.Market{"BTC": {Price: trading.Dec("64000"), Most: trading.Dec("0.01")}},
				StopWithin:  trial.Duration(2 * time.Minute),
			})
		})
	}
}
