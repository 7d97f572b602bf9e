package docs

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The bounds of a Retry-After. The service's own windows are a minute.
const (
	leastRetryAfter   = time.Second
	defaultRetryAfter = time.Minute
	mostRetryAfter    = time.Hour
)

// Clock is where a [Client] takes the time from, and what it waits by.
type Clock interface {
	Now() time.Time
	// Wait returns after a time, or with the context's error before.
	Wait(ctx context.Context, d time.Duration) error
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// retryAfter is the time that a refusal asks for: seconds, or a date by the server's
// own clock. What is missing, absurd or unreadable is a minute; what is longer than an
// hour is an hour.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return mostRetryAfter // digits alone, too many
		}
		return min(max(time.Duration(seconds)*time.Second, leastRetryAfter), mostRetryAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return defaultRetryAfter
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent
	}
	return min(max(at.Sub(now), leastRetryAfter), mostRetryAfter)
}

// limit is the rate limit of the server, as its refusals show it.
type limit struct {
	clock Clock
	most  time.Duration // that a call waits

	mu    sync.Mutex
	until time.Time // nothing is sent before
}

// refused notes a refusal and returns it as an error.
func (l *limit) refused(header http.Header) *RateLimitError {
	now := l.clock.Now()
	wait := retryAfter(header, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = now.Add(wait)
	return &RateLimitError{RetryAfter: wait}
}

// wait returns when the server may be asked. It returns a [RateLimitError] at once
// where that is later than the client or the context allows.
func (l *limit) wait(ctx context.Context) error {
	l.mu.Lock()
	left := l.until.Sub(l.clock.Now())
	l.mu.Unlock()
	if left <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); left > l.most || ok && time.Until(deadline) <= left {
		return &RateLimitError{RetryAfter: left}
	}
	return l.clock.Wait(ctx, left)
}
