package rig

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// What a scripted client is given.
const (
	SandboxKey = "pk_test_s3cretSandboxPart"
	LiveKey    = "pk_live_s3cretLivePart"
	BaseURL    = "https://api.example.test/v1"
)

// Script is a service that answers its requests in turn; one more than it has
// steps fails the test. Health is answered apart, so that the gate of a write
// needs no steps of its own.
type Script struct {
	t      testing.TB
	Health Step // answers each look at the health

	mu       sync.Mutex
	Steps    []Step // that are still to come
	requests []Scripted
}

// Step answers one request, or breaks its connection.
type Step func(req *http.Request) (*http.Response, error)

// Scripted is a request as it arrived.
type Scripted struct {
	Operation string
	Header    http.Header
	Body      string
	At        time.Time
}

// NewScript returns a service that is healthy and answers by steps.
func NewScript(t testing.TB, steps ...Step) *Script {
	return &Script{t: t, Health: Answered(200, HealthyBody), Steps: steps}
}

// RoundTrip answers by the next step.
func (s *Script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if health := s.Health; req.URL.Path == "/v1/health" && health != nil {
		s.mu.Unlock()
		return health(req)
	}
	if len(s.Steps) == 0 {
		s.mu.Unlock()
		s.t.Errorf("an unexpected request: %s %s", req.Method, req.URL.Path)
		return nil, errors.New("the script has ended")
	}
	next := s.Steps[0]
	s.Steps = s.Steps[1:]
	s.mu.Unlock()

	var body bytes.Buffer
	seen := req.WithContext(req.Context())
	seen.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(req.Body, &body), req.Body}
	at := time.Now()
	resp, err := next(seen)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Scripted{
		Operation: req.Method + " " + req.URL.RequestURI()[len("/v1"):],
		Header:    req.Header.Clone(),
		Body:      body.String(),
		At:        at,
	})
	return resp, err
}

// Received returns the requests so far.
func (s *Script) Received() []Scripted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Scripted(nil), s.requests...)
}

// Done requires that every step was used.
func (s *Script) Done() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Empty(s.t, s.Steps, "requests that never came")
}

// Answered reads the request and answers it.
func Answered(status int, body string, header ...string) Step {
	return func(req *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{
			StatusCode:    status,
			Header:        h,
			Body:          io.NopCloser(bytes.NewReader([]byte(body))),
			ContentLength: int64(len(body)),
			Request:       req,
		}, nil
	}
}

// CutAfterWrite reads the request and breaks the connection.
func CutAfterWrite() Step {
	return func(req *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		return nil, io.ErrUnexpectedEOF
	}
}

// Unreachable never gets a connection.
func Unreachable() Step {
	return func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
}

// Hanging reads the request and answers nothing until the attempt is over.
func Hanging(arrived chan<- struct{}) Step {
	return func(req *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		if arrived != nil {
			close(arrived)
		}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
}

// Answers as the service gives them.
const (
	HealthyBody = `{"ok":true,"status":"healthy","feed":"live","service":"trading","version":"v1","asOf":1795000000000,"cacheSeconds":5}`
	AccountBody = `{"id":"sb_1","environment":"sandbox","balance":100000,"equity":100001.5,"unrealizedPnL":1.5,` +
		`"profitTarget":110000,"dailyLossFloor":95000,"globalLossFloor":90000,"profitSplit":0.8,"status":"active","isLocked":false}`
	PositionBody = `{"symbol":"BTC","side":"long","size":0.01,"leverage":2,"entryPrice":64000,"markPrice":64150,"notionalValue":641.5,` +
		`"marginRequired":320.75,"unrealizedPnL":1.5,"takeProfitPrice":null,"stopLossPrice":63000,"openedAt":"2026-11-20T10:00:00.000Z"}`
	OrderBody = `{"ok":true,"fill":{"price":64000,"repriced":false,"ageMs":120},"position":` + PositionBody + `,"account":` + AccountBody + `}`
)

// RefusalBody is the service's answer of a code.
func RefusalBody(code trading.Code) string {
	return `{"error":"` + string(code) + `","message":"no"}`
}

// ScriptedClient returns a client of a scripted service. A write in doubt stays in
// doubt: the script has no steps for what the client would find out.
func ScriptedClient(t testing.TB, rt http.RoundTripper, opts ...trading.Option) *trading.Client {
	t.Helper()
	all := append([]trading.Option{
		trading.WithSandboxKey(SandboxKey),
		trading.WithLiveKey(LiveKey),
		trading.WithTransport(rt),
		trading.WithResolveTimeout(0),
		trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
	}, opts...)
	client, err := trading.New(BaseURL, all...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err, pending := client.Close(), (*trading.PendingError)(nil); !errors.As(err, &pending) {
			require.NoError(t, err)
		}
	})
	return client
}

// HeaderNames are the names in a header, in no order.
func HeaderNames(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	return names
}

// KeyOf are the idempotency keys in a header, under the very name that the client gives them.
func KeyOf(h http.Header) []string {
	for name, keys := range h {
		if name == "idempotency-key" {
			return keys
		}
	}
	return nil
}
