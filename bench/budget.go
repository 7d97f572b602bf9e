package main

import (
	"context"
	"time"

	"github.com/tradingapi/trading-go"
)

// roomy is the client's own store of rate limits with its limits set out of
// reach: places are counted, and never short. Its window is short instead, so
// that about as many places are held at once as a bot holds within the limits of
// the service.
type roomy struct{ trading.BudgetStore }

func newRoomy() trading.BudgetStore { return roomy{trading.NewBudgetStore()} }

const (
	roomyLimit  = 1 << 30
	roomyWindow = 2 * time.Millisecond
)

func raise(b trading.Bucket) trading.Bucket {
	b.Limit, b.Window = roomyLimit, roomyWindow
	return b
}

func raiseAll(claims []trading.Claim) []trading.Claim {
	for i := range claims {
		claims[i].Bucket = raise(claims[i].Bucket)
	}
	return claims
}

// Take implements [trading.BudgetStore].
func (r roomy) Take(ctx context.Context, claims []trading.Claim, hold time.Duration) (trading.Taken, error) {
	return r.BudgetStore.Take(ctx, raiseAll(claims), hold)
}

// Return implements [trading.BudgetStore].
func (r roomy) Return(ctx context.Context, name string, claims []trading.Claim, sent bool) error {
	return r.BudgetStore.Return(ctx, name, raiseAll(claims), sent)
}
