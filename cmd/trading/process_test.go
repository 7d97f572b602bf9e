package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// onLoopback is a rig whose simulation processes can reach, until it is closed.
func onLoopback(t *testing.T, opts ...tradingsim.Option) (r *rig, closeServer func()) {
	t.Helper()
	r = newRig(t, opts...)
	server := httptest.NewServer(http.Handler(r.sim))
	t.Cleanup(server.Close)
	r.env[0] = "TRADING_BASE_URL=" + server.URL + "/v1"
	return r, server.Close
}

// start starts this test binary as another program.
func (r *rig) start(as string, args ...string) (cmd *exec.Cmd, out, errs *strings.Builder) {
	r.t.Helper()
	cmd = exec.CommandContext(r.t.Context(), os.Args[0], args...)
	cmd.Env = append(r.env[:len(r.env):len(r.env)], as, "GORACE=atexit_sleep_ms=0")
	out, errs = &strings.Builder{}, &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, errs
	require.NoError(r.t, cmd.Start())
	return cmd, out, errs
}

// A real signal, in the middle of a real order.
func TestSIGINTInMidWrite(t *testing.T) {
	r, _ := onLoopback(t)
	arrived := make(chan struct{}, 10)
	r.sim.FaultEach(func(operation string) tradingsim.Fault {
		if operation != "POST /orders" {
			return nil
		}
		arrived <- struct{}{}
		return tradingsim.Hang(time.Hour)
	})
	cmd, out, errs := r.start(childCommand+"=1", place("-o", "json")...)
	<-arrived
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	require.Equal(t, cli.Unknown, cmd.ProcessState.ExitCode(), "%s%s", out, errs)
	var v struct{ Outcome, Intent string }
	require.NoError(t, json.Unmarshal([]byte(out.String()), &v))
	assert.Equal(t, "unknown", v.Outcome)
	assert.Contains(t, errs.String(), "trading pending resolve "+v.Intent)
	assert.NotContains(t, out.String()+errs.String(), r.sim.LiveKey())
}

// A bot is killed in the middle of an order, whose answer is lost and not stored, and
// somebody else trades the account: nobody can know whether the order ran. An operator
// finds it, looks, acknowledges it, and gets out, by this command alone.
func TestTheOperatorsDrill(t *testing.T) {
	r, closeServer := onLoopback(t)
	path := filepath.Join(t.TempDir(), "bot.journal")
	again := make(chan struct{}, 10)
	orders := 0
	r.sim.FaultEach(func(operation string) tradingsim.Fault {
		if operation != "POST /orders" {
			return nil
		}
		if orders++; orders == 1 {
			return tradingsim.CrashAfter()
		}
		again <- struct{}{}
		return tradingsim.Hang(time.Hour)
	})
	cmd, _, _ := r.start(childBot + "=" + path)
	<-again
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	closeServer()
	r.sim.FaultEach(nil)
	require.Len(t, r.sim.Ledger(), 1, "it ran")
	r.sim.Trade("acc_1", "long", "0.03", "BTC")

	killed := time.Now().Round(0)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(killed.Add(20 * time.Minute))) // the operator has to be woken up
		r.t, r.ctx = t, t.Context()

		status := r.done("status", "--env", "live", "--journal", path)
		assert.Contains(t, status, "!! POST /orders BTC on acc_1 is pending for 20m")
		var pending []struct{ ID, Symbol, Tag string }
		require.NoError(t, json.Unmarshal([]byte(r.done("pending", "ls", "--journal", path, "-o", "json")), &pending))
		require.Len(t, pending, 1)
		assert.Equal(t, "the bot's", pending[0].Tag)
		id := pending[0].ID

		code, out, errs := r.run("pending", "resolve", id, "--journal", path)
		require.Equal(t, cli.Unknown, code, "%s%s", out, errs)
		assert.Contains(t, out, "seen")
		assert.Contains(t, out, "position 0.08")
		assert.Contains(t, errs, "trading pending ack "+id)
		assert.Contains(t, r.done("positions", "--env", "live"), "0.08")

		r.terminal, r.types = true, "applied\n"
		r.done("pending", "ack", id, "--journal", path, "--found", "applied", "--note", "0.08 = the bot's 0.05 and 0.03 by hand")
		assert.JSONEq(t, "[]", r.done("pending", "ls", "--journal", path, "-o", "json"))

		r.terminal = false
		assert.Contains(t, r.done("flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes"), "flat: account acc_1")
		assert.True(t, r.sim.Position("acc_1", "BTC").IsZero())
	})
}
