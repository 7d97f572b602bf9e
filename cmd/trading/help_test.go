package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// commands returns the paths of all commands that do something, without trading itself.
func commands(cmd *cobra.Command) (all []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.Name() == "completion" || c.Name() == "help" {
			continue // cobra's
		}
		all = append(append(all, c), commands(c)...)
	}
	return all
}

func words(c *cobra.Command) []string { return strings.Fields(c.CommandPath())[1:] }

// arguments are as many words as a command wants.
func arguments(c *cobra.Command) []string {
	_, names, _ := strings.Cut(c.Use, " ")
	return slices.Repeat([]string{"x"}, len(strings.Fields(names)))
}

func TestHelp(t *testing.T) {
	r := newRig(t)
	var all strings.Builder
	all.WriteString(r.done("--help"))
	for _, c := range commands(newRoot(&cli.App{})) {
		fmt.Fprintf(&all, "\n==> %s\n%s", c.CommandPath(), r.done(append(words(c), "--help")...))
		for line := range strings.SplitSeq(c.Long, "\n") {
			assert.LessOrEqual(t, len(line), 102, "%s: a terminal breaks the line %q", c.CommandPath(), line)
		}
	}
	golden(t, "help.txt", all.String())
}

// What each command says to a command line without anything, and to one with too much.
func TestErrors(t *testing.T) {
	r := newRig(t)
	var all strings.Builder
	for _, c := range commands(newRoot(&cli.App{})) {
		if c.HasSubCommands() || c.Name() == "sim" || c.Name() == "version" || c.Name() == "status" || c.Name() == "doctor" || c.Name() == "mcp" || c.Name() == "engine" {
			continue
		}
		for _, more := range [][]string{nil, {"--no-such-flag"}, slices.Repeat([]string{"extra"}, 3)} {
			args := append(words(c), more...)
			code, _, errs := r.run(args...)
			fmt.Fprintf(&all, "$ trading %s\n%s-> %d\n\n", strings.Join(args, " "), errs, code)
		}
	}
	golden(t, "errors.txt", all.String())
	assert.Empty(t, r.sim.Ledger())
}

// An unset variable of the shell must not mean "all", whichever flag it is for.
func TestEmptyValues(t *testing.T) {
	r := newRig(t)
	flags := 0
	for _, c := range commands(newRoot(&cli.App{})) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				code, out, errs := r.run(append(append(words(c), arguments(c)...), "--"+f.Name+"=")...)
				assert.Equal(t, cli.Usage, code, "%q --%s=: %s%s", words(c), f.Name, out, errs)
				return
			}
			flags++
			for _, empty := range [][]string{{"--" + f.Name, ""}, {"--" + f.Name, "  "}, {"--" + f.Name + "="}, {"--" + f.Name, "x", "--" + f.Name, ""}} {
				args := append(append(words(c), arguments(c)...), empty...)
				code, out, errs := r.run(args...)
				assert.Equal(t, cli.Usage, code, "%q: %s%s", args, out, errs)
			}
		})
		for i, name := range arguments(c) {
			args := append(words(c), arguments(c)...)
			args[len(words(c))+i] = ""
			code, _, errs := r.run(args...)
			assert.Equal(t, cli.Usage, code, "%q (%s): %s", args, name, errs)
		}
	}
	assert.Greater(t, flags, 100)
	assert.Empty(t, r.sim.Requests(), "nothing is sent")
}

func TestEmptyVariables(t *testing.T) {
	for _, name := range []string{"TRADING_BASE_URL", "TRADING_SANDBOX_KEY", "TRADING_LIVE_KEY", "TRADING_JOURNAL", "TRADING_ACCOUNT", "TRADING_STATE_DIR", "TRADING_DOCS_URL", "TRADING_SIM_TOKEN", "TRADING_NO_SUCH"} {
		for _, empty := range []string{"", " \t"} {
			r := newRig(t)
			r.env = append(r.env, name+"="+empty)
			for _, args := range [][]string{{"status"}, {"flatten", "--all-symbols", "--yes"}, {"pending", "ls"}, {"sim", "--interpretations"}, {"version"}} {
				assert.Empty(t, r.ends(cli.Usage, name+" is set and empty", args...))
			}
			require.Empty(t, r.sim.Requests())
		}
	}
}
