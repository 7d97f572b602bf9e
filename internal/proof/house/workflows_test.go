package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	uses   = regexp.MustCompile(`uses: +(\S+)(.*)`)
	pinned = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
)

// TestFound21_Workflows: a tag that moves changes no workflow, no token of the repository lies in the
// work tree, and what may write runs nothing of what the checks install.
func TestFound21_Workflows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", ".github", "workflows", "*.yml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all, jobs, _ := strings.Cut(string(text), "\njobs:\n")
		assert.NotContains(t, all, "write", "%s: what may be written a job says", file)
		for _, job := range regexp.MustCompile(`(?m)^  \w`).Split(jobs, -1) {
			if strings.Contains(job, ": write") {
				assert.NotContains(t, job, ".ci/run", "%s: a job that may write", file)
			}
			for _, step := range strings.Split(job, "\n      - ") {
				used := uses.FindStringSubmatch(step)
				if used == nil {
					continue
				}
				assert.Regexp(t, pinned, used[1], file)
				assert.Regexp(t, `^ # v\d+\.\d+\.\d+$`, used[2], "%s: which version %s is", file, used[1])
				if strings.HasPrefix(used[1], "actions/checkout@") {
					assert.Contains(t, step, "persist-credentials: false", file)
				}
			}
		}
	}
}
