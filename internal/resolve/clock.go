package resolve

import (
	"net/http"
	"time"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"github.com/tradingapi/trading-go/internal/transport"
)

// Clocks are a client's clocks: wall, monotonic, and that of the service it asks.
type Clocks struct {
	began   time.Time // of the monotonic one, the same for all clients of a journal
	service *servicetime.Clock
}

// Now is the moment by all of them.
func (c Clocks) Now() ledger.Instant { return c.At(time.Now()) }

// At is a moment of this process by all of them.
func (c Clocks) At(t time.Time) ledger.Instant {
	return ledger.Instant{Wall: t.Round(0), Mono: t.Sub(c.began), Service: c.service.At(t)}
}

// Elapsed is how long ago a moment of this process was, by whichever clock ran further.
func Elapsed(from time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(from), now.Round(0).Sub(from.Round(0)))
}

// Heard takes the Date of an answer. One that is repeated, or that a cache kept, says nothing of now.
func (c Clocks) Heard(header http.Header, sent, received time.Time) {
	if header["Age"] == nil && !transport.Replayed(header) {
		c.service.Hear(transport.First(header, "Date"), sent, received)
	}
}

// earlier is what the journal shows of the writes of earlier runs. Clocks of this machine are
// no measure across runs: the wall clock may have been set between the two.
func (c Clocks) earlier(first bool, last *last) books.Earlier {
	e := books.Earlier{None: first}
	if last == nil {
		return e
	}
	e.Handed = last.Handed
	if e.Still = last.Still; last.Ended.Service.IsZero() {
		return e
	}
	e.Wall = last.Ended.Wall
	e.Since = func(at time.Time) (time.Duration, bool) {
		passed, known := c.service.At(at).Since(last.Ended.Service)
		return passed - 2*servicetime.Tolerance, known
	}
	return e
}

// firstUse is when the key of a write was used first, at the earliest, by the service's
// clock, if that is known.
func (c Clocks) firstUse(w *OpenWrite) servicetime.Time {
	known := w.Ledger.FirstUseKnown
	switch {
	case !w.Left && known:
		return c.service.At(w.Intent.Decided)
	case !w.Left:
		return c.service.At(w.NotBefore)
	case c.service.Wrong():
		return servicetime.Time{} // what the journal has of it may be as wrong
	case known:
		return w.Ledger.Decided.Service
	default:
		return w.Ledger.Since
	}
}
