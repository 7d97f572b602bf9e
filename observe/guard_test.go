package observe

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

const guarded = "https://api.example.com/v1"

// newGuard returns a guard, and the bodies that it let pass.
func newGuard() (g *guard, passed *[]string) {
	passed = &[]string{}
	g = &guard{root: guarded, accounts: map[string]bool{"acc_1": true}, exact: map[string]bool{}, reads: map[string]bool{"/me": true}, legacy: "https://api.example.com/api/v1/health"}
	g.next = tripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		*passed = append(*passed, string(body))
		if r.GetBody != nil {
			return nil, assert.AnError // a transport could send it again by itself
		}
		return answer(r, 200, "{}"), err
	})
	return g, passed
}

func cancelOf(t *testing.T, method, url, key, body string) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", "pk_live_x")
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return r
}

// Every template passes as it is, and no other bytes do: each byte changed, left out, put in or cut off.
func TestTheGuardComparesBytes(t *testing.T) {
	g, passed := newGuard()
	key := newKey()
	for _, path := range []string{cancelOrder, cancelRun} {
		for _, template := range bodiesOf(path) {
			for _, account := range []string{"acc_1", nobody(key)} {
				for _, id := range []string{impossible(key), another(key)} {
					good := fill(template, account, id)
					_, err := g.RoundTrip(cancelOf(t, "POST", guarded+path, key, good))
					require.NoError(t, err)
					require.Equal(t, good, (*passed)[len(*passed)-1])
					n := len(*passed)
					refused := func(body string) {
						if body == good {
							return
						}
						_, err := g.RoundTrip(cancelOf(t, "POST", guarded+path, key, body))
						require.ErrorAs(t, err, new(*refusedError), body)
					}
					for i := range len(good) {
						refused(good[:i])
						refused(good[:i] + good[i+1:])
						refused(good[:i] + " " + good[i:])
						refused(good[:i] + string(good[i]^1) + good[i+1:])
						refused(good[:i] + strings.ToUpper(good[i:i+1]) + good[i+1:])
					}
					for _, more := range []string{"\n", " ", "{}", "\x00", good, strings.Repeat(" ", longestBody)} {
						refused(good + more)
					}
					require.Len(t, *passed, n)
				}
			}
		}
	}
}

// What else could get past it.
func TestTheGuard(t *testing.T) {
	g, passed := newGuard()
	key := newKey()
	good := fill(orderBodies[plainBody], "acc_1", impossible(key))
	for name, r := range map[string]*http.Request{
		"nothing":               cancelOf(t, "POST", guarded+cancelOrder, key, ""),
		"an empty object":       cancelOf(t, "POST", guarded+cancelOrder, key, "{}"),
		"null":                  cancelOf(t, "POST", guarded+cancelOrder, key, "null"),
		"no key":                cancelOf(t, "POST", guarded+cancelOrder, "", good),
		"another key":           cancelOf(t, "POST", guarded+cancelOrder, newKey(), good),
		"a key of many letters": cancelOf(t, "POST", guarded+cancelOrder, strings.Repeat("k", 65), fill(orderBodies[plainBody], "acc_1", impossible(strings.Repeat("k", 65)))),
		"a key with a quote":    cancelOf(t, "POST", guarded+cancelOrder, `k"`, fill(orderBodies[plainBody], "acc_1", impossible(`k"`))),
		"another account":       cancelOf(t, "POST", guarded+cancelOrder, key, fill(orderBodies[plainBody], "acc_2", impossible(key))),
		"no account":            cancelOf(t, "POST", guarded+cancelOrder, key, fill(orderBodies[plainBody], "", impossible(key))),
		"a real order":          cancelOf(t, "POST", guarded+cancelOrder, key, fill(orderBodies[plainBody], "acc_1", "ord_1")),
		"an empty id":           cancelOf(t, "POST", guarded+cancelOrder, key, fill(orderBodies[plainBody], "acc_1", "")),
		"the other route":       cancelOf(t, "POST", guarded+cancelRun, key, good),
		"a close":               cancelOf(t, "POST", guarded+"/positions/close", key, good),
		"an order":              cancelOf(t, "POST", guarded+"/orders", key, good),
		"a Pro order":           cancelOf(t, "POST", guarded+"/orders/twap", key, good),
		"a slash more":          cancelOf(t, "POST", guarded+cancelOrder+"/", key, good),
		"two slashes":           cancelOf(t, "POST", guarded+"//orders/cancel", key, good),
		"dots":                  cancelOf(t, "POST", guarded+"/orders/x/../cancel", key, good),
		"an escape":             cancelOf(t, "POST", guarded+"/orders/c%61ncel", key, good),
		"a query":               cancelOf(t, "POST", guarded+cancelOrder+"?all=true", key, good),
		"a fragment":            cancelOf(t, "POST", guarded+cancelOrder+"#x", key, good),
		"another root":          cancelOf(t, "POST", "https://api.example.com/v2"+cancelOrder, key, good),
		"another host":          cancelOf(t, "POST", "https://api.example.com.evil/v1"+cancelOrder, key, good),
		"a user":                cancelOf(t, "POST", "https://user@api.example.com/v1"+cancelOrder, key, good),
		"http":                  cancelOf(t, "POST", "http://api.example.com/v1"+cancelOrder, key, good),
		"PUT":                   cancelOf(t, "PUT", guarded+cancelOrder, key, good),
		"DELETE":                cancelOf(t, "DELETE", guarded+cancelOrder, key, good),
		"post":                  cancelOf(t, "post", guarded+cancelOrder, key, good),
		"GET with a body":       cancelOf(t, "GET", guarded+"/me", key, good),
		"a read of the paper":   cancelOf(t, "GET", guarded+"/sandbox/account", "", ""),
		"a read beside":         cancelOf(t, "GET", guarded+"/me?x=1", "", ""),
	} {
		_, err := g.RoundTrip(r)
		require.ErrorAs(t, err, new(*refusedError), name)
	}
	for name, change := range map[string]func(*http.Request){
		"another host in the header": func(r *http.Request) { r.Host = "evil.example.com" },
		"a method in a header":       func(r *http.Request) { r.Header.Set("X-HTTP-Method-Override", "DELETE") },
		"two API keys":               func(r *http.Request) { r.Header.Add("X-Api-Key", "pk_live_y") },
		"three keys":                 func(r *http.Request) { r.Header["Idempotency-Key"] = []string{key, key, key} },
		"chunks":                     func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
		"a trailer":                  func(r *http.Request) { r.Trailer = http.Header{"X": nil} },
		"a header in small letters":  func(r *http.Request) { r.Header["idempotency-key"] = []string{key} },
	} {
		r := cancelOf(t, "POST", guarded+cancelOrder, key, good)
		change(r)
		_, err := g.RoundTrip(r)
		require.ErrorAs(t, err, new(*refusedError), name)
	}
	assert.Empty(t, *passed)
	read := cancelOf(t, "GET", guarded+"/me", "", "")
	_, err := g.RoundTrip(read)
	require.NoError(t, err)
}

// A body that changes while it is read cannot differ from what was compared.
func TestTheGuardSendsWhatItCompared(t *testing.T) {
	g, passed := newGuard()
	key := newKey()
	good := fill(orderBodies[plainBody], "acc_1", impossible(key))
	r := cancelOf(t, "POST", guarded+cancelOrder, key, good)
	bad := `{"accountId":"acc_1"}`
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(bad)), nil }
	_, err := g.RoundTrip(r)
	require.NoError(t, err)
	assert.Equal(t, []string{good}, *passed)
}

// The first template is the client's own fence, to the byte.
func TestTheTemplateIsTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		defer sim.Close()
		client := tradingtest.Client(t, sim)
		sim.Fault("POST /orders", tradingsim.Crash(), tradingsim.DropRequest(), tradingsim.DropRequest(), tradingsim.DropRequest())
		_, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}, trading.WithSendTTL(0))
		require.Error(t, err)
		time.Sleep(time.Minute)
		var fences int
		for _, r := range sim.Requests() {
			switch r.Operation {
			case "POST /orders/cancel":
				fences++
				assert.Equal(t, fill(orderBodies[plainBody], "acc_1", impossible(r.Header.Get("Idempotency-Key"))), string(bytes.TrimSpace(r.Body)))
			case "POST /runs/cancel":
				assert.Equal(t, fill(runBodies[plainBody], "acc_1", impossible(r.Header.Get("Idempotency-Key"))), string(bytes.TrimSpace(r.Body)))
			}
		}
		assert.NotZero(t, fences)
	})
}
