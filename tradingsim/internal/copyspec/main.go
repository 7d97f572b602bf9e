// Command copyspec copies the contract into the package that embeds it, since
// an embedded file has to lie below the package.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "copyspec:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: copyspec <from> <to>")
	}
	spec, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if !json.Valid(spec) {
		return fmt.Errorf("%s is not JSON", args[0])
	}
	return os.WriteFile(args[1], spec, 0o644)
}
