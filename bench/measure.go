package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// sample is one round of one contender, for each call.
type sample struct {
	wall, cpu     time.Duration
	bytes, allocs float64
}

// series is all rounds of one contender; the rounds of all contenders have the
// same numbers.
type series []sample

// entrant is a contender in a race.
type entrant struct {
	name  string
	task  task
	calls int // in a round
	done  series
}

// race lets every entrant make its calls in each round, in an order that is drawn
// anew, so that what else the machine does meets all of them alike.
func race(ctx context.Context, entrants []*entrant, rounds, goroutines int) error {
	for _, e := range entrants {
		if _, err := measure(ctx, e.task, max(e.calls/4, min(goroutines, e.calls)), goroutines); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	draw := slices.Clone(entrants)
	for range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		rand.Shuffle(len(draw), func(i, j int) { draw[i], draw[j] = draw[j], draw[i] })
		for _, e := range draw {
			s, err := measure(ctx, e.task, e.calls, goroutines)
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			e.done = append(e.done, s)
		}
	}
	return nil
}

// measure makes so many calls, by so many goroutines that share them.
func measure(ctx context.Context, t task, calls, goroutines int) (sample, error) {
	goroutines = min(goroutines, calls)
	ctx = context.WithoutCancel(ctx) // a context that can end is a contender of its own
	var left atomic.Int64
	left.Store(int64(calls))
	var failure atomic.Pointer[error]
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for range goroutines {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			for left.Add(-1) >= 0 {
				if _, err := t.do(ctx); err != nil {
					failure.CompareAndSwap(nil, &err)
					return
				}
			}
		})
	}
	ready.Wait()
	runtime.GC() // nobody pays for what another has left behind

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, wall := cpuTime(), time.Now()
	close(begin)
	done.Wait()
	s := sample{wall: time.Since(wall), cpu: cpuTime() - cpu}
	runtime.ReadMemStats(&after)
	if err := failure.Load(); err != nil {
		return sample{}, *err
	}
	n := time.Duration(calls)
	s.wall, s.cpu = s.wall/n, s.cpu/n
	s.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(calls)
	s.allocs = float64(after.Mallocs-before.Mallocs) / float64(calls)
	return s, nil
}

func median[T int | float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// each collects one figure of every round.
func each[T any](s series, figure func(sample) T) []T {
	all := make([]T, len(s))
	for i := range s {
		all[i] = figure(s[i])
	}
	return all
}

// The figures of a sample.
func wallOf(s sample) time.Duration { return s.wall }
func cpuOf(s sample) time.Duration  { return s.cpu }
func bytesOf(s sample) float64      { return s.bytes }
func allocsOf(s sample) float64     { return s.allocs }

func (s series) wall() time.Duration { return median(each(s, wallOf)) }

// ratio is the median of the ratios round by round, and their middle half.
func ratio(s, base series, figure func(sample) time.Duration) spread {
	var all []float64
	for i := range min(len(s), len(base)) {
		if b := figure(base[i]); b > 0 {
			all = append(all, float64(figure(s[i]))/float64(b))
		}
	}
	return spreadOf(all)
}

// spread is a median and the quarters beside it.
type spread struct{ low, mid, high float64 }

func spreadOf(all []float64) spread {
	if len(all) == 0 {
		return spread{}
	}
	slices.Sort(all)
	return spread{all[len(all)/4], median(all), all[len(all)-1-len(all)/4]}
}
