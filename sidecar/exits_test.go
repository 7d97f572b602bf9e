package sidecar

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"github.com/tradingapi/trading-go/tradingsim"
)

// crowd are the bots of one sidecar, each with a key of its own, that read and order as fast as they
// are let, and get out now and then.
type crowd struct {
	t     *testing.T
	sim   *tradingsim.Sim
	bots  int
	last  time.Duration // how long they trade
	pause time.Duration // between two requests of a bot, as a rule
	// ask sends the request of a bot, and returns its status; 0 if the bot gave up.
	ask func(bot int, operation, body string, patience time.Duration, header ...string) int

	mu    sync.Mutex
	exits map[string]*crowdExit // by Idempotency-Key
	work  sync.WaitGroup
	codes map[string]int // how many requests were answered what
}

// crowdExit is a full close of a bot.
type crowdExit struct {
	asked  time.Time
	gone   time.Time // when its bot gave it up; zero if it did not
	status int
}

// perExit is the time between two exits of the crowd: a hundred a minute.
const perExit = 600 * time.Millisecond

// faults lets one call in twenty meet something, but those of health.
func (c *crowd) faults(seed uint64) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 500))
	c.sim.FaultEach(func(operation string) tradingsim.Fault {
		mu.Lock()
		defer mu.Unlock()
		if operation == "GET /health" || random.IntN(20) > 0 {
			return nil
		}
		return []tradingsim.Fault{
			tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.GatewayError(502), tradingsim.Delay(3 * time.Second),
			tradingsim.DelayResponse(7 * time.Second), tradingsim.Fail(500, "internal_error"), tradingsim.FailAfter(500, "internal_error"),
			tradingsim.Fail(503, "idempotency_unavailable"), tradingsim.GatewayErrorAfter(504), tradingsim.Crash(),
		}[random.IntN(10)]
	})
}

// trade lets all bots trade for as long as is wanted.
func (c *crowd) trade(seed uint64) {
	c.exits, c.codes = map[string]*crowdExit{}, map[string]int{}
	end := time.Now().Add(c.last)
	for bot := range c.bots {
		c.work.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(bot)))
			for n := 0; time.Now().Before(end); n++ {
				operation, body := "GET /positions?accountId=acc_1", ""
				if n%2 == 1 {
					operation = "POST /orders"
					body = fmt.Sprintf(`{"accountId":"acc_1","symbol":%q,"side":"long","size":0.0%d,"leverage":2}`, []string{"BTC", "ETH"}[random.IntN(2)], 10+random.IntN(80))
				}
				c.note(operation[:4], c.ask(bot, operation, body, 30*time.Second))
				time.Sleep(time.Duration(float64(c.pause) * (0.5 + random.Float64())))
			}
		})
	}
	random := rand.New(rand.NewPCG(seed, 1<<32))
	for n := 0; time.Now().Before(end); n++ {
		bot, key := random.IntN(c.bots), fmt.Sprint("exit-", n)
		patience := time.Duration(2+random.IntN(30)) * time.Second
		c.work.Go(func() {
			e := &crowdExit{asked: time.Now()}
			c.mu.Lock()
			c.exits[key] = e
			c.mu.Unlock()
			e.status = c.ask(bot, "POST /positions/close", closeBTC, patience, "Idempotency-Key", key)
			if e.status == 0 {
				e.gone = time.Now()
			}
			c.note("exit", e.status)
		})
		time.Sleep(perExit)
	}
	c.work.Wait()
}

func (c *crowd) note(what string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes[fmt.Sprint(what, " ", status)]++
}

// holds wants every exit at the service within two seconds, and none after its bot was gone.
func (c *crowd) holds() {
	all := arrivals(c.sim)
	var waits []time.Duration
	var unsent, late, after int
	for key, e := range c.exits {
		if len(all[key]) == 0 {
			unsent++
			c.t.Logf("%s: not sent, answered %d", key, e.status)
			continue
		}
		at := all[key][0]
		switch {
		case !e.gone.IsZero() && at.After(e.gone):
			after++
			c.t.Logf("%s: sent %s after its bot had given it up", key, at.Sub(e.gone))
		case at.Sub(e.asked) > 2*time.Second:
			late++
			c.t.Logf("%s: sent %s after it was asked for", key, at.Sub(e.asked))
		}
		waits = append(waits, at.Sub(e.asked))
	}
	slices.Sort(waits)
	c.t.Logf("%d requests at the service, answered %v", len(c.sim.Requests()), c.codes)
	c.t.Logf("%d exits: %d unsent, %d late, %d after their bot", len(c.exits), unsent, late, after)
	c.t.Logf("measured %d times: median %s, longest %s", len(waits), waits[(len(waits)-1)/2], waits[len(waits)-1]) // bench reads it
	assert.Zero(c.t, unsent+late+after)
}

// arrivals are when requests came to the service, by their Idempotency-Key.
func arrivals(sim *tradingsim.Sim) map[string][]time.Time {
	all := map[string][]time.Time{}
	for _, request := range sim.Requests() {
		for name, values := range request.Header {
			if http.CanonicalHeaderKey(name) == "Idempotency-Key" {
				all[values[0]] = append(all[values[0]], request.At)
			}
		}
	}
	return all
}

// crowdKeys makes the local keys of the bots.
func crowdKeys(r *rig, bots int) []string {
	keys := make([]string, bots)
	for i := range keys {
		name := fmt.Sprint("bot-", i)
		var err error
		keys[i], err = localkey.Add(filepath.Join(r.config.Dir, "keys"), localkey.Key{Name: name, Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade}, time.Now())
		require.NoError(r.t, err)
	}
	for i := range keys {
		_, err := r.server.file.First(r.t.Context(), fmt.Sprint("bot-", i), "acc_1", time.Now().Add(-25*time.Hour))
		require.NoError(r.t, err)
	}
	return keys
}

// Whatever else 500 bots ask for, exits go out.
func TestFound17_ExitsOfACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tradingsim.Option{tradingsim.WithRequestLog(1 << 20)})
		c := &crowd{t: t, sim: r.sim, bots: 500, last: 90 * time.Second, pause: 5 * time.Second}
		keys := crowdKeys(r, c.bots)
		c.ask = func(bot int, operation, body string, patience time.Duration, header ...string) int {
			d := new(deaf)
			d.hears.Store(true)
			done := make(chan answer, 1)
			c.work.Go(func() { done <- r.by(d, keys[bot], operation, body, header...) })
			select {
			case a := <-done:
				return a.status
			case <-time.After(patience):
				d.hears.Store(false)
				d.away.Store(true)
				return 0
			}
		}
		c.faults(1)
		c.trade(1)
		c.holds()
	})
}

// exitsFor is how long the crowd trades in real time, over sockets and beside strangers.
var exitsFor = flag.Duration("exits.for", 0, "how long 500 bots on a port, beside 1,024 strangers, have their exits carried out; 0 for not at all")

// exitsAgain is how soon the strangers are there again.
var exitsAgain = flag.Duration("exits.again", time.Second, "how long after it is sent away a stranger comes again")

// The same over connections, with 1,024 strangers on the port that come again soon after they are sent away.
func TestFound17_ExitsOfACrowdBesideStrangers(t *testing.T) {
	if *exitsFor == 0 {
		t.Skip("-exits.for 2m runs it")
	}
	r, address, _ := hostile(t, tradingsim.WithRequestLog(1<<20))
	c := &crowd{t: t, sim: r.sim, bots: 500, last: *exitsFor, pause: 3 * time.Second}
	keys, clients := crowdKeys(r, c.bots), make([]http.Client, c.bots)
	for i := range clients {
		clients[i].Transport = new(http.Transport)
		t.Cleanup(clients[i].CloseIdleConnections)
	}
	c.ask = func(bot int, operation, body string, patience time.Duration, header ...string) int {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		method, path, _ := strings.Cut(operation, " ")
		request, err := http.NewRequestWithContext(ctx, method, "http://"+address+"/v1"+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("X-API-Key", keys[bot])
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		answer, err := clients[bot].Do(request)
		if err != nil {
			return 0
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close() // the bot has its status
		return answer.StatusCode
	}
	over := make(chan struct{})
	var strangers sync.WaitGroup
	for range 1024 {
		strangers.Go(func() {
			for {
				closed := make(chan struct{})
				stranger, err := net.Dial("tcp", address)
				if err == nil {
					go func() {
						defer close(closed)
						_, _ = stranger.Read(make([]byte, 1)) // until it is sent away
					}()
					select {
					case <-closed:
					case <-over:
					}
					_ = stranger.Close()
				}
				select {
				case <-over:
					return
				case <-time.After(*exitsAgain):
				}
			}
		})
	}
	c.faults(1)
	c.trade(1)
	close(over)
	strangers.Wait()
	c.holds()
}

// An exit that waits for its limit ends with its bot, and after ten seconds at the most.
func TestFound17_AnExitEndsWithItsBot(t *testing.T) {
	for name, row := range map[string]struct {
		closed, leaves time.Duration // the limit of closes, and the bot
		status         int
	}{
		"the bot leaves":          {8 * time.Second, 2 * time.Second, 503},
		"the bot has left before": {8 * time.Second, 0, 503},
		"the bot waits":           {8 * time.Second, time.Minute, 404}, // the service's own: there is no position
		"the limit stays closed":  {20 * time.Second, time.Minute, 429},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, nil, func(r *rig) {
				r.sim.Fault("POST /positions/close", tradingsim.RateLimit(row.closed))
				other := r.key(localkey.Key{Name: "other", Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade})
				var work sync.WaitGroup
				work.Go(func() { r.do(other, "POST /positions/close", closeBTC) }) // it hears that the limit is closed
				time.Sleep(time.Millisecond)
				bot := new(deaf)
				leaves := time.AfterFunc(row.leaves, func() { bot.away.Store(true) })
				defer leaves.Stop()
				if row.leaves == 0 {
					bot.away.Store(true)
				}
				began := time.Now()
				a := r.by(bot, r.live, "POST /positions/close", closeBTC, "Idempotency-Key", "mine")
				assert.Equal(r.t, row.status, a.status, a.body)
				assert.LessOrEqual(r.t, time.Since(began), exitTTL)
				if row.status != 404 {
					assert.Equal(r.t, "not-applied", a.outcome)
					assert.NotEmpty(r.t, a.header.Get("Retry-After"))
				}
				time.Sleep(time.Minute)
				work.Wait()
				assert.Len(r.t, arrivals(r.sim)["mine"], map[bool]int{true: 1}[row.status == 404])
			})
		})
	}
}

// An exit waits for the file of answers as long as for the journal; an entry until it is written.
func TestFound17_AnExitAndADiskThatHangs(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		for kind, waits := range map[hearing.Kind]time.Duration{
			hearing.Exit: exitWaits, hearing.Partial: exitWaits, hearing.Entry: time.Minute,
		} {
			began := time.Now()
			err := r.server.soon(&request{route: route{write: true}, kind: kind}, func() error { time.Sleep(time.Minute); return nil })
			assert.Equal(r.t, waits, time.Since(began))
			assert.Equal(r.t, kind != hearing.Entry, err != nil)
		}
	})
}
