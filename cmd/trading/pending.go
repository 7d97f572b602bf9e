package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

const (
	// resolveTimeout is a little more than the half hour after which the service has
	// forgotten what is still on its way.
	resolveTimeout = 35 * time.Minute
	// ackTimeout is longer than a lease whose holder has died stands still.
	ackTimeout = 2 * time.Minute
)

func newPending(app *cli.App) *cobra.Command {
	return cli.Group("pending", "List and resolve writes whose outcome is not known",
		newPendingList(app), newPendingResolve(app), newPendingAck(app))
}

func newPendingList(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the pending writes of journals", Args: cli.Args(),
		Long: `List the pending writes of journals: of the bots' that are named, and of this command's
own. It needs no key, sends nothing, and may be used beside the bots. The bot that runs knows
whether entries go on in the market of a write (PendingWrite.MarketOpen); once it has ended,
trading pending resolve says so.

With --sidecar it lists those of a sidecar that runs: of all its bots on the operator's socket,
and of one bot, with its local key, at the URL.`,
	}
	service := app.Connection(cmd, readTimeout)
	journals := journalsFlag(cmd)
	fleet := fleetFlags(app, cmd).leaseFlag(cmd, "only of this lease of --fleet")
	beside := newSidecarFlag(app, cmd)
	out := app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := errors.Join(fleet.check(cmd, "journal", "base-url", "key-file"), beside.check("journal", "base-url", "fleet")); err != nil {
			return err
		}
		if beside.given() {
			ctx, cancel := service.Context(cmd.Context())
			defer cancel()
			return beside.pending(ctx, service, out)
		}
		if fleet.given() {
			return fleet.pending(cmd.Context(), service, out)
		}
		if err := service.Read(); err != nil && len(*journals) == 0 {
			return err
		}
		read := shownJournals(service, *journals)
		pending, err := readPending(read)
		now := time.Now()
		return printRead(out, pending, err, func(w io.Writer) {
			if len(pending) > 0 {
				pendingTable(w, pending, now, journalFlag)
			} else {
				emptyList(w, read, len(*journals) > 0)
			}
		})
	}
	return cmd
}

// printRead prints a list, as far as it could be read. An empty one of what could not would say that there is
// nothing.
func printRead[T any](out *cli.Output, all []T, err error, table func(io.Writer)) error {
	if err != nil && len(all) == 0 {
		return err
	}
	return errors.Join(out.Print(all, table), err)
}

func pendingTable(w io.Writer, pending []pendingView, now time.Time, flags func(journal string) string) {
	cli.Row(w, "FOR", "OPERATION", "ACCOUNT", "SYMBOL", "CLIENT ORDER ID", "ID", "JOURNAL", "LAST")
	for _, p := range pending {
		cli.Row(w, age(now.Sub(p.Decided)), p.Operation, nameOf(p.Account, p.Environment), p.Symbol, p.ClientOrderID, p.ID, p.Journal, p.Last)
	}
	for _, next := range nextSteps(pending, now, flags) {
		cli.Row(w, next)
	}
}

// nextSteps says what a person does about pending writes, a line for each journal: its oldest
// write says until when its bot finds out by itself. flags are those that name a journal.
func nextSteps(pending []pendingView, now time.Time, flags func(journal string) string) (lines []string) {
	oldest := make(map[string]time.Time)
	var journals []string
	for _, p := range pending {
		at, known := oldest[p.Journal]
		if !known {
			journals = append(journals, p.Journal)
		}
		if !known || p.Decided.Before(at) {
			oldest[p.Journal] = p.Decided
		}
	}
	for _, name := range journals {
		lines = append(lines, nextStep(oldest[name], now, "trading pending resolve --all "+flags(name)))
	}
	return lines
}

// nextStep is what a person does about a write. The bot that sent it finds out by itself, or never does.
func nextStep(decided, now time.Time, resolve string) string {
	if by := decided.Add(resolveTimeout); now.Before(by) {
		return fmt.Sprintf("next: wait: the bot finds out by itself before %s; if it does not run, or after that: %s", cli.Stamp(by), resolve)
	}
	return "next: the bot has not found out by itself; stop it, then: " + resolve
}

// journalFlag names the journal in a file.
func journalFlag(path string) string { return "--journal " + cli.Word(path) }

// pending prints the pending writes of leases.
func (f *fleet) pending(ctx context.Context, service *cli.Service, out *cli.Output) error {
	ctx, cancel := service.Context(ctx)
	defer cancel()
	all, err := f.writes(ctx)
	pending := []pendingView{}
	for _, w := range all {
		if w.State == "pending" {
			pending = append(pending, w.pendingView)
		}
	}
	now := time.Now()
	return printRead(out, pending, err, func(w io.Writer) {
		if len(pending) > 0 {
			pendingTable(w, pending, now, func(journal string) string {
				return f.flags(strings.TrimPrefix(journal, "lease "))
			})
		} else {
			cli.Row(w, "no pending writes")
		}
	})
}

// emptyList says which journals have no pending write: a bot's is read only if it is named.
func emptyList(w io.Writer, read []string, named bool) {
	where := "this command has no journal here"
	if len(read) > 0 {
		where = "read: " + strings.Join(read, ", ")
	}
	cli.Row(w, "no pending writes; "+where)
	if !named {
		cli.Row(w, "--journal FILE shows those of a bot too")
	}
}

// resolutionView is what was found out.
type resolutionView struct {
	ID        trading.IntentID  `json:"id"`
	Operation trading.Operation `json:"operation"`
	Account   trading.AccountID `json:"account,omitempty"`
	Symbol    string            `json:"symbol,omitempty"`
	Outcome   string            `json:"outcome"`
	Evidence  string            `json:"evidence"`
	Late      bool              `json:"late"`
	MaybeLate bool              `json:"maybeLate"`
	Error     string            `json:"error,omitempty"`
	Seen      []string          `json:"seen"`
}

// resolver is the command and its flags.
type resolver struct {
	app     *cli.App
	service *cli.Service
	journal *chooser
	out     *cli.Output
	all     bool
}

func newPendingResolve(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolve [ID...]", Short: "Find out what became of pending writes", Args: cobra.ArbitraryArgs,
		Long: `Find out what became of pending writes, from the service's stored answers and from what
the accounts show. Several are resolved side by side. It takes some seconds where the service
has the answer, and up to half an hour where it does not; interrupt it when you like, and run
it again.

The bot that has the journal open must be stopped: it resolves its writes by itself while
it runs. With --fleet the journal is that of a lease, which is taken for as long as it takes:
no bot may hold it. The exit code is 3 if an outcome is still not known: look at the account, and
acknowledge what you find (trading pending ack).`,
		Example: "  trading pending resolve ID --journal bot.journal\n  trading pending resolve --all --journal bot.journal\n  trading pending resolve --all --fleet postgres://person@db/trading --lease desk-1/momentum",
	}
	r := &resolver{app: app, service: app.Connection(cmd, resolveTimeout).Writes(), out: app.Output(cmd)}
	r.journal = newChooser(app, cmd, r.service)
	cmd.Flags().BoolVar(&r.all, "all", false, "every pending write of the journal")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) }
	return cmd
}

func (r *resolver) run(ctx context.Context, ids []string) (err error) {
	if (len(ids) > 0) == r.all {
		return cli.Misuse("which writes? either their IDs, or --all")
	}
	ctx, cancel := r.service.Context(ctx)
	defer cancel()
	k, err := r.journal.kept(ctx)
	if err != nil {
		return err
	}
	found, err := k.pending(ids)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return r.print([]resolutionView{})
	}
	for _, w := range found {
		if err := sameService(r.service.BaseURL(), w.BaseURL); err != nil {
			return err
		}
		if r.service.Env != trading.EnvLive {
			r.service.Env = w.Environment
		}
	}
	session, err := k.connect(ctx, r.service, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return r.resolve(ctx, session, found)
}

// resolve resolves writes side by side.
func (r *resolver) resolve(ctx context.Context, session *cli.Session, found []*trading.JournaledWrite) error {
	resolutions, errs := make([]*trading.Resolution, len(found)), make([]error, len(found))
	var all sync.WaitGroup
	for i, w := range found {
		r.app.Sayf("resolving %s %s, decided %s", w.Operation, cli.Printable(w.ID), cli.Stamp(w.Decided))
		all.Go(func() { resolutions[i], errs[i] = session.ResolveID(ctx, w.ID) })
	}
	all.Wait()
	views := []resolutionView{}
	for i, resolution := range resolutions {
		if resolution == nil {
			continue
		}
		views = append(views, viewResolution(resolution))
		if errs[i] = nil; resolution.Outcome == trading.Unknown {
			id := cli.Printable(found[i].ID)
			r.app.Sayf("still not known; entries in its market %s", entriesText(isMarketOpen(ctx, session, found[i].ID)))
			r.app.Sayf("look at the account, then: trading pending ack %s --found applied|not-applied %s", id, session.Flags)
			errs[i] = cli.WithCode(cli.Unknown, fmt.Errorf("write %s is still not known", id))
		}
	}
	return errors.Join(append(errs, r.print(views))...)
}

// isMarketOpen reports whether entries go on in the market of a pending write.
func isMarketOpen(ctx context.Context, session *cli.Session, id trading.IntentID) bool {
	pending, _ := session.Pending(context.WithoutCancel(ctx))
	return slices.ContainsFunc(pending, func(p trading.PendingWrite) bool { return p.ID == id && p.MarketOpen })
}

func (r *resolver) print(views []resolutionView) error {
	return r.out.Print(views, func(w io.Writer) {
		if len(views) == 0 {
			cli.Row(w, "no pending writes")
		}
		for _, v := range views {
			v.table(w)
		}
	})
}

// sameService refuses a write for another service than the operator names: the key would
// go where the journal says.
func sameService(named, journaled string) error {
	a, errA := url.Parse(named)
	b, errB := url.Parse(journaled)
	if errA != nil || errB != nil || !strings.EqualFold(a.Hostname(), b.Hostname()) || a.Port() != b.Port() {
		return cli.Misuse("the write is of another service, %s: --base-url names %s", cli.Printable(journaled), cli.Printable(named))
	}
	return nil
}

func viewResolution(r *trading.Resolution) resolutionView {
	v := resolutionView{
		ID: r.Intent.ID, Operation: r.Intent.Operation, Account: r.Intent.Account, Symbol: r.Intent.Symbol,
		Outcome: r.Outcome.String(), Evidence: r.Evidence.String(), Late: r.Late, MaybeLate: r.MaybeLate, Seen: []string{},
	}
	if r.Err != nil {
		v.Error = r.Err.Error()
	}
	for _, l := range r.Looks {
		v.Seen = append(v.Seen, fmt.Sprintf("%s: position %s at %s, %d resting, %d runs, %d trades",
			cli.Stamp(l.At), cli.Short(l.Size), cli.Short(l.EntryPrice), len(l.Orders), len(l.Runs), len(l.Trades)))
	}
	return v
}

func (v resolutionView) table(w io.Writer) {
	cli.Row(w, "write", v.ID)
	cli.Row(w, "outcome", v.Outcome)
	cli.Row(w, "evidence", v.Evidence)
	if v.Late || v.MaybeLate {
		cli.Row(w, "late", "the question for the stored answer placed it, or may have")
	}
	if v.Error != "" {
		cli.Row(w, "why", v.Error)
	}
	for _, seen := range v.Seen {
		cli.Row(w, "seen", seen)
	}
}

// found is what a person has found out about a write.
type found struct{ outcome, note string }

func foundFlags(cmd *cobra.Command) *found {
	f := new(found)
	cli.Choice(cmd.Flags(), &f.outcome, "found", "", "", "what was found (required)", "applied", "not-applied")
	cmd.Flags().StringVar(&f.note, "note", "", "a text to keep")
	return f
}

func newPendingAck(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ack ID", Short: "Acknowledge what a person has found out about a pending write", Args: cli.Args("ID"),
		Long: `Acknowledge what a person has found out about a pending write. Look at the account first,
and stop the bot that has the journal open. It sends nothing and needs no key, but a
terminal: a script has not looked. With --fleet the journal is that of a lease, which no bot may
hold.`,
		Example: "  trading pending ack ID --journal bot.journal --found applied --note 'seen in the terminal'",
	}
	service := app.Connection(cmd, ackTimeout).Writes()
	journals := newChooser(app, cmd, service)
	what := foundFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.Require(cmd, "found"); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), readTimeout)
		defer cancel()
		k, err := journals.kept(ctx)
		if err != nil {
			return err
		}
		named, err := k.pending(args)
		if err != nil {
			return err
		}
		w, found := named[0], what.outcome
		viewWrite(k.name, w).table(app.Err)
		answer, err := app.Ask(cmd.Context(), "What did you find? Type "+found+" again: ")
		if err != nil {
			return err
		}
		if answer != found {
			return cli.WithCode(cli.NotApplied, errors.New("not confirmed: nothing is acknowledged"))
		}
		ctx, cancel = service.Context(cmd.Context())
		defer cancel()
		if err := acknowledge(ctx, k, w, found, what.note); err != nil {
			return err
		}
		_, err = fmt.Fprintf(app.Out, "%s: %s\n", cli.Printable(w.ID), found)
		return err
	}
	return cmd
}

// acknowledge resolves a write by a client that has no API key and sends nothing.
func acknowledge(ctx context.Context, k *kept, w *trading.JournaledWrite, found, note string) (err error) {
	outcome := trading.NotApplied
	if found == "applied" {
		outcome = trading.Applied
	}
	store, closes, err := k.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closes()) }()
	client, err := trading.New(w.BaseURL, trading.WithJournal(store), trading.WithPlaintextHTTP(), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // other writes may be pending
	return client.Acknowledge(ctx, w.ID, outcome, note)
}
