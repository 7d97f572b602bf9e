package transport

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// First is [http.Header.Get] for a name in the form in which net/http keeps it, which
// Get would look through each time.
func First(header http.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// maxRetryAfter bounds what a Retry-After can ask for: the service's own window
// is a minute, so an hour is already somebody else's mistake.
const maxRetryAfter = time.Hour

// RetryAfter reads both forms of the header, seconds and a date, and bounds
// them. A date is judged against the answer's own Date where it has one, since
// the clock of this machine may be wrong.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	text := First(header, "Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 63); err == nil {
		// Compared as seconds: as a duration an absurd number would overflow.
		if seconds >= uint64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(Dated(header, now)), 0), maxRetryAfter)
}

// Dated is when an answer was given, by the clock of who gave it if that says it.
func Dated(header http.Header, received time.Time) time.Time {
	if date, err := http.ParseTime(First(header, "Date")); err == nil {
		return date
	}
	return received
}

// The X-RateLimit headers, in the form that net/http keeps them.
const (
	headerLimit     = "X-Ratelimit-Limit"
	headerRemaining = "X-Ratelimit-Remaining"
	headerReset     = "X-Ratelimit-Reset"
)

// lastReset is the end of what counts as a reset: no JSON has a time beyond the year 9999.
const lastReset = 253_370_764_800

// RateLimit reads the X-RateLimit headers; ok is false unless all three are numbers that
// can be meant.
func RateLimit(header http.Header) (limit, remaining int, reset time.Time, ok bool) {
	if header[headerLimit] == nil {
		return 0, 0, time.Time{}, false // nearly always, so it costs one look
	}
	limit, errLimit := strconv.Atoi(First(header, headerLimit))
	remaining, errRemaining := strconv.Atoi(First(header, headerRemaining))
	seconds, errReset := strconv.ParseInt(First(header, headerReset), 10, 64)
	if errLimit != nil || errRemaining != nil || errReset != nil ||
		min(limit, remaining) < 0 || seconds < 0 || seconds >= lastReset {
		return 0, 0, time.Time{}, false
	}
	return limit, remaining, time.Unix(seconds, 0), true
}

// Aged reports whether a cache has kept an answer for more than a second, by what it says.
func Aged(header http.Header) bool {
	age := First(header, "Age")
	return age != "" && age != "0" && age != "1"
}

// Replayed reports whether a header says that the answer is a stored one.
func Replayed(header http.Header) bool {
	return strings.EqualFold(First(header, "Idempotent-Replayed"), "true")
}
