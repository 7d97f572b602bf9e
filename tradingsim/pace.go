package tradingsim

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// WithSeed sets the number that the times of answers by [WithProfile] follow from: 0 unless set.
func WithSeed(seed uint64) Option {
	return option(func(c *config) { c.seed = seed })
}

// pace draws how long answers take. The n-th of an operation takes as long whatever else is asked.
type pace struct {
	seed  uint64
	times map[string]spread

	mu    sync.Mutex
	drawn map[string]uint64
}

// newPace is nil where answers take no time. Nobody would move a manual clock meanwhile.
func newPace(c *config) *pace {
	if _, manual := c.clock.(*manualClock); manual || len(c.answerTimes) == 0 {
		return nil
	}
	return &pace{seed: c.seed, times: c.answerTimes, drawn: map[string]uint64{}}
}

// next is how long the next answer of an operation takes.
func (p *pace) next(operation string) time.Duration {
	if p == nil || p.times[operation].Most == 0 {
		return 0
	}
	p.mu.Lock()
	n := p.drawn[operation]
	p.drawn[operation]++
	p.mu.Unlock()
	h := fnv.New64a()
	_, _ = h.Write([]byte(operation)) // never fails
	return quantile(p.times[operation], rand.New(rand.NewPCG(p.seed^h.Sum64(), n)).Float64())
}

// quantile is what a share of the answers is below. Of the faster half only the median is known: they
// take as long.
func quantile(s spread, share float64) time.Duration {
	const half, nearly = 0.5, 0.99
	between := func(low, high duration, part float64) time.Duration {
		return time.Duration(low) + time.Duration(part*float64(high-low))
	}
	switch {
	case share < half:
		return time.Duration(s.Median)
	case share < nearly:
		return between(s.Median, s.P99, (share-half)/(nearly-half))
	default:
		return between(s.P99, s.Most, (share-nearly)/(1-nearly))
	}
}

// travel waits for a request on its way, or for its answer. Where the caller gives up, the request
// arrives all the same.
func (s *Sim) travel(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	return s.clock.wait(ctx, d)
}
