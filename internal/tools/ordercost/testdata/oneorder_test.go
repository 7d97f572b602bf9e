package oneorder

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

// service answers as the service does, without a network.
type service struct{}

func (service) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"success":true,"action":"opened","fill":{"price":64000,"size":0.01,"fee":0.288},"newBalance":99999.712,` +
		`"position":{"id":"p1","symbol":"BTC","side":"long","size":0.01,"entryPrice":64000,"markPrice":64000,` +
		`"leverage":2,"margin":320,"unrealizedPnl":0,"liquidationPrice":null,"stopLoss":null,"takeProfit":null,` +
		`"openedAt":"2026-01-02T03:04:05.000Z"}}`
	if strings.HasSuffix(r.URL.Path, "/health") {
		body = `{"ok":true,"status":"healthy","service":"trading-api","version":"1","feed":"live","asOf":` +
			strconv.Quote(time.Now().UTC().Format(time.RFC3339)) + `,"cacheSeconds":5}`
	}
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// TestOneOrder places as many live orders as ORDERS says.
func TestOneOrder(t *testing.T) {
	orders, err := strconv.Atoi(os.Getenv("ORDERS"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := trading.New("https://api.example.com/v1", trading.WithLiveKey("pk_live_0123456789"), trading.WithTransport(service{}))
	if err != nil {
		t.Fatal(err)
	}
	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
	for range orders {
		result, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), order)
		if err != nil {
			text, _ := json.Marshal(err)
			t.Fatal(fmt.Errorf("%w %s", err, text))
		}
		if result == nil {
			t.Fatal("no result")
		}
	}
}
