package obedient

import (
	"context"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Person is somebody who is alerted, looks at the ledger of the service, and acknowledges what the
// client leaves to a person. A write whose request may still arrive is left alone until it cannot.
func Person(client *trading.Client, sim *tradingsim.Sim) func(context.Context, error) {
	return func(ctx context.Context, _ error) {
		pending, err := client.Pending(ctx)
		if err != nil {
			return
		}
		for _, w := range pending {
			if !w.Waiting && time.Since(w.Decided) < mostFinding {
				continue
			}
			found := trading.NotApplied
			if ran(sim, w) {
				found = trading.Applied
			}
			_ = client.Acknowledge(ctx, w.ID, found, "looked at the ledger")
		}
	}
}

func ran(sim *tradingsim.Sim, w trading.PendingWrite) bool {
	if w.Key != "" {
		return len(sim.Executed(string(w.Key))) > 0
	}
	return slices.ContainsFunc(sim.Ledger(), func(e tradingsim.Execution) bool {
		return e.Operation == string(w.Operation) && e.Actor == "api" && !e.At.Before(w.Decided.Add(-time.Minute))
	})
}
