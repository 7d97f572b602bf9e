package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/shopspring/decimal"
)

// Whoever writes the calls by hand has these types, with float64 or, to be exact,
// with decimals.
type (
	handOrder[N any] struct {
		AccountID       string `json:"accountId,omitempty"`
		Symbol          string `json:"symbol"`
		Side            string `json:"side"`
		Size            N      `json:"size"`
		Leverage        N      `json:"leverage"`
		TakeProfitPrice N      `json:"takeProfitPrice"`
		StopLossPrice   N      `json:"stopLossPrice"`
		MaxSlippagePct  N      `json:"maxSlippagePct"`
	}
	handPosition[N any] struct {
		Symbol          string `json:"symbol"`
		Side            string `json:"side"`
		Size            N      `json:"size"`
		Leverage        N      `json:"leverage"`
		EntryPrice      N      `json:"entryPrice"`
		MarkPrice       *N     `json:"markPrice"`
		NotionalValue   N      `json:"notionalValue"`
		MarginRequired  N      `json:"marginRequired"`
		UnrealizedPnL   *N     `json:"unrealizedPnL"`
		TakeProfitPrice *N     `json:"takeProfitPrice"`
		StopLossPrice   *N     `json:"stopLossPrice"`
		OpenedAt        string `json:"openedAt"`
	}
	handResult[N any] struct {
		Success bool   `json:"success"`
		Action  string `json:"action"`
		Fill    struct {
			Price N `json:"price"`
			Size  N `json:"size"`
			Fee   N `json:"fee"`
		} `json:"fill"`
		Position   *handPosition[N] `json:"position"`
		NewBalance N                `json:"newBalance"`
	}
	handSandboxResult[N any] struct {
		OK   bool `json:"ok"`
		Fill struct {
			Price    N    `json:"price"`
			Repriced bool `json:"repriced"`
			AgeMs    N    `json:"ageMs"`
		} `json:"fill"`
		Position *handPosition[N] `json:"position"`
		Account  struct {
			ID              string `json:"id"`
			Environment     string `json:"environment"`
			Status          string `json:"status"`
			Balance         N      `json:"balance"`
			Equity          N      `json:"equity"`
			UnrealizedPnL   N      `json:"unrealizedPnL"`
			ProfitTarget    N      `json:"profitTarget"`
			DailyLossFloor  N      `json:"dailyLossFloor"`
			GlobalLossFloor N      `json:"globalLossFloor"`
			ProfitSplit     N      `json:"profitSplit"`
			IsLocked        bool   `json:"isLocked"`
		} `json:"account"`
	}
)

// exact is a decimal that travels as a JSON number, which is what the service
// reads: by itself decimal.Decimal travels as a string.
type exact struct{ decimal.Decimal }

// MarshalJSON writes the number without quotes.
//
//nolint:unparam // The error is what encoding/json asks for.
func (e exact) MarshalJSON() ([]byte, error) { return []byte(e.String()), nil }

func exactly(text string) exact { return exact{decimal.RequireFromString(text)} }

func floatOrder(account string) handOrder[float64] {
	return handOrder[float64]{
		AccountID: account, Symbol: "BTC", Side: "long", Size: 0.05, Leverage: 2,
		TakeProfitPrice: 70000, StopLossPrice: 60000.1, MaxSlippagePct: 0.5,
	}
}

func exactOrder(account string) handOrder[exact] {
	return handOrder[exact]{
		AccountID: account, Symbol: "BTC", Side: "long", Size: exactly("0.05"), Leverage: exactly("2"),
		TakeProfitPrice: exactly("70000"), StopLossPrice: exactly("60000.1"), MaxSlippagePct: exactly("0.5"),
	}
}

// bareSandbox is the exchange of an order on the paper account, by hand.
const bareSandbox = "by hand: an order on the paper account"

func bareContenders() []contender {
	return []contender{
		{name: byHand, order: bareOrders(floatOrder)},
		{name: "net/http + encoding/json, decimal", floor: byHand, order: bareOrders(exactOrder)},
		{name: "go-retryablehttp + encoding/json, float64", floor: byHand, order: retryableOrders},
		{name: "net/http as it comes, float64", floor: byHand, order: bareOrders(floatOrder), own: true},
		{name: bareSandbox, hidden: true, lone: true, order: bareSandboxOrders},
	}
}

// liveHeader is what the service asks for with a live write: whose it is, and a
// key under which it is executed once.
func liveHeader(h http.Header) {
	h.Set("X-API-Key", liveKey)
	h.Set("Idempotency-Key", uuid.NewString())
}

func sandboxHeader(h http.Header) { h.Set("X-API-Key", sandboxKey) }

func bareOrders[N any](order func(account string) handOrder[N]) func(place) (task, error) {
	return func(p place) (task, error) {
		x := exchange{p.httpClient(), http.MethodPost, p.base + pathOrder, "application/json", liveHeader}
		in := order(account)
		return untilDone(func(ctx context.Context) (any, error) {
			body, err := json.Marshal(in)
			if err != nil {
				return nil, err
			}
			var out handResult[N]
			return &out, x.by(ctx, body, &out)
		}), nil
	}
}

func bareSandboxOrders(p place) (task, error) {
	x := exchange{p.httpClient(), http.MethodPost, p.base + pathSandboxOrder, "application/json", sandboxHeader}
	in := floatOrder("")
	return untilDone(func(ctx context.Context) (any, error) {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		var out handSandboxResult[float64]
		return &out, x.by(ctx, body, &out)
	}), nil
}

// newRetryable is go-retryablehttp without its log, and with nothing to retry.
func newRetryable(p place) *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.HTTPClient = p.httpClient()
	return c
}

func retryableOrders(p place) (task, error) {
	client, url, in := newRetryable(p), p.base+pathOrder, floatOrder(account)
	return untilDone(func(ctx context.Context) (any, error) {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		liveHeader(req.Header)
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		var out handResult[float64]
		return &out, decode(resp, &out)
	}), nil
}
