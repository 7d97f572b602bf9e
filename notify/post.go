package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// poster sends one message once.
type poster struct {
	url    string
	header http.Header
	format Format
	client *http.Client
}

// newClient follows no redirect: the secret of the URL is for one host.
func newClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: transport, Timeout: attemptTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post sends a message. again says whether another attempt can help, and wait how long the
// receiver asks for.
func (p poster) post(ctx context.Context, m Message) (wait time.Duration, again bool, err error) {
	body, err := p.format(m)
	if err != nil {
		return 0, false, fmt.Errorf("notify: the format failed: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return 0, false, errors.New("notify: the request cannot be made")
	}
	for name, values := range p.header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := p.client.Do(r)
	if err != nil {
		return 0, true, p.withoutURL(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswer)) // so that the connection can be used again
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return 0, false, nil
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		return retryAfter(answer.Header), true, fmt.Errorf("notify: the receiver answered %d", code)
	default:
		return 0, false, fmt.Errorf("notify: the receiver answered %d", code)
	}
}

// retryAfter is what a receiver asks for, within bounds. Discord adds fractions.
func retryAfter(h http.Header) time.Duration {
	text, _, _ := strings.Cut(h.Get("Retry-After"), ".")
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, int(longestWait/time.Second)))*time.Second+time.Second, longestWait)
}

// withoutURL is an error of net/http without the URL, which it puts in front.
func (p poster) withoutURL(err error) error {
	inner := (*url.Error)(nil)
	if errors.As(err, &inner) {
		err = inner.Err
	}
	text := err.Error()
	if u, parsed := url.Parse(p.url); parsed == nil && len(u.RequestURI()) > 1 {
		text = strings.ReplaceAll(text, u.RequestURI(), "…")
	}
	return errors.New("notify: " + strings.ReplaceAll(text, p.url, "…"))
}
