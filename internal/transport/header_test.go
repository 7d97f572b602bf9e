package transport

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrap_T89_RetryAfterInEveryForm(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name, value, date string
		want              time.Duration
		asked             bool
	}{
		{"absent", "", "", 0, false},
		{"seconds", "60", "", time.Minute, true},
		{"zero", "0", "", 0, true},
		{"a date", "Fri, 20 Nov 2026 10:00:30 GMT", "", 30 * time.Second, true},
		{"a date in RFC 850", "Friday, 20-Nov-26 10:00:30 GMT", "", 30 * time.Second, true},
		{"a date past", "Fri, 20 Nov 2026 09:00:00 GMT", "", 0, true},
		{"T91 a date by a clock that runs ahead", "Fri, 20 Nov 2026 12:00:30 GMT", "Fri, 20 Nov 2026 12:00:00 GMT", 30 * time.Second, true},
		{"garbage", "soon", "", 0, false},
		{"negative", "-5", "", 0, false},
		{"a fraction", "1.5", "", 0, false},
		{"huge", "86400000", "", maxRetryAfter, true},
		{"beyond 64 bits", "99999999999999999999999", "", 0, false},
		{"a far date", "Fri, 20 Nov 2099 10:00:30 GMT", "", maxRetryAfter, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			header := http.Header{}
			header.Set("Retry-After", row.value)
			if row.date != "" {
				header.Set("Date", row.date)
			}
			wait, asked := RetryAfter(header, now)
			assert.Equal(t, row.want, wait)
			assert.Equal(t, row.asked, asked)
		})
	}
}

// A remainder of zero is said, and one that is not said is none.
func TestFound08_ARemainderThatIsNotSaid(t *testing.T) {
	reset := time.Unix(1763632800, 0)
	for name, row := range map[string]struct {
		header http.Header
		limit  int
		ends   time.Time
		ok     bool
	}{
		"all of it":       {http.Header{headerLimit: {"600"}, headerRemaining: {"5"}, headerReset: {"1763632800"}}, 600, reset, true},
		"zero remains":    {http.Header{headerLimit: {"600"}, headerRemaining: {"0"}, headerReset: {"1763632800"}}, 600, reset, true},
		"no remainder":    {http.Header{headerLimit: {"600"}, headerReset: {"1763632800"}}, 600, reset, true},
		"an empty one":    {http.Header{headerLimit: {"600"}, headerRemaining: {""}}, 0, time.Time{}, false},
		"the limit alone": {http.Header{headerLimit: {"600"}}, 600, time.Time{}, true},
		"no time":         {http.Header{headerLimit: {"600"}, headerReset: {"soon"}}, 0, time.Time{}, false},
		"a reset of zero": {http.Header{headerLimit: {"600"}, headerReset: {"0"}}, 600, time.Unix(0, 0), true},
		"no limit":        {http.Header{headerRemaining: {"0"}}, 0, time.Time{}, false},
		"a limit of zero": {http.Header{headerLimit: {"0"}, headerRemaining: {"0"}}, 0, time.Time{}, true},
		"less than none":  {http.Header{headerLimit: {"600"}, headerRemaining: {"-1"}}, 0, time.Time{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			limit, ends, ok := RateLimitOf(row.header)
			assert.Equal(t, row.ok, ok)
			assert.Equal(t, row.limit, limit)
			assert.Equal(t, row.ends, ends)
		})
	}
}

func TestAged(t *testing.T) {
	for age, want := range map[string]bool{"": false, "0": false, "1": false, "2": true, "soon": true} {
		assert.Equal(t, want, Aged(http.Header{"Age": {age}}), "%q", age)
	}
}

// FuzzHeaders reads Retry-After and the X-RateLimit headers, beside strconv and
// net/http.
func FuzzHeaders(f *testing.F) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, retryAfter, date, limit, remaining, reset string) {
		header := http.Header{}
		for name, value := range map[string]string{
			"Retry-After": retryAfter, "Date": date, headerLimit: limit, headerRemaining: remaining, headerReset: reset,
		} {
			if value != "" {
				header[name] = []string{value}
			}
		}
		wait, asked := RetryAfter(header, now)
		require.True(t, wait >= 0 && wait <= maxRetryAfter, "%q is %s", retryAfter, wait)
		seconds, err := strconv.ParseUint(retryAfter, 10, 32)
		at, errAt := http.ParseTime(retryAfter)
		require.Equal(t, asked, err == nil || errAt == nil || asked && strings.Trim(retryAfter, "0123456789") == "", "%q", retryAfter)
		switch {
		case err == nil:
			require.Equal(t, min(time.Duration(seconds)*time.Second, maxRetryAfter), wait, "%q", retryAfter)
		case errAt == nil:
			from := now
			if d, err := http.ParseTime(date); err == nil {
				from = d
			}
			require.Equal(t, min(max(at.Sub(from), 0), maxRetryAfter), wait, "%q at %q", retryAfter, date)
		case strings.Trim(retryAfter, "0123456789") != "":
			require.Zero(t, wait, "%q", retryAfter)
		}

		_, ends, told := RateLimitOf(header)
		readable := func(text string, below int64) bool {
			n, err := strconv.ParseInt(text, 10, 64)
			return err == nil && n >= 0 && n < below
		}
		want := readable(limit, 1<<31) && (remaining == "" || readable(remaining, 1<<31)) && (reset == "" || readable(reset, lastReset))
		require.Equal(t, want, told, "%q %q %q", limit, remaining, reset)
		_, err = json.Marshal(ends)
		require.NoError(t, err, "%q", reset)
		if told {
			require.Equal(t, reset == "", ends.IsZero())
		}
	})
}
