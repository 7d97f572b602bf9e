package mutants

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	rounds = flag.Int("mutants.rounds", 0, "how often each bot opens and closes (default 2)")
	seed   = flag.Uint64("mutants.seed", 1, "of the faults")
)

// faults are what goes wrong.
func faults(random *rand.Rand) []tradingsim.Fault {
	some := func() time.Duration { return time.Duration(random.IntN(1500)) * time.Millisecond }
	return []tradingsim.Fault{
		tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.TruncateResponse(), tradingsim.RefuseConnection(),
		tradingsim.Delay(some()), tradingsim.DelayResponse(some()), tradingsim.Hang(some()), tradingsim.ArriveLate(some()), tradingsim.LateCopy(some()),
		tradingsim.GatewayError(502), tradingsim.GatewayErrorAfter(502), tradingsim.GatewayErrorAfter(504), tradingsim.RawAfter(200, nil, "{}"),
		tradingsim.RateLimit(time.Second), tradingsim.Fail(503, "no_price"), tradingsim.Repeat(),
	}
}

// service is a simulation that fails in one of ten requests.
func service(t *testing.T, seed uint64) *tradingsim.Sim {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 2))
	sim.FaultEach(func(string) tradingsim.Fault {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(10) > 0 {
			return nil
		}
		all := faults(random)
		return all[random.IntN(len(all))]
	})
	return sim
}

// behind starts a sidecar in front of it, and returns the environment of a bot.
func behind(t *testing.T, sim *tradingsim.Sim) []string {
	dir, env := behindAt(t, sim, "acc_1")
	key, err := sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
	require.NoError(t, err)
	return append(env, "TRADING_LIVE_KEY="+key)
}

// behindAt starts a sidecar, and returns its folder and the environment of its bots.
func behindAt(t *testing.T, sim *tradingsim.Sim, exclusive ...trading.AccountID) (dir string, env []string) {
	dir = t.TempDir()
	writes, err := journal.Open(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	server, err := sidecar.New(sidecar.Config{
		BaseURL: sim.URL(), Dir: dir, Journal: writes, Exclusive: exclusive,
		Options: []trading.Option{trading.WithLiveKey(sim.LiveKey())},
	})
	require.NoError(t, err)
	l, err := sidecar.Listen("127.0.0.1:0", false)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close() // writes may be pending
		assert.NoError(t, <-served)
		assert.NoError(t, writes.Close())
	})
	return dir, append(os.Environ(), "TRADING_BASE_URL=http://"+l.Addr().String()+"/v1", "no_proxy=*")
}

func TestMutants(t *testing.T) {
	if exec.CommandContext(t.Context(), "python3", "--version").Run() != nil {
		t.Skip("NOT TESTED: there is no python3 on this machine")
	}
	n := max(*rounds, 2)
	for i, how := range []string{"retry", "timeout", "newkey", "halfclosed", "nosession", "library", "decides", "reopens"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel() // most of the time a bot waits
			if how == "library" && exec.CommandContext(t.Context(), "python3", "-c", "import requests").Run() != nil {
				t.Skip("NOT TESTED: there is no module requests on this machine")
			}
			sim := service(t, *seed+uint64(i))
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			cmd := exec.CommandContext(ctx, "python3", "testdata/mutants.py", how, fmt.Sprint(n))
			cmd.Env = behind(t, sim)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			trace := positions(sim)
			t.Logf("%s: %v", how, trace)
			want := []string{"0.02", "0"}
			if how == "reopens" {
				want = []string{"0.02", "0.01", "0.03", "0.015", "0"}
			}
			var all []string
			for range n {
				all = append(all, want...)
			}
			require.NoError(t, err, out.String())
			assert.Equal(t, all, trace, "what ran by the ledger: %s", out.String())
			assert.Equal(t, n, strings.Count(out.String(), "round "))
		})
	}
}

// The same bot doubles on the service itself.
func TestWithoutASidecarItDoubles(t *testing.T) {
	if exec.CommandContext(t.Context(), "python3", "--version").Run() != nil {
		t.Skip("NOT TESTED: there is no python3 on this machine")
	}
	for _, how := range []string{"retry", "newkey"} {
		sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
		sim.Fault("POST /orders", tradingsim.DropResponse())
		cmd := exec.CommandContext(t.Context(), "python3", "testdata/mutants.py", how, "1")
		cmd.Env = append(os.Environ(), "TRADING_BASE_URL="+sim.URL(), "TRADING_LIVE_KEY="+sim.LiveKey(), "no_proxy=*")
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		assert.Contains(t, string(out), "sees 40, not 20")
		assert.Equal(t, []string{"0.02", "0.04"}, positions(sim), how)
	}
}

// positions is what was open after each write that changed it, by the ledger.
func positions(sim *tradingsim.Sim) (trace []string) {
	open := decimal.Zero
	for _, one := range sim.Ledger() {
		if !one.Filled {
			continue
		}
		if one.Side == "short" { // it closes
			open = open.Sub(one.Size)
		} else {
			open = open.Add(one.Size)
		}
		trace = append(trace, open.String())
	}
	return trace
}
