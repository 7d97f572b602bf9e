package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/flatten"
)

const flattenTimeout = 5 * time.Minute

// flattenView is what became of flattening an account.
type flattenView struct {
	Account trading.AccountID `json:"account,omitempty"`
	Flat    bool              `json:"flat"`
	Steps   []string          `json:"steps"`
	Left    string            `json:"left,omitempty"`
	Summary string            `json:"summary"`
	Note    string            `json:"note,omitempty"` // what the proof leaves open
}

// What a proof leaves open.
const (
	unnamed = "no journal of a bot was read: writes that its earlier runs left unknown were not looked at"
	unread  = "the journal that is named was not read: a write that is pending in it may still be executed; name it right, with its bot stopped, and flatten again"
)

// noteOf is what a proof leaves open; empty for nothing. A journal is of live writes.
func noteOf(service *cli.Service, session *cli.Session) string {
	switch {
	case session.Unread != nil:
		return unread
	case service.Env == trading.EnvSandbox || session.Named:
		return ""
	}
	return unnamed
}

// judge takes back the proof where the journal that was named was not read. Its error is nil only if all is
// proven.
func judge(session *cli.Session, err error, reports ...*flatten.Report) error {
	if session.Unread == nil {
		return err
	}
	for _, r := range reports {
		r.Flat = false
	}
	if err == nil {
		err = cli.WithCode(cli.NotFlat, fmt.Errorf("%w: %w", flatten.ErrNotFlat, session.Unread))
	}
	return err
}

// flattener is the command and its flags.
type flattener struct {
	app         *cli.App
	service     *cli.Service
	out         *cli.Output
	symbols     []string
	all         bool
	allAccounts bool
	yes, dryRun bool
	noLease     bool
	journal     *chooser
	sidecar     *sidecarFlag
	options     flatten.Options
}

func newFlatten(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "flatten", Short: "Get out of the market, and prove it", Args: cli.Args(),
		Long: `Cancel what runs and rests, close the positions, and look until two looks in a row show
nothing. It stops nothing else that trades the accounts: stop the bots first. To repeat
it is safe.

Where the bots' journal is in a database, --fleet and --lease take their lease, so that no bot
trades meanwhile, and know of their pending writes. Where the database is down, or a holder
cannot be stopped, --without-lease gets out beside it.

Behind a sidecar, --sidecar with the operator's socket lets the sidecar do it, which refuses the
entries of all its bots first, until trading sidecar resume. With its URL and a local key it is
done as by one of its bots, and the others go on.

Without the bots' journal, by --journal or --fleet, it does not know which of their writes are
pending, and says so: one may still be executed after the proof. A journal that is named and
cannot be opened, since it is not there, or a bot has it open, keeps nobody in the market, but
then nothing is proven.

The exit code is 0 only if every account is proven flat, and 5 if one is not.`,
		Example: "  trading flatten --env live --account acc_1 --all-symbols\n  trading flatten --env live --account acc_1 --all-symbols --journal bot.journal\n  trading flatten --env live --all-accounts --symbol BTC --symbol ETH\n  trading flatten --env live --account acc_1 --all-symbols --fleet postgres://bot@db/trading --lease desk-1/momentum",
	}
	f := &flattener{app: app}
	f.service = app.Connection(cmd, flattenTimeout).Environment("the live account").Writes()
	f.journal = newChooser(app, cmd, f.service)
	f.sidecar = newSidecarFlag(app, cmd)
	f.out = app.Output(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.noLease, "without-lease", false, "get out beside whoever holds the lease of the accounts")
	flags.StringArrayVar(&f.symbols, "symbol", nil, "only this market; may be repeated")
	flags.BoolVar(&f.all, "all-symbols", false, "every market")
	flags.BoolVar(&f.allAccounts, "all-accounts", false, "every live account of the key")
	flags.DurationVar(&f.options.ProofInterval, "proof-interval", flatten.DefaultProofInterval, "time between the two looks of the proof; longer than reads lag")
	flags.BoolVar(&f.yes, "yes", false, "do not ask; required without a terminal")
	flags.BoolVar(&f.dryRun, "dry-run", false, "look once, and change nothing (live only)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) }
	return cmd
}

func (f *flattener) check() error {
	if err := f.checkSidecar(); err != nil {
		return err
	}
	if err := f.service.Read(); err != nil {
		return err
	}
	live := f.service.Env == trading.EnvLive
	fleet := f.journal.fleet
	if err := fleet.check(f.journal.cmd, "journal"); err != nil {
		return err
	}
	for _, s := range f.symbols {
		if err := cli.CheckSymbol(s); err != nil {
			return err
		}
	}
	switch {
	case (len(f.symbols) > 0) == f.all:
		return cli.Misuse("which markets? either --symbol, once for each, or --all-symbols")
	case live && (f.service.Account != "") == f.allAccounts:
		return cli.Misuse("which account? either --account or --all-accounts")
	case !live && f.allAccounts:
		return cli.Misuse("--all-accounts is for --env live: there is one paper account")
	case !live && f.dryRun:
		return cli.Misuse("--dry-run is for --env live: reading the paper account fires its triggers")
	case fleet.given() && (f.noLease || f.dryRun || f.allAccounts || !live):
		return cli.Misuse("--fleet is for one live account, and neither for --without-lease nor for --dry-run")
	case f.sidecar.given() && !live:
		return cli.Misuse("--sidecar is for --env live")
	case f.noLease && !live:
		return cli.Misuse("--without-lease is for --env live: the paper account has no lease")
	case f.options.ProofInterval <= 0:
		return cli.Misuse("--proof-interval must be greater than 0, not %s", f.options.ProofInterval)
	case !f.yes && !f.dryRun && !f.app.InTerminal:
		return cli.Misuse("there is no terminal to ask on: give --yes, or --dry-run")
	}
	f.options.Symbols = f.symbols
	return nil
}

func (f *flattener) run(ctx context.Context) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := f.service.Context(ctx)
	defer cancel()
	if f.sidecar.given() && !f.sidecar.bot() {
		return f.bySidecar(ctx)
	}
	session, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	if f.dryRun {
		return f.inspect(ctx, session.Client)
	}
	if err := f.confirm(ctx); err != nil {
		return err
	}
	f.options.Halt = session.Client
	f.options.Progress = func(s flatten.Step) {
		f.app.Sayf("%s: %s", nameOf(s.Account, f.service.Env), cli.Printable(s.String()))
	}
	f.options.Looked = func(l flatten.Look) {
		f.app.Sayf("%s: seen: %s", nameOf(l.Account, f.service.Env), cli.Printable(l.String()))
	}
	reports, err := f.leave(ctx, session.Client)
	_ = session.Client.Close() // until then a write may still be resolved
	f.sayPending(session)
	err = judge(session, err, reports...)
	return errors.Join(f.print(reports, noteOf(f.service, session)), headline(err))
}

// connect makes the client: under the lease, if one is named.
func (f *flattener) connect(ctx context.Context) (*cli.Session, error) {
	switch {
	case f.journal.fleet.given():
		k, err := f.journal.kept(ctx)
		if err != nil {
			return nil, err
		}
		session, err := k.connect(ctx, f.service)
		if err != nil {
			f.app.Sayf("to get out beside whoever holds the lease: --without-lease, and no --fleet")
		}
		return session, err
	case f.dryRun || f.service.Env == trading.EnvSandbox:
		return f.service.Connect()
	case f.noLease:
		f.app.Sayf("warning: without the lease. A bot that holds it may open again what is closed here: stop it, or halt the lease. It takes these closes for somebody else's")
	}
	return f.service.ConnectToFlatten()
}

// headline leaves out of what is printed the errors of the steps, which were said when they
// happened.
func headline(err error) error {
	if err == nil {
		return nil
	}
	return firstLine{err}
}

type firstLine struct{ error }

func (e firstLine) Error() string {
	first, _, _ := strings.Cut(e.error.Error(), "\n")
	return first
}

func (e firstLine) Unwrap() error { return e.error }

// sayPending names the writes whose outcome is not known, of this flattening or of before it.
func (f *flattener) sayPending(session *cli.Session) {
	if session.Flags == "" {
		return
	}
	writes, _ := session.Pending(context.Background()) // the journal was read already
	for _, w := range writes {
		f.sayUnknown(w.Account, w.Operation, w.Symbol, w.ID, session.Flags)
	}
}

// sayUnknown names a live write whose outcome is not known.
func (f *flattener) sayUnknown(account trading.AccountID, op trading.Operation, symbol string, id trading.IntentID, flags string) {
	f.app.Sayf("%s: %s %s: its outcome is not known; find out: trading pending resolve %s %s",
		nameOf(account, trading.EnvLive), op, cli.Printable(symbol), cli.Printable(id), flags)
}

// confirm asks, unless that was answered before.
func (f *flattener) confirm(ctx context.Context) error {
	if f.yes {
		return nil
	}
	return f.app.Confirm(ctx, f.question())
}

func (f *flattener) question() string {
	where, what := "the paper account", "everything"
	switch {
	case f.allAccounts:
		where = "EVERY live account of the key"
	case f.service.Env == trading.EnvLive:
		where = "live account " + cli.Printable(f.service.Account)
	}
	if !f.all {
		what = fmt.Sprint(f.symbols)
	}
	return fmt.Sprintf("Flatten %s: cancel and close %s?", where, what)
}

// leave gets out. Its error is nil only if that is proven.
func (f *flattener) leave(ctx context.Context, client *trading.Client) ([]*flatten.Report, error) {
	var report *flatten.Report
	var err error
	switch {
	case f.allAccounts:
		return flatten.All(ctx, client.Live, f.options)
	case f.service.Env == trading.EnvLive:
		report, err = flatten.Account(ctx, client.Live.Account(f.service.Account), f.options)
	default:
		report, err = flatten.Sandbox(ctx, client.Sandbox, f.options)
	}
	return []*flatten.Report{report}, err
}

func (f *flattener) print(reports []*flatten.Report, note string) error {
	views := make([]flattenView, len(reports))
	for i, r := range reports {
		views[i] = flattenView{Account: r.Account, Flat: r.Flat, Steps: []string{}, Summary: r.String(), Note: note}
		for _, step := range r.Steps {
			views[i].Steps = append(views[i].Steps, step.String())
		}
		if left, ok := r.Left(); ok && !left.Empty() {
			views[i].Left = left.String()
		}
	}
	return f.out.Print(views, func(w io.Writer) {
		for _, v := range views {
			cli.Row(w, v.Summary)
		}
		if note != "" {
			cli.Row(w, note)
		}
	})
}

// inspect looks once, and changes nothing.
func (f *flattener) inspect(ctx context.Context, client *trading.Client) error {
	handles := []handle{{id: f.service.Account}}
	if f.allAccounts {
		infos, err := client.Live.Accounts(ctx)
		if err != nil {
			return err
		}
		handles = nil
		for _, info := range infos {
			handles = append(handles, handle{id: info.ID})
		}
	}
	views := []flattenView{}
	var errs []error
	for _, h := range handles {
		look, err := flatten.Inspect(ctx, client.Live.Account(h.id), f.options)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", cli.Printable(h.id), err))
			continue
		}
		views = append(views, flattenView{Account: h.id, Steps: []string{}, Left: look.String(), Summary: string(h.id) + ": " + look.String()})
	}
	printed := f.out.Print(views, func(w io.Writer) {
		for _, v := range views {
			cli.Row(w, v.Summary)
		}
	})
	return errors.Join(append(errs, printed, f.inspectJournal())...)
}

// inspectJournal names what is pending in the journal that is named: flattening waits for its entries.
func (f *flattener) inspectJournal() error {
	path := f.service.Journal
	if path == "" {
		return nil
	}
	pending, err := readPending([]string{path})
	for _, w := range pending {
		f.sayUnknown(w.Account, w.Operation, w.Symbol, w.ID, journalFlag(path))
	}
	return err
}
