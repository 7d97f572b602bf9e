package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/journal"
)

// transferTimeout is for journals of many megabytes.
const transferTimeout = 2 * time.Minute

func newJournalImport(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Copy a journal file into a lease of --fleet", Args: cli.Args("FILE"),
		Long: `Copy a journal file into a lease of --fleet, for a bot that goes from one machine to several:
what is pending, what has a client order id, and whether something is missing, all of it or
nothing. Stop the bot first, and do not start it on the file again.

It refuses a file that is open or damaged, a lease that is held or has a journal, and a
pending write of another service or account than the lease's. Nothing is sent to the service.`,
		Example: "  trading journal import bot.journal --fleet postgres://bot@db/trading --lease desk-1/momentum --account acc_1",
	}
	m := newMove(app, cmd)
	baseURL := cmd.Flags().String("base-url", "", "the service that the bot trades at (default $TRADING_BASE_URL)")
	accounts := cmd.Flags().StringArray("account", nil, "a live account that the bot trades; repeated for each (required)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o := postgres.Options{Name: m.fleet.lease, BaseURL: cmp.Or(*baseURL, app.Getenv("TRADING_BASE_URL")), Accounts: *accounts}
		if err := m.check(cmd, "account"); err != nil {
			return err
		}
		if o.BaseURL == "" {
			return cli.Misuse("which service? set TRADING_BASE_URL, or give --base-url: the root of the API, which ends in /v1")
		}
		return m.run(cmd.Context(), "copied into lease "+m.fleet.lease, func(ctx context.Context) (int, error) {
			return postgres.Import(ctx, m.fleet.url, o, args[0])
		})
	}
	return cmd
}

func newJournalExport(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export FILE", Short: "Write the journal of a lease of --fleet to a new file", Args: cli.Args("FILE"),
		Long: `Write the journal of a lease of --fleet to a new file, for a bot that goes back to one
machine. Stop the bots of the lease first: it has to be released. Its entries are halted, so
that a bot which is started on it by mistake takes none; that needs a role that may. Nothing
is sent to the service, and the records stay in the database.`,
		Example: "  trading journal export bot.journal --fleet postgres://person@db/trading --lease desk-1/momentum",
	}
	m := newMove(app, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := m.check(cmd); err != nil {
			return err
		}
		return m.run(cmd.Context(), "written to "+args[0], func(ctx context.Context) (int, error) {
			return postgres.Export(ctx, m.fleet.url, m.fleet.lease, args[0])
		})
	}
	return cmd
}

// move is a command that moves a journal, and its flags.
type move struct {
	fleet   *fleet
	timeout *time.Duration
}

func newMove(app *cli.App, cmd *cobra.Command) *move {
	f := fleetFlags(app, cmd).leaseFlag(cmd, "the lease (required)")
	return &move{f, cmd.Flags().Duration("timeout", transferTimeout, "how long to try")}
}

func (m *move) check(cmd *cobra.Command, required ...string) error {
	if err := errors.Join(cli.Require(cmd, append([]string{"fleet", "lease"}, required...)...), m.fleet.check(cmd)); err != nil {
		return err
	}
	if *m.timeout <= 0 {
		return cli.Misuse("--timeout must be greater than 0, not %s", *m.timeout)
	}
	return nil
}

// run moves it, and says how many writes it has.
func (m *move) run(ctx context.Context, where string, do func(context.Context) (int, error)) error {
	within, cancel := context.WithTimeout(ctx, *m.timeout)
	defer cancel()
	n, err := do(within)
	if errors.Is(err, journal.ErrUnanswered) {
		return cli.WithCode(cli.Unknown, err)
	}
	if err != nil {
		return notReached(err)
	}
	_, err = fmt.Fprintf(m.fleet.app.Out, "%d writes %s\n", n, cli.Printable(where))
	return err
}
