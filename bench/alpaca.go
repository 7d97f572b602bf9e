package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/alpacahq/alpaca-trade-api-go/v3/alpaca"
	"github.com/shopspring/decimal"
)

const alpacaByHand = "by hand: alpaca's exchange"

func alpacaContenders() []contender {
	return []contender{
		{name: "alpaca-trade-api-go", floor: alpacaByHand, order: alpacaOrders},
		{name: alpacaByHand, hidden: true, order: alpacaBareOrders},
	}
}

func alpacaOrders(p place) (task, error) {
	client := alpaca.NewClient(alpaca.ClientOpts{APIKey: "key", APISecret: "secret", BaseURL: p.base + "/alpaca", HTTPClient: p.httpClient()})
	quantity, limit := decimal.RequireFromString("15"), decimal.RequireFromString("107.25")
	in := alpaca.PlaceOrderRequest{
		Symbol: "AAPL", Qty: &quantity, Side: alpaca.Buy, Type: alpaca.Limit, TimeInForce: alpaca.Day, LimitPrice: &limit,
	}
	return untilDone(func(context.Context) (any, error) { return client.PlaceOrder(in) }), nil
}

// alpacaHeader is the authentication of the exchange.
func alpacaHeader(h http.Header) {
	h.Set("APCA-API-KEY-ID", "key")
	h.Set("APCA-API-SECRET-KEY", "secret")
}

// The members of the exchange, by hand. Numbers travel as strings there.
type (
	alpacaHandOrder struct {
		Symbol      string  `json:"symbol"`
		Quantity    float64 `json:"qty,string"`
		Side        string  `json:"side"`
		Type        string  `json:"type"`
		TimeInForce string  `json:"time_in_force"`
		LimitPrice  float64 `json:"limit_price,string"`
	}
	alpacaHandResult struct {
		ID             string     `json:"id"`
		ClientOrderID  string     `json:"client_order_id"`
		CreatedAt      time.Time  `json:"created_at"`
		UpdatedAt      time.Time  `json:"updated_at"`
		SubmittedAt    time.Time  `json:"submitted_at"`
		FilledAt       *time.Time `json:"filled_at"`
		ExpiredAt      *time.Time `json:"expired_at"`
		CanceledAt     *time.Time `json:"canceled_at"`
		FailedAt       *time.Time `json:"failed_at"`
		ReplacedAt     *time.Time `json:"replaced_at"`
		ReplacedBy     *string    `json:"replaced_by"`
		Replaces       *string    `json:"replaces"`
		AssetID        string     `json:"asset_id"`
		Symbol         string     `json:"symbol"`
		AssetClass     string     `json:"asset_class"`
		OrderClass     string     `json:"order_class"`
		Type           string     `json:"type"`
		Side           string     `json:"side"`
		TimeInForce    string     `json:"time_in_force"`
		Status         string     `json:"status"`
		Notional       *float64   `json:"notional,string"`
		Quantity       *float64   `json:"qty,string"`
		FilledQuantity float64    `json:"filled_qty,string"`
		FilledAvgPrice *float64   `json:"filled_avg_price,string"`
		LimitPrice     *float64   `json:"limit_price,string"`
		StopPrice      *float64   `json:"stop_price,string"`
		TrailPrice     *float64   `json:"trail_price,string"`
		TrailPercent   *float64   `json:"trail_percent,string"`
		HWM            *float64   `json:"hwm,string"`
		ExtendedHours  bool       `json:"extended_hours"`
	}
)

func alpacaBareOrders(p place) (task, error) {
	x := exchange{p.httpClient(), http.MethodPost, p.base + pathAlpacaOrder, "application/json", alpacaHeader}
	in := alpacaHandOrder{"AAPL", 15, "buy", "limit", "day", 107.25}
	return untilDone(func(ctx context.Context) (any, error) {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		var out alpacaHandResult
		return &out, x.by(ctx, body, &out)
	}), nil
}
