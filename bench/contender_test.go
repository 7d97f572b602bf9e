package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	binance "github.com/adshao/go-binance/v2"
	"github.com/alpacahq/alpaca-trade-api-go/v3/alpaca"
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/shopspring/decimal"
	"github.com/stripe/stripe-go/v85"

	"github.com/tradingapi/trading-go"
)

// heard is a service that notes the last request that is not about its health.
type heard struct {
	service

	mu     sync.Mutex
	path   string
	header http.Header
	body   string
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != pathHealth {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		h.mu.Lock()
		h.path, h.header, h.body = r.URL.Path, r.Header.Clone(), string(body)
		h.mu.Unlock()
	}
	h.service.ServeHTTP(w, r)
}

func (h *heard) last() (path string, header http.Header, body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.path, h.header, h.body
}

// kind is the exchange that a contender makes, by the name of its floor.
func (c contender) kind() string {
	if c.floor == "" {
		return c.name
	}
	return c.floor
}

// TestOrders makes one order by everybody, over loopback and without a network,
// and looks at what was sent, and at what has been made of the answer.
func TestOrders(t *testing.T) {
	h := &heard{service: service{answers: answers()}}
	server := httptest.NewServer(h)
	defer server.Close()
	transport := newTransport()
	defer transport.CloseIdleConnections()

	for _, c := range contenders() {
		t.Run(c.name, func(t *testing.T) {
			over := place{base: server.URL, transport: transport}
			if c.own {
				over.transport = nil
			}
			if got, want := lookAt(t, once(t, c.order, over)), wantedOrders[c.kind()]; got != want {
				t.Errorf("over loopback: %s, want %s", got, want)
			}
			path, header, body := h.last()
			checkSent(t, c, path, header, body)
			without := place{base: "http://127.0.0.1", transport: newCanned(answers())}
			if got, want := lookAt(t, once(t, c.order, without)), wantedOrders[c.kind()]; got != want {
				t.Errorf("without a network: %s, want %s", got, want)
			}
		})
	}
}

func once(t *testing.T, open func(place) (task, error), p place) any {
	t.Helper()
	task, err := open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer task.close()
	for range 3 { // a second and a third time is as good
		if _, err := task.do(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := task.do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// checkSent compares the requests of an exchange: members and credentials.
func checkSent(t *testing.T, c contender, path string, header http.Header, body string) {
	t.Helper()
	sent := map[string]struct{ path, header, body string }{
		byHand:        {pathOrder, "X-Api-Key", `"accountId":"acc_1"`},
		bareSandbox:   {pathSandboxOrder, "X-Api-Key", `"symbol":"BTC"`},
		alpacaByHand:  {pathAlpacaOrder, "Apca-Api-Secret-Key", `"limit_price":"107.25"`},
		binanceByHand: {pathBinanceOrder, "X-Mbx-Apikey", "quantity=0.05"},
		hcloudByHand:  {pathHcloudKey, "Authorization", `"name":"bench"`},
		stripeByHand:  {pathStripe, "Authorization", "name=Bench"},
	}[c.kind()]
	if path != sent.path || header.Get(sent.header) == "" || !strings.Contains(body, sent.body) {
		t.Errorf("sent %s, %s: %q, %s", path, sent.header, header.Get(sent.header), body)
	}
	if c.kind() != byHand {
		return
	}
	if header.Get("Idempotency-Key") == "" {
		t.Error("sent without a key")
	}
	var got, want map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	text := `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.05,"leverage":2,` +
		`"takeProfitPrice":70000,"stopLossPrice":60000.1,"maxSlippagePct":0.5}`
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sent %s, want %s", body, text)
	}
}

// What the answers say, by exchange.
var wantedOrders = map[string]string{
	byHand:        "64010.5 0.05 1.44023625 99998.55976375 64012.25 60000.1",
	bareSandbox:   "64010.5 false 99998.55976375 64012.25 60000.1",
	alpacaByHand:  "AAPL 15 107.25 accepted 123456000",
	binanceByHand: "28 FILLED 3 64011.5 0.01",
	hcloudByHand:  "2323 bench bench 1793629800",
	stripeByHand:  "cus_Bench0001 bench@example.com 0759376C none",
}

// lookAt writes the same members of an exchange, whoever has read them.
func lookAt(t *testing.T, answer any) string {
	t.Helper()
	switch a := answer.(type) {
	case *trading.OrderResult:
		position, ok := a.Position.Get()
		mark, priced := position.Mark.Price()
		stop, set := position.StopLoss.Value()
		if !ok || !priced || !set {
			return "no position"
		}
		if account, paper := a.Account.Get(); paper {
			return words(a.Fill.Price, a.Fill.Repriced, account.Balance, mark, stop)
		}
		size, _ := a.Fill.Size.Get()
		fee, _ := a.Fill.Fee.Get()
		return words(a.Fill.Price, size, fee, a.Balance, mark, stop)
	case *handResult[float64]:
		return words(a.Fill.Price, a.Fill.Size, a.Fill.Fee, a.NewBalance, *a.Position.MarkPrice, *a.Position.StopLossPrice)
	case *handResult[exact]:
		return words(a.Fill.Price, a.Fill.Size, a.Fill.Fee, a.NewBalance, *a.Position.MarkPrice, *a.Position.StopLossPrice)
	case *handSandboxResult[float64]:
		return words(a.Fill.Price, a.Fill.Repriced, a.Account.Balance, *a.Position.MarkPrice, *a.Position.StopLossPrice)
	case *alpaca.Order:
		return words(a.Symbol, a.Qty, a.LimitPrice, a.Status, a.CreatedAt.Nanosecond())
	case *alpacaHandResult:
		return words(a.Symbol, *a.Quantity, *a.LimitPrice, a.Status, a.CreatedAt.Nanosecond())
	case *binance.CreateOrderResponse:
		return words(a.OrderID, a.Status, len(a.Fills), decimal.RequireFromString(a.Fills[2].Price), decimal.RequireFromString(a.Fills[2].Quantity))
	case *binanceHandResult:
		return words(a.OrderID, a.Status, len(a.Fills), a.Fills[2].Price, a.Fills[2].Qty)
	case *hcloud.SSHKey:
		return words(a.ID, a.Name, a.Labels["environment"], a.Created.Unix())
	case *hcloudHandResult:
		return words(a.SSHKey.ID, a.SSHKey.Name, a.SSHKey.Labels["environment"], a.SSHKey.Created.Unix())
	case *stripe.Customer:
		return words(a.ID, a.Email, a.InvoicePrefix, a.TaxExempt)
	case *stripeHandResult:
		return words(a.ID, a.Email, a.InvoicePrefix, a.TaxExempt)
	default:
		t.Fatalf("an answer of type %T", answer)
		return ""
	}
}

// words writes values side by side, and numbers in one way whatever holds them.
func words(values ...any) string {
	for i, value := range values {
		if number, ok := value.(float64); ok {
			values[i] = strconv.FormatFloat(number, 'f', -1, 64)
		}
	}
	return strings.TrimSuffix(fmt.Sprintln(values...), "\n")
}
