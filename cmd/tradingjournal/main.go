// Command tradingjournal looks into a journal of writes, and lets a person resolve
// one. All but -acknowledge change nothing, and may be used beside the running bot.
//
//	tradingjournal FILE                     the pending writes
//	tradingjournal -all FILE                the resolved ones too, as far as they are kept
//	tradingjournal -show ID FILE            one write, with what happened to it
//	tradingjournal -verify FILE             is the file whole, and every record readable?
//	tradingjournal -acknowledge ID -found applied|not-applied [-note TEXT] FILE
//
// Acknowledge a write only after looking at the account, and while the bot is stopped.
// A bot that runs can do it itself, with Client.Acknowledge.
//
// It ends with 0 if it has done what it was asked, with 1 if it could not, and with 2 if
// the command line cannot be understood.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/commandline"
	"github.com/tradingapi/trading-go/journal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	os.Exit(commandline.Status("tradingjournal", err, os.Stderr))
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("tradingjournal", flag.ContinueOnError)
	all := flags.Bool("all", false, "list resolved writes as well")
	show := flags.String("show", "", "show the write with this `ID`")
	check := flags.Bool("verify", false, "check the file and each record")
	acknowledge := flags.String("acknowledge", "", "resolve the pending write with this `ID`")
	found := flags.String("found", "", "with -acknowledge: applied or not-applied")
	note := flags.String("note", "", "with -acknowledge: a `text` to keep")
	if err := commandline.Parse(flags, args, out, "tradingjournal [flags] FILE"); err != nil {
		return err
	}
	if err := commandline.Arguments(flags, "FILE"); err != nil {
		return err
	}
	if err := checkFlags(flags); err != nil {
		return err
	}
	path := flags.Arg(0)
	switch {
	case *acknowledge != "":
		return resolve(ctx, out, path, trading.IntentID(*acknowledge), *found, *note)
	case *show != "":
		return showOne(out, path, trading.IntentID(*show))
	case *check:
		return verify(out, path)
	default:
		return list(out, path, *all)
	}
}

// checkFlags refuses flags that do not go together, and an ID that is empty: that is an
// unset variable of the shell, most likely.
func checkFlags(flags *flag.FlagSet) (err error) {
	var asked []string
	acknowledges := false
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "show", "acknowledge":
			if f.Value.String() == "" {
				err = commandline.Misuse("-%s is empty: name the write", f.Name)
			}
			fallthrough
		case "all", "verify":
			asked = append(asked, f.Name)
			acknowledges = acknowledges || f.Name == "acknowledge"
		}
	})
	flags.Visit(func(f *flag.Flag) {
		if (f.Name == "found" || f.Name == "note") && !acknowledges {
			err = commandline.Misuse("-%s goes with -acknowledge", f.Name)
		}
	})
	if len(asked) > 1 {
		return commandline.Misuse("-%s and -%s: one at a time", asked[0], asked[1])
	}
	return err
}

// verify reads everything, and says what there is.
func verify(out io.Writer, path string) error {
	pending, resolved := 0, 0
	for w, err := range writes(path) {
		switch {
		case err != nil:
			return err
		case w.Pending:
			pending++
		default:
			resolved++
		}
	}
	_, err := fmt.Fprintf(out, "whole: %d pending, %d resolved\n", pending, resolved)
	return err
}

// resolve acknowledges a write. The client that does it has no API key and sends
// nothing.
func resolve(ctx context.Context, out io.Writer, path string, id trading.IntentID, found, note string) (err error) {
	outcomes := map[string]trading.Outcome{"applied": trading.Applied, "not-applied": trading.NotApplied}
	outcome, ok := outcomes[found]
	if !ok {
		return commandline.Misuse("-found must be applied or not-applied, not %q", found)
	}
	w, err := find(path, id) // before Open, which makes a file where there is none
	if err != nil {
		return err
	}
	if !w.Pending {
		return fmt.Errorf("write %s is not pending: it was %s", printable(id), w.Outcome)
	}
	log, err := journal.Open(path, journal.WithLockTimeout(0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	client, err := trading.New(w.BaseURL, trading.WithJournal(log), trading.WithPlaintextHTTP(), trading.WithoutBackground())
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // other writes may be pending
	if err := client.Acknowledge(ctx, id, outcome, note); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s\n", printable(id), outcome)
	return err
}
