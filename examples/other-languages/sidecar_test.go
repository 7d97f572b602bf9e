package otherlanguages

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// behind starts a sidecar in front of a simulation, and returns what a bot changes.
func behind(t *testing.T, sim *tradingsim.Sim) (env []string) {
	t.Helper()
	dir := t.TempDir()
	writes, err := journal.Open(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	server, err := sidecar.New(sidecar.Config{
		BaseURL: sim.URL(), Dir: dir, Locks: filepath.Join(dir, "locks"), Journal: writes,
		Options: []trading.Option{trading.WithLiveKey(sim.LiveKey()), trading.WithSandboxKey(sim.SandboxKey())},
	})
	require.NoError(t, err)
	l, err := sidecar.Listen("127.0.0.1:0", false)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		assert.NoError(t, server.Close())
		assert.NoError(t, <-served)
		assert.NoError(t, writes.Close())
	})
	key, err := sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
	require.NoError(t, err)
	return []string{"TRADING_BASE_URL=http://" + l.Addr().String() + "/v1", "TRADING_LIVE_KEY=" + key}
}

// The bots of this folder do what they do, and one that doubles does not.
func TestBehindASidecar(t *testing.T) {
	for name, command := range map[string][]string{
		"bot.py": {"python3", "bot.py", decision}, "bot.sh": {"bash", "bot.sh", decision},
		"doubles.py": {"python3", "doubles.py"}, "bot_sidecar.sh": {"bash", "bot_sidecar.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, fault := range []tradingsim.Fault{
				tradingsim.Pass(), tradingsim.DropResponse(), tradingsim.DropRequest(), tradingsim.TruncateResponse(),
				tradingsim.GatewayErrorAfter(502), tradingsim.RateLimit(time.Second), tradingsim.Hang(time.Second),
			} {
				sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
				sim.Fault("POST /orders", fault)
				code, out := run(t, sim, program(t, command...), behind(t, sim)...)
				assert.Zero(t, code)
				assert.Regexp(t, "placed|applied", out, "it knows that it has its order")
				assert.Equal(t, 1, orders(sim), "orders in the ledger")
			}
		})
	}
}

// A loop without a file, without keys and without retries is killed in the middle of an order, and
// starts again. It has bought once, whether the order had arrived or not.
func TestTheLoopBehindASidecarIsKilled(t *testing.T) {
	for name, row := range map[string]struct {
		fault tradingsim.Fault
		begun func(*tradingsim.Sim) bool
	}{
		"after the order was executed": {tradingsim.DelayResponse(time.Second), func(sim *tradingsim.Sim) bool { return orders(sim) == 1 }},
		"before it was executed":       {tradingsim.Delay(time.Second), func(sim *tradingsim.Sim) bool { return sent(sim) == 1 }},
		"its reply is lost":            {tradingsim.DropResponse(), func(sim *tradingsim.Sim) bool { return orders(sim) == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
			env := behind(t, sim)
			sim.Fault("POST /orders", row.fault)
			command := program(t, "python3", "loop_sidecar.py", "0.05")
			kill := started(t, sim, command, env...)
			soon(t, func() bool { return row.begun(sim) })
			kill()
			kill = started(t, sim, command, env...)
			soon(t, func() bool { return orders(sim) == 1 })
			seen := reads(sim)
			soon(t, func() bool { return reads(sim) > seen+20 })
			kill()
			assert.Equal(t, 1, orders(sim), "it bought once")
		})
	}
}
