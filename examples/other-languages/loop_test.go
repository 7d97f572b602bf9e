package otherlanguages

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// started starts a program that does not end. stop kills it, as by SIGKILL, and waits.
func started(t *testing.T, sim *tradingsim.Sim, command []string, env ...string) (stop func() (out string)) {
	t.Helper()
	cmd, printed, cancel := commandOf(t, sim, command, env...)
	require.NoError(t, cmd.Start())
	return func() string {
		cancel()
		_ = cmd.Wait()
		t.Log(printed.String())
		return printed.String()
	}
}

// soon waits for a condition: another process brings it about.
func soon(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, time.Minute, 10*time.Millisecond)
}

// exists reports whether a file is there.
func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// reads counts how often the positions were read.
func reads(sim *tradingsim.Sim) int { return asked(sim, "GET /positions") }

// A loop that is killed in the middle of an order, and starts again, has bought once, whether
// the order had arrived or not. Then it goes on, and buys again only after its stop.
func TestTheLoopIsKilled(t *testing.T) {
	for name, row := range map[string]struct {
		fault tradingsim.Fault
		begun func(*tradingsim.Sim) bool
	}{
		"after the order was executed": {tradingsim.DelayResponse(time.Minute), func(sim *tradingsim.Sim) bool { return orders(sim) == 1 }},
		"before it was executed":       {tradingsim.Delay(time.Second), func(sim *tradingsim.Sim) bool { return sent(sim) == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
			state := filepath.Join(t.TempDir(), "loop.state")
			sim.Fault("POST /orders", row.fault)
			loop := program(t, "python3", "loop.py", state, "0.05")
			kill := started(t, sim, loop)
			soon(t, func() bool { return row.begun(sim) })
			kill()
			require.FileExists(t, state, "the decision is on the disk")

			kill = started(t, sim, loop)
			soon(t, func() bool { return orders(sim) == 1 && !exists(state) })
			seen := reads(sim)
			soon(t, func() bool { return reads(sim) > seen+2 })
			assert.Equal(t, "0.01", sim.Position("acc_1", "BTC").String())
			assert.Equal(t, 1, orders(sim), "it bought once")
			sim.SetMark("BTC", "63000") // its stop fires
			soon(t, func() bool { return orders(sim) == 2 })
			out := kill()
			assert.Contains(t, out, "placed: ")
		})
	}
}

// What a loop's next life has just placed is in no read yet, and is not placed again.
func TestALoopThatWasKilledReadsLater(t *testing.T) {
	for name, command := range map[string][]string{"python3": {"python3", "loop.py"}, "node": {"node", "loop.mjs"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"), tradingsim.WithLag(time.Second))
			state := filepath.Join(t.TempDir(), "loop.state")
			sim.Fault("POST /orders", tradingsim.DropRequest(), tradingsim.DropRequest())
			loop := program(t, append(command, state, "2")...)
			kill := started(t, sim, loop)
			soon(t, func() bool { return sent(sim) == 1 })
			kill()
			require.FileExists(t, state)
			kill = started(t, sim, loop)
			soon(t, func() bool { return orders(sim) == 1 })
			seen := reads(sim)
			soon(t, func() bool { return reads(sim) > seen+1 })
			kill()
			assert.Equal(t, 1, orders(sim), "it bought once")
		})
	}
}

// What the loop cannot find out is a person's: it says so, keeps the decision, and sends nothing
// when it starts again.
func TestTheLoopAsksAPerson(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	state := filepath.Join(t.TempDir(), "loop.state")
	sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
	for range 2 {
		code, out := run(t, sim, program(t, "python3", "loop.py", state, "0.05"))
		require.Equal(t, 3, code)
		require.Contains(t, out, `look at the account: "internal_error"`)
		require.FileExists(t, state)
		require.Equal(t, 1, sent(sim))
	}
}

// The loop for Node knows after a kill that its order may have run: the service would run it again under its key.
func TestTheLoopForNodeIsKilledAfterAnError(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	state := filepath.Join(t.TempDir(), "loop.state")
	sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
	sim.FaultEach(func(operation string) tradingsim.Fault {
		if operation == "GET /positions" && orders(sim) > 0 {
			return tradingsim.Hang(time.Second) // what it holds cannot be read
		}
		return nil
	})
	loop := program(t, "node", "loop.mjs", state, "0.05")
	kill := started(t, sim, loop)
	soon(t, func() bool { return orders(sim) == 1 && reads(sim) > 1 })
	kill()
	require.FileExists(t, state)

	sim.FaultEach(nil)
	kill = started(t, sim, loop)
	soon(t, func() bool { return !exists(state) })
	seen := reads(sim)
	soon(t, func() bool { return reads(sim) > seen+2 })
	kill()
	assert.Equal(t, "0.01", sim.Position("acc_1", "BTC").String())
	assert.Equal(t, 1, orders(sim), "it bought once")
}

// An account that takes no more entries is a person's too: whatever the loop sent next would be
// refused, also after a restart.
func TestTheLoopStopsAtALockedAccount(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	sim.SetStatus("acc_1", "PASSED")
	state := filepath.Join(t.TempDir(), "loop.state")
	for range 2 {
		code, out := run(t, sim, program(t, "python3", "loop.py", state, "0.05"))
		require.Equal(t, 3, code)
		require.Contains(t, out, `look at the account: "account_locked"`)
		require.Equal(t, 1, sent(sim))
	}
	// The other loop keeps nothing: each of its lives asks once.
	code, _ := run(t, sim, program(t, "python3", "loop_sidecar.py", "0.05"))
	require.Equal(t, 3, code)
	require.Equal(t, 2, sent(sim))
}
