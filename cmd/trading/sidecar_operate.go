package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/sidecar"
)

// sidecarOperator asks a sidecar that runs.
type sidecarOperator struct {
	at  func() (sidecarAddress, error)
	out *cli.Output
}

// newSidecarOperator asks on the socket for people, in the state folder.
func newSidecarOperator(app *cli.App, cmd *cobra.Command) *sidecarOperator {
	dir := sidecarDir(app, cmd, false)
	return &sidecarOperator{func() (sidecarAddress, error) {
		path, err := dir()
		return sidecarAddress{socket: operatorSocket(path)}, err
	}, app.Output(cmd)}
}

// stateDir is the flag that names the sidecar to its commands; empty where the port of its bots is asked.
func (o *sidecarOperator) stateDir() string {
	at, err := o.at()
	if err != nil || at.socket == "" {
		return ""
	}
	return " --state-dir " + cli.Word(filepath.Dir(filepath.Dir(at.socket)))
}

// ask sends a command; a body that is nil is a question. The answer goes into result.
func (o *sidecarOperator) ask(ctx context.Context, path string, body map[string]any, result any) error {
	at, err := o.at()
	if err != nil {
		return err
	}
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text, _ = json.Marshal(body) // texts and lists of them always have their JSON
	}
	request, err := at.request(ctx, method, path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	client, closes := at.client()
	defer closes()
	response, err := client.Do(request)
	if err != nil {
		return cli.WithCode(cli.Refused, fmt.Errorf("no sidecar answers at %s; does it run? %w", at, errors.Unwrap(err)))
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var refusal struct{ Error, Message, Reason string }
	if response.StatusCode != http.StatusOK && json.Unmarshal(answer, &refusal) == nil && refusal.Error != "" {
		return cli.WithCode(cli.NotApplied, fmt.Errorf("%s %s", cli.Printable(refusal.Message), cli.Printable(refusal.Reason)))
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return cli.WithCode(cli.NotApplied, fmt.Errorf("what answers at %s is no sidecar: %w", at, err))
	}
	return nil
}

// printStatus asks, and prints how the sidecar is then.
func (o *sidecarOperator) printStatus(ctx context.Context, path string, body map[string]any) error {
	var s struct {
		sidecar.Status
		Pending *int `json:"pending"` // nil where the sidecar does not say so
	}
	if err := o.ask(ctx, path, body, &s); err != nil {
		return err
	}
	return o.out.Print(s, func(w io.Writer) {
		ready := "takes entries"
		if !s.Ready {
			ready = "takes no entries: " + cli.Printable(s.Reason)
		} else if len(s.Refused) > 0 {
			ready += ", but not in " + cli.Printable(strings.Join(s.Refused, ", "))
		}
		cli.Row(w, "state", ready)
		if s.Pending != nil {
			cli.Row(w, "pending", *s.Pending)
		}
		if s.Unheard != nil {
			cli.Row(w, "not heard", cmp.Or(strings.Join(s.Unheard, " "), "none"))
		}
	})
}

func newSidecarStatus(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show whether a sidecar takes entries, and what is open", Args: cli.Args(),
		Long: `Show whether a sidecar takes entries, how many writes are pending, and which entries hold
their market since their bots have not heard of them.`,
	}
	o := newSidecarOperator(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return o.printStatus(cmd.Context(), "/status", nil)
	}
	return cmd
}

func newSidecarPending(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "pending", Short: "List the writes whose outcome is not known, with their bots", Args: cli.Args()}
	o := newSidecarOperator(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return o.pending(cmd.Context())
	}
	return cmd
}

func (o *sidecarOperator) pending(ctx context.Context) error {
	var all []sidecar.Pending
	if err := o.ask(ctx, "/pending", nil, &all); err != nil {
		return err
	}
	return o.printPending(all, time.Now())
}

func (o *sidecarOperator) printPending(all []sidecar.Pending, now time.Time) error {
	return o.out.Print(all, func(w io.Writer) {
		if len(all) == 0 {
			cli.Row(w, "no pending writes")
			return
		}
		cli.Row(w, "FOR", "BOT", "OPERATION", "ACCOUNT", "SYMBOL", "ENTRIES", "ID", "REASON")
		var steps []string
		dir := o.stateDir()
		for _, p := range all {
			id := cmp.Or(string(p.ID), p.Write)
			switch {
			case p.Waiting && string(p.ID) == p.Write: // nothing more is found out about it
				steps = append(steps, "next: look at the account, then: trading sidecar ack "+id+" --found applied|not-applied"+dir)
			case p.Waiting:
				steps = append(steps, "next: the sidecar has not found out by itself: trading sidecar resolve "+id+dir)
			}
			cli.Row(w, age(now.Sub(p.Decided)), p.Bot, p.Operation, nameOf(p.Account, p.Env), p.Symbol, entriesText(p.MarketOpen), id, p.Reason)
		}
		if len(steps) == 0 {
			steps = []string{"next: wait: the sidecar finds out by itself, in most cases within half an hour"}
		}
		for _, next := range steps {
			cli.Row(w, next)
		}
	})
}

// entriesText says whether entries go on in the market of a write whose outcome is not known.
func entriesText(open bool) string {
	if open {
		return "go on"
	}
	return "refused"
}

func newSidecarResolve(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolve ID", Short: "Find out what became of a pending write", Args: cli.Args("ID"),
		Long: "Find out what became of a pending write. It can take half an hour. The exit code is 3 if\nit is still not known: look at the account, and acknowledge what you find.",
	}
	o := newSidecarOperator(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var found sidecar.Resolved
		if err := o.ask(cmd.Context(), "/resolve", map[string]any{"id": args[0]}, &found); err != nil {
			return err
		}
		err := o.out.Print(found, func(w io.Writer) {
			cli.Row(w, found.ID, found.Outcome, found.Evidence, cli.Printable(found.Error))
		})
		if found.Outcome == "unknown" {
			err = errors.Join(err, cli.WithCode(cli.Unknown, errors.New("its outcome is not known")))
		}
		return err
	}
	return cmd
}

func newSidecarAck(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ack ID", Short: "Acknowledge what a person has found out about a pending write", Args: cli.Args("ID"),
		Long:    "Acknowledge what a person has found out about a pending write. Look at the account first. The\nmarket of the write takes entries again.",
		Example: "  trading sidecar ack ID --found applied --note 'seen in the terminal' --state-dir sidecar.state",
	}
	o, found := newSidecarOperator(app, cmd), foundFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.Require(cmd, "found"); err != nil {
			return err
		}
		return o.printStatus(cmd.Context(), "/acknowledge", map[string]any{"id": args[0], "outcome": found.outcome, "note": found.note})
	}
	return cmd
}

func newSidecarHalt(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "halt", Short: "Refuse the entries of all bots, until resume", Args: cli.Args(),
		Long: "Refuse the entries of all bots, until resume or until the sidecar ends. Exits pass.",
	}
	o, reason := newSidecarOperator(app, cmd), reasonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return o.printStatus(cmd.Context(), "/halt", map[string]any{"reason": *reason})
	}
	return cmd
}

func newSidecarResume(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "resume", Short: "Take the entries of bots again", Args: cli.Args()}
	o := newSidecarOperator(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return o.printStatus(cmd.Context(), "/resume", map[string]any{})
	}
	return cmd
}

func newSidecarFlatten(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "flatten", Short: "Get out of the market, and keep the bots out", Args: cli.Args(),
		Long: `Refuse the entries of all bots, then cancel and close everything on the accounts. The
entries are refused until resume. The exit code is 5 if an account is not proven flat.`,
		Example: "  trading sidecar flatten --reason 'end of the week' --account acc_1 --state-dir sidecar.state",
	}
	o, reason := newSidecarOperator(app, cmd), reasonFlag(cmd)
	accounts := cmd.Flags().StringArray("account", nil, "a live account (required); may be repeated")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.Require(cmd, "account"); err != nil {
			return err
		}
		return o.flatten(cmd.Context(), *reason, *accounts, nil)
	}
	return cmd
}

// flatten gets accounts out of markets, or of all, and prints what came of it.
func (o *sidecarOperator) flatten(ctx context.Context, reason string, accounts, symbols []string) error {
	body := map[string]any{"reason": reason, "accounts": accounts}
	if len(symbols) > 0 {
		body["symbols"] = symbols
	}
	var all []sidecar.Flattened
	if err := o.ask(ctx, "/flatten", body, &all); err != nil {
		return err
	}
	dir := o.stateDir()
	err := o.out.Print(all, func(w io.Writer) {
		flat := true
		for _, f := range all {
			flat = flat && f.Flat
			cli.Row(w, nameOf(f.Account, trading.EnvLive), cli.Printable(f.Report))
		}
		if !flat {
			cli.Row(w, "next: trading sidecar pending"+dir+"; then flatten again")
		}
		cli.Row(w, "entries of all bots are refused until: trading sidecar resume"+dir)
	})
	for _, f := range all {
		if !f.Flat {
			err = errors.Join(err, cli.WithCode(cli.NotFlat, fmt.Errorf("account %s is not proven flat", cli.Printable(f.Account))))
		}
	}
	return err
}
