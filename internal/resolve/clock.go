package resolve

import (
	"net/http"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"github.com/tradingapi/trading-go/internal/transport"
)

// Clock is a client's clocks: wall, monotonic, and the service's by its last Date.
type Clock struct {
	began time.Time

	mu      sync.Mutex
	date    string           // the last Date header
	service servicetime.Time // what it said
	heard   time.Time        // when
}

func newClock() *Clock { return &Clock{began: time.Now()} }

// Now is the moment by all of them.
func (c *Clock) Now() ledger.Instant { return c.At(time.Now()) }

// At is a moment of this process by all of them.
func (c *Clock) At(t time.Time) ledger.Instant {
	i := ledger.Instant{Wall: t.Round(0), Mono: t.Sub(c.began)}
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := t.Sub(c.heard)
	if (t.Round(0).Sub(c.heard.Round(0)) - passed).Abs() <= ledger.ClocksAgree {
		i.Service = c.service.Add(passed)
	}
	return i
}

// HeardDate takes the Date of the service's own answer.
func (c *Clock) HeardDate(header http.Header, at time.Time) {
	date := transport.First(header, "Date")
	c.mu.Lock()
	defer c.mu.Unlock()
	if date == "" || date == c.date {
		return // of the same second: what is known is older, and as good
	}
	said, err := http.ParseTime(date)
	if err != nil {
		return
	}
	c.date, c.service, c.heard = date, servicetime.Shown(said), at
}

// until is how long it takes to a moment of this process.
func (c *Clock) until(at time.Duration) time.Duration { return max(at-time.Since(c.began), 0) }
