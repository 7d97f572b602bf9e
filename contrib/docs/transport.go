package docs

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// farewellTimeout bounds the request that ends a session.
const farewellTimeout = time.Second

// transport stands between the protocol's library and the network: it lets through the
// requests of the present call alone, bounds what is read, follows nothing, and keeps
// the rate limit.
type transport struct {
	base  http.RoundTripper
	limit *limit
	// closing lets through the request that ends a session, and no other.
	closing atomic.Bool
}

// newNetwork is the transport below, unless the caller has one.
func newNetwork() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: defaultTimeout}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    defaultTimeout,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.closing.Load() && r.Method == http.MethodDelete {
		return t.farewell(r)
	}
	x, err := t.admit(r)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	res, err := t.base.RoundTrip(bare(r.Context(), r))
	if err != nil {
		x.unanswered(err)
		return nil, err
	}
	x.answered(res)
	res.Body = &body{ReadCloser: res.Body, exchange: x}
	if err := t.judge(res); err != nil {
		_ = res.Body.Close()
		return nil, x.fail(err)
	}
	return res, nil
}

func (t *transport) admit(r *http.Request) (*exchange, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errOver
	}
	if r.Method != http.MethodPost {
		return nil, errors.New("only calls are sent, no " + r.Method)
	}
	if err := x.admit(); err != nil {
		return nil, err
	}
	return x, nil
}

// judge refuses what ends a call whatever the library would do with it.
func (t *transport) judge(res *http.Response) error {
	limited := res.StatusCode == http.StatusTooManyRequests ||
		res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != ""
	switch {
	case limited:
		return t.limit.refused(res.Header)
	case res.StatusCode >= 300 && res.StatusCode < 400:
		location, _ := clean(res.Header.Get("Location"), maxLine)
		return &StatusError{Status: res.StatusCode, Location: location}
	}
	return nil
}

// farewell ends a session: the answer does not matter.
func (t *transport) farewell(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), farewellTimeout)
	defer cancel()
	res, err := t.base.RoundTrip(bare(ctx, r))
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	res.Body = http.NoBody
	return res, nil
}

// bare is a request with the headers that the protocol needs, and no others: no
// credentials, whoever put them there.
func bare(ctx context.Context, r *http.Request) *http.Request {
	clone := r.Clone(ctx)
	clone.Header = http.Header{"User-Agent": {"trading-go-docs"}}
	for name, values := range r.Header {
		if name == "Accept" || name == "Content-Type" || strings.HasPrefix(name, "Mcp-") {
			clone.Header[name] = values
		}
	}
	return clone
}
