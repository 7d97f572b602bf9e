package watch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tradingapi/trading-go"
)

const (
	// patience is how long a look may take, unless its interval is longer: all the
	// attempts of its requests, but not a rate limit that is closed for a minute.
	patience = 30 * time.Second

	// rest is how far apart looks are at most because of failures, unless their
	// interval is longer: stops of a paper account live on looks.
	rest = 30 * time.Second

	// keyRest is how long a refused key rests; the client does not try it sooner.
	keyRest = 31 * time.Second
)

// looking is what a run remembers from one look to the next.
type looking struct {
	*run
	source   source
	jitter   *rand.Rand // nil for none
	last     *node
	failures int       // in a row
	refused  int       // of those, the last ones that were refusals of the key
	whole    time.Time // when the last look began at which everything could be read
	blind    error     // why not everything could be read since; nil if it could
}

// keepLooking looks until nobody listens, or until there is nothing more to see.
func (r *run) keepLooking(ctx context.Context, delay time.Duration) {
	defer close(r.done)
	k := looking{run: r, source: r.watch.open(), jitter: r.watch.jitter()}
	if s, ok := k.source.(paced); ok {
		s.pace(k.every)
	}
	on := sleep(ctx, delay)
	for on {
		began := time.Now()
		again, over := k.once(ctx, began)
		switch {
		case over:
			return
		case again > 0:
			on = sleep(ctx, again)
		default:
			on = k.untilNext(ctx, began)
		}
	}
}

// once takes a look and reports what it saw. again is how long to wait if something went
// wrong, and 0 if the interval rules.
func (k *looking) once(ctx context.Context, began time.Time) (again time.Duration, over bool) {
	bounded, cancel := context.WithTimeout(ctx, max(patience, k.every()))
	defer cancel()
	var before look
	if k.last != nil {
		before = k.last.look
	}
	is, ended, err := k.source.look(bounded, before)
	if ctx.Err() != nil {
		return 0, true // nobody listens
	}
	var failed *Error
	if err != nil {
		failed = k.judge(is, err)
		ended = ended || failed.Ends
		again = failed.Again
		if is != nil && again < k.every() {
			again = 0
		}
	} else {
		k.failures, k.refused = 0, 0
	}
	var next *node
	if is != nil {
		next = k.follow(is, began, err)
	}
	k.update(func(s *standing) {
		if next != nil {
			s.node = next
		}
		s.err = failed
		if failed != nil {
			s.errs++
		}
		s.ended = ended
	})
	return again, ended
}

// follow makes a look the last one.
func (k *looking) follow(is look, began time.Time, err error) *node {
	next := &node{look: is, began: began, at: time.Now()}
	if was := k.last; was != nil {
		next.number, next.gaps, next.reason, next.from = was.number+1, was.gaps, was.reason, was.from
		if k.blind != nil && err == nil {
			next.gaps++
			next.reason = fmt.Sprintf("it could not be read: %v", k.blind)
			next.from = k.whole
		}
		next.events = between(k.watch.name, was, next)
	}
	if err == nil {
		k.blind, k.whole = nil, began
	}
	k.last = next
	return next
}

// judge says what a failure means for the looks that follow. A part that fails alone
// slows nothing down.
func (k *looking) judge(is look, err error) *Error {
	k.failures++
	k.blind = err
	failed := &Error{Watch: k.watch.name, Failures: k.failures, Err: err}
	if errors.Is(err, trading.ErrKeyRefused) {
		k.refused++
	} else {
		k.refused = 0
	}
	if k.refused > 1 || cannotHeal(err) {
		failed.Ends = true
		return failed
	}
	every := k.every()
	failed.Again = every
	if is == nil {
		failed.Again = backoff(every, k.failures)
	}
	if wait, ok := trading.RetryAfter(err); ok {
		failed.Again = max(failed.Again, wait)
	}
	if k.refused > 0 {
		failed.Again = max(failed.Again, keyRest)
	}
	return failed
}

// cannotHeal reports whether a person has to act, whatever the service does.
func cannotHeal(err error) bool {
	if misused := (hopeless{}); errors.As(err, &misused) {
		return true
	}
	if errors.Is(err, trading.ErrClosed) || errors.Is(err, trading.CodeAccountNotFound) {
		return true
	}
	refusal := (*trading.Error)(nil)
	// The client refuses for a while what a key's refusal or a rate limit would refuse;
	// it refuses for good what is wrong.
	return errors.As(err, &refusal) && refusal.Local && refusal.RetryAfter.IsZero()
}

// backoff doubles the interval with each failure.
func backoff(every time.Duration, failures int) time.Duration {
	longest := max(every, rest)
	wait := every
	for range failures - 1 {
		if wait >= longest/2 {
			return longest
		}
		wait *= 2
	}
	return min(wait, longest)
}

// untilNext waits until the interval since the last look has passed. Its length can
// change meanwhile, by listeners that come.
func (k *looking) untilNext(ctx context.Context, began time.Time) bool {
	for {
		every := k.every()
		wait := time.Until(began.Add(every))
		if k.jitter != nil {
			wait += time.Duration(k.jitter.Int64N(int64(every/10) + 1))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-k.eager:
			timer.Stop()
		}
	}
}

// sleep reports whether it is still listened to afterwards.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
