package broken

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Without runs go test with a file of whose code a part, which is there once, has another in its place. It
// returns what that printed, and its error.
func Without(t *testing.T, file, rule, instead string, args ...string) (printed string, err error) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	file, err = filepath.Abs(file)
	must(err)
	code, err := os.ReadFile(file)
	must(err)
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	must(os.WriteFile(changed, []byte(strings.Replace(string(code), rule, instead, 1)), 0o600))
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	must(err)
	must(os.WriteFile(overlay, replaced, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"test", "-overlay", overlay}, args...)...).CombinedOutput()
	return string(out), err
}
