package main

import (
	"fmt"
	"time"
)

// What is answered, by path. Each peer's answers have the members that its own
// documentation shows, with values of our own.
const (
	pathHealth        = "/v1/health"
	pathOrder         = "/v1/orders"
	pathSandboxOrder  = "/v1/sandbox/orders"
	pathLive          = "/v1/accounts/" + account
	pathLivePositions = "/v1/positions"
	pathLiveTrades    = "/v1/trades"
	pathAlpacaOrder   = "/alpaca/v2/orders"
	pathBinanceOrder  = "/binance/api/v3/order"
	pathHcloudKey     = "/hcloud/ssh_keys"
	pathStripe        = "/v1/customers" // it reads its version off the path
)

// answerHealth is an assessment that was made now: an older one lets no entry pass.
func answerHealth() []byte {
	return fmt.Appendf(nil, `{"ok":true,"status":"healthy","service":"api","version":"1.0.0","asOf":%d,"cacheSeconds":5,"feed":"live"}`, time.Now().UnixMilli())
}

const positionJSON = `{"symbol":"BTC","side":"long","size":0.05,"leverage":2,"entryPrice":64010.5,"markPrice":64012.25,` +
	`"notionalValue":3200.525,"marginRequired":1600.2625,"unrealizedPnL":0.0875,"takeProfitPrice":70000,` +
	`"stopLossPrice":60000.1,"openedAt":"2026-11-02T09:30:00.000Z"}`

const answerOrder = `{"success":true,"action":"opened","fill":{"price":64010.5,"size":0.05,"fee":1.44023625},` +
	`"position":` + positionJSON + `,"newBalance":99998.55976375}`

const answerSandboxOrder = `{"ok":true,"fill":{"price":64010.5,"repriced":false,"ageMs":120},"position":` + positionJSON +
	`,"account":{"id":"sandbox_1","environment":"sandbox","balance":99998.55976375,"equity":99998.64726375,` +
	`"unrealizedPnL":0.0875,"profitTarget":110000,"dailyLossFloor":95000,"globalLossFloor":90000,"profitSplit":0.8,` +
	`"status":"active","isLocked":false}}`

const answerAlpacaOrder = `{"id":"9b2f6c1e-0f5e-4f0e-9a38-0d3c5b1f7a11","client_order_id":"4d1b2f7c-6a55-4a8e-b0d5-6d2d0a0e9c42",` +
	`"created_at":"2026-11-02T14:30:00.123456Z","updated_at":"2026-11-02T14:30:00.223456Z","submitted_at":"2026-11-02T14:30:00.120456Z",` +
	`"filled_at":null,"expired_at":null,"canceled_at":null,"failed_at":null,"replaced_at":null,"replaced_by":null,"replaces":null,` +
	`"asset_id":"b0b6dd9d-8b9b-48a9-ba46-b9d54906e415","symbol":"AAPL","asset_class":"us_equity","notional":null,"qty":"15",` +
	`"filled_qty":"0","filled_avg_price":null,"order_class":"","order_type":"limit","type":"limit","side":"buy",` +
	`"time_in_force":"day","limit_price":"107.25","stop_price":null,"status":"accepted","extended_hours":false,"legs":null,` +
	`"trail_percent":null,"trail_price":null,"hwm":null}`

const answerBinanceOrder = `{"symbol":"BTCUSDT","orderId":28,"orderListId":-1,"clientOrderId":"x-bench-0001","transactTime":1793612760000,` +
	`"price":"0.00000000","origQty":"0.05000000","executedQty":"0.05000000","origQuoteOrderQty":"0.000000",` +
	`"cummulativeQuoteQty":"3200.52500000","status":"FILLED","timeInForce":"GTC","type":"MARKET","side":"BUY",` +
	`"workingTime":1793612760000,"selfTradePreventionMode":"NONE","fills":[` +
	`{"price":"64010.00000000","qty":"0.02000000","commission":"1.28020000","commissionAsset":"USDT","tradeId":56},` +
	`{"price":"64010.50000000","qty":"0.02000000","commission":"1.28021000","commissionAsset":"USDT","tradeId":57},` +
	`{"price":"64011.50000000","qty":"0.01000000","commission":"0.64011500","commissionAsset":"USDT","tradeId":58}]}`

const answerHcloudKey = `{"ssh_key":{"id":2323,"name":"bench","fingerprint":"b7:2f:30:a0:2f:6c:58:6c:21:04:58:61:ba:06:3b:2f",` +
	`"public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBenchBenchBenchBenchBenchBenchBenchBenchBenc bench",` +
	`"labels":{"environment":"bench"},"created":"2026-11-02T14:30:00+00:00"}}`

const answerStripe = `{"id":"cus_Bench0001","object":"customer","address":null,"balance":0,"created":1793612760,"currency":null,` +
	`"default_source":null,"delinquent":false,"description":null,"discount":null,"email":"bench@example.com",` +
	`"invoice_prefix":"0759376C","invoice_settings":{"custom_fields":null,"default_payment_method":null,"footer":null,` +
	`"rendering_options":null},"livemode":false,"metadata":{},"name":"Bench","next_invoice_sequence":1,"phone":null,` +
	`"preferred_locales":[],"shipping":null,"tax_exempt":"none","test_clock":null}`

// answers returns what is answered at every path.
func answers() map[string][]byte {
	return map[string][]byte{
		pathOrder:        []byte(answerOrder),
		pathSandboxOrder: []byte(answerSandboxOrder),
		pathLive: []byte(`{"account":{"id":"` + account + `","status":"ACTIVE","phase":1,"balance":100000,"equity":100000,` +
			`"profitTarget":110000,"dailyLossFloor":95000,"globalLossFloor":90000}}`),
		pathLive + "/orders": []byte(`{"orders":[],"runs":[]}`),
		pathLive + "/runs":   []byte(`{"runs":[]}`),
		pathLivePositions:    []byte(`{"positions":[]}`),
		pathLiveTrades:       []byte(`{"trades":[]}`),
		pathAlpacaOrder:      []byte(answerAlpacaOrder),
		pathBinanceOrder:     []byte(answerBinanceOrder),
		pathHcloudKey:        []byte(answerHcloudKey),
		pathStripe:           []byte(answerStripe),
	}
}

// answerAt is what a path answers now.
func answerAt(answers map[string][]byte, path string) (body []byte, ok bool) {
	if path == pathHealth {
		return answerHealth(), true
	}
	body, ok = answers[path]
	return body, ok
}
