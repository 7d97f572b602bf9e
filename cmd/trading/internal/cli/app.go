// Package cli is what the commands have in common: the terminal, the flags that lead to
// the service, the client, the output and the exit codes.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go"
)

// App is what a command runs in. Tests make one of their own.
type App struct {
	// In, Out and Err are the standard streams.
	In       io.Reader
	Out, Err io.Writer
	// InTerminal means that a person can answer, OutTerminal that one reads.
	InTerminal, OutTerminal bool
	// Environ is the environment, as os.Environ returns it.
	Environ []string
	// Options are given to every client, after all others.
	Options []trading.Option
	// Transport sends what no client of package trading sends; connections of its own
	// unless set.
	Transport http.RoundTripper

	saying sync.Mutex
}

// NewApp returns the App of this process.
func NewApp() *App {
	return &App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal:  term.IsTerminal(os.Stdin.Fd()),
		OutTerminal: term.IsTerminal(os.Stdout.Fd()),
		Environ:     os.Environ(),
	}
}

// Saying returns an App like this one whose lines for the operator go elsewhere.
func (a *App) Saying(to io.Writer) *App {
	return &App{
		In: a.In, Out: a.Out, Err: to, InTerminal: a.InTerminal, OutTerminal: a.OutTerminal,
		Environ: a.Environ, Options: a.Options, Transport: a.Transport,
	}
}

// Getenv returns a variable of the environment.
func (a *App) Getenv(name string) string {
	value := ""
	for _, pair := range a.Environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// Colour reports whether the output may be coloured.
func (a *App) Colour() bool {
	return a.OutTerminal && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}

// Run executes the command line and returns the exit code.
func (a *App) Run(ctx context.Context, root *cobra.Command, args []string) int {
	for _, arg := range args {
		if looksLikeKey(arg) {
			// Other users of the machine and the shell's history can see it. It is not repeated here.
			a.Sayf("trading: an argument looks like an API key: revoke the key, and give keys by the environment or --key-file")
			return Usage
		}
	}
	began := false
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if began = true; completes(cmd) {
			return nil
		}
		return errors.Join(a.checkEnvironment(), checkEmpty(cmd, args))
	}
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	cmd, err := root, helpForNothing(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	if err == nil {
		return Done
	}
	if !began {
		err = WithCode(Usage, err) // cobra refused it
	}
	code := Status(err)
	text := "\n" + err.Error()
	for name := range strings.FieldsSeq(cmd.CommandPath()) {
		text = strings.ReplaceAll(text, "\n"+name+": ", "\n") // the package's, which the command has said
	}
	a.Sayf("%s: %s", cmd.CommandPath(), PrintableLines(text[1:]))
	if code == Usage {
		a.Sayf("%s --help lists the flags", cmd.CommandPath())
	}
	return code
}

// Sayf writes a line for the operator to standard error, whole beside those of other goroutines.
func (a *App) Sayf(format string, args ...any) { fmt.Fprintf(a.Lines(), format+"\n", args...) }

// Lines returns standard error for whoever writes a line at a time: it is whole beside those of others.
func (a *App) Lines() io.Writer { return lines{a} }

type lines struct{ *App }

func (l lines) Write(line []byte) (int, error) {
	l.saying.Lock()
	defer l.saying.Unlock()
	return l.Err.Write(line)
}

// checkEnvironment refuses a variable of ours that is set and empty.
func (a *App) checkEnvironment() error {
	var errs []error
	for _, pair := range a.Environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "TRADING_") && strings.TrimSpace(value) == "" {
			errs = append(errs, Misuse("%s is set and empty: give it a value, or unset it", name))
		}
	}
	return errors.Join(errs...)
}

// checkEmpty refuses an empty value: it is an unset variable of the shell, most likely,
// and must not mean "all".
func checkEmpty(cmd *cobra.Command, args []string) error {
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if strings.TrimSpace(v) == "" {
				errs = append(errs, Misuse("--%s is empty", f.Name))
			}
		}
	})
	for _, arg := range args {
		if strings.TrimSpace(arg) == "" {
			errs = append(errs, Misuse("an argument is empty"))
		}
	}
	return errors.Join(errs...)
}

// Args requires an argument for each name, and no more.
func Args(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		case len(args) < len(names):
			return fmt.Errorf("missing: %s", strings.Join(names[len(args):], ", "))
		default:
			return nil
		}
	}
}

// AtLeast requires one argument or more.
func AtLeast(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("missing: %s", name)
		}
		return nil
	}
}

// helpForNothing refuses a request for the help of a command that does not exist. Cobra answers it by
// the help of the group.
func helpForNothing(root *cobra.Command, args []string) error {
	if !slices.Contains(args, "--help") && !slices.Contains(args, "-h") {
		return nil
	}
	group, rest, err := root.Find(args)
	if err != nil || !group.HasSubCommands() {
		return nil
	}
	for _, arg := range rest {
		if !strings.HasPrefix(arg, "-") {
			return group.RunE(group, []string{arg})
		}
	}
	return nil
}

// Require refuses a command line without these flags, and names all that are missing.
func Require(cmd *cobra.Command, names ...string) error {
	var missing []string
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		return Misuse("missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

// Group is a command that only has others.
func Group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := ""
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = "; did you mean " + near[0] + "?"
			}
			return Misuse("unknown command %q%s", args[0], hint)
		},
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(commands...)
	return cmd
}

// Confirm asks whether to go on. Without a terminal only yes, given beforehand, will do.
func (a *App) Confirm(ctx context.Context, question string) error {
	answer, err := a.Ask(ctx, question+" [y/N] ")
	if err != nil {
		return err
	}
	if answer != "y" && answer != "yes" {
		return WithCode(NotApplied, errors.New("not confirmed: nothing was sent"))
	}
	return nil
}

// Ask reads a line from the terminal. It returns when the context ends, too.
func (a *App) Ask(ctx context.Context, prompt string) (string, error) {
	if !a.InTerminal {
		return "", Misuse("this needs a terminal: a person has to answer")
	}
	fmt.Fprint(a.Err, prompt)
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(a.In).ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-read:
		if l.err != nil && l.text == "" {
			return "", WithCode(NotApplied, errors.New("no answer: nothing was sent"))
		}
		return strings.ToLower(strings.TrimSpace(l.text)), nil
	}
}
