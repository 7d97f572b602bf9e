package docs

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                              time.Minute,
		"0":                             time.Second,
		"7":                             7 * time.Second,
		" 7 ":                           7 * time.Second,
		"3600":                          time.Hour,
		"3601":                          time.Hour,
		"99999999999999999999999999":    time.Hour,
		"9223372036":                    time.Hour,
		strings.Repeat("9", 10000):      time.Hour,
		"-5":                            time.Minute,
		"1.5":                           time.Minute,
		"1e9":                           time.Minute,
		"NaN":                           time.Minute,
		"soon":                          time.Minute,
		"٧":                             time.Minute,
		"Tue, 01 Sep 2026 12:00:30 GMT": 30 * time.Second,
		"Tue, 01 Sep 2026 11:00:00 GMT": time.Second,
		"Fri, 31 Dec 9999 23:59:59 GMT": time.Hour,
	} {
		require.Equal(t, want, retryAfter(http.Header{"Retry-After": {text}}, now), text)
	}
	require.Equal(t, 5*time.Second, retryAfter(http.Header{
		"Retry-After": {"Tue, 01 Sep 2026 12:00:30 GMT"}, "Date": {"Tue, 01 Sep 2026 12:00:25 GMT"},
	}, now.Add(time.Hour)), "by the server's clock")
}

// limited answers a number of calls with a refusal, and then as it should.
func limited(times, status int, retryAfter string) script {
	return call(func(w http.ResponseWriter, _ *http.Request, id string) {
		if times--; times >= 0 {
			w.Header().Set("Retry-After", retryAfter)
			w.WriteHeader(status)
			return
		}
		asJSON(w, result(id, `{"content":[{"type":"text","text":"found"}]}`))
	})
}

func TestWaitsForTheRateLimit(t *testing.T) {
	for _, status := range []int{429, 503} {
		synctest.Test(t, func(t *testing.T) {
			clock := &handClock{now: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)}
			rig := open(t, limited(1, status, "7"), Config{Clock: clock})
			hits, err := rig.Search(t.Context(), "keys")
			require.NoError(t, err)
			require.Len(t, hits, 1)
			require.Equal(t, []time.Duration{7 * time.Second}, clock.waits)
		})
	}
}

// It waits once, and says the second time that it has to wait.
func TestWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, limited(2, 429, "7"), Config{})
		began := time.Now()
		_, err := rig.Search(t.Context(), "keys")
		require.Equal(t, &RateLimitError{RetryAfter: 7 * time.Second}, err)
		require.EqualError(t, err, "docs: rate limited: try again in 7 s")
		require.Equal(t, 7*time.Second, time.Since(began))
		require.EqualError(t, &RateLimitError{RetryAfter: time.Millisecond}, "docs: rate limited: try again in 1 s")
		_, err = rig.Search(t.Context(), "keys")
		require.NoError(t, err)
		require.Equal(t, 14*time.Second, time.Since(began))
		require.Equal(t, 3, count(rig.sent(), "tools/call"))
	})
}

// A wait that is too long is no wait, and until it is over nothing is sent.
func TestDoesNotWaitTooLong(t *testing.T) {
	for name, row := range map[string]struct {
		retryAfter string
		config     Config
		deadline   time.Duration
		want       time.Duration
	}{
		"longer than the client waits": {"11", Config{}, time.Minute, 11 * time.Second},
		"absurd":                       {"99999999999999999999", Config{}, 24 * time.Hour, time.Hour},
		"missing":                      {"", Config{}, 24 * time.Hour, time.Minute},
		"past the deadline":            {"7", Config{}, 7 * time.Second, 7 * time.Second},
		"never":                        {"1", Config{MaxWait: -1}, time.Minute, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := open(t, limited(1, 429, row.retryAfter), row.config)
				ctx, cancel := context.WithTimeout(t.Context(), row.deadline)
				defer cancel()
				for range 2 {
					_, err := rig.Search(ctx, "keys")
					require.Equal(t, &RateLimitError{RetryAfter: row.want}, err)
				}
				require.Equal(t, 1, count(rig.sent(), "tools/call"))
				require.Equal(t, "tools/call", rig.sent()[len(rig.sent())-1])
				time.Sleep(row.want)
				_, err := rig.Search(t.Context(), "keys")
				require.NoError(t, err)
			})
		})
	}
}

// A refusal while the session is opened counts as well.
func TestLimitedFromTheStart(t *testing.T) {
	for _, method := range []string{"server/discover", "initialize", "notifications/initialized", "tools/list"} {
		synctest.Test(t, func(t *testing.T) {
			refusals := 0
			server := script{}
			server[method] = func(w http.ResponseWriter, _ *http.Request, _ string) {
				refusals++
				delete(server, method)
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(http.StatusTooManyRequests)
			}
			rig := open(t, server, Config{})
			began := time.Now()
			_, err := rig.Search(t.Context(), "keys")
			require.NoError(t, err, method)
			require.Equal(t, 3*time.Second, time.Since(began))
			require.Equal(t, 1, refusals)
		})
	}
}

// A wait ends with the client, and with its caller.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := open(t, limited(9, 429, "9"), Config{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := rig.Search(ctx, "keys"); done <- err }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		go func() { _, err := rig.Search(t.Context(), "keys"); done <- err }()
		synctest.Wait()
		require.NoError(t, rig.Close())
		require.ErrorIs(t, <-done, ErrClosed)
	})
}
