//go:build !race

// The race detector of Go 1.26 itself breaks down (CHECK failed in tsan_rtl.cpp) on so
// many bubbles with so many timers, about every other time. The line under -race is
// what ratelimit_load_test.go and ratelimit_slow_test.go are for.

package trading

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// asker is a call of the random schedules below: when it comes and goes, what it
// claims, and how it uses its place.
type asker struct {
	id      int
	at      time.Duration // it comes
	leaves  time.Duration // it does not wait longer than until then
	lane    Lane
	key     apiKey
	e       *endpoint
	takes   time.Duration // from its place to its answer
	sent    bool
	buckets []string
	keep    bool
}

// model is who must be served when, worked out the long way round: at every instant
// at which anything happens, everybody is looked at, and every place is counted.
type model struct {
	limits  map[string]int
	reserve map[string]int
	held    map[string][]time.Duration // until when; never, while under way
	line    []*asker
	served  map[int]time.Duration
}

const never = time.Duration(1<<63 - 1)

// lacks returns how long a bucket has no place for the asker.
func (m *model) lacks(a *asker, bucket string, now time.Duration) time.Duration {
	var held []time.Duration
	for _, until := range m.held[bucket] {
		if until > now {
			held = append(held, until)
		}
	}
	slices.Sort(held)
	room := m.limits[bucket]
	if a.keep {
		room -= m.reserve[bucket]
	}
	if len(held) < room {
		return 0
	}
	if until := held[len(held)-room]; until != never {
		return until - now
	}
	return limitWindow
}

// serve gives places to those in the line: the highest lane first, then who came
// first, and past those who wait for a bucket only who does not need it.
func (m *model) serve(now time.Duration, took func(*asker)) {
	slices.SortStableFunc(m.line, func(a, b *asker) int {
		return cmp.Or(cmp.Compare(b.lane, a.lane), cmp.Compare(a.at, b.at))
	})
	short := map[string]bool{}
	var left []*asker
	for _, a := range m.line {
		lacking, longest := "", time.Duration(0)
		held := false
		for _, bucket := range a.buckets {
			if wait := m.lacks(a, bucket, now); wait > longest {
				lacking, longest = bucket, wait
			}
			held = held || short[bucket]
		}
		switch {
		case held:
		case lacking != "":
			short[lacking] = true
		default:
			for _, bucket := range a.buckets {
				m.held[bucket] = append(m.held[bucket], never)
			}
			m.served[a.id] = now
			took(a)
			continue
		}
		left = append(left, a)
	}
	m.line = left
}

// giveBack ends what the asker has begun.
func (m *model) giveBack(a *asker, now time.Duration) {
	for _, bucket := range a.buckets {
		at := slices.Index(m.held[bucket], never)
		if a.sent {
			m.held[bucket][at] = now + limitWindow
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
		add(a.at, func(time.Duration) { m.line = append(m.line, a) })
		add(a.leaves, func(time.Duration) { m.line = slices.DeleteFunc(m.line, func(o *asker) bool { return o == a }) })
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
			add(next.at+a.takes+limitWindow, func(time.Duration) {}) // its places are free
		})
	}
	return m.served
}

// schedule makes up who comes when. No two things happen in the same instant.
func schedule(random *rand.Rand, keys []apiKey) []*asker {
	var askers []*asker
	instant := time.Duration(0)
	some := func(most time.Duration) time.Duration {
		instant++
		return (1 + time.Duration(random.Int64N(int64(most)))).Truncate(time.Microsecond) + instant
	}
	for id := range 300 {
		a := &asker{id: id, key: keys[random.IntN(len(keys))], takes: some(time.Second), sent: random.IntN(4) > 0}
		a.at = some(4 * time.Minute)
		a.leaves = a.at + some(3*time.Minute)
		if random.IntN(3) == 0 {
			a.leaves = a.at + some(5*time.Second)
		}
		if random.IntN(20) == 0 {
			a.takes = some(2 * time.Minute)
		}
		switch random.IntN(5) {
		case 0:
			a.e, a.lane = &endpointPositions, LaneRead
		case 1:
			a.e, a.lane = &endpointPositions, []Lane{LaneEntry, LaneDoubt, LaneExit}[random.IntN(3)]
		case 2:
			a.e, a.lane = &endpointOrder, LaneEntry
		case 3:
			a.e, a.lane = &endpointOrder, LaneExit
		case 4:
			a.e, a.lane = &endpointClose, LaneExit
		}
		a.keep = a.lane < LaneDoubt
		askers = append(askers, a)
	}
	return askers
}

// Whoever asks for places, in any order, lane and mix, and however many leave: each
// is served at the very instant at which the rules say so.
func TestTheLineServesWhoItsModelServes(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	var early, late, never int
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 17))
			client, err := New(testBaseURL, WithLiveKey(testLiveKey), WithBudget(Budget{ReservePct: 20}))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			b := client.core.budgets
			keys := []apiKey{newAPIKey(testLiveKey), newAPIKey(testLiveKey + "2")}
			b.limits = map[string]int{
				keys[0].ID(): 12 + random.IntN(20), keys[1].ID(): 5,
				b.classes[endpointOrder.class]: 8, b.classes[endpointClose.class]: 1 + random.IntN(6),
			}
			m := &model{limits: b.limits, reserve: map[string]int{}, held: map[string][]time.Duration{}, served: map[int]time.Duration{}}
			for name, limit := range b.limits {
				m.reserve[name] = min(max(limit/5, 1), limit-1)
			}
			askers := schedule(random, keys)
			for _, a := range askers {
				a.buckets = []string{a.key.ID()}
				if a.e.class != "" {
					a.buckets = append(a.buckets, b.classes[a.e.class])
				}
			}
			got := runLine(t, client, askers)
			want := m.run(askers)
			for _, a := range askers {
				at, ok := got[a.id]
				wanted, must := want[a.id]
				if ok != must || at != wanted {
					t.Fatalf("seed %d: asker %d (%s, %s, from %s to %s): served %t at %s, want %t at %s",
						seed, a.id, a.e.op, a.lane, a.at, a.leaves, ok, at, must, wanted)
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

// runLine lets the askers loose on a client's line, and returns when each was served.
func runLine(t *testing.T, client *Client, askers []*asker) map[int]time.Duration {
	t.Helper()
	began := time.Now()
	b := client.core.budgets
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
			c := a.call(ctx, client)
			if b.take(c) != nil {
				return
			}
			mu.Lock()
			served[a.id] = time.Since(began)
			mu.Unlock()
			time.Sleep(a.takes)
			c.leavePlace(a.sent)
		})
	}
	work.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != 0 || slices.ContainsFunc(b.lanes[:], func(queues []*queue) bool { return len(queues) > 0 }) {
		t.Error("somebody is left in the line")
	}
	return served
}

// call is the asker as the line sees it.
func (a *asker) call(ctx context.Context, client *Client) *call {
	c := client.caller().begin(ctx, a.e, []CallOption{WithLifetime(12 * time.Minute)})
	c.apiKey, c.entry = a.key, a.e.write && a.lane == LaneEntry
	if !a.e.write {
		c.opts.lane = Some(a.lane)
	}
	if got := c.lane(); got != a.lane {
		panic(fmt.Sprint("lane ", got, ", want ", a.lane))
	}
	return c
}

// BenchmarkPlaces is a place taken and given back, where there are always some.
func BenchmarkPlaces(b *testing.B) {
	for _, goroutines := range []int{1, 64} {
		b.Run(fmt.Sprint(goroutines, " goroutines"), func(b *testing.B) {
			client := benchClient(b, nil, testBaseURL)
			a := asker{e: &endpointOrder, lane: LaneEntry, key: client.core.liveKeys.given}
			b.SetParallelism(goroutines)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				c := a.call(context.Background(), client)
				for pb.Next() {
					if err := client.core.budgets.take(c); err != nil {
						b.Error(err)
						return
					}
					c.leavePlace(false)
				}
			})
		})
	}
}

// A place costs no memory where one is free, however its request ends.
func TestAPlaceCostsNoMemory(t *testing.T) {
	client, err := New(testBaseURL, WithLiveKey(testLiveKey))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	roomy(client)
	a := asker{e: &endpointOrder, lane: LaneEntry, key: client.core.liveKeys.given}
	c := a.call(context.Background(), client)
	use := func(sent bool) {
		if err := client.core.budgets.take(c); err != nil {
			t.Error(err)
		}
		c.leavePlace(sent)
	}
	for range 1100 { // so that what is held has room
		use(true)
	}
	for _, sent := range []bool{false, true} {
		if allocations := testing.AllocsPerRun(100, func() { use(sent) }); allocations > 0 {
			t.Errorf("sent %t: %v allocations", sent, allocations)
		}
	}
}
