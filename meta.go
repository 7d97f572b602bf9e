package trading

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Meta describes how an answer came about. It is a field of every write's result and
// of every error that an answer caused; [ResponseInto] hands it out for reads.
type Meta struct {
	// Operation is what was called.
	Operation Operation
	// Status is the HTTP status of the last answer; 0 if there was none.
	Status int
	// Header is the last answer's header. It never holds the API key.
	Header http.Header
	// Body is the last answer's body as it came. It is the caller's to keep.
	Body Body
	// Key is the idempotency key that was sent last; empty on the sandbox and for reads.
	Key Key
	// Replayed means that the service repeated its stored first answer: fill, position
	// and balance in it are those of the time of execution.
	Replayed bool
	// ResolvedAfter is how old a replayed answer can be: the time since the call began.
	ResolvedAfter time.Duration
	// Unjournaled is why an exit went out without being in the journal; nil if it
	// did not.
	Unjournaled error `json:"-"`
	// Attempts counts how often the request was sent; 0 if it never was.
	Attempts int
	// Sent is when the last attempt began, Received when it ended.
	Sent, Received time.Time
	// RateLimit is the key's rate limit, where the answer says it.
	RateLimit Opt[RateLimit]
	// RetryAfter is how long the service asked to wait; 0 if it did not.
	RetryAfter time.Duration
}

// RateLimit is a key's rate limit, by the X-RateLimit headers of a 429.
type RateLimit struct {
	// Limit is the number of requests in a window.
	Limit int
	// Remaining is what is left of it.
	Remaining int
	// Reset is when the window ends, by the service's clock.
	Reset time.Time
}

// first is [http.Header.Get] for a name in the form in which net/http keeps it, which
// Get would look through each time.
func first(header http.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// maxRetryAfter bounds what a Retry-After can ask for: the service's own window
// is a minute, so an hour is already somebody else's mistake.
const maxRetryAfter = time.Hour

// parseRetryAfter reads both forms of the header, seconds and a date, and bounds
// them. A date is judged against the answer's own Date where it has one, since
// the clock of this machine may be wrong.
func parseRetryAfter(header http.Header, now time.Time) time.Duration {
	text := first(header, "Retry-After")
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
	if date, err := http.ParseTime(first(header, "Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

// The X-RateLimit headers, in the form that net/http keeps them.
const (
	headerLimit     = "X-Ratelimit-Limit"
	headerRemaining = "X-Ratelimit-Remaining"
	headerReset     = "X-Ratelimit-Reset"
)

// parseRateLimit reads the X-RateLimit headers; none unless all three are numbers.
func parseRateLimit(header http.Header) Opt[RateLimit] {
	if header[headerLimit] == nil {
		return Opt[RateLimit]{} // nearly always, so it costs one look
	}
	limit, errLimit := strconv.Atoi(first(header, headerLimit))
	remaining, errRemaining := strconv.Atoi(first(header, headerRemaining))
	reset, errReset := strconv.ParseInt(first(header, headerReset), 10, 64)
	if errLimit != nil || errRemaining != nil || errReset != nil {
		return Opt[RateLimit]{}
	}
	return Some(RateLimit{Limit: limit, Remaining: remaining, Reset: time.Unix(reset, 0)})
}

// isReplay reports whether a header says that the answer is a stored one.
func isReplay(header http.Header) bool {
	return strings.EqualFold(first(header, "Idempotent-Replayed"), "true")
}
