package flatten

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

const (
	// firstPause is the first wait between rounds, and of what failed before it is
	// tried again; longestHold is the longest of those.
	firstPause  = time.Second
	longestHold = 15 * time.Second
	// stuckRounds is how often in a row nothing can be done before that is
	// believed, over at least one proof interval: a single refusal may be stale, or
	// come from in front of the service.
	stuckRounds = 3
)

// patience is how long to wait for the next round, and whether there is to be one.
type patience struct {
	interval time.Duration
	pause    time.Duration // the last one
	stuck    int           // rounds in a row in which nothing could be done
	since    time.Time     // when the first of them ended
}

// next is the wait before the next round, doubled each time.
func (p *patience) next() time.Duration {
	p.pause = min(max(2*p.pause, firstPause), p.interval)
	return p.pause
}

// renew makes the next wait the shortest again.
func (p *patience) renew() { p.pause = 0 }

// hope notes a round in which something was done, or can be in the next.
func (p *patience) hope() { p.stuck = 0 }

// lose notes a round in which nothing could be done, and reports whether to give up.
func (p *patience) lose(now time.Time) bool {
	if p.stuck == 0 {
		p.since = now
	}
	p.stuck++
	return p.stuck >= stuckRounds && now.Sub(p.since) >= p.interval
}

// after is the wait after a read that failed: no shorter than it was asked for.
func (p *patience) after(err error) time.Duration {
	asked, _ := trading.RetryAfter(err)
	return max(p.next(), asked)
}

// ends notes a read that failed, and reports whether to give up. One that failed
// for something that passes says nothing either way.
func (p *patience) ends(err error) bool {
	return errors.Is(err, trading.ErrClosed) || hopeless(err) && p.lose(time.Now())
}

// sleep waits, unless the context would end before the wait does.
func sleep(ctx context.Context, d time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return fmt.Errorf("a wait of %s does not fit: %w", d.Round(time.Millisecond), context.DeadlineExceeded)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hopeless reports whether the same call would be refused again. Only a refusal
// that says so makes it that: what comes from in front of the service proves
// nothing, and what is not found may have filled or been closed by somebody else,
// so it is looked for again.
func hopeless(err error) bool {
	switch {
	case errors.Is(err, trading.ErrClosed),
		errors.Is(err, trading.ErrGuard),
		errors.As(err, new(*trading.RedirectError)):
		return true
	case errors.Is(err, trading.CodeNoPosition):
		return false
	}
	if !errors.As(err, new(*trading.Error)) {
		return false
	}
	advice := trading.AdviceOf(err)
	return advice == trading.AdviseNever || advice == trading.AdviseChange
}
