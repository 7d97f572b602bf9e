package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFloors: what a floor of .ci/floors.txt names is there. .ci/run says so too, at its end.
func TestFloors(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, ".ci", "floors.txt"))
	require.NoError(t, err)
	found := 0
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			found++
			_, err := os.Stat(filepath.Join(root, fields[1]))
			assert.NoError(t, err, "of no file and no folder")
		}
	}
	assert.NotZero(t, found)
}
