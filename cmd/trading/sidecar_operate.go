package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/sidecar"
)

// sidecarOperator asks a sidecar that runs, on the socket for people.
type sidecarOperator struct {
	app *cli.App
	dir func() (string, error)
	out *cli.Output
}

func newSidecarOperator(app *cli.App, cmd *cobra.Command) *sidecarOperator {
	return &sidecarOperator{app, sidecarDir(app, cmd), app.Output(cmd)}
}

// ask sends a command; a body that is nil is a question. The answer goes into result.
func (o *sidecarOperator) ask(ctx context.Context, path string, body map[string]any, result any) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text, _ = json.Marshal(body) // texts and lists of them always have their JSON
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", operatorSocket(dir))
	}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return cli.WithCode(cli.Refused, fmt.Errorf("no sidecar answers in %s; does it run? %w", dir, errors.Unwrap(err)))
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var refusal struct{ Error, Message, Reason string }
	if response.StatusCode != http.StatusOK && json.Unmarshal(answer, &refusal) == nil && refusal.Error != "" {
		return cli.WithCode(cli.NotApplied, fmt.Errorf("%s %s", refusal.Message, refusal.Reason))
	}
	return json.Unmarshal(answer, result)
}

// printStatus asks, and prints how the sidecar is then.
func (o *sidecarOperator) printStatus(ctx context.Context, path string, body map[string]any) error {
	var s sidecar.Status
	if err := o.ask(ctx, path, body, &s); err != nil {
		return err
	}
	return o.out.Print(s, func(w io.Writer) {
		ready := "takes entries"
		if !s.Ready {
			ready = "takes no entries: " + cli.Printable(s.Reason)
		}
		cli.Row(w, "state", ready)
		cli.Row(w, "pending", s.Pending)
		cli.Row(w, "not heard", strings.Join(s.Unheard, " "))
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
		var all []sidecar.Pending
		if err := o.ask(cmd.Context(), "/pending", nil, &all); err != nil {
			return err
		}
		return o.out.Print(all, func(w io.Writer) {
			cli.Row(w, "FOR", "BOT", "OPERATION", "ACCOUNT", "SYMBOL", "ID", "REASON")
			for _, p := range all {
				cli.Row(w, age(time.Since(p.Decided)), p.Bot, p.Operation, nameOf(p.Account, p.Env), p.Symbol, p.ID, p.Reason)
			}
		})
	}
	return cmd
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
		Use: "ack ID applied|not-applied NOTE", Short: "Resolve a pending write by what you have found on the account", Args: cobra.ExactArgs(3),
		Long: "Resolve a pending write by what you have found on the account. Its market takes entries again.",
	}
	o := newSidecarOperator(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return o.printStatus(cmd.Context(), "/acknowledge", map[string]any{"id": args[0], "outcome": args[1], "note": args[2]})
	}
	return cmd
}

func newSidecarHalt(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "halt REASON", Short: "Refuse the entries of all bots, until resume", Args: cli.Args("REASON"),
		Long: "Refuse the entries of all bots, until resume or until the sidecar ends. Exits pass.",
	}
	o := newSidecarOperator(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return o.printStatus(cmd.Context(), "/halt", map[string]any{"reason": args[0]})
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
		Use: "flatten REASON", Short: "Get out of the market, and keep the bots out", Args: cli.Args("REASON"),
		Long: `Refuse the entries of all bots, then cancel and close everything on the accounts. The
entries are refused until resume. The exit code is 5 if an account is not proven flat.`,
		Example: "  trading sidecar flatten 'end of the week' --account acc_1 --state-dir sidecar.state",
	}
	o := newSidecarOperator(app, cmd)
	accounts := cmd.Flags().StringArray("account", nil, "a live account (required); may be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.Require(cmd, "account"); err != nil {
			return err
		}
		var all []sidecar.Flattened
		if err := o.ask(cmd.Context(), "/flatten", map[string]any{"reason": args[0], "accounts": *accounts}, &all); err != nil {
			return err
		}
		err := o.out.Print(all, func(w io.Writer) {
			for _, f := range all {
				cli.Row(w, nameOf(f.Account, trading.EnvLive), cli.Printable(f.Report))
			}
		})
		for _, f := range all {
			if !f.Flat {
				err = errors.Join(err, cli.WithCode(cli.NotFlat, fmt.Errorf("account %s is not proven flat", cli.Printable(f.Account))))
			}
		}
		return err
	}
	return cmd
}
