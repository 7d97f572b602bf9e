package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFloors: what a floor of .ci/floors.txt names is there, and has code. .ci/run says so too, at its end.
func TestFloors(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".ci", "floors.txt"))
	require.NoError(t, err)
	found := 0
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			found++
			info, err := os.Stat(filepath.Join(root, fields[1]))
			if assert.NoError(t, err, "of no file and no folder") && !info.IsDir() {
				code, err := os.ReadFile(filepath.Join(root, fields[1]))
				require.NoError(t, err)
				assert.Contains(t, string(code), "\nfunc ", line)
			}
		}
	}
	assert.NotZero(t, found)
}
