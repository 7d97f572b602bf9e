//go:build !race

// The race detector of Go 1.26 itself breaks down (CHECK failed in tsan_rtl.cpp) on so
// many bubbles with so many timers, about every other time. load_test.go and
// remote_test.go test the queue under -race.

package limiter

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/ratelimit"
)

// asker is a request of the random schedules below: when it comes and leaves, what it
// needs, and how it uses its slot.
type asker struct {
	id      int
	at      time.Duration // it comes
	leaves  time.Duration // it does not wait longer than until then
	takes   time.Duration // from its slot to its answer
	sent    bool
	request Ask
	buckets []string
}

// model says who must be served when, worked out the long way round: at every instant
// at which anything happens, everybody is looked at, and every slot is counted.
type model struct {
	limits  map[string]int
	held    map[string][]hold
	queue   []*asker
	served  map[int]time.Duration
	reserve func(p ratelimit.Priority, limit int) int
}

type hold struct {
	until    time.Duration // never, while under way
	recovery bool
}

const never = time.Duration(1<<63 - 1)

// lacks returns how long a bucket has no slot for the asker; share says whether it is
// recovery's share that has none.
func (m *model) lacks(a *asker, bucket string, now time.Duration) (wait time.Duration, share bool) {
	limit := m.limits[bucket]
	if a.request.Priority == ratelimit.Recovery {
		if wait := m.full(bucket, max(limit/3, 1), now, true); wait > 0 {
			return wait, true
		}
	}
	return m.full(bucket, limit-m.reserve(a.request.Priority, limit), now, false), false
}

// full returns how long a bucket holds room slots or more, of recovery or of all.
func (m *model) full(bucket string, room int, now time.Duration, recovery bool) time.Duration {
	var held []time.Duration
	for _, h := range m.held[bucket] {
		if h.until > now && (h.recovery || !recovery) {
			held = append(held, h.until)
		}
	}
	slices.Sort(held)
	if len(held) < room {
		return 0
	}
	if until := held[len(held)-room]; until != never {
		return until - now
	}
	return Window
}

// serve gives slots to those in the queue: the highest priority first, then who came
// first, and past those who wait for a bucket only who does not need it.
func (m *model) serve(now time.Duration, took func(*asker)) {
	slices.SortStableFunc(m.queue, func(a, b *asker) int {
		return cmp.Or(cmp.Compare(b.request.Priority, a.request.Priority), cmp.Compare(a.at, b.at))
	})
	short, shares := map[string]bool{}, map[string]bool{}
	var left []*asker
	for _, a := range m.queue {
		if m.mayTake(a, now, short, shares) {
			for _, bucket := range a.buckets {
				m.held[bucket] = append(m.held[bucket], hold{never, a.request.Priority == ratelimit.Recovery})
			}
			m.served[a.id] = now
			took(a)
			continue
		}
		left = append(left, a)
	}
	m.queue = left
}

func (m *model) mayTake(a *asker, now time.Duration, short, shares map[string]bool) bool {
	for _, bucket := range a.buckets {
		if short[bucket] || a.request.Priority == ratelimit.Recovery && shares[bucket] {
			return false
		}
	}
	// The whole share is asked for before any slot is.
	var lackShare, lack string
	var longestShare, longest time.Duration
	for _, bucket := range a.buckets {
		switch wait, share := m.lacks(a, bucket, now); {
		case share && wait > longestShare:
			lackShare, longestShare = bucket, wait
		case !share && wait > longest:
			lack, longest = bucket, wait
		}
	}
	switch {
	case lackShare != "":
		shares[lackShare] = true
	case lack != "":
		short[lack] = true
	default:
		return true
	}
	return false
}

// giveBack ends what the asker has begun.
func (m *model) giveBack(a *asker, now time.Duration) {
	for _, bucket := range a.buckets {
		h := hold{never, a.request.Priority == ratelimit.Recovery}
		at := slices.Index(m.held[bucket], h)
		if a.sent {
			m.held[bucket][at].until = now + Window
		} else {
			m.held[bucket] = slices.Delete(m.held[bucket], at, at+1)
		}
	}
}

// run returns when each is served.
func (m *model) run(askers []*asker) map[int]time.Duration {
	type event struct {
		at time.Duration
		do func(now time.Duration)
	}
	var events []event
	add := func(at time.Duration, do func(time.Duration)) { events = append(events, event{at, do}) }
	for _, a := range askers {
		add(a.at, func(time.Duration) { m.queue = append(m.queue, a) })
		add(a.leaves, func(time.Duration) { m.queue = slices.DeleteFunc(m.queue, func(o *asker) bool { return o == a }) })
	}
	for len(events) > 0 {
		next := slices.MinFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		events = slices.DeleteFunc(events, func(e event) bool {
			if e.at == next.at {
				e.do(next.at)
			}
			return e.at == next.at
		})
		m.serve(next.at, func(a *asker) {
			add(next.at+a.takes, func(now time.Duration) { m.giveBack(a, now) })
			add(next.at+a.takes+Window, func(time.Duration) {}) // its slots are free
		})
	}
	return m.served
}

// schedule makes up who comes when. No two things happen in the same instant.
func schedule(random *rand.Rand) []*asker {
	var askers []*asker
	instant := time.Duration(0)
	some := func(most time.Duration) time.Duration {
		instant++
		return (1 + time.Duration(random.Int64N(int64(most)))).Truncate(time.Microsecond) + instant
	}
	for id := range 300 {
		a := &asker{id: id, takes: some(time.Second), sent: random.IntN(4) > 0}
		a.at = some(4 * time.Minute)
		a.leaves = a.at + some(3*time.Minute)
		if random.IntN(3) == 0 {
			a.leaves = a.at + some(5*time.Second)
		}
		if random.IntN(20) == 0 {
			a.takes = some(2 * time.Minute)
		}
		a.request = Ask{Key: []string{"key/1", "key/2"}[random.IntN(2)], Hold: time.Minute}
		a.buckets = []string{a.request.Key}
		switch random.IntN(6) {
		case 0:
			a.request.Priority = ratelimit.Read
		case 1:
			a.request.Priority = []ratelimit.Priority{ratelimit.Entry, ratelimit.Recovery, ratelimit.Exit}[random.IntN(3)]
		case 2:
			a.request.Priority, a.request.Class = ratelimit.Entry, "orders"
		case 3:
			a.request.Priority, a.request.Class = ratelimit.Exit, "orders"
		case 4:
			a.request.Priority, a.request.Class = []ratelimit.Priority{ratelimit.Exit, ratelimit.Close}[random.IntN(2)], "closes"
		case 5:
			a.request.Priority, a.request.Class = ratelimit.Recovery, "orders"
		}
		if a.request.Class != "" {
			a.buckets = append(a.buckets, "user/"+a.request.Class)
		}
		askers = append(askers, a)
	}
	return askers
}

// Whoever asks for slots, in any order, priority and mix, and however many leave: each
// is served at the very instant at which the rules say so.
func TestTheQueueServesWhomItsModelServes(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	var early, late, never int
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 17))
			cfg := Options{
				PerKey: 12 + random.IntN(20), ReservePct: 20,
				Classes: map[string]int{"orders": 8, "closes": 1 + random.IntN(6)},
			}
			l := New(cfg)
			defer l.Close()
			l.learnt = map[string]learntLimit{"key/2": {5, time.Now().Add(time.Hour)}}
			m := &model{
				limits:  map[string]int{"key/1": cfg.PerKey, "key/2": 5, "user/orders": 8, "user/closes": cfg.Classes["closes"]},
				held:    map[string][]hold{},
				served:  map[int]time.Duration{},
				reserve: l.reserve, // which TestReserve holds to its figures
			}
			askers := schedule(random)
			got := runQueue(t, l, askers)
			want := m.run(askers)
			for _, a := range askers {
				at, ok := got[a.id]
				wanted, must := want[a.id]
				if ok != must || at != wanted {
					t.Fatalf("seed %d: asker %d (%v, %s, from %s to %s): served %t at %s, want %t at %s",
						seed, a.id, a.buckets, a.request.Priority, a.at, a.leaves, ok, at, must, wanted)
				}
				switch {
				case !ok:
					never++
				case at == a.at:
					early++
				default:
					late++
				}
			}
		})
	}
	if early == 0 || late == 0 || never == 0 {
		t.Errorf("%d served at once, %d later, %d never: the schedules show nothing", early, late, never)
	}
	t.Logf("%d served at once, %d later, %d never", early, late, never)
}

// runQueue lets the askers loose on a limiter, and returns when each was served.
func runQueue(t *testing.T, l *Limiter, askers []*asker) map[int]time.Duration {
	t.Helper()
	began := time.Now()
	var work sync.WaitGroup
	var mu sync.Mutex
	served := map[int]time.Duration{}
	for _, a := range askers {
		work.Go(func() {
			time.Sleep(a.at)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			gone := time.AfterFunc(a.leaves-a.at, cancel)
			defer gone.Stop()
			slot, err := l.Take(ctx, &a.request)
			if err != nil {
				return
			}
			mu.Lock()
			served[a.id] = time.Since(began)
			mu.Unlock()
			time.Sleep(a.takes)
			l.Return(slot, a.sent)
		})
	}
	work.Wait()
	assert.True(t, l.queuesAreEmpty(), "somebody is left in the queue")
	return served
}
