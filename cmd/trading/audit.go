package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/record"
)

func newAudit(app *cli.App) *cobra.Command {
	return cli.Group("audit", "Look into an audit of writes", newAuditVerify(app), newAuditShow(app))
}

const auditFile = `
FILE is the one that a bot in Go writes by record.OpenAudit, of package record; the older ones
beside it are found. A bot may write to it meanwhile. Nothing is changed.`

func newAuditVerify(app *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE", Short: "Check that an audit is what was written", Long: "Check that an audit is what was written.\n" + auditFile, Args: cli.Args("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return verifyAudit(app.Out, args[0]) },
	}
}

func verifyAudit(out io.Writer, path string) error {
	report, err := record.VerifyFile(path)
	if report.Lines > 0 {
		if _, err := fmt.Fprintln(out, auditSummary(report)); err != nil {
			return err
		}
	}
	return err
}

func newAuditShow(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show FILE", Short: "Show a line for each event, then verify", Args: cli.Args("FILE"),
		Long: "Show a line for each event, or the events of one call in full, then verify.\n" + auditFile,
	}
	call := cmd.Flags().String("call", "", "show the events of this call in full")
	out := app.Output(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := showAudit(out, args[0], *call); err != nil {
			return err
		}
		return verifyAudit(app.Err, args[0])
	}
	return cmd
}

// showAudit shows the events up to the first that is broken.
func showAudit(out *cli.Output, path, call string) error {
	events := []record.Event{}
	for e, broken := range record.FileEvents(path) {
		if broken != nil {
			break // verifying says what is wrong
		}
		if call == "" || e.Call == call {
			events = append(events, e)
		}
	}
	return out.Print(events, func(w io.Writer) {
		for _, e := range events {
			cli.Row(w, e.Seq, cli.Stamp(e.At), e.Call, e.Kind, e.Operation, e.Account, e.Symbol, auditDetail(&e))
			if call != "" {
				auditFull(w, &e)
			}
		}
	})
}

// auditSummary says in a line what an audit is, as far as it verifies.
func auditSummary(r record.Report) string {
	text := fmt.Sprintf("%d lines in %d files, number %d to %d, the last with hash %s", r.Lines, r.Files, r.First, r.Last, r.Head)
	if r.First > 1 {
		text += "; the files before are not here"
	}
	if !r.Closed {
		text += "; not closed"
	}
	if r.Lost > 0 {
		text += fmt.Sprintf("; %d events were lost", r.Lost)
	}
	return text
}

// auditDetail is what matters of an event besides what all have.
func auditDetail(e *record.Event) string {
	parts := []string{e.Tag}
	if e.Attempt > 0 {
		parts = append(parts, "attempt "+strconv.Itoa(e.Attempt))
	}
	if e.Status > 0 {
		parts = append(parts, strconv.Itoa(e.Status))
	}
	parts = append(parts, string(e.Code), e.Outcome, e.Evidence)
	if e.Late {
		parts = append(parts, "late")
	}
	if e.MaybeLate {
		parts = append(parts, "maybe late")
	}
	if e.For > 0 {
		parts = append(parts, e.For.String())
	}
	parts = append(parts, e.Bucket)
	if e.Torn != nil {
		parts = append(parts, fmt.Sprintf("after a torn line of %d bytes", e.Torn.Bytes))
	}
	if e.Held+e.Lost > 0 {
		parts = append(parts, fmt.Sprintf("held %d, lost %d", e.Held, e.Lost))
	}
	return joinParts(append(parts, e.Err))
}

// joinParts joins what is not empty, each made printable.
func joinParts(parts []string) string {
	var full []string
	for _, p := range parts {
		if p != "" {
			full = append(full, cli.Printable(p))
		}
	}
	return strings.Join(full, ", ")
}

// auditFull shows all of an event, as JSON.
func auditFull(out io.Writer, e *record.Event) {
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(err.Error())
	}
	fmt.Fprintf(out, "\t%s\n", cli.Printable(text))
}
