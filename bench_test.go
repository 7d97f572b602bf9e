package trading_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
)

// canned answers every order with the same bytes and no network.
type canned string

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	body := string(c)
	if strings.HasSuffix(req.URL.Path, "/health") {
		body = rig.HealthyBody
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// roomy has limits that are never full, and counts all the same.
var roomy = trading.WithRateLimits(trading.RateLimits{PerKey: 1 << 30, PerClass: 1 << 30, PerPro: 1 << 30})

// BenchmarkLiveOrder is an order on a live account, with the network taken away:
// what gate, journal and key cost.
func BenchmarkLiveOrder(b *testing.B) {
	const body = `{"success":true,"action":"opened","fill":{"price":64000,"size":0.01,"fee":0.288},"position":` +
		rig.PositionBody + `,"newBalance":99999.712}`
	order := rig.Buy("0.01", func(o *trading.Order) {
		o.StopLoss, o.MaxSlippagePct = rig.At("63000"), trading.Some(rig.Dec("0.5"))
	})
	uncounted, ungated := trading.WithRateLimits(trading.RateLimits{Off: true}), trading.WithHealthGate(trading.HealthGate{Off: true})
	inFile, err := journal.Open(filepath.Join(b.TempDir(), "bot.journal"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = inFile.Close() }() // what it kept is of no use
	for name, opts := range map[string][]trading.Option{
		"ungated, uncounted, unjournaled": {ungated, uncounted},
		"gated, uncounted, unjournaled":   {uncounted},
		"gated, unjournaled":              {roomy},
		"gated, journal in memory":        {roomy, trading.WithJournal(journal.NewMemory())},
		"gated, journal in a file":        {roomy, trading.WithJournal(inFile)},
	} {
		b.Run(name, func(b *testing.B) {
			account := rig.ScriptedClient(b, canned(body), opts...).Live.Account("acc_1")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := account.PlaceOrder(b.Context(), order); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
