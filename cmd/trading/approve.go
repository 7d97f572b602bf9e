package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/mcp"
)

// approver is the command and its flags.
type approver struct {
	app     *cli.App
	set     bool
	deny    bool
	resume  bool
	outcome string
	phrase  func(prompt string) (string, error)
}

func newApprove(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve [TICKET]", Short: "Approve what a language model asks for", Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Args("TICKET")(cmd, args)
		},
		Long: `Approve what a language model asks for. Without a ticket it lists what waits. It asks for the
passphrase in the terminal: one that was typed into a chat is the model's for ever.`,
		Example: "  trading approve --set-passphrase\n  trading approve\n  trading approve t_tgh0cl_4fzq6hl2w3kx7yab",
	}
	a := &approver{app: app}
	a.phrase = a.typed
	f := cmd.Flags()
	f.BoolVar(&a.set, "set-passphrase", false, "set the passphrase, and unlock approvals")
	f.BoolVar(&a.deny, "deny", false, "refuse the ticket")
	f.BoolVar(&a.resume, "resume", false, "end a halt: entries are taken again")
	cli.Choice(f, &a.outcome, "acknowledge", "", "", "what became of a ticket whose outcome is not known, as you have found out", "applied", "not-applied")
	cmd.MarkFlagsMutuallyExclusive("set-passphrase", "deny", "resume", "acknowledge")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), strings.Join(args, "")) }
	return cmd
}

func (a *approver) run(ctx context.Context, ticket string) error {
	switch {
	case ticket == "" && (a.deny || a.outcome != ""):
		return cli.Misuse("missing: TICKET; trading approve lists what waits")
	case ticket != "" && (a.set || a.resume):
		return cli.Misuse("unexpected argument %q", ticket)
	}
	state, err := a.app.StateFolder()
	if err != nil {
		return cli.Misuse("no folder for the engine: %v", err)
	}
	root := filepath.Join(state, "mcp")
	if a.set {
		return a.setPassphrase(root)
	}
	dirs, err := filepath.Glob(filepath.Join(root, "*", "web.sock"))
	if err != nil {
		return err
	}
	if a.resume || a.outcome != "" {
		return a.operate(ctx, dirs, ticket)
	}
	found := false
	for _, socket := range dirs {
		dir := filepath.Dir(socket)
		waiting, err := a.waiting(ctx, dir)
		if err != nil {
			continue // no engine runs there
		}
		for _, w := range waiting {
			if ticket != "" && w.Ticket != ticket {
				continue
			}
			found = true
			if err := a.decide(ctx, dir, w, ticket != ""); err != nil {
				return err
			}
		}
	}
	switch {
	case !found && ticket != "":
		return cli.WithCode(cli.NotApplied, fmt.Errorf("ticket %s does not wait", cli.Printable(ticket)))
	case !found:
		a.app.Sayf("nothing waits")
	}
	return nil
}

// decide shows a ticket, and approves or refuses it if it was named.
func (a *approver) decide(ctx context.Context, dir string, w mcp.Waiting, named bool) error {
	_, _ = fmt.Fprintf(a.app.Out, "%s, for %s more\n", w.Ticket, w.Expires.Round(time.Second))
	for _, l := range w.Lines {
		_, _ = fmt.Fprintf(a.app.Out, "  %-18s %s\n", l.Name, cli.Printable(l.Value))
	}
	switch {
	case !named:
		return nil
	case a.deny:
		return a.post(ctx, dir, "deny", url.Values{"ticket": {w.Ticket}})
	}
	phrase, err := a.phrase("Passphrase to approve it: ")
	if err != nil {
		return err
	}
	return a.post(ctx, dir, "approve", url.Values{"ticket": {w.Ticket}, "digest": {w.Digest}, "passphrase": {phrase}})
}

// operate ends the halts of all engines, or gives the outcome of a ticket to the engine that has it.
func (a *approver) operate(ctx context.Context, sockets []string, ticket string) error {
	what, values := "resume", url.Values{}
	if a.outcome != "" {
		what, values = "acknowledge", url.Values{"ticket": {ticket}, "outcome": {a.outcome}}
	}
	err := cli.WithCode(cli.NotApplied, errors.New("no engine runs: start it by trading mcp first"))
	for _, socket := range sockets {
		dir := filepath.Dir(socket)
		if _, err := a.waiting(ctx, dir); err != nil {
			continue // no engine runs there, or one that only looks
		}
		if !values.Has("passphrase") {
			phrase, err := a.phrase("Passphrase to " + what + ": ")
			if err != nil {
				return err
			}
			values.Set("passphrase", phrase)
		}
		switch err = a.post(ctx, dir, what, values); {
		case a.resume && err != nil, !a.resume && err == nil:
			return err
		}
	}
	return err
}

func (a *approver) setPassphrase(root string) error {
	first, err := a.phrase("New passphrase, 10 characters or more: ")
	if err != nil {
		return err
	}
	again, err := a.phrase("Again: ")
	if err != nil {
		return err
	}
	if first != again {
		return cli.WithCode(cli.NotApplied, errors.New("the two differ: nothing was set"))
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	return mcp.SetPassphrase(root, first)
}

// typed reads a passphrase from the terminal, without showing it.
func (a *approver) typed(prompt string) (string, error) {
	terminal, is := a.app.In.(*os.File)
	if !a.app.InTerminal || !is {
		return "", cli.Misuse("this needs a terminal: a passphrase is typed by a person")
	}
	_, _ = fmt.Fprint(a.app.Err, prompt)
	text, err := term.ReadPassword(terminal.Fd())
	_, _ = fmt.Fprintln(a.app.Err)
	return string(text), err
}

func (a *approver) waiting(ctx context.Context, dir string) (all []mcp.Waiting, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/operator/waiting", nil)
	if err != nil {
		return nil, err
	}
	answer, err := (&http.Client{Transport: mcp.Dial(dir)}).Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK { // of an engine that only looks
		return nil, errors.New(answer.Status)
	}
	err = json.NewDecoder(answer.Body).Decode(&all)
	return all, err
}

func (a *approver) post(ctx context.Context, dir, what string, values url.Values) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine/operator/"+what, strings.NewReader(values.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := (&http.Client{Transport: mcp.Dial(dir)}).Do(r)
	if err != nil {
		return cli.WithCode(cli.Unknown, err)
	}
	defer func() { _ = answer.Body.Close() }()
	const most = 1 << 14
	text, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if err != nil || answer.StatusCode != http.StatusOK {
		return cli.WithCode(cli.NotApplied, errors.Join(errors.New(strings.TrimSpace(string(text))), err))
	}
	_, err = fmt.Fprintln(a.app.Out, strings.Trim(strings.TrimSpace(string(text)), `"`))
	return err
}
