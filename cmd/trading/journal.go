package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

func newJournal(app *cli.App) *cobra.Command {
	return cli.Group("journal", "Look into a journal of writes, beside the bot that writes to it",
		newJournalList(app), newJournalShow(app), newJournalVerify(app), newJournalImport(app), newJournalExport(app))
}

// journalView is a write of a journal.
type journalView struct {
	pendingView
	State      string     `json:"state"`
	Try        int        `json:"try"`
	Evidence   string     `json:"evidence,omitempty"`
	ResolvedAt time.Time  `json:"resolvedAt,omitzero"`
	Note       string     `json:"note,omitempty"`
	BaseURL    string     `json:"baseURL,omitempty"`
	Process    string     `json:"process,omitempty"`
	Body       string     `json:"body,omitempty"`
	Answer     string     `json:"answer,omitempty"`
	Facts      []factView `json:"facts,omitempty"`
}

type factView struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

func viewWrite(path string, w *trading.JournaledWrite) journalView {
	v := journalView{
		pendingView: viewPending(path, w), State: stateOf(w), Try: w.Try, ResolvedAt: w.ResolvedAt, Note: w.Note,
		BaseURL: w.BaseURL, Process: w.Process, Body: string(w.Body), Answer: string(w.Answer),
	}
	if !w.Pending {
		v.Evidence = w.Evidence.String()
	}
	for _, f := range w.Facts {
		v.Facts = append(v.Facts, factView{f.At, f.What})
	}
	return v
}

func stateOf(w *trading.JournaledWrite) string {
	switch {
	case w.Pending:
		return "pending"
	case w.Code != "":
		return fmt.Sprintf("%s (%s)", w.Outcome, cli.Printable(w.Code))
	default:
		return w.Outcome.String()
	}
}

func newJournalList(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls FILE", Short: "List the writes that a journal keeps", Args: cobra.ArbitraryArgs,
		Long: "List the writes that a journal keeps: the pending ones, and the resolved ones that have a\nclient order id. With --fleet it is that of a lease, or of all, and there is no FILE.",
	}
	fleet := fleetFlags(app, cmd).leaseFlag(cmd, "only of this lease of --fleet")
	out := app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := fleet.check(cmd); err != nil {
			return err
		}
		all := []journalView{}
		if fleet.given() {
			if len(args) > 0 {
				return cli.Misuse("unexpected argument %q: --fleet takes no file", args[0])
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), readTimeout)
			defer cancel()
			of, err := fleet.writes(ctx)
			return printJournal(out, append(all, of...), err)
		}
		if err := cli.Args("FILE")(cmd, args); err != nil {
			return cli.WithCode(cli.Usage, err)
		}
		var broken error
		for w, err := range trading.ReadJournal(args[0]) {
			if broken = err; err == nil {
				all = append(all, viewWrite(args[0], w))
			}
		}
		return printJournal(out, all, broken)
	}
	return cmd
}

func printJournal(out *cli.Output, all []journalView, err error) error {
	return printRead(out, all, err, func(w io.Writer) {
		cli.Row(w, "DECIDED", "STATE", "OPERATION", "ACCOUNT", "SYMBOL", "TRY", "CLIENT ORDER ID", "ID")
		for _, v := range all {
			cli.Row(w, cli.Stamp(v.Decided), v.State, v.Operation, v.Account, v.Symbol, v.Try, v.ClientOrderID, v.ID)
		}
	})
}

func newJournalShow(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show FILE ID", Short: "Show one write, with what happened to it", Args: cobra.ArbitraryArgs,
		Long: "Show one write of a journal, with what happened to it. With --fleet it is that of a lease, and\nthere is no FILE.",
	}
	fleet := fleetFlags(app, cmd).leaseFlag(cmd, "the lease of --fleet")
	out := app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), readTimeout)
		defer cancel()
		k, rest, err := fleet.orFile(ctx, cmd, args, "ID")
		if err != nil {
			return err
		}
		w, err := k.find(trading.IntentID(rest[0]))
		if err != nil {
			return err
		}
		v := viewWrite(k.name, w)
		return out.Print(v, v.table)
	}
	return cmd
}

// orFile is the journal of a lease, or that in the file which the first argument names; and the other
// arguments.
func (f *fleet) orFile(ctx context.Context, cmd *cobra.Command, args []string, names ...string) (*kept, []string, error) {
	if err := f.check(cmd); err != nil {
		return nil, nil, err
	}
	if !f.given() {
		names = append([]string{"FILE"}, names...)
	}
	if err := cli.Args(names...)(cmd, args); err != nil {
		return nil, nil, cli.WithCode(cli.Usage, err)
	}
	if !f.given() {
		return keptFile(args[0]), args[1:], nil
	}
	k, err := f.kept(ctx)
	return k, args, err
}

func (v journalView) table(w io.Writer) {
	for _, row := range [][2]string{
		{"id", string(v.ID)},
		{"state", v.State},
		{"operation", string(v.Operation)},
		{"environment", string(v.Environment)},
		{"account", string(v.Account)},
		{"symbol", v.Symbol},
		{"tag", v.Tag},
		{"client order id", v.ClientOrderID},
		{"try", strconv.Itoa(v.Try)},
		{"key", string(v.Key)},
		{"base URL", v.BaseURL},
		{"process", v.Process},
		{"body", v.Body},
		{"resolved", cli.Stamp(v.ResolvedAt)},
		{"evidence", v.Evidence},
		{"note", v.Note},
		{"answer", v.Answer},
	} {
		if row[1] != "" {
			cli.Row(w, row[0], row[1])
		}
	}
	for _, f := range v.Facts {
		cli.Row(w, cli.Stamp(f.At), f.What)
	}
}

func newJournalVerify(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Check that a journal is whole, and every record readable", Args: cobra.ArbitraryArgs,
		Long: "Check that a journal is whole, and every record readable, to its end. With --fleet it is that of\na lease, and there is no FILE.",
	}
	fleet := fleetFlags(app, cmd).leaseFlag(cmd, "the lease of --fleet")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), readTimeout)
		defer cancel()
		k, _, err := fleet.orFile(ctx, cmd, args)
		if err != nil {
			return err
		}
		pending, resolved := 0, 0
		for w, err := range k.writes {
			switch {
			case err != nil:
				return err
			case w.Pending:
				pending++
			default:
				resolved++
			}
		}
		_, err = fmt.Fprintf(app.Out, "whole: %d pending, %d resolved\n", pending, resolved)
		return err
	}
	return cmd
}
