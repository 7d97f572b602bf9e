// Command tradingjournal looks into a journal of intents. It changes nothing.
//
//	tradingjournal FILE              what is pending
//	tradingjournal -all FILE         what is kept
//	tradingjournal -show ID FILE     one intent, with its body and answer
//
// A bot has its journal open for itself alone, so look while it is stopped, or at
// a copy that was made while it was. Where it was killed there are two files, whose
// names differ by -wal: copy both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "tradingjournal:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("tradingjournal", flag.ContinueOnError)
	all := flags.Bool("all", false, "list what is settled as well")
	show := flags.String("show", "", "show the intent with this `ID` in full")
	wait := flags.Duration("wait", time.Second, "how long to wait for a process that has it open")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: tradingjournal [flags] FILE")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return flag.ErrHelp
	}
	if *wait == 0 {
		*wait = -1 // not at all
	}
	j, err := journal.Open(flags.Arg(0), journal.Options{ReadOnly: true, Wait: *wait})
	if locked := (*journal.LockedError)(nil); errors.As(err, &locked) {
		return fmt.Errorf("%w: stop the bot that uses it, or look at a copy that was made while it was stopped", err)
	}
	if err != nil {
		return err
	}
	if *show != "" {
		err = showOne(ctx, out, j, trading.IntentID(*show))
	} else {
		err = list(ctx, out, j, *all)
	}
	return errors.Join(err, j.Close())
}

// list prints a line for each entry, without what was sent and answered.
func list(ctx context.Context, out io.Writer, j *journal.Journal, all bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CREATED\tSTATE\tOPERATION\tACCOUNT\tSYMBOL\tTRY\tTAG\tID")
	count := 0
	for entry, err := range j.All(ctx) {
		if err != nil {
			return errors.Join(table.Flush(), err)
		}
		if _, settled := entry.Settlement.Get(); settled && !all {
			continue
		}
		in := entry.Intent
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n",
			stamp(in.Created), state(entry), printable(in.Operation), printable(in.Account), printable(in.Symbol), in.Try,
			printable(in.Tag), printable(in.ID))
		count++
	}
	if count == 0 {
		_, err := fmt.Fprintln(out, "nothing")
		return err
	}
	return table.Flush()
}

func showOne(ctx context.Context, out io.Writer, j *journal.Journal, id trading.IntentID) error {
	for entry, err := range j.All(ctx) {
		if err != nil {
			return err
		}
		if entry.Intent.ID != id {
			continue
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, row := range rows(entry) {
			if row.value != "" {
				fmt.Fprintf(table, "%s\t%s\n", row.name, row.value)
			}
		}
		return table.Flush()
	}
	return fmt.Errorf("there is no intent %s", printable(id))
}
