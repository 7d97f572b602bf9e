package transport

import (
	"math"
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
// the clock of this machine may be wrong. asked is false where there is no such header, or none
// that can be read; a wait of zero is one that was asked for.
func RetryAfter(header http.Header, now time.Time) (wait time.Duration, asked bool) {
	text := First(header, "Retry-After")
	if text == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseUint(text, 10, 63); err == nil {
		// Compared as seconds: as a duration an absurd number would overflow.
		if seconds >= uint64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(Dated(header, now)), 0), maxRetryAfter), true
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

// RateLimitOf reads the X-RateLimit headers; ok is false unless they name a limit, and none of them
// is anything but a number that can be meant. ends is the zero time where the reset is not said.
func RateLimitOf(header http.Header) (limit int, ends time.Time, ok bool) {
	if header[headerLimit] == nil {
		return 0, ends, false // nearly always, so it costs one look
	}
	most, limited := countOf(header, headerLimit)
	remaining, remains := countOf(header, headerRemaining)
	reset, resets := countOf(header, headerReset)
	if !limited || most < 0 || !remains || !resets || most > math.MaxInt32 || remaining > math.MaxInt32 || reset >= lastReset {
		return 0, ends, false
	}
	if reset >= 0 {
		ends = time.Unix(reset, 0)
	}
	return int(most), ends, true
}

// countOf is the number in a header, -1 where there is no such header; ok is false where it is
// none.
func countOf(header http.Header, name string) (n int64, ok bool) {
	if header[name] == nil {
		return -1, true
	}
	n, err := strconv.ParseInt(First(header, name), 10, 64)
	return n, err == nil && n >= 0
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
