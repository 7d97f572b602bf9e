// Command tables writes the tables of the client from the description of the
// service: the operations, the codes, what to do about each code, the page that
// lists them for people, the members of each write, the records and requests for their tests, the
// routes of the sidecar, and the status of each code for the simulator.
//
//	tables openapi.json folder
//
// It runs in internal/tools, and reads from there which models are not generated.
package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: tables openapi.json folder")
	}
	d, err := readDescription(args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	models, err := os.ReadFile(filepath.Join("..", "api", "models.yaml"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"names.gen.go":                          namesFile(d),
		"internal/spec/tables.gen.go":           tablesFile(d),
		"internal/api/records.gen_test.go":      recordsFile(d, string(models)),
		"internal/check/rawbody/members.gen.go": membersFile(d, string(models)),
		"sidecar/routes.gen.go":                 routesFile(d),
		"tradingsim/statuses.gen.go":            statusesFile(d),
	} {
		source, err := format.Source([]byte(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := write(filepath.Join(args[1], name), source); err != nil {
			return err
		}
	}
	return write(filepath.Join(args[1], "docs", "errors.md"), []byte(errorsPage(d)))
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
