package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only the times of the service's records become its times as they are. A moment of this
// machine does not, but by the clock that learns from the service's answers.
func TestWhereTimesOfTheServiceComeFrom(t *testing.T) {
	allowed := []string{"evidence.go", "health.go"}
	var found []string
	err := filepath.WalkDir("../../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "servicetime.Shown(") {
			name, _ := filepath.Rel("../../..", path)
			found = append(found, filepath.ToSlash(name))
		}
		return err
	})
	require.NoError(t, err)
	slices.Sort(found)
	assert.Equal(t, allowed, found)
}
