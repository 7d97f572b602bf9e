package servicetime

import (
	"net/http"
	"sync"
	"time"
)

// Tolerance is how far a time of a [Clock] may be off: a Date has whole seconds, its answer
// was on its way for a second at most, and the clocks of this machine may differ by another.
const Tolerance = 3 * time.Second

const (
	// quick is how long an answer may have taken that sets the clock.
	quick = time.Second
	// apart is how far wall and monotonic clock of this machine may run apart.
	apart = time.Second
	// drift is the part of the time that passed by which a clock may run wrong.
	drift = 1000
)

// Clock is the service's clock, as its answers say it. The zero Clock knows nothing yet. It
// is safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	date    string    // the last Date that set it
	service Time      // what that said
	heard   time.Time // when
	wrong   bool      // two answers contradicted each other: which of them is right is not known

	trades  bool          // it is known how far the times of closed trades are from it:
	low, up time.Duration // between these; nothing can be if low is above up
}

// Hear takes the Date of an answer, and when its request was sent and it was received. Only
// the service's own fresh answers are of use: none that it repeats, and none of a cache. A
// Date that contradicts those before it ends what is known for as long as the program runs.
func (c *Clock) Hear(date string, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if date == "" || c.wrong {
		return
	}
	said := c.service
	if date != c.date {
		if said = parseDate(date); said.IsZero() {
			return
		}
	}
	if !c.service.IsZero() && together(c.heard, received) {
		if c.wrong = !c.agrees(said, sent, received); c.wrong {
			return
		}
	}
	if date != c.date && received.Sub(sent) <= quick { // one of the same second is older, and as good
		c.date, c.service, c.heard = date, said, received
	}
}

// agrees reports whether the service can have said a time between two moments.
func (c *Clock) agrees(said Time, sent, received time.Time) bool {
	off := Tolerance + received.Sub(c.heard).Abs()/drift
	return !said.Before(c.at(sent).Add(-off)) && !c.at(received).Add(off).Before(said)
}

func (c *Clock) at(t time.Time) Time { return c.service.Add(t.Sub(c.heard)) }

// At is the service's time at a moment of this machine, at most [Tolerance] off; not known
// where no answer proves it. A moment without a monotonic reading is taken by the wall clock
// as it runs now.
func (c *Clock) At(t time.Time) Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.IsZero() || c.service.IsZero() || c.wrong || !together(c.heard, t) {
		return Time{}
	}
	return c.at(t)
}

// Wrong reports whether two answers contradicted each other.
func (c *Clock) Wrong() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong
}

// Closed takes a trade that a request of this program's closed, with the moments when that
// was sent and answered: the clock of the trades may be another than that of the Dates.
func (c *Clock) Closed(shown Time, sent, received time.Time) {
	from, until := c.At(sent), c.At(received)
	up, known := shown.Since(from.Add(-Tolerance))
	low, _ := shown.Since(until.Add(Tolerance))
	if !known || until.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.trades {
		c.trades, c.low, c.up = true, low, up
		return
	}
	c.low, c.up = max(c.low, low), min(c.up, up)
}

// TradesFrom is the earliest time that a trade closed at t or later shows; not known until a
// trade of this program's has shown how far their clock is from that of the Dates.
func (c *Clock) TradesFrom(t Time) Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.trades || c.low > c.up {
		return Time{}
	}
	return t.Add(c.low - Tolerance)
}

// together reports whether the clocks of this machine ran alike between two moments: it did
// not sleep, and nobody set the wall clock.
func together(a, b time.Time) bool {
	return (b.Round(0).Sub(a.Round(0)) - b.Sub(a)).Abs() <= apart
}

// parseDate reads a Date; not known if it is none.
func parseDate(text string) Time {
	at, err := http.ParseTime(text)
	if err != nil {
		return Time{}
	}
	return Shown(at)
}
