package api

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

const orderAnswer = `{"success":true,"action":"opened","fill":{"price":64010.5,"size":0.1,"fee":2.8804725},` +
	`"position":{"symbol":"BTC","side":"long","size":0.1,"leverage":3,"entryPrice":64010.5,"markPrice":64010.5,` +
	`"notionalValue":6401.05,"marginRequired":2133.683333,"unrealizedPnL":0,"takeProfitPrice":66000,` +
	`"stopLossPrice":63000,"openedAt":"2026-11-02T09:30:00.000Z"},"newBalance":50247.8695275}`

// orderFloats is an order's answer as a client without decimals would read it.
type orderFloats struct {
	Success  bool
	Action   string
	Fill     struct{ Price, Size, Fee float64 }
	Position struct {
		Symbol, Side                                 string
		Size, Leverage, EntryPrice, MarkPrice        float64
		NotionalValue, MarginRequired, UnrealizedPnL float64
		TakeProfitPrice, StopLossPrice               *float64
		OpenedAt                                     string
	}
	NewBalance float64
}

const sandboxOrderAnswer = `{"ok":true,"fill":{"price":64010.5,"repriced":false,"ageMs":120},` +
	`"position":{"symbol":"BTC","side":"long","size":0.1,"leverage":3,"entryPrice":64010.5,"markPrice":64010.5,` +
	`"notionalValue":6401.05,"marginRequired":2133.683333,"unrealizedPnL":0,"takeProfitPrice":66000,` +
	`"stopLossPrice":63000,"openedAt":"2026-11-02T09:30:00.000Z"},"account":{"id":"sbx_1","environment":"sandbox",` +
	`"balance":49997.1195275,"equity":49997.1195275,"unrealizedPnL":0,"profitTarget":54000,"dailyLossFloor":47500,` +
	`"globalLossFloor":45000,"profitSplit":0.8,"status":"active","isLocked":false}}`

func BenchmarkSandboxOrderAnswer(b *testing.B) {
	data := []byte(sandboxOrderAnswer)
	b.ReportAllocs()
	for b.Loop() {
		var v SandboxOrderResponse
		if err := wire.Unmarshal(data, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOrderAnswer(b *testing.B) {
	data := []byte(orderAnswer)
	b.Run("generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v OrderResponse
			if err := wire.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding_json_floats", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v orderFloats
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// tradesAnswer is a list of n trades with other numbers in each row, and of n
// rows with members that are not in the contract if extra is set.
func tradesAnswer(n int, extra bool) []byte {
	data := []byte(`{"ok":true,"trades":[`)
	for i := range n {
		if i > 0 {
			data = append(data, ',')
		}
		data = fmt.Appendf(data, `{"symbol":%q,"side":%q,"orderType":%q,"size":%d.%04d,"entryPrice":%d.%04d,"exitPrice":%d.%04d,`+
			`"realizedPnL":-%d.%06d,"fee":%d.%07d,"openedAt":"2026-11-02T09:%02d:%02d.%03dZ","closedAt":%d`,
			[]string{"BTC", "ETH", "SOL", "XRP"}[i%4], []string{"long", "short"}[i%2],
			[]string{"market", "stop_loss", "take_profit"}[i%3],
			i%7, 1000+i%9000, 60000+i%9999, i%10000, 60000+i*7%9999, i*13%10000,
			i%500, i*7919%1000000, i%40, i*104729%10000000, i/60%60, i%60, i%1000, 1793600000000+i*1000)
		if extra {
			data = fmt.Appendf(data, `,"id":"trd_%08d","leverage":%d`, i, 1+i%5)
		}
		data = append(data, '}')
	}
	return append(data, `]}`...)
}

type tradesFloats struct {
	OK     bool
	Trades []struct {
		Symbol, Side, OrderType                       string
		Size, EntryPrice, ExitPrice, RealizedPnL, Fee float64
		OpenedAt                                      string
		ClosedAt                                      int64
		ID                                            string
		Leverage                                      float64
	}
}

type tradesDecimals struct {
	OK     bool
	Trades []struct {
		Symbol, Side, OrderType                       string
		Size, EntryPrice, ExitPrice, RealizedPnL, Fee decimal.Decimal
		OpenedAt                                      string
		ClosedAt                                      int64
		ID                                            string
		Leverage                                      decimal.Decimal
	}
}

func BenchmarkTrades(b *testing.B) {
	for _, extra := range []bool{false, true} {
		data := tradesAnswer(10_000, extra)
		decode := func(name string, decode func() error) {
			b.Run(fmt.Sprintf("extra=%t/%s", extra, name), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		decode("generated", func() error { return wire.Unmarshal(data, rowsOf[ClosedTrade]("trades")()) })
		decode("encoding_json_floats", func() error { return json.Unmarshal(data, new(tradesFloats)) })
		decode("encoding_json_decimals", func() error { return json.Unmarshal(data, new(tradesDecimals)) })
	}
}
