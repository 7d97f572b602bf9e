package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
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
	"github.com/tradingapi/trading-go/tradingsim/control"
)

var (
	rounds = flag.Int("mutants.rounds", 0, "how often each bot opens and closes (default 2)")
	seed   = flag.Uint64("mutants.seed", 1, "of the faults")
)

// mixes are two, since the contract leaves one fault open: a request that was executed and answered
// with a 5xx, and of which a copy arrives afterwards.
var mixes = map[string]func(func() time.Duration) []tradingsim.Fault{
	"copies": func(some func() time.Duration) []tradingsim.Fault {
		return []tradingsim.Fault{
			tradingsim.Repeat(), tradingsim.ArriveLate(some()), tradingsim.ArriveLate(6 * time.Second), tradingsim.LateCopy(some()),
		}
	},
	"5xx after the work": func(func() time.Duration) []tradingsim.Fault {
		return []tradingsim.Fault{tradingsim.FailAfter(500, "internal_error"), tradingsim.FailAfter(503, "unavailable")}
	},
}

// faults are what goes wrong in a mix: each kind that the simulator has, and those that differ by
// their status or code.
func faults(random *rand.Rand, mix string) []tradingsim.Fault {
	some := func() time.Duration { return time.Duration(random.IntN(1500)) * time.Millisecond }
	to := http.Header{"Location": {"https://elsewhere.example/v1"}}
	return append(mixes[mix](some),
		tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.TruncateResponse(), tradingsim.RefuseConnection(),
		tradingsim.Delay(some()), tradingsim.DelayResponse(some()), tradingsim.Hang(some()),
		tradingsim.GatewayError(502), tradingsim.GatewayError(403), tradingsim.GatewayError(200),
		tradingsim.GatewayErrorAfter(502), tradingsim.GatewayErrorAfter(504), tradingsim.GatewayErrorAfter(200),
		tradingsim.GatewayJSON(403, "blocked"), tradingsim.GatewayJSONAfter(403, "blocked"),
		tradingsim.Raw(200, nil, "{}"), tradingsim.Raw(204, nil, ""), tradingsim.Raw(307, to, ""), tradingsim.RawAfter(200, nil, "{}"),
		tradingsim.RateLimit(time.Second), tradingsim.RateLimit(0),
		tradingsim.Fail(500, "internal_error"), tradingsim.Fail(503, "unavailable"), tradingsim.Fail(503, "no_price"),
		tradingsim.Fail(503, "equity_unavailable"), tradingsim.Fail(503, "idempotency_unavailable"), tradingsim.Fail(409, "idempotency_in_flight"),
		tradingsim.Fail(409, "STALE_PRICE"), tradingsim.Fail(418, "TEAPOT"),
		tradingsim.Crash(), tradingsim.CrashAfter(), tradingsim.Together(tradingsim.Fail(400, "MIN_NOTIONAL"), tradingsim.DropResponse()),
	)
}

// Every kind of fault of the simulator is among them, but for the one that is none.
func TestEveryFault(t *testing.T) {
	sim := tradingsim.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan control.Endpoint, 1), make(chan error, 1)
	go func() {
		ended <- control.Serve(ctx, sim, control.Options{Ready: func(e control.Endpoint) { ready <- e }})
	}()
	at := <-ready
	defer func() { http.DefaultClient.CloseIdleConnections(); cancel(); assert.NoError(t, <-ended) }()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL+"/faults", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+at.Token)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	var listed struct{ Kinds []struct{ Kind string } }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&listed))
	require.NotEmpty(t, listed.Kinds)
	kinds := map[string]bool{"pass": true}
	for mix := range mixes {
		for _, f := range faults(rand.New(rand.NewPCG(1, 1)), mix) {
			kind, _, _ := strings.Cut(fmt.Sprint(f), " ")
			kinds[kind] = true
		}
	}
	for _, k := range listed.Kinds {
		assert.True(t, kinds[k.Kind], k.Kind)
	}
}

// service is a simulation that fails in one of ten requests.
func service(t *testing.T, seed uint64, mix string) *tradingsim.Sim {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 2))
	sim.FaultEach(func(string) tradingsim.Fault {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(10) > 0 {
			return nil
		}
		all := faults(random, mix)
		return all[random.IntN(len(all))]
	})
	return sim
}

// behind starts a sidecar in front of it, and returns it and the environment of a bot.
func behind(t *testing.T, sim *tradingsim.Sim) (*sidecar.Server, []string) {
	server, dir, env := behindAt(t, sim, "acc_1")
	key, err := sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
	require.NoError(t, err)
	return server, append(env, "TRADING_LIVE_KEY="+key)
}

// behindAt starts a sidecar, and returns its folder and the environment of its bots too.
func behindAt(t *testing.T, sim *tradingsim.Sim, exclusive ...trading.AccountID) (server *sidecar.Server, dir string, env []string) {
	dir = t.TempDir()
	writes, err := journal.Open(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	var log bytes.Buffer
	server, err = sidecar.New(sidecar.Config{
		BaseURL: sim.URL(), Dir: dir, Locks: filepath.Join(dir, "locks"), Journal: writes, Exclusive: exclusive,
		Options: []trading.Option{trading.WithLiveKey(sim.LiveKey())}, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(t, err)
	l, err := sidecar.Listen("127.0.0.1:0", false)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close() // writes may be pending
		assert.NoError(t, <-served)
		assert.NotContains(t, log.String(), "panic")
		assert.NoError(t, writes.Close())
	})
	return server, dir, append(os.Environ(), "TRADING_BASE_URL=http://"+l.Addr().String()+"/v1", "no_proxy=*")
}

func TestMutants(t *testing.T) {
	if exec.CommandContext(t.Context(), "python3", "--version").Run() != nil {
		t.Skip("NOT TESTED: there is no python3 on this machine")
	}
	for i, how := range []string{"retry", "timeout", "newkey", "halfclosed", "nosession", "library", "decides", "reopens"} {
		for mix := range mixes {
			t.Run(how+", "+mix, func(t *testing.T) {
				t.Parallel() // most of the time a bot waits
				mutant(t, how, service(t, *seed+uint64(i), mix))
			})
		}
	}
}

// mutant runs a bot, and judges it by the ledger of the service.
func mutant(t *testing.T, how string, sim *tradingsim.Sim) {
	n := max(*rounds, 2)
	if how == "library" && exec.CommandContext(t.Context(), "python3", "-c", "import requests").Run() != nil {
		t.Skip("NOT TESTED: there is no module requests on this machine")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, "python3", "testdata/mutants.py", how, fmt.Sprint(n))
	server, env := behind(t, sim)
	cmd.Env = env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	defer person(t, sim, server)()
	err := cmd.Run()
	trace := positions(sim)
	t.Logf("%s: %v", how, trace)
	defer func() {
		if t.Failed() {
			t.Log("the last writes that the service saw:\n" + writes(sim))
		}
	}()
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

// person acknowledges what the sidecar cannot find out, by what the service has executed: after 15
// seconds nothing arrives late any more.
func person(t *testing.T, sim *tradingsim.Sim, server *sidecar.Server) (leaves func()) {
	const looksAfter = 15 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			pending, _ := server.Client().Pending(ctx) // the next look has what this one has not
			for _, p := range pending {
				if time.Since(p.Decided) < looksAfter {
					continue
				}
				found := trading.NotApplied
				if len(sim.Executed(string(p.Key))) > 0 {
					found = trading.Applied
				}
				if err := server.Client().Acknowledge(ctx, p.ID, found, "seen"); err == nil {
					t.Logf("acknowledged as %s: %s", found, p.Reason)
				}
			}
		}
	})
	return func() { cancel(); work.Wait() }
}

// writes are the last of what the service was asked to do, with what went wrong.
func writes(sim *tradingsim.Sim) string {
	var lines []string
	for _, r := range sim.Requests() {
		if strings.HasPrefix(r.Operation, "POST ") {
			lines = append(lines, fmt.Sprintf("%s %s %q %s %d %q", r.At.Format("05.000"), r.Operation, r.Body, r.Header.Get("Idempotency-Key"), r.Status, r.Fault))
		}
	}
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
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
