package trading

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
)

const (
	testSandboxKey = "pk_test_s3cretSandboxPart"
	testLiveKey    = "pk_live_s3cretLivePart"
	testBaseURL    = "https://api.example.test/v1"
)

// script is a service that answers its requests in turn; one more than it has
// steps fails the test. Health is answered apart, so that the gate of a write
// needs no steps of its own.
type script struct {
	t      testing.TB
	health step

	mu       sync.Mutex
	steps    []step
	requests []scripted
}

// step answers one request, or breaks its connection.
type step func(req *http.Request) (*http.Response, error)

// scripted is a request as it arrived.
type scripted struct {
	operation string
	header    http.Header
	body      string
	at        time.Time
}

func newScript(t testing.TB, steps ...step) *script {
	return &script{t: t, health: answered(200, healthyBody), steps: steps}
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if health := s.health; req.URL.Path == "/v1/health" && health != nil {
		s.mu.Unlock()
		return health(req)
	}
	if len(s.steps) == 0 {
		s.mu.Unlock()
		s.t.Errorf("an unexpected request: %s %s", req.Method, req.URL.Path)
		return nil, errors.New("the script has ended")
	}
	next := s.steps[0]
	s.steps = s.steps[1:]
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
	s.requests = append(s.requests, scripted{
		operation: req.Method + " " + req.URL.RequestURI()[len("/v1"):],
		header:    req.Header.Clone(),
		body:      body.String(),
		at:        at,
	})
	return resp, err
}

// received returns the requests so far.
func (s *script) received() []scripted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]scripted(nil), s.requests...)
}

// done requires that every step was used.
func (s *script) done() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Empty(s.t, s.steps, "requests that never came")
}

// answered reads the request and answers it.
func answered(status int, body string, header ...string) step {
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

// cutAfterWrite reads the request and breaks the connection.
func cutAfterWrite() step {
	return func(req *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		return nil, io.ErrUnexpectedEOF
	}
}

// unreachable never gets a connection.
func unreachable() step {
	return func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
}

// hanging reads the request and answers nothing until the attempt is over.
func hanging(arrived chan<- struct{}) step {
	return func(req *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		if arrived != nil {
			close(arrived)
		}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
}

const (
	healthyBody = `{"ok":true,"status":"healthy","feed":"live","service":"trading","version":"v1","asOf":1795000000000,"cacheSeconds":5}`
	accountBody = `{"id":"sb_1","environment":"sandbox","balance":100000,"equity":100001.5,"unrealizedPnL":1.5,` +
		`"profitTarget":110000,"dailyLossFloor":95000,"globalLossFloor":90000,"profitSplit":0.8,"status":"active","isLocked":false}`
	positionBody = `{"symbol":"BTC","side":"long","size":0.01,"leverage":2,"entryPrice":64000,"markPrice":64150,"notionalValue":641.5,` +
		`"marginRequired":320.75,"unrealizedPnL":1.5,"takeProfitPrice":null,"stopLossPrice":63000,"openedAt":"2026-11-20T10:00:00.000Z"}`
	orderBody = `{"ok":true,"fill":{"price":64000,"repriced":false,"ageMs":120},"position":` + positionBody + `,"account":` + accountBody + `}`
)

func refusalBody(code Code) string {
	return `{"error":"` + string(code) + `","message":"no"}`
}

// newTestClient returns a client of a scripted service. A write in doubt stays in
// doubt: the script has no steps for what the client would find out.
func newTestClient(t testing.TB, rt http.RoundTripper, opts ...Option) *Client {
	t.Helper()
	all := append([]Option{
		WithSandboxKey(testSandboxKey),
		WithLiveKey(testLiveKey),
		WithTransport(rt),
		WithResolveTimeout(0),
		WithoutBackground(),
	}, opts...)
	client, err := New(testBaseURL, all...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err, pending := client.Close(), (*PendingError)(nil); !errors.As(err, &pending) {
			require.NoError(t, err)
		}
	})
	return client
}

func testOrder() Order {
	return Order{Symbol: "BTC", Side: Long, Size: Dec("0.01"), Leverage: Dec("2")}
}

func headerNames(h http.Header) []string {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	return names
}
