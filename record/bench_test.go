package record

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tradingapi/trading-go"
)

const answeredOrder = `{"success":true,"action":"opened","fill":{"price":64000,"size":0.01,"fee":0.288},"position":` +
	`{"symbol":"BTC","side":"long","size":0.01,"leverage":2,"entryPrice":64000,"markPrice":64150,"notionalValue":641.5,` +
	`"marginRequired":320.75,"unrealizedPnL":1.5,"takeProfitPrice":null,"stopLossPrice":63000,"openedAt":"2026-11-20T10:00:00.000Z"},` +
	`"newBalance":99999.712}`

// canned answers every order with the same bytes and no network.
func canned(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answeredOrder)), ContentLength: int64(len(answeredOrder)),
	}, nil
}

// BenchmarkOrder is what an audit and a flight recorder add to an order on a live
// account, with the network taken away.
//
//	go test -run '^$' -bench Order ./record
func BenchmarkOrder(b *testing.B) {
	for _, row := range []struct {
		name   string
		audit  bool
		sync   Sync
		flight bool
	}{
		{name: "bare"},
		{name: "audit", audit: true},
		{name: "audit that syncs", audit: true, sync: SyncDone},
		{name: "flight recorder", flight: true},
	} {
		b.Run(row.name, func(b *testing.B) {
			opts := []trading.Option{
				trading.WithLiveKey("pk_live_0123456789"), trading.WithTransport(roundTrip(canned)),
				trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithRateLimits(trading.RateLimits{Off: true}),
			}
			if row.audit {
				a, err := OpenAudit(filepath.Join(b.TempDir(), "audit.jsonl"), Options{Sync: row.sync})
				if err != nil {
					b.Fatal(err)
				}
				defer a.Close()
				opts = append(opts, trading.WithHooks(a.Hooks()), trading.WithGuard(a.Guard()))
			}
			if row.flight {
				opts = append(opts, trading.WithHooks(NewFlight(0).Hooks()))
			}
			client, err := trading.New("https://api.test/v1", opts...)
			if err != nil {
				b.Fatal(err)
			}
			defer client.Close()
			account, order := client.Live.Account("acc_1"), buy("0.01")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := account.PlaceOrder(b.Context(), order); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkVerify reads an audit through, as opening one does.
func BenchmarkVerify(b *testing.B) {
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for range 2000 {
		tellWrite(a.Hooks(), "BTC")
	}
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(contentsOf(b, path)[0])))
	for b.Loop() {
		if _, err := VerifyFile(path); err != nil {
			b.Fatal(err)
		}
	}
}
