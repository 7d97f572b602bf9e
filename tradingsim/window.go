package tradingsim

import (
	"strconv"
	"time"
)

// rateWindow is the length of every rate limit window.
const rateWindow = time.Minute

// window counts in a fixed window that begins with its first event.
type window struct {
	limit int
	start time.Time
	count int
}

// roll begins a new window when the old one is over.
func (w *window) roll(now time.Time) {
	if w.count > 0 && now.Sub(w.start) >= rateWindow {
		w.count = 0
	}
	if w.count == 0 {
		w.start = now
	}
}

// take counts one event; false is one too many, which is not counted.
func (w *window) take(now time.Time) bool {
	w.roll(now)
	if w.count >= w.limit {
		return false
	}
	w.count++
	return true
}

// full reports whether another event would be too many.
func (w *window) full(now time.Time) bool {
	w.roll(now)
	return w.count >= w.limit
}

// describe writes the X-RateLimit headers.
func (w *window) describe(a *answer) {
	a.set("X-RateLimit-Limit", strconv.Itoa(w.limit))
	a.set("X-RateLimit-Remaining", strconv.Itoa(max(0, w.limit-w.count)))
	end := w.start.Add(rateWindow)
	a.set("X-RateLimit-Reset", strconv.FormatInt(end.Add(time.Second-1).Unix(), 10))
}

// wholeSeconds writes a wait for Retry-After, rounded up.
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
