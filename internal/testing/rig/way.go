package rig

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing/iotest"
	"time"
)

// Way is something between a client and its service.
type Way func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (w Way) RoundTrip(req *http.Request) (*http.Response, error) { return w(req) }

// Changed changes each answer on its way back.
func Changed(next http.RoundTripper, change func(*http.Request, http.Header)) Way {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil {
			change(req, resp.Header)
		}
		return resp, err
	}
}

// ByEdge marks an answer as an edge does.
func ByEdge(h http.Header) {
	h.Set("Via", "1.1 edge")
	h.Set("Cf-Ray", "8f1a2b3c4d5e6f70-FRA")
}

// ShiftDate sets an answer's Date so far ahead.
func ShiftDate(h http.Header, by time.Duration) {
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		h.Set("Date", at.Add(by).Format(http.TimeFormat))
	}
}

// KeyIn is the idempotency key of a request; empty for none.
func KeyIn(req *http.Request) string {
	for name, key := range req.Header { // the client does not send it in canonical form
		if strings.EqualFold(name, "Idempotency-Key") && len(key) > 0 {
			return key[0]
		}
	}
	return ""
}

// Peek reads an answer's body and leaves it as it was.
func Peek(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil { // cut short
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), iotest.ErrReader(err)))
	}
	return body, err
}

// Pause waits; false if the context ends before.
func Pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Cache is something in front that keeps the answers to reads, and says how old they are.
type Cache struct {
	Lasts  time.Duration
	Serves func(*http.Request) bool // whether it answers a read of which it has a fresh answer; nil: each

	mu   sync.Mutex
	kept map[string]kept
}

type kept struct {
	at     time.Time
	header http.Header
	body   []byte
}

// NoCache reports whether a request wants the service asked.
func NoCache(req *http.Request) bool {
	return strings.Contains(req.Header.Get("Cache-Control"), "no-cache")
}

// Answer is what a request is answered with; nil if the service is asked.
func (c *Cache) Answer(req *http.Request) *http.Response {
	c.mu.Lock()
	k, found := c.kept[req.URL.String()]
	c.mu.Unlock()
	age := time.Since(k.at)
	if req.Method != http.MethodGet || !found || age >= c.Lasts || c.Serves != nil && !c.Serves(req) {
		return nil
	}
	header := maps.Clone(k.header)
	header.Set("Age", strconv.Itoa(int(age/time.Second)))
	return &http.Response{
		Status: http.StatusText(http.StatusOK), StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(k.body)), ContentLength: int64(len(k.body)), Request: req,
	}
}

// Keep keeps the answer to a read.
func (c *Cache) Keep(req *http.Request, resp *http.Response) {
	if req.Method != http.MethodGet || resp.StatusCode != http.StatusOK {
		return
	}
	if body, err := Peek(resp); err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.kept == nil {
			c.kept = map[string]kept{}
		}
		c.kept[req.URL.String()] = kept{time.Now(), resp.Header.Clone(), body}
	}
}

// Before is the cache in front of a service.
func (c *Cache) Before(next http.RoundTripper) Way {
	return func(req *http.Request) (*http.Response, error) {
		if resp := c.Answer(req); resp != nil {
			return resp, nil
		}
		resp, err := next.RoundTrip(req)
		if err == nil {
			c.Keep(req, resp)
		}
		return resp, err
	}
}
