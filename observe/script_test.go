package observe

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// asker sends what a bot and its client would, and keeps what came back.
type asker struct {
	t    *testing.T
	sim  *tradingsim.Sim
	rt   http.RoundTripper
	seen *Evidence
	keys *rand.Rand
}

func newAsker(t *testing.T, opts ...tradingsim.Option) *asker {
	sim := tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"), tradingsim.WithMark("DARK", "")}, opts...)...)
	t.Cleanup(func() { _ = sim.Close() })
	return &asker{t: t, sim: sim, rt: sim.Transport(), seen: &Evidence{}, keys: rand.New(rand.NewPCG(1, 2))}
}

func (a *asker) key() string { return fmt.Sprintf("key-%016x", a.keys.Uint64()) }

// send sends a request, a tenth of a second after the one before.
func (a *asker) send(method, path, key, body string) *Exchange {
	a.t.Helper()
	time.Sleep(100 * time.Millisecond)
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.sim.URL()+path, strings.NewReader(body))
	require.NoError(a.t, err)
	r.Header.Set("X-API-Key", a.sim.LiveKey())
	if strings.HasPrefix(path, "/sandbox") {
		r.Header.Set("X-API-Key", a.sim.SandboxKey())
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	bare, _, _ := strings.Cut(path, "?")
	x := Exchange{Operation: method + " " + template(bare), Account: "acc_1", Key: key, Sent: time.Now()}
	if method == "POST" {
		x.Request = []byte(body)
	}
	resp, err := a.rt.RoundTrip(r)
	if err == nil {
		x.Response, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	if err == nil {
		x.Status, x.Header, x.Replayed = resp.StatusCode, resp.Header, resp.Header.Get("Idempotent-Replayed") == "true"
		x.Response = bytes.TrimSpace(x.Response)
	} else {
		x.Response = nil
	}
	x.Received = time.Now()
	x.fill()
	a.seen.Exchanges = append(a.seen.Exchanges, x)
	return &x
}

func (a *asker) get(path string) *Exchange { return a.send("GET", path, "", "") }
func (a *asker) post(path, key, body string) *Exchange {
	return a.send("POST", path, key, body)
}

const order = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.05,"leverage":2}`

// run sends all that decides something.
func (a *asker) run() *Evidence {
	for _, path := range []string{"/health", "/me", "/accounts", "/accounts/acc_1", "/positions?accountId=acc_1", "/trades?accountId=acc_1", "/accounts/acc_1/orders",
		"/accounts/acc_1/funding", "/sandbox/account", "/sandbox/positions", "/sandbox/trades", "/sandbox/markets", "/sandbox/prices"} {
		a.get(path)
	}
	nothing := `{"accountId":"acc_1","orderId":"nothing"}`
	k := a.key()
	a.post("/orders/cancel", k, nothing)
	a.post("/orders/cancel", k, nothing)
	a.post("/orders/cancel", k, `{"accountId":"acc_1","orderId":"nothing else"}`)
	k = a.key()
	a.post("/runs/cancel", k, `{"accountId":"acc_1","runId":"nothing"}`)
	a.post("/orders/cancel", k, nothing)
	k = a.key()
	a.post("/orders/cancel", k, nothing)
	a.post("/orders/cancel", k, `{"orderId":"nothing"}`)
	k = a.key()
	a.post("/orders/cancel", k, nothing)
	a.post("/orders/cancel", k, `{"orderId": "nothing", "accountId": "acc_1"}`)
	k = a.key()
	a.post("/orders/cancel", k, `{"orderId":"nothing"}`)
	a.post("/orders/cancel", k, `{"orderId":"nothing"}`)
	a.trade()
	a.refusals()
	return a.seen
}

// trade opens and closes a position.
func (a *asker) trade() {
	k := a.key()
	a.post("/orders", k, order)
	a.post("/orders", k, order)
	for range 3 {
		a.get("/positions?accountId=acc_1")
	}
	k = a.key()
	a.post("/orders/limit", k, strings.Replace(order, `}`, `,"limitPrice":60000}`, 1))
	resting := a.sim.State().Accounts
	for _, account := range resting {
		for _, o := range account.Orders {
			a.post("/orders/cancel", a.key(), `{"accountId":"acc_1","orderId":"`+o.ID+`"}`)
		}
	}
	a.post("/positions/close", a.key(), `{"accountId":"acc_1","symbol":"BTC","closePercent":50.5}`)
	a.get("/trades?accountId=acc_1")
	a.post("/positions/close", a.key(), `{"accountId":"acc_1","symbol":"BTC","closePercent":0.5}`)
	a.post("/positions/close", a.key(), `{"accountId":"acc_1","symbol":"BTC","closePercent":101}`)
	a.post("/positions/close", a.key(), `{"accountId":"acc_1","symbol":"BTC"}`)
	a.get("/trades?accountId=acc_1")
	a.post("/sandbox/orders", "", `{"symbol":"BTC","side":"long","size":0.05}`)
	a.get("/sandbox/positions")
	a.post("/sandbox/positions/close", "", `{"symbol":"BTC","pct":12.5}`)
	a.post("/sandbox/positions/close", "", `{"symbol":"BTC"}`)
}

func (a *asker) refusals() {
	a.post("/positions/close", a.key(), `{"accountId":"acc_1","symbol":"ETH"}`)
	a.post("/positions/tpsl", a.key(), `{"accountId":"acc_1","symbol":"ETH","stopLossPrice":3000,"takeProfitPrice":null}`)
	a.post("/orders", a.key(), strings.Replace(order, `}`, `,"reduceOnly":true}`, 1))
	a.post("/orders", a.key(), strings.Replace(order, `BTC`, `NOPE`, 1))
	a.post("/orders", a.key(), strings.Replace(order, `BTC`, `DARK`, 1))
	a.post("/orders/limit", a.key(), order)
	a.post("/orders/twap", a.key(), strings.Replace(order, `}`, `,"durationMs":1}`, 1))
}
