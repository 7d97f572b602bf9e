// Command openapilint holds an OpenAPI description against a ruleset, and fails
// on every finding, hints included. Its parser and its rules are independent of
// the generator's.
//
//	openapilint -config ruleset.yaml openapi.json
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/speakeasy-api/openapi/linter"
	"github.com/speakeasy-api/openapi/openapi"
	rules "github.com/speakeasy-api/openapi/openapi/linter"
	"github.com/speakeasy-api/openapi/references"
)

func main() {
	config := flag.String("config", "ruleset.yaml", "the ruleset")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: openapilint [-config ruleset.yaml] openapi.json")
		os.Exit(2)
	}
	if err := lint(context.Background(), *config, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "openapilint:", err)
		os.Exit(1)
	}
}

func lint(ctx context.Context, configFile, file string) error {
	config, err := linter.LoadConfigFromFile(configFile)
	if err != nil {
		return err
	}
	checker, err := rules.NewLinter(config)
	if err != nil {
		return err
	}
	if err := known(checker, config); err != nil {
		return err
	}
	text, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = text.Close() }() // only read
	doc, invalid, err := openapi.Unmarshal(ctx, text)
	if err != nil {
		return err
	}
	output, err := checker.Lint(ctx, linter.NewDocumentInfo(doc, file), invalid, &linter.LintOptions{
		ResolveOptions: &references.ResolveOptions{DisableExternalRefs: true},
	})
	if err != nil {
		return err
	}
	for _, finding := range output.Results {
		fmt.Printf("%s: %v\n", file, finding)
	}
	if n := len(output.Results); n > 0 {
		return fmt.Errorf("%d findings in %s", n, file)
	}
	fmt.Printf("%s: no findings\n", file)
	return nil
}

// known refuses a ruleset that names a rule which does not exist: such an
// exception would outlive the rule that it was for. What the parser itself
// finds has names too, which begin with "validation-".
func known(checker *rules.Linter, config *linter.Config) error {
	exists := map[string]bool{}
	for _, rule := range checker.Registry().AllRules() {
		exists[rule.ID()] = true
	}
	if len(exists) == 0 {
		return errors.New("the linter has no rules")
	}
	for _, entry := range config.Rules {
		if !exists[entry.ID] && !strings.HasPrefix(entry.ID, "validation-") {
			return fmt.Errorf("the ruleset names %q, which is no rule", entry.ID)
		}
	}
	return nil
}
