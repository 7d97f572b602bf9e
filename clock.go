package trading

import (
	"net/http"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// clock is a client's clocks: wall, monotonic, and the service's by its last Date.
type clock struct {
	began time.Time

	mu      sync.Mutex
	date    string    // the last Date header
	service time.Time // what it said
	heard   time.Time // when
}

func newClock() *clock { return &clock{began: time.Now()} }

// now is the moment by all of them.
func (c *clock) now() ledger.Instant { return c.at(time.Now()) }

// at is a moment of this process by all of them.
func (c *clock) at(t time.Time) ledger.Instant {
	i := ledger.Instant{Wall: t.Round(0), Mono: t.Sub(c.began)}
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := t.Sub(c.heard)
	if !c.service.IsZero() && (t.Round(0).Sub(c.heard.Round(0))-passed).Abs() <= ledger.ClocksAgree {
		i.Service = c.service.Add(passed)
	}
	return i
}

// heardDate takes the Date of the service's own answer.
func (c *clock) heardDate(header http.Header, at time.Time) {
	date := first(header, "Date")
	c.mu.Lock()
	defer c.mu.Unlock()
	if date == "" || date == c.date {
		return // of the same second: what is known is older, and as good
	}
	said, err := http.ParseTime(date)
	if err != nil {
		return
	}
	c.date, c.service, c.heard = date, said, at
}

// elapsed is how long ago that was, by whichever clock ran further: the wall clock
// can be set back, and the monotonic one stands still while the machine sleeps.
func elapsed(since time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// until is how long it takes to a moment of this process.
func (c *clock) until(at time.Duration) time.Duration { return max(at-time.Since(c.began), 0) }
