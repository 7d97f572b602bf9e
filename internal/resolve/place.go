package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/tradingapi/trading-go/internal/transport"
)

// What a request of the driver's needs before it is noted and sent: an API key, and a place
// in recovery's share of the rate limits. It has both at once, or it is put off. That says
// nothing of the write, so no fact is noted.

// Prepared is a request that may go.
type Prepared interface {
	// Send sends it once. gate judges it right before its first byte; nil for what does not
	// age.
	Send(ctx context.Context, gate transport.Gate) Response
	// APIKey names the API key that it goes with.
	APIKey() string
	// Drop gives its place back, unless it was sent.
	Drop()
}

// cutShort notes that the limits cut a look short, which is several reads: what it read is of
// no use, and took the places of others. The next begins when there may be room; if it is cut
// short too, a whole window later, when there is room for all of it.
func (d *Driver) cutShort(err error, wait time.Duration) error {
	if d.cuts++; d.cuts > 1 {
		wait = limitWindow
	}
	full := &noRoom{err, time.Now().Add(wait)}
	d.full[readAccount] = full
	return full
}

// limitWindow is how long the places of a rate limit are taken.
const limitWindow = time.Minute

// noRoom is the error of a request for which there is no place before a moment.
type noRoom struct {
	error
	until time.Time
}

func (e *noRoom) Unwrap() error { return e.error }

// prepare gets a request what it needs. Where one has no place, the next of its operation is
// not tried before there may be one.
func (d *Driver) prepare(r Request) (Prepared, error) {
	if full := d.full[r.Operation]; full != nil && time.Now().Before(full.until) {
		return nil, full
	}
	ctx, cancel := context.WithTimeoutCause(d.cfg.Life.Closing, requestPatience, transport.ErrTimeout)
	defer cancel()
	p, err := d.cfg.Host.Prepare(ctx, r)
	if err == nil {
		return p, nil
	}
	if wait := d.cfg.Host.Judge(err).Wait; wait > 0 {
		full := &noRoom{err, time.Now().Add(wait)}
		d.full[r.Operation] = full
		return nil, full
	}
	return nil, &cannotAsk{err}
}

// cannotAsk is the error of a request that lacks something else: an API key.
type cannotAsk struct{ error }

func (e *cannotAsk) Unwrap() error { return e.error }

// putOff is how long a write waits after a step of which nothing is known: until there is a
// place for it, a second for the journal or the service, and longer each time for an API key
// that works.
func (d *Driver) putOff(w *OpenWrite, err error) time.Duration {
	full := (*noRoom)(nil)
	switch wait := d.cfg.Host.Judge(err).Wait; {
	case errors.As(err, &full):
		return time.Until(full.until)
	case wait > 0:
		return wait
	case d.whyBlocked(w, err) == "":
		return time.Second
	}
	blocked := 0
	d.say(func() { blocked = w.noting().blocked; w.findings.blocked++ })
	return min(time.Second<<min(blocked, 6), longestWait)
}

// longestWait is the longest time until a key that was refused, or that does not reach an
// account, is tried again. From then on nobody waits for it.
const longestWait = time.Minute

// whyBlocked is the reason why nothing can be asked, or found out, with the API key; empty
// for any other error.
func (d *Driver) whyBlocked(w *OpenWrite, err error) string {
	if err == nil {
		return ""
	}
	switch j := d.cfg.Host.Judge(err); {
	case j.Unreachable && w.Left:
		return "the API key does not reach account " + string(w.Intent.Account) + ": the journal may be of another account holder"
	case j.Unreachable:
		return "the API key does not reach account " + string(w.Intent.Account)
	case j.KeyRefused:
		return "the API key is refused, and asked with again"
	case errors.As(err, new(*cannotAsk)):
		return "there is no API key to ask with"
	default:
		return ""
	}
}
