package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
)

// fleet are the bots whose journals are in one database, each under a lease.
type fleet struct {
	app        *cli.App
	url, lease string
	baseURL    string // the service, where that matters
	all        bool
}

func fleetFlags(app *cli.App, cmd *cobra.Command) *fleet {
	f := &fleet{app: app}
	cmd.Flags().StringVar(&f.url, "fleet", "", "the database that has the journals of several machines, postgres://…; a password is not for arguments: PGPASSWORD or a password file")
	return f
}

func (f *fleet) leaseFlag(cmd *cobra.Command, usage string) *fleet {
	cmd.Flags().StringVar(&f.lease, "lease", "", usage)
	return f
}

// flags name a lease to a command.
func (f *fleet) flags(lease string) string {
	return "--fleet " + cli.Word(f.url) + " --lease " + cli.Word(lease)
}

// given reports whether the command is about a fleet.
func (f *fleet) given() bool { return f.url != "" }

// check refuses flags of a fleet without one, others beside it, and a password.
func (f *fleet) check(cmd *cobra.Command, others ...string) error {
	switch {
	case f.given():
	case f.lease != "":
		return cli.Misuse("--lease is for --fleet")
	case f.all: // of the leases, and not of the writes of one journal
		return cli.Misuse("--all is for --fleet")
	default:
		return nil
	}
	if err := notBeside(cmd, "fleet", others); err != nil {
		return err
	}
	u, err := url.Parse(f.url)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return cli.Misuse("--fleet: want postgres://user@host/database")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return cli.Misuse("--fleet: a password is not for arguments, which everybody on the machine sees: set PGPASSWORD, or write a password file")
	}
	return nil
}

// leases are those that the flags name: one, or all.
func (f *fleet) leases(ctx context.Context) ([]postgres.Lease, error) {
	list, err := postgres.Leases(ctx, f.url)
	if err != nil {
		return nil, notReached(err)
	}
	if f.lease == "" {
		return list, nil
	}
	for _, l := range list {
		if l.Name == f.lease {
			return []postgres.Lease{l}, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", postgres.ErrNoLease, f.lease)
}

// notReached is an error of the database's, before anything was done.
func notReached(err error) error { return cli.WithCode(cli.NotApplied, err) }

// writes are those of leases, one lease after the other.
func (f *fleet) writes(ctx context.Context) (list []journalView, err error) {
	leases, err := f.leases(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range leases {
		for w, err := range f.journal(ctx, l.Name) {
			if err != nil {
				return list, err
			}
			list = append(list, viewWrite("lease "+l.Name, w))
		}
	}
	return list, nil
}

// leaseView is a lease as it is printed.
type leaseView struct {
	Name           string    `json:"name"`
	State          string    `json:"state"` // held, silent or released
	Place          string    `json:"place"`
	SilentSeconds  float64   `json:"silentSeconds"` // by the database's clock
	LeaseSeconds   float64   `json:"leaseSeconds"`
	TakenAt        time.Time `json:"takenAt,omitzero"`
	Takings        int64     `json:"takings"`
	Pending        int64     `json:"pending"`
	PendingSince   time.Time `json:"pendingSince,omitzero"`
	Gap            bool      `json:"gap"`
	Halted         bool      `json:"halted"`
	Reason         string    `json:"reason,omitempty"`
	Accounts       []string  `json:"accounts"`
	FailedOverAt   time.Time `json:"failedOverAt,omitzero"`
	RecordsWritten int64     `json:"recordsWritten"`
}

func viewLease(l postgres.Lease) leaseView {
	v := leaseView{
		Name: l.Name, State: "silent", Place: l.Place, SilentSeconds: l.Silent.Seconds(), LeaseSeconds: l.Lasts.Seconds(), TakenAt: l.TakenAt,
		Takings: l.Takings, Pending: l.Pending, PendingSince: l.Oldest, Gap: l.Gap, Halted: l.Halted, Reason: l.Reason,
		Accounts: []string{}, FailedOverAt: l.LostAt, RecordsWritten: l.Records,
	}
	switch {
	case l.Released:
		v.State = "released"
	case l.Held():
		v.State = "held"
	}
	for _, a := range l.Accounts {
		v.Accounts = append(v.Accounts, a.Account)
	}
	return v
}

// status prints the leases.
func (f *fleet) status(ctx context.Context, out *cli.Output) error {
	leases, err := f.leases(ctx)
	if err != nil {
		return err
	}
	views := []leaseView{}
	for _, l := range leases {
		views = append(views, viewLease(l))
	}
	return f.print(out, views)
}

func (f *fleet) print(out *cli.Output, views []leaseView) error {
	now := time.Now()
	return out.Print(views, func(w io.Writer) {
		if len(views) == 0 {
			cli.Row(w, "no leases")
			return
		}
		cli.Row(w, "LEASE", "STATE", "RENEWED", "HELD BY", "FOR", "PENDING", "ENTRIES", "ACCOUNTS")
		for _, v := range views {
			pending, entries := fmt.Sprint(v.Pending), "taken"
			if !v.PendingSince.IsZero() {
				pending += ", " + age(now.Sub(v.PendingSince))
			}
			if v.Halted {
				entries = "halted: " + v.Reason
			}
			held := ""
			if !v.TakenAt.IsZero() {
				held = age(now.Sub(v.TakenAt))
			}
			cli.Row(w, v.Name, v.State, age(time.Duration(v.SilentSeconds*float64(time.Second))), v.Place, held, pending, entries, strings.Join(v.Accounts, " "))
		}
	})
}

// scope refuses a change that names neither a lease nor all, or both.
func (f *fleet) scope() error {
	if (f.lease == "") != f.all {
		return cli.Misuse("which leases? either --lease, or --all")
	}
	return nil
}

// halt sets or ends the halt of leases, and prints them.
func (f *fleet) halt(ctx context.Context, out *cli.Output, reason string, halted bool) error {
	leases, err := f.leases(ctx)
	if err != nil {
		return err
	}
	if f.all && len(leases) == 0 {
		return errors.New("there is no lease: nothing is changed")
	}
	var errs []error
	for _, l := range leases {
		change := func() error { return postgres.Resume(ctx, f.url, l.Name) }
		if halted {
			change = func() error { return postgres.Halt(ctx, f.url, l.Name, reason) }
		}
		if err := change(); err != nil {
			errs = append(errs, cli.WithCode(cli.Unknown, fmt.Errorf("%s: %w", cli.Printable(l.Name), err)))
		}
	}
	return errors.Join(append(errs, f.status(ctx, out))...)
}

func newRelease(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "release", Short: "Hand over a lease whose holder is dead", Args: cli.Args(),
		Long: `Take a lease as its last holder left it, and hand it over: so that the next holder may have
other options than the last. A holder that lives is waited for, until --timeout; nothing is
sent to the service. What was pending stays pending: the next holder resolves it.`,
		Example: "  trading release --fleet postgres://bot@db/trading --lease desk-1/momentum",
	}
	return leaseCommand(app, cmd, func(ctx context.Context, f *fleet, s *postgres.Store) error {
		_, err := fmt.Fprintf(app.Out, "%s is free\n", cli.Printable(f.lease))
		return err
	})
}

func newTake(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "take", Short: "Hold a lease, so that no bot trades under it", Args: cli.Args(),
		Long: `Take a lease as its last holder left it, and hold it until interrupted: no bot trades under
it meanwhile, on any machine. Those that wait for it go on waiting. A holder that lives is
waited for, until --timeout: stop it first. Nothing is sent to the service.`,
		Example: "  trading take --fleet postgres://bot@db/trading --lease desk-1/momentum",
	}
	return leaseCommand(app, cmd, func(ctx context.Context, f *fleet, s *postgres.Store) error {
		app.Sayf("%s is held by this command; interrupt it to hand over", cli.Printable(f.lease))
		for s.Err() == nil {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
			}
		}
		return s.Err()
	})
}

// leaseCommand is one that takes a lease, does something, and hands it over.
func leaseCommand(app *cli.App, cmd *cobra.Command, do func(context.Context, *fleet, *postgres.Store) error) *cobra.Command {
	f := fleetFlags(app, cmd).leaseFlag(cmd, "the lease (required)")
	var baseURL string
	cmd.Flags().StringVar(&baseURL, "base-url", "", "the service, where the lease has accounts at several")
	timeout := cmd.Flags().Duration("timeout", 5*time.Minute, "how long to wait for the lease")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if err := errors.Join(cli.Require(cmd, "fleet", "lease"), f.check(cmd)); err != nil {
			return err
		}
		if *timeout <= 0 {
			return cli.Misuse("--timeout must be greater than 0, not %s", *timeout)
		}
		waiting, cancel := context.WithTimeout(cmd.Context(), *timeout)
		defer cancel()
		app.Sayf("waiting for %s", cli.Printable(f.lease))
		s, err := postgres.OpenAsLeft(waiting, f.url, f.lease, baseURL)
		if err != nil {
			return notReached(err)
		}
		return errors.Join(do(cmd.Context(), f, s), s.Close())
	}
	return cmd
}
