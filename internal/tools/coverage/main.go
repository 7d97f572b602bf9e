// Command coverage reports the coverage of profiles by package, and of the root
// package by file, and fails where a floor is not met. The floors are a table:
//
//	# percent of the statements, package or file below the module's path
//	95 .
//	95 retry.go
//	95 internal/wire
//
// A floor for something that no profile mentions fails too: it was renamed, or its
// tests did not run.
//
//	coverage -module github.com/tradingapi/trading-go -floors floors.txt profile...
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func main() {
	module := flag.String("module", "", "path of the module that the floors are relative to")
	floors := flag.String("floors", "", "`file` of the floors")
	flag.Parse()
	if flag.NArg() == 0 || *floors == "" || *module == "" {
		fmt.Fprintln(os.Stderr, "usage: coverage -module PATH -floors FILE PROFILE...")
		os.Exit(2)
	}
	if err := run(os.Stdout, *module, *floors, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, module, floorsFile string, profiles []string) error {
	blocks := map[string]block{}
	for _, name := range profiles {
		if err := read(name, blocks); err != nil {
			return err
		}
	}
	packages, files := sum(blocks, module)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(out, "%6.1f %%  %s\n", packages[name].percent(), name)
		if name != "." {
			continue
		}
		for _, file := range slices.Sorted(maps.Keys(files)) {
			if path.Dir(file) == "." {
				fmt.Fprintf(out, "%6.1f %%      %s\n", files[file].percent(), file)
			}
		}
	}
	floors, err := readFloors(floorsFile)
	if err != nil {
		return err
	}
	var below []error
	for _, name := range slices.Sorted(maps.Keys(floors)) {
		got, ok := packages[name]
		if !ok {
			got, ok = files[name]
		}
		switch {
		case !ok:
			below = append(below, fmt.Errorf("%s has a floor, and is in no profile", name))
		case got.percent() < floors[name]:
			below = append(below, fmt.Errorf("%s has %.1f %%, and its floor is %g %%", name, got.percent(), floors[name]))
		}
	}
	return errors.Join(below...)
}

// block is a piece of code that runs as a whole.
type block struct {
	statements int
	covered    bool
}

// read adds a profile: a block that several of them name is covered if any says so.
func read(name string, blocks map[string]block) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		// path/file.go:10.2,12.3 statements count
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return fmt.Errorf("%s: %q is no line of a profile", name, line)
		}
		statements, err := strconv.Atoi(fields[1])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		blocks[fields[0]] = block{statements, blocks[fields[0]].covered || fields[2] != "0"}
	}
	return lines.Err()
}

type count struct{ covered, all int }

func (c count) percent() float64 { return 100 * float64(c.covered) / float64(max(c.all, 1)) }

// sum counts the statements by package and by file.
func sum(blocks map[string]block, module string) (packages, files map[string]count) {
	packages, files = map[string]count{}, map[string]count{}
	for at, b := range blocks {
		file, _, _ := strings.Cut(at, ":")
		file = strings.TrimPrefix(file, module+"/")
		for name, counts := range map[string]map[string]count{path.Dir(file): packages, file: files} {
			c := counts[name]
			c.all += b.statements
			if b.covered {
				c.covered += b.statements
			}
			counts[name] = c
		}
	}
	return packages, files
}

func readFloors(name string) (map[string]float64, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	floors := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("%s: %q is no floor", name, strings.TrimSpace(line))
		}
		floor, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		floors[fields[1]] = floor
	}
	if len(floors) == 0 {
		return nil, fmt.Errorf("%s has no floors", name)
	}
	return floors, nil
}
