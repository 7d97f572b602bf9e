package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/contrib/postgres/postgrestest"
	"github.com/tradingapi/trading-go/tradingsim"
)

// asProgram makes the test binary the example.
const asProgram = "FAILOVER_EXAMPLE"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// machine is a process that runs the bot.
type machine struct {
	*exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
}

func (m *machine) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.said.Write(p)
}

// has reports whether the bot has said something.
func (m *machine) has(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Contains(m.said.String(), text)
}

// Of two machines the one that trades is killed, and the other one goes on: no decision is executed
// twice. Then that one is told to end, and leaves nothing open.
func TestOneIsKilled(t *testing.T) {
	database := postgrestest.Server(t)("postgres")
	require.NoError(t, postgres.Migrate(t.Context(), database))
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	t.Cleanup(func() { assert.NoError(t, sim.Close()) })
	require.NoError(t, sim.Listen("127.0.0.1:0"))
	machines := map[string]*machine{}
	for _, name := range []string{"A", "B"} {
		m := &machine{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
		m.Env = append(os.Environ(), asProgram+"=1", "DATABASE_URL="+database, "TRADING_BASE_URL="+sim.URL(),
			"TRADING_LIVE_KEY="+sim.LiveKey(), "TRADING_ACCOUNT=acc_1")
		m.Stdout, m.Stderr = m, m
		require.NoError(t, m.Start())
		t.Cleanup(func() { t.Logf("%s said:\n%s", name, &m.said) })
		machines[name] = m
	}
	// trades waits until one of the machines that are left has placed an order.
	trades := func() (name string) {
		require.Eventually(t, func() bool {
			for name = range maps.Keys(machines) {
				if machines[name].has(": placed") {
					return true
				}
			}
			return false
		}, time.Minute, 10*time.Millisecond)
		return name
	}

	first := trades()
	require.NoError(t, machines[first].Process.Kill())
	_ = machines[first].Wait()
	delete(machines, first)
	second := machines[trades()]
	require.NoError(t, second.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.Wait(), "a bot that is told to end does so in order")

	seen := map[string]bool{}
	for _, e := range sim.Ledger() {
		assert.False(t, seen[e.Key], "%s ran twice", e.Key)
		seen[e.Key] = true
	}
	assert.GreaterOrEqual(t, len(seen), 2)
}

// A bot whose database is not there says so, and not nothing for ever.
func TestFound25_ADatabaseThatIsNotThere(t *testing.T) {
	m := &machine{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	m.Env = append(os.Environ(), asProgram+"=1", fmt.Sprintf("DATABASE_URL=postgres://bot@127.0.0.1:%d/trading?sslmode=disable", postgrestest.FreePort(t)),
		"TRADING_BASE_URL=https://service.example/v1", "TRADING_LIVE_KEY=pk_live_0123456789", "TRADING_ACCOUNT=acc_1")
	m.Stdout, m.Stderr = m, m
	require.NoError(t, m.Start())
	require.Eventually(t, func() bool { return m.has("waiting for the lease") && m.has("refused") }, time.Minute, 10*time.Millisecond)
	require.NoError(t, m.Process.Signal(syscall.SIGTERM))
	_ = m.Wait()
}
