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
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	check := exec.CommandContext(t.Context(), filepath.Join(folder, "check"))
	check.Env = append(os.Environ(), "TRADING_BASE_URL="+sim.URL(), "TRADING_LIVE_KEY="+sim.LiveKey())
	out, err = check.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "nothing failed\n", string(out))
	require.Empty(t, sim.Ledger())

	result, err := exec.CommandContext(t.Context(), filepath.Join(folder, "dips")).CombinedOutput() // a backtest needs no service
	require.NoError(t, err, string(result))
	require.Contains(t, string(result), "verdict       open; by the service open;")
	require.Contains(t, string(result), "round trips   23,")
}
