package soak

import (
	"context"
	"flag"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	full = flag.Bool("soak.full", false, "make more than a hundred thousand calls")
	seed = flag.Uint64("soak.seed", 1, "the dice of the soak")
)

const workers = 64

// rounds is how often the heap is measured; each round has a simulation of its own.
const rounds = 4

// variant is one kind of soak in virtual time.
type variant struct {
	name  string
	mix   mix
	opts  []trading.Option
	sim   []tradingsim.Option
	think time.Duration // the longest pause between two calls of a worker
	calls int           // in all, in the full run

	accidents []accident
	bots      *bots // that take the place of the workers; nil for none
}

var variants = []variant{
	{
		name: "paced, and requests that arrive late",
		mix:  mix{copies: true},
	},
	{
		name: "not paced, and failures after the work",
		mix:  mix{failsAfterWork: true},
		opts: []trading.Option{trading.WithRateLimits(trading.RateLimits{Off: true})},
	},
}

// TestSoak wears one client out in virtual time.
func TestSoak(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			v.think, v.calls = 16*time.Second, 5_120
			if *full {
				v.calls = 120_000
			}
			synctest.Test(t, func(t *testing.T) { v.run(t) })
		})
	}
}

func (v variant) run(t *testing.T) {
	var (
		way   link
		tally = newTally()
		began = time.Now()
		met   = map[string]int{}
	)
	first := newService(0, v.mix, newDice(*seed, 0), v.sim...)
	client := v.client(t, first, first.sim.URL(), &way, tally)

	var heaps []uint64
	for round := range rounds {
		s := newService(round, v.mix, newDice(*seed, uint64(1+round)), v.sim...)
		way.connect(s.sim.Transport())
		v.round(t, round, []*trading.Client{client}, s, tally)
		tally.check(s)
		for name, n := range s.met {
			met[name] += n
		}
		way.connect(nowhere{})
		require.NoError(t, s.sim.Close())
		s = nil
		heaps = append(heaps, heap())
	}
	usage, err := client.RateLimitUsage(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, usage)
	require.NoError(t, client.Close())

	for _, p := range tally.problems {
		t.Error(p)
	}
	assert.Greater(t, len(met), 25, "kinds of faults")
	assertSteady(t, heaps)
	t.Logf("%d goroutines, %s of virtual time, %d faults of %d kinds, heap after each round %v bytes\n%s",
		workers, time.Since(began).Round(time.Second), rig.Sum(met), len(met), heaps, tally)
}

// client makes a client of a service.
func (v variant) client(t *testing.T, s *service, baseURL string, way http.RoundTripper, tally *tally, more ...trading.Option) *trading.Client {
	opts := append([]trading.Option{
		trading.WithSandboxKey(s.sim.SandboxKey()), trading.WithLiveKey(s.sim.LiveKey()),
		trading.WithTransport(way), trading.WithHooks(attempts(tally)), trading.WithExclusiveAccounts(ownAlone()...),
	}, v.opts...)
	client, err := trading.New(baseURL, append(opts, more...)...)
	require.NoError(t, err)
	return client
}

// round lets all workers make their share of the calls, and waits until nothing is
// under way. The clients share a journal.
func (v variant) round(t *testing.T, round int, clients []*trading.Client, s *service, tally *tally) {
	var (
		group sync.WaitGroup
		sizes sizes
		calm  = s.disturbed(newDice(*seed, uint64(1000+round)))
	)
	for i := range workers {
		w := &worker{
			client: clients[i%len(clients)], service: s, sizes: &sizes, tally: tally,
			dice: newDice(*seed, uint64(10_000*(round+1)+i)),
		}
		group.Go(func() {
			for range v.share() {
				time.Sleep(time.Duration(w.dice.intN(int(v.think))))
				w.call(t.Context())
			}
		})
	}
	group.Wait()
	calm()
	for _, client := range clients {
		resolveOwn(t, client, tally)
	}
}

// share is how many calls a worker makes in a round.
func (v variant) share() int {
	if len(v.accidents) > 0 {
		return max(v.calls/workers, 1)
	}
	return v.calls / rounds / workers
}

// resolveOwn waits for what became of the settings of levels that the client has sent by
// itself, in place of those that an older one replaced. No worker waits for them, and one
// whose answer decides nothing takes half an hour.
func resolveOwn(t *testing.T, client *trading.Client, tally *tally) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Hour)
	defer cancel()
	for {
		left, err := client.Pending(ctx)
		require.NoError(t, err)
		if len(left) == 0 {
			return
		}
		for _, w := range left {
			require.Equal(t, trading.OpTPSL, w.Operation, "a worker has resolved or acknowledged any other: %s", w.Reason)
			r, err := client.ResolveID(ctx, w.ID)
			require.NoError(t, err)
			tally.resolution(*r)
			tally.count("the client's own settings of levels, resolved after a round")
		}
	}
}

// ownAlone are the accounts that the client is told to be alone on: every other one.
func ownAlone() (ids []trading.AccountID) {
	for round := range rounds {
		for i := range accountsPerRound / 2 {
			ids = append(ids, accountID(round, 2*i+1))
		}
	}
	return ids
}

// attempts counts what was sent.
func attempts(tally *tally) trading.Hooks {
	return trading.Hooks{
		AttemptDone: func(_ context.Context, _ trading.Call, a trading.Attempt) {
			tally.count("requests")
			if a.Status == http.StatusTooManyRequests {
				tally.count("429s")
			}
		},
	}
}

// nowhere answers nothing.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, http.ErrServerClosed }

// heap is what is in use after a collection; two, for what finalizers free.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// slack is by how much the heap may differ between two rounds: pools, maps that have
// grown to the largest crowd, and what was found out of the latest writes in doubt.
const slack = 1 << 20

// ofAnAccount is what a client may keep of an account: each round has others.
const ofAnAccount = 64 << 10

// assertSteady holds the heap after the last round against that before it: until then it grows to
// what it keeps of the latest writes in doubt.
func assertSteady(t *testing.T, heaps []uint64) {
	t.Helper()
	before, last := heaps[len(heaps)-2], heaps[len(heaps)-1]
	assert.LessOrEqual(t, last, before+slack+accountsPerRound*ofAnAccount, "the heap has grown, from round to round: %v", heaps)
}
