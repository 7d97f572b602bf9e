// Command tradingaudit verifies an audit of writes, and shows what is in it. It changes
// nothing.
//
//	tradingaudit FILE              is it what was written?
//	tradingaudit -show FILE        a line for each event as well
//	tradingaudit -call 2.17 FILE   the events of one call, with their bodies
//
// FILE is the one that is written to; the older ones beside it are found. It can be
// looked at while a bot writes to it.
//
// It ends with 0 if the audit is what was written, with 1 if it is not or cannot be
// read, and with 2 if the command line cannot be understood.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/tradingapi/trading-go/internal/commandline"
	"github.com/tradingapi/trading-go/record"
)

func main() {
	os.Exit(commandline.Status("tradingaudit", run(os.Stdout, os.Args[1:]), os.Stderr))
}

func run(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("tradingaudit", flag.ContinueOnError)
	show := flags.Bool("show", false, "show a line for each event")
	call := flags.String("call", "", "show the events of this `call` in full")
	if err := commandline.Parse(flags, args, out, "tradingaudit [flags] FILE"); err != nil {
		return err
	}
	if err := commandline.Arguments(flags, "FILE"); err != nil {
		return err
	}
	path := flags.Arg(0)
	if *show || *call != "" {
		if err := list(out, path, *call); err != nil {
			return err
		}
	}
	report, err := record.VerifyFile(path)
	if report.Lines > 0 {
		if _, err := fmt.Fprintln(out, summary(report)); err != nil {
			return err
		}
	}
	return err
}

// summary says in a line what an audit is, as far as it verifies.
func summary(r record.Report) string {
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

// list shows the events, those of one call in full.
func list(out io.Writer, path, call string) (err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer func() { err = errors.Join(err, table.Flush()) }()
	for e, broken := range record.FileEvents(path) {
		if broken != nil {
			return nil // which is said below all that is right
		}
		if call != "" && e.Call != call {
			continue
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Seq, e.At.UTC().Format("2006-01-02T15:04:05.000Z"),
			printable(e.Call), e.Kind, printable(e.Operation), printable(e.Account), printable(e.Symbol), detail(&e))
		if call != "" {
			inFull(table, &e)
		}
	}
	return nil
}

// detail is what matters of an event besides what all have.
func detail(e *record.Event) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(printable(e.Tag))
	if e.Attempt > 0 {
		add("attempt " + strconv.Itoa(e.Attempt))
	}
	if e.Status > 0 {
		add(strconv.Itoa(e.Status))
	}
	add(printable(e.Code))
	add(printable(e.Outcome))
	add(printable(e.Evidence))
	if e.Late {
		add("late")
	}
	if e.MaybeLate {
		add("maybe late")
	}
	if e.For > 0 {
		add(e.For.String())
	}
	add(printable(e.Bucket))
	if e.Torn != nil {
		add(fmt.Sprintf("after a torn line of %d bytes", e.Torn.Bytes))
	}
	if e.Held+e.Lost > 0 {
		add(fmt.Sprintf("held %d, lost %d", e.Held, e.Lost))
	}
	add(printable(e.Err))
	return strings.Join(parts, ", ")
}

// inFull shows all of an event, as JSON.
func inFull(out io.Writer, e *record.Event) {
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(err.Error())
	}
	fmt.Fprintf(out, "\t%s\n", printable(text))
}

// printable quotes a text that would move or colour something on a terminal.
func printable[T ~string | ~[]byte](text T) string {
	s := string(text)
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' }) >= 0 {
		return strconv.Quote(s)
	}
	return s
}
