// Package docs_test runs the programs that the guides show, and measures the times that they state.
package docs_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The whole programs of the guides build, and the backtest does what it says.
func TestPrograms(t *testing.T) {
	folder := t.TempDir() + string(filepath.Separator)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", folder, "./programs/...").CombinedOutput()
	require.NoError(t, err, string(out))
	result, err := exec.CommandContext(t.Context(), filepath.Join(folder, "dips")).CombinedOutput() // a backtest needs no service
	require.NoError(t, err, string(result))
	require.Contains(t, string(result), "verdict       open; by the service open;")
	require.Contains(t, string(result), "round trips   23,")
}
