package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// The whole programs of the guides do what they say, by the variables that a reader sets.
func TestPrograms(t *testing.T) {
	folder := t.TempDir() + string(filepath.Separator)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", folder, "./programs/...").CombinedOutput()
	require.NoError(t, err, string(out))
	for name, want := range map[string]struct {
		out    string
		orders int
	}{
		"http":   {"200 64000\n", 1},
		"alpaca": {"filled 0.05 at 64000\n", 1},
		"ccxt":   {"resting as ord_1\n", 1},
		"desks":  {"free of the key's limit: 599\n", 0},
		"check":  {"nothing failed\n", 0},
	} {
		sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
		program := exec.CommandContext(t.Context(), filepath.Join(folder, name))
		program.Env = append(os.Environ(), "TRADING_BASE_URL="+sim.URL(), "TRADING_LIVE_KEY="+sim.LiveKey())
		out, err := program.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want.out, string(out), name)
		require.Len(t, sim.Ledger(), want.orders)
	}

	result, err := exec.CommandContext(t.Context(), filepath.Join(folder, "dips")).CombinedOutput() // a backtest needs no service
	require.NoError(t, err, string(result))
	require.Contains(t, string(result), "verdict       open; by the service open;")
	require.Contains(t, string(result), "round trips   23,")
}
