package defects

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var leaveOut = flag.Bool("defects.break", false, "leave out what mends one defect after another: minutes")

// TestEachIsShown leaves out what mends a defect: its seed shows it then.
func TestEachIsShown(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for _, d := range table {
		t.Run(strings.ReplaceAll(d.String(), "/", "-"), func(t *testing.T) {
			file := filepath.Join(root, d.File)
			code, err := os.ReadFile(file)
			require.NoError(t, err)
			if !assert.Equal(t, 1, bytes.Count(code, []byte(d.Rule)), "%s: %s", d.File, d.Rule) || !*leaveOut {
				return
			}
			mutant, overlay := filepath.Join(t.TempDir(), "mutant.go"), filepath.Join(t.TempDir(), "overlay.json")
			require.NoError(t, os.WriteFile(mutant, bytes.Replace(code, []byte(d.Rule), []byte(d.Without), 1), 0o600))
			replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutant}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(overlay, replaced, 0o600))
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", overlay, "-run", "^TestDefects$", "./"+d.Suite)
			cmd.Dir = root
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "it is not shown")
			assert.Contains(t, string(out), "    --- FAIL: TestDefects/"+strings.ReplaceAll(d.String(), " ", "_"))
		})
	}
}
