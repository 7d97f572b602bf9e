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

// What a generator makes of the description has to hold a price and a size: a number
// without a format is a float32 to oapi-codegen, which sends 16777217 as 16777216. The
// client is generated with the generator's own defaults, compiled, and sends an order.
func TestAGeneratedClientSendsExactNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a generated client")
	}
	folder := t.TempDir()
	description, err := filepath.Abs(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	run := func(at, name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = at
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The root module has the generated client's imports.
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, bytes.Replace(text, []byte("module github.com/tradingapi/trading-go\n"), []byte("module generated\n"), 1))
	}
	program, err := os.ReadFile("testdata/generated/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	write("main.go", program)
	run("../../tools", "go", "tool", "oapi-codegen", "-package", "main", "-generate", "types,client",
		"-o", filepath.Join(folder, "client.gen.go"), description)
	run(folder, "go", "run", ".")
}
