package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// eithers are the commands that need one of several flags or arguments, or a flag together with another, and
// what they say without. What every command line of a command needs stands in its help.
var eithers = []struct {
	args  string // in words; DIR is a folder
	names []string
}{
	{"approve --deny", []string{"TICKET"}},
	{"approve --acknowledge applied", []string{"TICKET"}},
	{"approve --acknowledge maybe t_1", []string{"applied", "not-applied"}},
	{"approve --resume t_1", []string{"t_1"}},
	{"approve --set-passphrase t_1", []string{"t_1"}},
	{"cancel --env live --account acc_1 --yes", []string{"--order", "--run"}},
	{"cancel --env live --yes --order ord_1", []string{"--account"}},
	{"close --env live --yes --symbol BTC", []string{"--account"}},
	{"drill failover", []string{"--fleet"}},
	{"flatten --yes", []string{"--symbol", "--all-symbols"}},
	{"flatten --env live --yes --all-symbols", []string{"--account", "--all-accounts"}},
	{"journal ls", []string{"FILE"}},
	{"journal show bot.journal", []string{"ID"}},
	{"limit --symbol BTC --side long --size 1 --leverage 2 --limit-price 1 --yes", []string{"--env"}},
	{"observe", []string{"--from", "--ask", "--due"}},
	{"odds", []string{"--result", "--csv", "--account"}},
	{"pending resolve", []string{"ID", "--all"}},
	{"pending resolve ID --all", []string{"ID", "--all"}},
	{"place --env live --account acc_1 --symbol BTC --side long --size 1 --yes", []string{"--leverage"}},
	{"place --env live --symbol BTC --side long --size 1 --leverage 2 --yes", []string{"--account"}},
	{"release", []string{"--fleet", "--lease"}},
	{"sidecar ack ID --found maybe --state-dir DIR", []string{"applied", "not-applied"}},
	{"take", []string{"--fleet", "--lease"}},
	{"tpsl --yes --symbol BTC", []string{"--stop-loss", "--take-profit"}},
	{"trial", []string{"COMMAND"}},
	{"trial init", []string{"COMMAND"}},
}

// A command line that lacks something is refused before anything is sent or opened, and all that is missing
// is named: the arguments, then the flags whose help says that they are required.
func TestWhatIsRequired(t *testing.T) {
	seen := 0
	for _, c := range commands(newRoot(&cli.App{})) {
		if c.HasSubCommands() && !strings.Contains(c.Use, " ") {
			continue
		}
		arguments, flags := required(c)
		t.Run(strings.Join(words(c), " "), func(t *testing.T) {
			refuses := func(names []string, args ...string) {
				t.Helper()
				refusesBefore(t, append(words(c), args...), names)
				seen++
			}
			if len(arguments)+len(flags) > 0 {
				refuses(append(arguments[:len(arguments):len(arguments)], flagNames(flags, len(arguments) == 0)...))
			}
			all := lines(flags)
			for i := range arguments {
				refuses(arguments[i:], append(slices.Clone(arguments[:i]), all...)...)
			}
			for i, f := range flags {
				others := slices.Delete(slices.Clone(flags), i, i+1)
				refuses([]string{"--" + f.Name}, append(slices.Clone(arguments), lines(others)...)...)
			}
			if !strings.HasSuffix(c.Use, "...") && !strings.HasSuffix(c.Use, "…") && !strings.HasSuffix(c.Use, "...]") {
				extra := append(append(slices.Clone(arguments), all...), "superfluous", "superfluous")
				refuses([]string{`unexpected argument "superfluous"`}, extra...)
			}
		})
	}
	assert.Greater(t, seen, 100)
	for _, one := range eithers {
		t.Run(one.args, func(t *testing.T) { refusesBefore(t, strings.Fields(one.args), one.names) })
	}
}

// required are the arguments and the flags that every command line of a command has, by its help.
func required(c *cobra.Command) (arguments []string, flags []*pflag.Flag) {
	for _, name := range strings.Fields(c.Use)[1:] {
		if name != "--" && !strings.HasPrefix(name, "[") {
			arguments = append(arguments, strings.TrimSuffix(strings.TrimSuffix(name, "..."), "…"))
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.Contains(f.Usage, "(required)") {
			flags = append(flags, f)
		}
	})
	return arguments, flags
}

// flagNames are the flags as a refusal names them: arguments are counted before the flags are looked at.
func flagNames(flags []*pflag.Flag, counted bool) (names []string) {
	for _, f := range flags {
		if counted {
			names = append(names, "--"+f.Name)
		}
	}
	return names
}

// lines are flags with values that they take.
func lines(flags []*pflag.Flag) (args []string) {
	for _, f := range flags {
		var value string
		switch f.Value.Type() {
		case "number", "int":
			value = "2"
		case "duration":
			value = "1m"
		case "string", "stringArray":
			value = "x"
		default:
			value, _, _ = strings.Cut(f.Value.Type(), "|") // one of some
		}
		if f.Name == "fleet" {
			value = "postgres://bot@127.0.0.1:1/x"
		}
		args = append(args, "--"+f.Name, value)
	}
	return args
}

func refusesBefore(t *testing.T, args, names []string) {
	t.Helper()
	r, state := newRig(t), t.TempDir()
	r.env[len(r.env)-1] = "XDG_STATE_HOME=" + state
	for i, arg := range args {
		if arg == "DIR" {
			args[i] = state
		}
	}
	code, out, errs := r.run(args...)
	assert.Equal(t, cli.Usage, code, "%q: %s%s", args, out, errs)
	assert.Empty(t, out, "%q", args)
	first, _, _ := strings.Cut(errs, "\n")
	for _, name := range names {
		assert.Contains(t, first, name, "%q", args)
	}
	assert.Empty(t, r.sim.Requests(), "%q sends something", args)
	opened, err := os.ReadDir(state)
	require.NoError(t, err)
	assert.Empty(t, opened, "%q opens something", args)
}
