// Command ordercost prints which files and functions of the client one live order
// executes, in the simplest case: a new client without a journal, an answer at once.
// The number of runs of each block, with the order and without it, is what the coverage
// of a test counts; making and closing the client is not part of the order.
//
//	ordercost [-dir FOLDER] [-names]
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The test is laid over the module, so that it needs none of its own: any revision can
// be measured, and nothing is written to it.
//
//go:embed testdata/oneorder_test.go
var test []byte

func main() {
	dir := flag.String("dir", ".", "`folder` of the module")
	names := flag.Bool("names", false, "print the names")
	flag.Parse()
	if err := run(os.Stdout, *dir, *names); err != nil {
		fmt.Fprintln(os.Stderr, "ordercost:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir string, names bool) error {
	module, counted, err := packages(dir)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "ordercost")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // a leftover does no harm
	program, err := build(dir, scratch, counted)
	if err != nil {
		return err
	}
	without, err := profile(program, scratch, 0)
	if err != nil {
		return err
	}
	with, err := profile(program, scratch, 1)
	if err != nil {
		return err
	}
	executed := map[string][]string{} // functions by file
	from := source{dir: dir, module: module, fset: token.NewFileSet(), parsed: map[string]*ast.File{}}
	for at, runs := range with {
		if runs <= without[at] {
			continue
		}
		file, function, err := from.functionAt(at)
		if err != nil {
			return err
		}
		if !slices.Contains(executed[file], function) {
			executed[file] = append(executed[file], function)
		}
	}
	report(out, executed, names)
	return nil
}

// report prints the files of the root package, and then those below it.
func report(out io.Writer, executed map[string][]string, names bool) {
	for _, root := range []bool{true, false} {
		files, functions := 0, 0
		for _, file := range slices.Sorted(maps.Keys(executed)) {
			if (filepath.Dir(file) == ".") != root {
				continue
			}
			files++
			functions += len(executed[file])
			if names {
				fmt.Fprintf(out, "%s: %s\n", file, strings.Join(slices.Sorted(slices.Values(executed[file])), ", "))
			}
		}
		where := "packages below"
		if root {
			where = "root package"
		}
		fmt.Fprintf(out, "%s: %d functions in %d files\n", where, functions, files)
	}
}

// packages returns the module's path, and the packages of it that the client is made of.
func packages(dir string) (module string, all []string, err error) {
	out, err := command(dir, "list", "-m").Output()
	if err != nil {
		return "", nil, fmt.Errorf("go list -m: %w", err)
	}
	module = strings.TrimSpace(string(out))
	out, err = command(dir, "list", "-deps", ".").Output()
	if err != nil {
		return "", nil, fmt.Errorf("go list -deps: %w", err)
	}
	for one := range strings.FieldsSeq(string(out)) {
		if one == module || strings.HasPrefix(one, module+"/") {
			all = append(all, one)
		}
	}
	return module, all, nil
}

// build compiles the test with counters in some packages, and returns the program.
func build(dir, scratch string, counted []string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(scratch, "test.go")
	if err := os.WriteFile(copied, test, 0o600); err != nil {
		return "", err
	}
	const folder = "internal/oneorder"
	overlay, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(full, filepath.FromSlash(folder), "oneorder_test.go"): copied},
	})
	if err != nil {
		return "", err
	}
	replaced, program := filepath.Join(scratch, "overlay.json"), filepath.Join(scratch, "oneorder.test")
	if err := os.WriteFile(replaced, overlay, 0o600); err != nil {
		return "", err
	}
	cmd := command(dir, "test", "-c", "-vet=off", "-o", program, "-overlay", replaced,
		"-covermode=atomic", "-coverpkg="+strings.Join(counted, ","), "./"+folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return program, nil
}

// profile runs the test with a number of orders and returns how often each block ran.
func profile(program, scratch string, orders int) (map[string]int, error) {
	result := filepath.Join(scratch, "cover")
	cmd := exec.CommandContext(context.Background(), program, "-test.run=^TestOneOrder$", "-test.coverprofile="+result)
	cmd.Dir = scratch
	cmd.Env = append(os.Environ(), fmt.Sprintf("ORDERS=%d", orders))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run the test: %w\n%s", err, out)
	}
	return readProfile(result)
}

func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	return cmd
}
