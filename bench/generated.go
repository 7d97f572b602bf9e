package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradingapi/trading-go/bench/internal/oapi"
)

func generatedContenders() []contender {
	return []contender{{name: "oapi-codegen ClientWithResponses, float64", floor: byHand, order: generatedOrders, trades: generatedTrades}}
}

// newGenerated returns the generated client, with a key.
func newGenerated(p place, key string) (*oapi.ClientWithResponses, error) {
	return oapi.NewClientWithResponses(p.base+"/v1",
		oapi.WithHTTPClient(p.httpClient()),
		oapi.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("X-API-Key", key)
			return nil
		}))
}

func generatedOrders(p place) (task, error) {
	client, err := newGenerated(p, liveKey)
	if err != nil {
		return task{}, err
	}
	takeProfit, stopLoss, slippage := 70000.0, 60000.1, 0.5
	in := oapi.OrderRequest{
		AccountId: account, Symbol: "BTC", Side: "long", Size: 0.05, Leverage: 2,
		TakeProfitPrice: &takeProfit, StopLossPrice: &stopLoss, MaxSlippagePct: &slippage,
	}
	return untilDone(func(ctx context.Context) (any, error) {
		key := uuid.NewString()
		reply, err := client.PlaceOrderWithResponse(ctx, &oapi.PlaceOrderParams{IdempotencyKey: &key}, in)
		if err != nil {
			return nil, err
		}
		if reply.JSON200 == nil {
			return nil, errors.New(reply.Status())
		}
		return reply.JSON200, nil
	}), nil
}

func generatedTrades(p place) (task, error) {
	client, err := newGenerated(p, sandboxKey)
	if err != nil {
		return task{}, err
	}
	return untilDone(func(ctx context.Context) (any, error) {
		reply, err := client.ListSandboxTradesWithResponse(ctx)
		if err != nil {
			return nil, err
		}
		if reply.JSON200 == nil {
			return nil, errors.New(reply.Status())
		}
		return reply.JSON200, nil
	}), nil
}
