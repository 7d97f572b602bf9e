package main

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

var allKills = flag.Int("observe.kills", 0, "kill a process of trading observe at each of its first so many requests, some ten seconds each")

// A process of trading observe that trades is killed by a real SIGKILL, at a request that it has sent: the service
// never sees that one, or has executed it. The next run, whatever it asks, leaves the account flat, and trades nothing
// but what is open.
func TestObserveIsKilled(t *testing.T) {
	trial := []string{"observe", "--ask", "trial", "--trial-account", "acc_trial"}
	paper := []string{"observe", "--ask", "paper"}
	type kill struct {
		args []string
		at   int
		lost bool
	}
	all := []kill{{paper, 4, false}, {paper, 5, true}, {trial, 7, false}, {trial, 9, false}} // writes, and what follows them
	for at := 1; at <= *allKills; at++ {
		all = append(all, kill{paper, at, false}, kill{paper, at, true}, kill{trial, at, false}, kill{trial, at, true})
	}
	opened := 0
	for _, c := range all {
		r, closeServer := onLoopback(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_trial", Trial: true}))
		args := append(c.args, "--profile", filepath.Join(t.TempDir(), "p.json"), "--yes")
		n, reached := 0, make(chan string, 1)
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if n++; n != c.at {
				return nil
			}
			reached <- operation
			if c.lost {
				return tradingsim.Together(tradingsim.DropRequest(), tradingsim.DelayResponse(time.Hour))
			}
			return tradingsim.DelayResponse(time.Hour)
		})
		cmd, _, errs := r.start(childCommand+"=1", args...)
		name := <-reached
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		closeServer()
		r.sim.FaultEach(nil)
		require.NotContains(t, errs.String(), "panic")

		left, running := open(r.sim)
		if left.IsPositive() {
			opened++
		}
		t.Logf("%s: request %d, %s, lost %t: %s is open", c.args[2], c.at, name, c.lost, left)
		before, sent := len(r.sim.Ledger()), len(r.sim.Requests())
		used := map[string]bool{}
		for _, q := range r.sim.Requests() {
			used[q.Header.Get("Idempotency-Key")] = true
		}
		killed := time.Now().Round(0)
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(killed.Add(time.Minute)))
			r.t, r.ctx = t, t.Context()
			r.done("observe", "--ask", "read", args[len(args)-3], args[len(args)-2], "--yes")
		})
		assert.Equal(t, decimal.Zero.String(), first(open(r.sim)).String(), "%v at %d: %s", c.args, c.at, name)
		traded := decimal.Zero
		for _, x := range r.sim.Ledger()[before:] {
			if x.Filled {
				traded = traded.Add(x.Size)
			}
		}
		if !running {
			assert.True(t, traded.Equal(left), "%v at %d: %s was open, and %s was traded", c.args, c.at, left, traded)
		}
		for _, q := range r.sim.Requests()[sent:] {
			key := q.Header.Get("Idempotency-Key")
			assert.False(t, key != "" && used[key], "a write of the killed run is sent again")
			assert.False(t, strings.HasSuffix(q.Operation, "/orders") && strings.HasPrefix(q.Operation, "POST"), "nothing is opened")
		}
		notes, err := filepath.Glob(args[len(args)-2] + ".open*")
		require.NoError(t, err)
		assert.Empty(t, notes)
	}
	assert.Positive(t, opened, "a killed run has left something open")
}

func first[A, B any](a A, _ B) A { return a }

// open is the size of all positions, and whether something rests or runs.
func open(sim *tradingsim.Sim) (size decimal.Decimal, running bool) {
	for _, a := range sim.State().Accounts {
		for _, p := range a.Positions {
			size = size.Add(p.Size)
		}
		running = running || len(a.Orders)+len(a.Runs) > 0
	}
	return size, running
}
