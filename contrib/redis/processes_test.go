package redis

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var processesFor = flag.Duration("processes.for", 5*time.Second, "how long the bots of several processes saturate their limits before they get out")

// processesStop are how long Redis is away, one run for each.
var processesStop = durations("processes.stop", []time.Duration{3 * time.Second}, "how long Redis is stopped at saturation: 3s,30s,135s")

// durations is a flag of several.
func durations(name string, all []time.Duration, usage string) *[]time.Duration {
	flag.Func(name, usage, func(text string) error {
		all = nil
		for part := range strings.SplitSeq(text, ",") {
			d, err := time.ParseDuration(part)
			if err != nil {
				return err
			}
			all = append(all, d)
		}
		return nil
	})
	return &all
}

const (
	processEnv      = "TRADING_REDIS_PROCESS"
	processes, each = 4, 5
	processExits    = 3 * time.Second // how long an exit may take
)

// processConfig is what a process is told.
type processConfig struct {
	BaseURL, LiveKey, Redis string
	First                   int // of its bots
	Lasts                   time.Duration
	Spread                  time.Duration // over which the exits of all bots are spread, from then on
}

// processWord is what a bot says of its exit.
type processWord struct {
	Took time.Duration
	Err  string
}

// TestProcess is a process of [TestRealProcesses]; it starts it.
func TestProcess(t *testing.T) {
	text := os.Getenv(processEnv)
	if text == "" {
		t.Skip("for TestRealProcesses alone")
	}
	var c processConfig
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	rdb := goredis.NewClient(&goredis.Options{Addr: c.Redis, ContextTimeoutEnabled: true})
	store, err := New(rdb, "desk")
	require.NoError(t, err)
	var bots sync.WaitGroup
	out := json.NewEncoder(os.Stdout)
	var mu sync.Mutex
	for i := range each {
		bots.Go(func() {
			said := saturate(c, store, c.First+i)
			mu.Lock()
			defer mu.Unlock()
			_ = out.Encode(said)
		})
	}
	bots.Wait()
	os.Exit(0)
}

// saturate is the life of a bot: it reads and orders as fast as it may, and gets out.
func saturate(c processConfig, store *Store, bot int) (said processWord) {
	client, err := trading.New(c.BaseURL, trading.WithLiveKey(c.LiveKey), trading.WithRateLimits(trading.RateLimits{Store: store, Owner: "desk"}))
	if err != nil {
		return processWord{Err: err.Error()}
	}
	defer func() { _ = client.Close() }()
	of := client.Live.Account(trading.AccountID(fmt.Sprint("acc_", bot)))
	ctx, cancel := context.WithTimeout(context.Background(), c.Lasts+c.Spread+processExits+time.Second)
	defer cancel()
	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}
	if _, err := of.PlaceOrder(ctx, order); err != nil {
		return processWord{Err: err.Error()}
	}
	var busy sync.WaitGroup
	defer busy.Wait()
	defer cancel()
	more := order
	more.Symbol = "ETH"
	for range 3 {
		busy.Go(func() {
			for ctx.Err() == nil {
				_, _ = of.Positions(ctx)
				_, _ = of.PlaceOrder(ctx, more)
			}
		})
	}
	time.Sleep(c.Lasts + c.Spread*time.Duration(bot)/(processes*each))
	began := time.Now()
	exit, stop := context.WithTimeout(context.Background(), processExits)
	defer stop()
	if _, err := of.ClosePosition(exit, "BTC", trading.All); err != nil {
		said.Err = err.Error()
	}
	said.Took = time.Since(began)
	return said
}

// Twenty bots in four processes share a key, and the limits of it in Redis: together they cause no
// 429 while they saturate them, and all their exits pass.
func TestRealProcesses(t *testing.T) {
	requests, slowest := processesOn(t, startReal(t), *processesFor, 0, func() {})
	assert.GreaterOrEqual(t, requests, 450, "they saturate the limit")
	t.Logf("%d requests, the slowest exit %s", requests, slowest)
}

// The same while Redis is stopped, and comes back with nothing in it, or has keys that are no use, or
// forgets all: no 429, no minute above the limit, and no exit waits for two seconds.
func TestFound12_RedisStopsAtSaturation(t *testing.T) {
	for name, does := range map[string]func(t *testing.T, server *realServer, wait func()){
		"killed": func(_ *testing.T, server *realServer, wait func()) {
			server.kill()
			wait()
			server.start()
		},
		"its keys are of another type": func(t *testing.T, server *realServer, wait func()) {
			admin := server.admin()
			keys, err := admin.Keys(t.Context(), "*").Result()
			require.NoError(t, err)
			require.NotEmpty(t, keys)
			for _, key := range keys {
				require.NoError(t, admin.Set(t.Context(), key, "text", 0).Err())
			}
			wait()
			require.NoError(t, admin.FlushAll(t.Context()).Err())
		},
		"it forgets all": func(t *testing.T, server *realServer, wait func()) {
			admin := server.admin()
			require.NoError(t, admin.ScriptFlush(t.Context()).Err())
			require.NoError(t, admin.FlushAll(t.Context()).Err())
			wait()
		},
	} {
		for _, stop := range *processesStop {
			t.Run(name+" for "+stop.String(), func(t *testing.T) {
				server := startReal(t)
				requests, slowest := processesOn(t, server, 4*time.Second, stop+2*time.Second, func() {
					time.Sleep(4 * time.Second)
					does(t, server, func() { time.Sleep(stop) })
				})
				assert.LessOrEqual(t, slowest, 2*time.Second)
				t.Logf("%d requests, the slowest exit %s", requests, slowest)
			})
		}
	}
}

// processesOn has bots saturate the limits for a while, and get out over the spread after that.
func processesOn(t *testing.T, server *realServer, lasts, spread time.Duration, meanwhile func()) (n int, slowest time.Duration) {
	t.Helper()
	if testing.Short() {
		t.Skip("real processes, in real time")
	}
	opts := []tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3000"), tradingsim.WithRequestLog(1 << 20)}
	for i := range processes * each {
		opts = append(opts, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprint("acc_", i), Balance: "1000000"}))
	}
	sim := tradingsim.Start(t, opts...)
	var all sync.WaitGroup
	var mu sync.Mutex
	var exits []processWord
	for p := range processes {
		text, err := json.Marshal(processConfig{BaseURL: sim.URL(), LiveKey: sim.LiveKey(), Redis: server.addr(), First: p * each, Lasts: lasts, Spread: spread})
		require.NoError(t, err)
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcess$")
		cmd.Env = append(os.Environ(), processEnv+"="+string(text), "GORACE=atexit_sleep_ms=0")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		all.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var said processWord
				if json.Unmarshal(lines.Bytes(), &said) == nil {
					mu.Lock()
					exits = append(exits, said)
					mu.Unlock()
				}
			}
			assert.NoError(t, cmd.Wait())
		})
	}
	meanwhile()
	all.Wait()
	requests := slices.DeleteFunc(sim.Requests(), func(r tradingsim.Request) bool { return r.KeyFingerprint == "" }) // of the key's limit
	first := 0
	for last := range requests {
		for requests[last].At.Sub(requests[first].At) >= time.Minute {
			first++
		}
		require.LessOrEqual(t, last-first+1, 600, "in the minute before %s", requests[last].At)
	}
	for _, r := range requests {
		require.NotEqual(t, http.StatusTooManyRequests, r.Status, "%s at %s", r.Operation, r.At)
	}
	require.Len(t, exits, processes*each)
	slices.SortFunc(exits, func(a, b processWord) int { return cmp.Compare(a.Took, b.Took) })
	for _, said := range exits {
		assert.Empty(t, said.Err)
	}
	slowest = exits[len(exits)-1].Took
	t.Logf("measured %d times: median %s, longest %s", len(exits), exits[(len(exits)-1)/2].Took, slowest) // bench reads it
	for i := range processes * each {
		assert.True(t, sim.Position(fmt.Sprint("acc_", i), "BTC").IsZero())
	}
	return len(requests), slowest
}
