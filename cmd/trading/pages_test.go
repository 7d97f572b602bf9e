package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

var (
	codeBlocks = regexp.MustCompile("(?s)\n```.*?\n```")
	typedLines = regexp.MustCompile(`(?m)^(?:sudo -u trading )?(?:\./|go run \./cmd/)?trading (.*)$`)
	namedLines = regexp.MustCompile("`(?:\\./|go run \\./cmd/)?trading ([^`]*)`")
)

// argsOf are the arguments of a command line, up to where its output goes or a comment begins.
func argsOf(t *testing.T, line string) (args []string) {
	t.Helper()
	for _, word := range shellWords(t, line) {
		if strings.HasPrefix(word, "#") || strings.HasPrefix(word, ">") || word == "&" {
			break
		}
		args = append(args, word)
	}
	return args
}

// parse finds the command of a line, and parses its flags. A whole line also has the arguments that it needs.
func parse(args []string, whole bool) error {
	cmd, rest, err := newRoot(&cli.App{}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if !whole && err != nil && (errors.Is(err, pflag.ErrHelp) || strings.Contains(err.Error(), "flag needs an argument")) {
		return nil // it names the flag alone
	}
	if err == nil && whole {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	return err
}

// Each command that a page shows exists, with the flags that it has there.
func TestTheCommandsOfThePages(t *testing.T) {
	pages := []string{"README.md", "../../README.md", "../../CONTRIBUTING.md", "../../AGENTS.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../contrib/*/README.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	typed, named := 0, 0
	for _, page := range pages {
		source, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range blocks(t, page, "sh") {
			for _, line := range typedLines.FindAllStringSubmatch(strings.ReplaceAll(block, "\\\n", " "), -1) {
				typed++
				assert.NoError(t, parse(argsOf(t, line[1]), true), "%s: %s", page, line[0])
			}
		}
		for _, line := range namedLines.FindAllStringSubmatch(codeBlocks.ReplaceAllString(string(source), ""), -1) {
			named++
			assert.NoError(t, parse(argsOf(t, line[1]), false), "%s: %s", page, line[0])
		}
	}
	assert.Greater(t, typed, 60)
	assert.Greater(t, named, 60)
	assert.Error(t, parse(argsOf(t, "flatten --everything"), false), "the check can fail")
	assert.Error(t, parse(argsOf(t, "pending ack"), true), "the check can fail")
}
