package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"time"

	binance "github.com/adshao/go-binance/v2"
)

const binanceByHand = "by hand: Binance's exchange"

func binanceContenders() []contender {
	return []contender{
		{name: "go-binance", floor: binanceByHand, order: binanceOrders},
		{name: binanceByHand, hidden: true, order: binanceBareOrders},
	}
}

func newBinance(p place) *binance.Client {
	client := binance.NewClient("key", "secret")
	client.BaseURL = p.base + "/binance"
	client.HTTPClient = p.httpClient()
	return client
}

func binanceOrders(p place) (task, error) {
	client := newBinance(p)
	return untilDone(func(ctx context.Context) (any, error) {
		return client.NewCreateOrderService().Symbol("BTCUSDT").Side(binance.SideTypeBuy).
			Type(binance.OrderTypeMarket).Quantity("0.05").Do(ctx)
	}), nil
}

func binanceHeader(h http.Header) { h.Set("X-MBX-APIKEY", "key") }

// signed is a query with the time and the signature that the exchange asks for.
func signed(query url.Values) string {
	query.Set("timestamp", strconv.FormatInt(time.Now().UnixMilli(), 10))
	text := query.Encode()
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(text))
	return text + "&signature=" + hex.EncodeToString(mac.Sum(nil))
}

// The members of the exchange, by hand. Numbers travel as strings there.
type (
	binanceHandResult struct {
		Symbol              string  `json:"symbol"`
		OrderID             int64   `json:"orderId"`
		OrderListID         int64   `json:"orderListId"`
		ClientOrderID       string  `json:"clientOrderId"`
		TransactTime        int64   `json:"transactTime"`
		Price               float64 `json:"price,string"`
		OrigQty             float64 `json:"origQty,string"`
		ExecutedQty         float64 `json:"executedQty,string"`
		OrigQuoteOrderQty   float64 `json:"origQuoteOrderQty,string"`
		CummulativeQuoteQty float64 `json:"cummulativeQuoteQty,string"`
		Status              string  `json:"status"`
		TimeInForce         string  `json:"timeInForce"`
		Type                string  `json:"type"`
		Side                string  `json:"side"`
		SelfTradePrevention string  `json:"selfTradePreventionMode"`
		Fills               []struct {
			Price           float64 `json:"price,string"`
			Qty             float64 `json:"qty,string"`
			Commission      float64 `json:"commission,string"`
			CommissionAsset string  `json:"commissionAsset"`
			TradeID         int64   `json:"tradeId"`
		} `json:"fills"`
	}
)

func binanceBareOrders(p place) (task, error) {
	x := exchange{p.httpClient(), http.MethodPost, p.base + pathBinanceOrder, "application/x-www-form-urlencoded", binanceHeader}
	return untilDone(func(ctx context.Context) (any, error) {
		body := signed(url.Values{"symbol": {"BTCUSDT"}, "side": {"BUY"}, "type": {"MARKET"}, "quantity": {"0.05"}})
		var out binanceHandResult
		return &out, x.by(ctx, []byte(body), &out)
	}), nil
}
