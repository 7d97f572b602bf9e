package contract

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The tables are what the generator makes of the description.
func TestTablesAreGenerated(t *testing.T) {
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./tables", "../../openapi.json", folder)
	cmd.Dir, cmd.Env = "../../tools", append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := 0
	err := filepath.WalkDir(folder, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		made, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if is, err := os.ReadFile(filepath.Join("..", "..", "..", name)); err != nil || !bytes.Equal(is, made) {
			t.Errorf("%s is not what openapi.json says: run go generate ./...", name)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files: %v", files, err)
	}
}
