package trading_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/journal"
)

// canned answers every request with the same bytes and no network.
type canned struct {
	body   []byte
	header http.Header
}

func (c *canned) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/health") {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(rig.HealthyBody)), ContentLength: int64(len(rig.HealthyBody))}, nil
	}
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	return &http.Response{
		StatusCode:    200,
		Header:        c.header,
		Body:          io.NopCloser(bytes.NewReader(c.body)),
		ContentLength: int64(len(c.body)),
	}, nil
}

func benchClient(b *testing.B, rt http.RoundTripper, url string, opts ...trading.Option) *trading.Client {
	b.Helper()
	opts = append([]trading.Option{roomy, trading.WithSandboxKey(rig.SandboxKey), trading.WithLiveKey(rig.LiveKey)}, opts...)
	if rt != nil {
		opts = append(opts, trading.WithTransport(rt))
	}
	client, err := trading.New(url, opts...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return client
}

func benchOrder() trading.Order {
	return trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
		StopLoss: trading.At(trading.Dec("63000")), MaxSlippagePct: trading.Some(trading.Dec("0.5")),
	}
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }

// roomy has limits that are never full, and counts all the same.
var roomy = trading.WithRateLimits(trading.RateLimits{PerKey: 1 << 30, PerClass: 1 << 30, PerPro: 1 << 30})

// BenchmarkOrder is an order with the network taken away, gate and guards on.
func BenchmarkOrder(b *testing.B) {
	client := benchClient(b, &canned{body: []byte(rig.OrderBody), header: jsonHeader()}, rig.BaseURL)
	ctx, order := context.Background(), benchOrder()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOrderWhoseCallerMayLeave is the same under a context that can end.
func BenchmarkOrderWhoseCallerMayLeave(b *testing.B) {
	client := benchClient(b, &canned{body: []byte(rig.OrderBody), header: jsonHeader()}, rig.BaseURL)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	order := benchOrder()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLiveOrder is an order on a live account, with the network taken away:
// what gate, journal and key cost.
func BenchmarkLiveOrder(b *testing.B) {
	const body = `{"success":true,"action":"opened","fill":{"price":64000,"size":0.01,"fee":0.288},"position":` +
		rig.PositionBody + `,"newBalance":99999.712}`
	for _, row := range []struct {
		name string
		opts []trading.Option
	}{
		{"ungated, uncounted, unjournaled", []trading.Option{trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithRateLimits(trading.RateLimits{Off: true})}},
		{"gated, uncounted, unjournaled", []trading.Option{trading.WithRateLimits(trading.RateLimits{Off: true})}},
		{"gated, unjournaled", nil},
		{"gated, journal in memory", []trading.Option{trading.WithJournal(journal.NewMemory())}},
	} {
		b.Run(row.name, func(b *testing.B) {
			client := benchClient(b, &canned{body: []byte(body), header: jsonHeader()}, rig.BaseURL, row.opts...)
			account := client.Live.Account("acc_1")
			ctx, order := context.Background(), benchOrder()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := account.PlaceOrder(ctx, order); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The shapes of somebody who writes the call by hand, with floats.
type (
	bareOrder struct {
		Symbol         string  `json:"symbol"`
		Side           string  `json:"side"`
		Size           float64 `json:"size"`
		Leverage       float64 `json:"leverage"`
		StopLossPrice  float64 `json:"stopLossPrice"`
		MaxSlippagePct float64 `json:"maxSlippagePct"`
	}
	bareResult struct {
		OK   bool `json:"ok"`
		Fill struct {
			Price    float64 `json:"price"`
			Repriced bool    `json:"repriced"`
			AgeMs    float64 `json:"ageMs"`
		} `json:"fill"`
		Position *struct {
			Symbol, Side, OpenedAt                                    string
			Size, Leverage, EntryPrice, NotionalValue, MarginRequired float64
			MarkPrice, UnrealizedPnL, TakeProfitPrice, StopLossPrice  *float64
		} `json:"position"`
		Account struct {
			ID, Environment, Status                                                       string
			Balance, Equity, UnrealizedPnL, ProfitTarget, DailyLossFloor, GlobalLossFloor float64
			ProfitSplit                                                                   float64
			IsLocked                                                                      bool
		} `json:"account"`
	}
)

// BenchmarkOrderLoopback is an order to a server over a kept connection.
func BenchmarkOrderLoopback(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/health") {
			_, _ = io.WriteString(w, rig.HealthyBody)
			return
		}
		_, _ = io.WriteString(w, rig.OrderBody)
	}))
	defer server.Close()
	b.Run("client", func(b *testing.B) {
		client := benchClient(b, nil, server.URL+"/v1")
		ctx, order := context.Background(), benchOrder()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Sandbox.PlaceOrder(ctx, order); err != nil {
				b.Fatal(err)
			}
		}
	})
	// The same by hand: the server runs in this process, so its own allocations
	// are in both figures.
	b.Run("net/http and encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body, err := json.Marshal(bareOrder{"BTC", "long", 0.01, 2, 63000, 0.5})
			if err != nil {
				b.Fatal(err)
			}
			resp, err := server.Client().Post(server.URL+"/v1/sandbox/orders", "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			var answer bareResult
			if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
				b.Fatal(err)
			}
			_ = resp.Body.Close()
		}
	})
}

// BenchmarkTrades reads 10,000 closed trades of 2.8 MB, with the network taken away.
func BenchmarkTrades(b *testing.B) {
	var body strings.Builder
	body.WriteString(`{"ok":true,"trades":[`)
	for i := range 10_000 {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"symbol":"BTC","side":"long","size":0.0%d,"entryPrice":%d.25,"exitPrice":%d.5,"realizedPnL":%d.1234,"fee":1.%d,`+
			`"orderType":"take_profit","openedAt":"2026-11-20T10:00:00.000Z","closedAt":"2026-11-20T11:00:00.000Z"}`,
			i+1, 64000+i, 64100+i, i, i)
	}
	body.WriteString(`]}`)
	client := benchClient(b, &canned{body: []byte(body.String()), header: jsonHeader()}, rig.BaseURL)
	ctx := context.Background()
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		trades, err := client.Sandbox.Trades(ctx)
		if err != nil || len(trades) != 10_000 {
			b.Fatal(len(trades), err)
		}
	}
}
