package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	trialCalls = flag.Int("soak.trial", 640, "how many calls a soak under an accident makes")
	inPairs    = flag.Bool("soak.pairs", false, "let each two accidents happen together")
	oneTrial   = flag.String("soak.only", "", "the accident, or the two joined by ' | ', that happens")
)

// accident is something that is wrong for a whole soak, beside the faults of its calls.
type accident struct {
	name    string
	sim     func() []tradingsim.Option
	options []trading.Option
	disk    func(journal.Store, *dice) journal.Store
	front   func(http.RoundTripper, *dice, *service) http.RoundTripper
	over    func(testing.TB, http.RoundTripper, *dice) http.RoundTripper
	faults  []rig.Fault // that join those of the mix
	begin   func(*service)
	disturb func(*service, *dice) // every few seconds
	clients int                   // on the one journal; 0 is 1
	hosts   bool                  // each client has a base URL of its own
	think   time.Duration         // the longest pause of a worker between two calls
}

// overPipes leads to a service over connections, each of which swallows what is sent from some moment on, or
// is on a path that drops packets from then on.
func overPipes(drops bool, after func(*dice) time.Duration) func(testing.TB, http.RoundTripper, *dice) http.RoundTripper {
	return func(t testing.TB, to http.RoundTripper, d *dice) http.RoundTripper {
		pipes := rig.OverPipes(t, rig.Through(to))
		pipes.Drops = drops
		pipes.SwallowAfter(func() time.Duration { return after(d) })
		return pipes.Transport
	}
}

// afterAWhile is for few connections.
func afterAWhile(d *dice) time.Duration { return time.Duration(rare(d)*(1+d.intN(60))) * time.Second }

// worksLong is a service that works for longer than an attempt lasts.
var worksLong = rig.Faults("works for 6s", "works for 12s", "works for 20s")

var accidents = []accident{
	{name: "the service's clock an hour behind", sim: skewed(-time.Hour)},
	{name: "the service's clock 10s ahead", sim: skewed(10 * time.Second)},
	{name: "the service's clock goes in steps of half a second", sim: stepping},
	{name: "a sync takes 1s", disk: func(j journal.Store, _ *dice) journal.Store {
		return &rig.SlowDisk{Store: j, Sync: func() time.Duration { return time.Second }}
	}},
	{name: "a sync hangs for a minute now and then", disk: func(j journal.Store, d *dice) journal.Store {
		return &rig.SlowDisk{Store: j, Sync: func() time.Duration { return time.Duration(rare(d)) * time.Minute }}
	}},
	{name: "an append fails now and then", disk: func(j journal.Store, d *dice) journal.Store {
		return &rig.SlowDisk{Store: j, Fails: func() bool { return rare(d) > 0 }}
	}},
	{name: "over connections, on which the client listens", over: overPipes(false, func(*dice) time.Duration { return 0 }), faults: worksLong},
	{name: "over connections that swallow after a while", over: overPipes(false, afterAWhile), faults: worksLong},
	{name: "over connections on a path that drops packets after a while", over: overPipes(true, afterAWhile), faults: worksLong},
	{name: "connections take 4s now and then", front: func(next http.RoundTripper, d *dice, _ *service) http.RoundTripper {
		return rig.Way(func(r *http.Request) (*http.Response, error) {
			if rare(d) > 0 && !rig.Pause(r.Context(), 4*time.Second) {
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		})
	}},
	{name: "a black hole of 10s each minute", front: func(next http.RoundTripper, _ *dice, s *service) http.RoundTripper {
		began := time.Now()
		return rig.Way(func(r *http.Request) (*http.Response, error) {
			if time.Since(began)%time.Minute > 50*time.Second { // half of it arrives
				if time.Since(began)%time.Second > time.Second/2 {
					resp, err := next.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
					s.unheard(r, resp, err)
				}
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		})
	}},
	{name: "answers without a Date", front: answered(func(h http.Header) { h.Del("Date") })},
	{name: "Date 4s ahead of the rows", front: answered(func(h http.Header) { rig.ShiftDate(h, 4*time.Second) })},
	{name: "an edge that marks each answer", front: answered(rig.ByEdge)},
	{name: "health that flaps", disturb: func(s *service, d *dice) {
		s.sim.SetHealth("degraded", "live")
		time.Sleep(time.Duration(1+d.intN(8)) * time.Second)
		s.sim.SetHealth("healthy", "live")
	}},
	{name: "two clients", clients: 2},
	{name: "two clients, two base URLs", clients: 2, hosts: true},
	{name: "reads from a cache", front: cached},
	{name: "answers of codes that no table names", faults: unheardOf},
	{name: "at a fast pace", think: 500 * time.Millisecond},
	{name: "few slots", options: []trading.Option{trading.WithRateLimits(trading.RateLimits{PerClass: 9, PerKey: 60})}},
	{name: "a guard that takes 3s, or refuses", options: []trading.Option{trading.WithGuard(guardOf(newDice(7, 7)))}},
	{name: "lists of 5 closed trades", sim: func() []tradingsim.Option { return []tradingsim.Option{tradingsim.WithTradeRows(5)} }},
	{name: "reads are behind", begin: func(s *service) {
		rig.Lags{4900 * time.Millisecond, 3400 * time.Millisecond, 1900 * time.Millisecond, 400 * time.Millisecond}.Set(s.sim)
	}},
}

// unheardOf are own answers whose codes no table has, and a gateway's in their shape.
var unheardOf = rig.Faults("500 database_error", "504 timeout", "400 new_rule", "409 new_conflict", "422 new_check", "403 market_paused_for_now",
	"a gateway's 400", "a gateway's 400 after", "a gateway's 404 gone_for_now after", "a gateway's 429 after", "a gateway's 503 after")

// rare is 1 for one in fifty.
func rare(d *dice) int {
	if d.intN(50) == 0 {
		return 1
	}
	return 0
}

func skewed(d time.Duration) func() []tradingsim.Option {
	return func() []tradingsim.Option { return []tradingsim.Option{tradingsim.WithSkew(d)} }
}

// stepping is a clock that is set right each minute: half a second on, and back.
func stepping() []tradingsim.Option {
	return []tradingsim.Option{tradingsim.WithClock(func() time.Time {
		now := time.Now()
		if now.Minute()%2 == 0 {
			return now
		}
		return now.Add(time.Second / 2)
	})}
}

// guardOf is a program's own guard.
func guardOf(d *dice) trading.Guard {
	return func(ctx context.Context, _ trading.Write) error {
		switch d.intN(50) {
		case 0:
			return errors.New("the guard says no")
		case 1:
			rig.Pause(ctx, 3*time.Second)
		}
		return ctx.Err()
	}
}

// unheard notes that nobody hears an answer. A write that ran and was answered 5xx is not stored,
// and runs again when it is sent again within its time: no client can know.
func (s *service) unheard(r *http.Request, resp *http.Response, err error) {
	if err != nil {
		return
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= 500 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lost[rig.KeyIn(r)] = true
	}
}

func answered(change func(http.Header)) func(http.RoundTripper, *dice, *service) http.RoundTripper {
	return func(next http.RoundTripper, _ *dice, _ *service) http.RoundTripper {
		return rig.Changed(next, func(_ *http.Request, h http.Header) { change(h) })
	}
}

// cached answers half of the reads by what they were answered within the last 12 s.
func cached(next http.RoundTripper, d *dice, _ *service) http.RoundTripper {
	c := rig.Cache{Lasts: 12 * time.Second, Serves: func(*http.Request) bool { return d.intN(2) == 0 }}
	return c.Before(next)
}

// elsewhere is the service under another host.
func elsewhere(s *service, n int, next http.RoundTripper) (baseURL string, front http.RoundTripper) {
	here, err := url.Parse(s.sim.URL())
	if err != nil {
		panic(err)
	}
	there := *here
	there.Host = fmt.Sprintf("host%d.%s", n, here.Host)
	return there.String(), rig.Way(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Host, r.Host = here.Host, here.Host
		return next.RoundTrip(r)
	})
}

// TestSoakUnderAccidents wears clients out with one accident at a time, or with two. Each has
// a journal.
func TestSoakUnderAccidents(t *testing.T) {
	for i, a := range accidents {
		play(t, i, a)
		for _, b := range accidents[i+1:] {
			if *inPairs {
				play(t, i, a, b)
			}
		}
	}
}

// play lets accidents happen, to either mix of faults in turn.
func play(t *testing.T, n int, of ...accident) {
	names := make([]string, len(of))
	for i := range of {
		names[i] = of[i].name
	}
	name := strings.Join(names, " | ")
	if *oneTrial != "" && name != *oneTrial {
		return
	}
	v := variants[(n+int(*seed))%len(variants)]
	v.opts = append(v.opts[:len(v.opts):len(v.opts)], trading.WithResolveTimeout(10*time.Second))
	v.think, v.calls, v.accidents, v.name = 16*time.Second, *trialCalls, of, name+", "+v.name
	if depth.Race {
		v.calls /= 4
	}
	t.Run(v.name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { v.trial(t) })
	})
}

// trial is a soak of one round.
func (v variant) trial(t *testing.T) {
	var (
		tally      = newTally()
		store      = journal.NewMemory()
		disturbing sync.WaitGroup
		over       = make(chan struct{})
		clients    = 1
		hosts      = false
		drawn      = newDice(*seed, 77)
	)
	var front http.RoundTripper
	for _, a := range v.accidents {
		if a.sim != nil {
			v.sim = append(v.sim[:len(v.sim):len(v.sim)], a.sim()...)
		}
		if a.think > 0 {
			v.think = a.think
		}
		v.mix.beside = append(v.mix.beside[:len(v.mix.beside):len(v.mix.beside)], a.faults...)
		v.opts = append(v.opts, a.options...)
		clients, hosts = max(clients, a.clients), hosts || a.hosts
		if a.disk != nil {
			store = a.disk(store, drawn)
		}
	}
	s := newService(0, v.mix, newDice(*seed, 1), v.sim...)
	front = s.sim.Transport()
	for _, a := range v.accidents {
		if a.front != nil {
			front = a.front(front, drawn, s)
		}
		if a.begin != nil {
			a.begin(s)
		}
		if a.disturb != nil {
			disturbing.Go(func() {
				for pauseUntil(over, time.Duration(drawn.intN(30))*time.Second) {
					a.disturb(s, drawn)
				}
			})
		}
	}
	for _, a := range v.accidents {
		if a.over != nil {
			front = a.over(t, front, drawn)
		}
	}
	var all []*trading.Client
	for n := range clients {
		baseURL, front := s.sim.URL(), front
		if hosts && n > 0 {
			baseURL, front = elsewhere(s, n, front)
		}
		all = append(all, v.client(t, s, baseURL, front, tally, trading.WithJournal(store)))
	}
	if v.bots != nil {
		v.bots.round(t, all, s, tally)
	} else {
		v.round(t, 0, all, s, tally)
	}
	close(over)
	disturbing.Wait()
	if v.bots == nil {
		tally.check(s)
	}
	for _, c := range all {
		if err, left := c.Close(), (*trading.PendingError)(nil); err != nil && !errors.As(err, &left) {
			t.Error(err)
		}
	}
	for _, p := range tally.problems {
		t.Error(p)
	}
	t.Logf("%d faults of %d kinds\n%s", rig.Sum(s.met), len(s.met), tally)
}

func pauseUntil(over <-chan struct{}, d time.Duration) bool {
	select {
	case <-over:
		return false
	case <-time.After(d):
		return true
	}
}
