package trading

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// newRetryClient returns the one loop that sends again. What it would do by
// itself is taken away: its log, its limits, its idea of what may be sent again.
// It asks the call, which travels as the request's context.
func newRetryClient(rt http.RoundTripper) *retryablehttp.Client {
	_, traced := rt.(*http.Transport)
	return &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: attempts{rt, traced},
			// A redirect is an answer, and one that must not be followed: key and
			// order would go along.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryMax: math.MaxInt32, // the call counts
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			return callOf(ctx).judge(), nil
		},
		// The wait is PrepareRetry's, where it can also end with Close.
		Backoff:      func(time.Duration, time.Duration, int, *http.Response) time.Duration { return 0 },
		PrepareRetry: func(req *http.Request) error { return callOf(req.Context()).again() },
		ErrorHandler: func(_ *http.Response, err error, _ int) (*http.Response, error) { return nil, err },
	}
}

// newConnectionPool returns net/http's transport with room for a burst: its own
// two idle connections a host make every third call of a busy bot dial.
func newConnectionPool() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer(),
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    128,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		// An order and its answer fit either, with their headers, and a connection has
		// one of each; a long list goes past them. net/http's own are twice as large.
		WriteBufferSize: 2 << 10,
		ReadBufferSize:  2 << 10,
	}
}

// attempts is the bottom of go-retryablehttp: each RoundTrip is one attempt of a
// call, which reads the whole answer and keeps it. What it returns upwards is
// only the signal that the attempt is over, never an error: an error would make
// the library close other callers' idle connections.
//
// It has no CloseIdleConnections for the same reason.
type attempts struct {
	rt     http.RoundTripper
	traced bool // it tells when a request has a connection
}

func (a attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	c := callOf(req.Context())
	c.attempt(a, req)
	return attemptOver, nil
}

// attemptOver is never written to, so all attempts can share it.
var attemptOver = &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}

// attempt is how one send ended.
type attempt struct {
	sent, received time.Time
	status         int         // 0 without an answer
	header         http.Header // of the answer
	body           []byte      // of the answer, whole
	err            error       // why there is no answer
	tooLarge       bool        // the answer is larger than any right one
	written        bool        // any of the request may have left
	stored         bool        // the answer is the journal's
	key            Key
	ctx            context.Context // of the request, for the hooks
}

// replayed reports whether the answer is the stored one of an earlier request.
func (a *attempt) replayed() bool {
	return a.stored || strings.EqualFold(first(a.header, "Idempotent-Replayed"), "true")
}

var errAttemptTimeout = fmt.Errorf("the attempt timed out: %w", context.DeadlineExceeded)

// attempt sends the call once. It ends with the whole answer, a broken
// connection, or its time-out.
func (c *call) attempt(a attempts, req *http.Request) {
	c.last = attempt{sent: time.Now(), key: c.key}
	// A write in flight outlives its caller; what ends it is its time-out, or
	// the grace after the caller has left.
	parent := c.Context
	if c.endpoint.write {
		parent = withoutCancel(parent)
	}
	own := newAttemptContext(parent, c.last.sent, c.opts.attemptTimeout)
	defer own.cancel()
	if !c.flight.takeOff(own) {
		c.last.err = context.Canceled
		return
	}
	defer c.flight.land()

	c.sends++
	c.keySends++
	if c.endpoint.write {
		c.core.accounts.moved(c.account, c.last.sent)
		defer func() { c.core.accounts.moved(c.account, c.last.received) }()
	}
	c.last.ctx = c.hookSend(own)
	for c.exchange(own, a, req) { // as often as there are kept connections
	}
	c.believeHeaders()
	c.leavePlace(c.last.err == nil || c.last.written)
}

// exchange sends the request over one connection and reads the whole answer. It asks
// for another connection if nothing could be written to this one.
func (c *call) exchange(own *attemptContext, a attempts, like *http.Request) (another bool) {
	body := c.newSentBody(a.traced)
	sent := body.load(c.last.ctx, own, like)
	sent.Header, sent.Host = c.header(), c.url.Host
	resp, err := a.rt.RoundTrip(sent)
	if err == nil {
		c.last.status, c.last.header = resp.StatusCode, c.core.scrubber.Header(resp.Header)
		c.last.body, c.last.tooLarge, err = readAnswer(resp, c.endpoint.limit(resp.StatusCode))
		c.last.body = c.core.scrubber.Bytes(c.last.body)
	}
	c.last.received = time.Now()
	if err != nil {
		c.last.status = 0
		c.last.err = c.core.scrubber.Error(causeOf(sent.Context(), own, err))
		c.last.written = body.mayHaveLeft(err)
		return body.wantsAnother()
	}
	c.last.err = nil // of a connection before
	return false
}

// readAnswer reads the whole body, or reports that it is too large to be right.
// The buffer is the caller's to keep.
func readAnswer(resp *http.Response, limit int) (body []byte, tooLarge bool, err error) {
	defer resp.Body.Close()
	if resp.ContentLength > int64(limit) {
		return nil, true, nil
	}
	if resp.ContentLength >= 0 {
		body = make([]byte, resp.ContentLength)
		n, err := io.ReadFull(resp.Body, body)
		return body[:n], false, err
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if len(body) > limit {
		return body[:limit], true, nil
	}
	return body, false, err
}

// causeOf names why an attempt ended instead of net/http's idea of it: what ended its
// own context, or the one that a hook or the body made of that.
func causeOf(ctx context.Context, own *attemptContext, err error) error {
	if cause := own.why(); cause != nil {
		return cause
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return cause
	}
	return err
}

// header returns the header of one attempt. Its values are shared and never
// written to: their capacity is their length, so that an append copies.
func (c *call) header() http.Header {
	h := make(http.Header, 5)
	h["Accept"] = contentJSON
	h["User-Agent"] = c.core.userAgent
	if c.body != nil {
		h["Content-Type"] = contentJSON
	}
	if !c.endpoint.keyless {
		h["X-Api-Key"] = c.apiKey.Reveal()
	}
	if c.key != "" {
		// Not in canonical form: net/http sends a POST with the canonical one
		// again by itself when a kept connection dies, and only the retry stage
		// may do that. On the wire the case does not matter.
		h["idempotency-key"] = []string{string(c.key)}
	}
	return h
}

var contentJSON = []string{"application/json"}
