package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/protect"
)

// askTimeout is some times the second in which a protection takes a request up.
const askTimeout = 10 * time.Second

// stateDir is the folder of a protection, or of a sidecar.
type stateDir struct {
	app  *cli.App
	path string
}

func stateDirFlag(app *cli.App, cmd *cobra.Command, of string) *stateDir {
	d := &stateDir{app: app}
	cmd.Flags().StringVar(&d.path, "state-dir", "", "folder of the "+of+"'s state, on a disk that lasts (default $TRADING_STATE_DIR)")
	return d
}

// shown is the folder to look into; none for the paper account, which has no protection.
func (d *stateDir) shown(env trading.Environment) (string, error) {
	switch {
	case env == trading.EnvLive && d.path == "":
		return d.app.Getenv("TRADING_STATE_DIR"), nil
	case env != trading.EnvLive && d.path != "":
		return "", cli.Misuse("--state-dir is for --env live: the paper account has no protection")
	default:
		return d.path, nil
	}
}

func (d *stateDir) get() (string, error) {
	if d.path == "" {
		d.path = d.app.Getenv("TRADING_STATE_DIR")
	}
	if d.path == "" {
		return "", cli.Misuse("which folder? --state-dir, or set TRADING_STATE_DIR")
	}
	return d.path, nil
}

// existing is get, of a folder that is there; do says how one comes to be.
func (d *stateDir) existing(do string) (string, error) {
	dir, err := d.get()
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", cli.Misuse("--state-dir %s: there is no such folder: %s", dir, do)
	}
	return dir, nil
}

// askView is what a protection has done.
type askView struct {
	Account trading.AccountID `json:"account"`
	protectionView
}

// reasonFlag is why entries are refused, in an operator's words.
func reasonFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("reason", "by an operator", "a text to keep")
}

// asker asks a running protection.
type asker struct {
	app     *cli.App
	cmd     *cobra.Command
	folder  *stateDir
	out     *cli.Output
	fleet   *fleet
	account string
	timeout time.Duration
}

// ofFleet halts leases, or ends their halts: then somebody has to have looked.
func (a *asker) ofFleet(ctx context.Context, reason string, halts bool) error {
	if err := a.fleet.scope(); err != nil {
		return err
	}
	if !halts {
		if err := a.app.Confirm(ctx, "Take entries again?"); err != nil {
			return err
		}
	}
	within, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.fleet.halt(within, a.out, reason, halts)
}

func newAsker(app *cli.App, cmd *cobra.Command) *asker {
	a := &asker{app: app, cmd: cmd, folder: stateDirFlag(app, cmd, "protection"), fleet: fleetFlags(app, cmd), out: app.Output(cmd)}
	cmd.Flags().StringVar(&a.account, "account", "", "the live account (required)")
	cmd.Flags().DurationVar(&a.timeout, "timeout", askTimeout, "how long to wait for the protection")
	return a
}

func (a *asker) check() error {
	if err := cli.Require(a.cmd, "account"); err != nil {
		return err
	}
	if a.timeout <= 0 {
		return cli.Misuse("--timeout must be greater than 0, not %s", a.timeout)
	}
	_, err := a.folder.existing("it is the one that the protection was started with; without a protection, stop the bots")
	return err
}

func (a *asker) ask(ctx context.Context, kind protect.RequestKind, reason string) error {
	within, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	s, err := protect.Ask(within, a.folder.path, protect.Request{Account: trading.AccountID(a.account), Kind: kind, Reason: reason})
	nobody := errors.Is(err, protect.ErrNotRunning)
	if nobody && kind == protect.RequestHalt {
		a.app.Sayf("warning: no protection of %s runs on %s. Programs that follow the folder take no entries; nothing else is halted, and nothing is watched. The next protection begins halted.",
			cli.Printable(a.account), a.folder.path)
		err = nil
	}
	if kind == protect.RequestHalt && errors.Is(err, context.Canceled) {
		return cli.WithCode(cli.Unknown, fmt.Errorf("%w: the halt stays in the folder", err))
	}
	if err != nil {
		return err
	}
	s.Running = !nobody
	v := askView{trading.AccountID(a.account), viewProtection(s)}
	return a.out.Print(v, func(w io.Writer) {
		cli.Row(w, "account", v.Account)
		cli.Row(w, "protection", map[bool]string{true: "runs", false: "does not run"}[v.Running])
		cli.Row(w, "state", v.State)
		cli.Row(w, "reason", v.Reason)
	})
}

func newHalt(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "halt", Short: "Tell the protection of a live account to refuse entries", Args: cli.Args(),
		Long: `Tell the protection of a live account to refuse entries until it is resumed. It binds Go
bots that carry the protection or follow its folder, and no others: stop those. Exits pass.
Nothing is sent to the service.

A halt binds who follows the folder from the moment it is written, even if no protection
runs: then the command says so, and the exit code is 0 all the same. With --flatten the
protection also cancels and closes everything, and keeps the account flat; the exit code
then means that it has begun, and 1 that nobody does it: trading flatten.

With --fleet it halts whoever holds a lease, now or after any takeover, until it is resumed: its
next entry is refused, at the latest within a fifth of the lease. No protection is needed.`,
		Example: "  trading halt --account acc_1 --state-dir protect.state --reason 'look at the fills'\n  trading halt --account acc_1 --state-dir protect.state --flatten\n  trading halt --fleet postgres://bot@db/trading --all --reason 'look at the fills'",
	}
	a := newAsker(app, cmd)
	a.fleet.leaseFlag(cmd, "halt whoever holds this lease of --fleet")
	cmd.Flags().BoolVar(&a.fleet.all, "all", false, "halt every lease of --fleet")
	reason := reasonFlag(cmd)
	flattens := cmd.Flags().Bool("flatten", false, "cancel and close everything, and keep the account flat")
	yes := cmd.Flags().Bool("yes", false, "do not ask before --flatten; required without a terminal")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.fleet.check(cmd, "account", "state-dir", "flatten", "yes"); err != nil {
			return err
		}
		if a.fleet.given() {
			return a.ofFleet(cmd.Context(), *reason, true)
		}
		if err := a.check(); err != nil {
			return err
		}
		if !*flattens {
			return a.ask(cmd.Context(), protect.RequestHalt, *reason)
		}
		if !*yes {
			question := fmt.Sprintf("Flatten live account %s: cancel and close everything, and keep it flat?", cli.Printable(a.account))
			if err := app.Confirm(cmd.Context(), question); err != nil {
				return err
			}
		}
		return a.ask(cmd.Context(), protect.RequestFlatten, *reason)
	}
	return cmd
}

func newResume(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume", Short: "Tell the protection of a live account to take entries again", Args: cli.Args(),
		Long: `Tell the protection of a live account to take entries again, after a halt, after it was
flattened, or after its state was damaged. The protection looks at the account first. It
needs a terminal: a script has not looked. Nothing is sent to the service.

The exit code is 1 if the protection refuses, or if none runs on the folder: then nothing is
changed. With --fleet it ends the halt of leases.`,
		Example: "  trading resume --account acc_1 --state-dir protect.state\n  trading resume --fleet postgres://bot@db/trading --lease desk-1/momentum",
	}
	a := newAsker(app, cmd)
	a.fleet.leaseFlag(cmd, "end the halt of this lease of --fleet")
	cmd.Flags().BoolVar(&a.fleet.all, "all", false, "end the halt of every lease of --fleet")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.fleet.check(cmd, "account", "state-dir"); err != nil {
			return err
		}
		if a.fleet.given() {
			return a.ofFleet(cmd.Context(), "", false)
		}
		if err := a.check(); err != nil {
			return err
		}
		if s, err := protect.ReadStatus(a.folder.path, trading.AccountID(a.account)); err == nil {
			app.Sayf("account %s is %s since %s: %s", cli.Printable(a.account), s.State, cli.Stamp(s.Since), cli.Printable(s.Reason))
		} else {
			app.Sayf("%s", cli.PrintableLines(err.Error()))
		}
		if err := app.Confirm(cmd.Context(), "Take entries again?"); err != nil {
			return err
		}
		return a.ask(cmd.Context(), protect.RequestResume, "")
	}
	return cmd
}
