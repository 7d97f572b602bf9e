package limiter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/ratelimit"
)

// moods are what a store that others use too does for a while.
var moods = []struct {
	name  string
	takes time.Duration
	deaf  bool
	err   error
}{
	{name: "well", takes: time.Millisecond},
	{name: "slow", takes: 300 * time.Millisecond},
	{name: "slower", takes: 900 * time.Millisecond},
	{name: "hangs", takes: time.Hour},
	{name: "hangs, and ignores its context", takes: time.Hour, deaf: true},
	{name: "away", err: errors.New("connection refused")},
}

// moody is a store that changes its mood.
type moody struct {
	*ratelimit.MemoryStore
	mu   sync.Mutex
	mood int
}

func (m *moody) is(mood int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mood = mood
}

func (m *moody) answer(ctx context.Context) error {
	m.mu.Lock()
	mood := moods[m.mood]
	m.mu.Unlock()
	done := ctx.Done()
	if mood.deaf {
		done = nil
	}
	select {
	case <-time.After(mood.takes):
		return mood.err
	case <-done:
		return ctx.Err()
	}
}

func (m *moody) Take(ctx context.Context, client string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	if err := m.answer(ctx); err != nil {
		return ratelimit.Grant{}, err
	}
	grant, err := m.MemoryStore.Take(ctx, client, needs, hold)
	grant.Sharers = 1
	for i := range needs {
		usages, _ := m.Usage(ctx, []ratelimit.Bucket{needs[i].Bucket})
		grant.Left = append(grant.Left, usages[0].Left)
	}
	return grant, err
}

func (m *moody) Return(ctx context.Context, slot string, needs []ratelimit.Need, sent bool) error {
	if err := m.answer(ctx); err != nil {
		return err
	}
	return m.MemoryStore.Return(ctx, slot, needs, sent)
}

// taking is one request of a caller, and how it went.
type taking struct {
	number   int
	priority ratelimit.Priority
	buckets  []string
	came     time.Duration
	ended    time.Duration // it was served, or left
	served   bool
}

// closing is a time for which the service has closed a bucket.
type closing struct {
	bucket      string
	from, until time.Duration
}

// program is what 500 callers do in some minutes, and what the service and the store do meanwhile.
type program struct {
	*rand.Rand
	l     *Limiter
	store *moody // nil for a limiter that counts alone
	began time.Time

	mu       sync.Mutex
	all      []*taking
	closings []closing
}

const (
	programLasts = 3 * time.Minute
	// exitsOfProgram is how many exits come in a minute: as many as the others leave room for.
	exitsOfProgram = 100
)

func (p *program) now() time.Duration { return time.Since(p.began) }

// take makes a request, which is cancelled at some time.
func (p *program) take(random *rand.Rand, priority ratelimit.Priority, class string, patience time.Duration) {
	a := &Ask{Key: testKey, Class: class, Priority: priority, Hold: time.Second}
	if random.IntN(3) == 0 {
		a.Until = time.Now().Add(patience)
	}
	t := &taking{priority: priority, buckets: []string{testKey}}
	if class != "" {
		t.buckets = append(t.buckets, "user/desk/"+class)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p.mu.Lock()
	t.number, t.came = len(p.all), p.now()
	p.all = append(p.all, t)
	p.mu.Unlock()
	slot, err := p.l.Take(ctx, a)
	t.ended, t.served = p.now(), err == nil
	if err == nil {
		time.Sleep(time.Duration(1 + random.IntN(int(200*time.Millisecond))))
		p.l.Return(slot, random.IntN(20) > 0)
	}
}

// run runs the program.
func (p *program) run(seed uint64) {
	var work sync.WaitGroup
	for caller := range 500 {
		work.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(caller)))
			for p.now() < programLasts {
				patience := time.Duration(random.IntN(int(40 * time.Second)))
				switch random.IntN(10) {
				case 0:
					p.take(random, ratelimit.Recovery, "", patience)
				case 1, 2, 3:
					p.take(random, ratelimit.Entry, "market-orders", patience)
				default:
					p.take(random, ratelimit.Read, "", patience)
				}
				time.Sleep(time.Duration(random.IntN(int(10 * time.Second))))
			}
		})
	}
	work.Go(func() {
		random := rand.New(rand.NewPCG(seed, 1<<33))
		for p.now() < programLasts {
			burst := 1 + random.IntN(20)
			for range burst {
				priority, class := ratelimit.Close, []string{"closes", "closes", "", "", "market-orders"}[random.IntN(5)]
				if random.IntN(3) == 0 {
					priority = ratelimit.Exit
				}
				one := rand.New(rand.NewPCG(random.Uint64(), 0))
				work.Go(func() { p.take(one, priority, class, time.Minute) })
			}
			time.Sleep(time.Duration(burst) * time.Minute / exitsOfProgram)
		}
	})
	work.Go(func() {
		random := rand.New(rand.NewPCG(seed, 1<<34))
		for p.now() < programLasts {
			time.Sleep(time.Duration(random.IntN(int(25*time.Second))) + time.Microsecond)
			if p.store != nil {
				p.store.is(random.IntN(len(moods)))
			}
			if random.IntN(3) > 0 {
				continue
			}
			d := time.Duration(1+random.IntN(10)) * time.Second
			c := closing{testKey, p.now(), p.now() + d}
			if random.IntN(2) == 0 {
				c.bucket = "user/desk/closes"
				p.l.BlockClass("closes", d)
			} else {
				p.l.BlockKey(testKey, d)
			}
			p.closings = append(p.closings, c)
		}
	})
	work.Wait()
}

func (t *taking) String() string {
	return fmt.Sprintf("%d (%s, %v, came %s, ended %s, served %t)", t.number, t.priority, t.buckets, t.came, t.ended, t.served)
}

// within reports whether every bucket of one is one of the other's.
func (t *taking) within(o *taking) bool {
	return !slices.ContainsFunc(t.buckets, func(b string) bool { return !slices.Contains(o.buckets, b) })
}

// check holds what happened to the rules of the queue.
func (p *program) check(t *testing.T) {
	asked := time.Duration(0) // how long a slot can be on its way to somebody who was first
	if p.store != nil {
		asked = patience
	}
	slices.SortStableFunc(p.all, func(a, b *taking) int { return int(a.ended - b.ended) })
	for i, served := range p.all {
		if !served.served {
			continue
		}
		for _, c := range p.closings {
			if slices.Contains(served.buckets, c.bucket) && served.ended > c.from && served.ended < c.until {
				t.Errorf("%s: while the service has closed %s, from %s to %s", served, c.bucket, c.from, c.until)
			}
		}
		for _, o := range p.all[i+1:] { // who waited when it was served
			switch {
			case o.ended == served.ended, o.came >= served.ended-asked:
			case o.priority == served.priority && o.came < served.came && slices.Equal(o.buckets, served.buckets):
				t.Errorf("%s: before %s, which came first", served, o)
			case o.priority > served.priority && o.within(served) && o.priority != ratelimit.Recovery: // which has a share
				t.Fatalf("%s: before %s, which has a higher priority", served, o)
			}
		}
	}
	for _, exit := range p.all {
		if exit.priority < ratelimit.Exit {
			continue
		}
		from := exit.came // when it could first be served
		for moved := true; moved; {
			moved = false
			for _, c := range p.closings {
				if slices.Contains(exit.buckets, c.bucket) && c.from <= from+exitPatience && from < c.until {
					from, moved = c.until, true
				}
			}
		}
		most := time.Duration(0)
		if p.store != nil {
			most = exitPatience
		}
		if exit.ended > from+most && exit.ended-exit.came > most {
			t.Errorf("%s: an exit that could go at %s", exit, from)
		}
	}
}

// In every program of 500 callers, beside 429s of the service and a store that is slow, hangs or
// goes away, the queue is in order, and an exit waits for nothing but its own limit.
func TestTheOrderOfTheQueue(t *testing.T) {
	if depth.Race { // see TestALongQueueAsksTheStoreSeldom
		t.Skip()
	}
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for _, shared := range []bool{false, true} {
		served, exits, longest := 0, 0, time.Duration(0)
		for seed := range seeds {
			synctest.Test(t, func(t *testing.T) {
				p := &program{began: time.Now()}
				c := config(func(c *Options) { c.ReservePct = 25 })
				if shared {
					p.store = &moody{MemoryStore: ratelimit.NewMemoryStore()}
					c.Store = p.store
				}
				p.l = New(c)
				p.run(seed)
				p.l.Close()
				assert.True(t, p.l.queuesAreEmpty(), "somebody is left in the queue")
				p.check(t)
				for _, a := range p.all {
					if a.served {
						served++
					}
					if a.served && a.priority >= ratelimit.Exit {
						exits, longest = exits+1, max(longest, a.ended-a.came)
					}
				}
				time.Sleep(2 * time.Hour) // calls that were abandoned end
			})
			require.False(t, t.Failed(), "seed %d", seed)
		}
		t.Logf("shared %t: %d served, %d of them exits, which waited %s at the most, closed limits among it", shared, served, exits, longest)
	}
}
