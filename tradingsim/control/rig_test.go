package control

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

const (
	testToken = "a token of the tests"
	testHost  = "127.0.0.1:8081"
)

var began = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// rig is the control of a simulation, without a network.
type rig struct {
	t   testing.TB
	sim *tradingsim.Sim
	*server
	http http.Handler
}

// newRig makes one with a manual clock, unless options say otherwise.
func newRig(t testing.TB, opts ...tradingsim.Option) rig {
	sim := tradingsim.New(append([]tradingsim.Option{
		tradingsim.WithManualClock(began), tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("NEW", ""),
	}, opts...)...)
	s := newServer(sim, testToken, []string{testHost, "localhost:8081"}, "8081")
	stop := sim.Watch(s.feed.watch)
	t.Cleanup(stop)
	return rig{t, sim, s, s.handler()}
}

// send sends a request as a program does; headers are name, value, name, value …
func (r rig) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	req := httptest.NewRequestWithContext(r.t.Context(), method, root+path, strings.NewReader(body))
	req.Host = testHost
	req.Header.Set("Authorization", "Bearer "+testToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Del(headers[i])
		if headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	r.http.ServeHTTP(w, req)
	return w
}

// done is a change that must succeed.
func (r rig) done(method, path, body string) {
	r.t.Helper()
	w := r.send(method, path, body)
	require.Equal(r.t, http.StatusNoContent, w.Code, w.Body.String())
}

// order sends an order of a bot to the simulated API.
func (r rig) order(body string) error { return r.orderWithin(r.t.Context(), body) }

func (r rig) orderWithin(ctx context.Context, body string) error {
	req, err := http.NewRequestWithContext(ctx, "POST", r.sim.URL()+"/orders", strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("X-API-Key", r.sim.LiveKey())
	req.Header.Set("Idempotency-Key", "decision-1")
	res, err := r.sim.Transport().RoundTrip(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

const buyBTC = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.05,"leverage":2}`

func into[T any](t testing.TB, text []byte) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &v), string(text))
	return v
}

// text is a value as JSON.
func text(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// messageOf is the message of a problem, as a person reads it.
func messageOf(body []byte) string {
	var p struct{ Message string }
	_ = json.Unmarshal(body, &p)
	return p.Message
}
