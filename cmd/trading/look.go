package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/export"
)

const (
	readTimeout   = 30 * time.Second
	accountToRead = "the live account (default every account that is not archived)"
	firesTriggers = "\n\nReading the paper account fires its triggers."
)

func newStatus(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show accounts, positions, health, limits and pending writes", Args: cli.Args(),
		Long: `Show what a person has to know first, then each account: equity against floors and
target, positions, what rests and runs, then the pending writes of the journals, and the
rate limits as far as this command has used them or the service has closed them. With the
folder of a protection, it shows the protection of each live account.

With --fleet it shows the leases of a database instead, and needs no key: who holds each, when
it was renewed, what is pending, and whether entries are halted. With --sidecar it shows whether
a sidecar takes entries, and what is open. To see accounts as a bot behind it does, give --base-url
http://127.0.0.1:PORT/v1 and a local key.

The exit code is 1 if something could not be read.` + firesTriggers,
	}
	service := app.Connection(cmd, readTimeout).Environment(accountToRead)
	journals := journalsFlag(cmd)
	folder := stateDirFlag(app, cmd, "protection")
	fleet := fleetFlags(app, cmd)
	beside := newSidecarFlag(app, cmd)
	out := app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		others := []string{"journal", "state-dir", "env", "account", "base-url", "key-file"}
		if err := errors.Join(fleet.check(cmd, others...), beside.check(append(others, "fleet")...)); err != nil {
			return err
		}
		if beside.given() {
			ctx, cancel := service.Context(cmd.Context())
			defer cancel()
			return beside.status(ctx, service, out)
		}
		if fleet.given() {
			ctx, cancel := service.Context(cmd.Context())
			defer cancel()
			return fleet.status(ctx, out)
		}
		return withClient(cmd.Context(), service, func(ctx context.Context, session *cli.Session) error {
			dir, err := folder.shown(service.Env)
			if err != nil {
				return err
			}
			paths := shownJournals(service, *journals)
			s := gatherer{service, session.Client, paths, dir}.gather(ctx)
			if err := out.Print(s, func(w io.Writer) {
				fmt.Fprintln(w, strings.Join(render(s, themeOf(app)), "\n"))
			}); err != nil {
				return err
			}
			return s.err()
		})
	}
	return cmd
}

// journalsFlag adds the flag that names journals to look into.
func journalsFlag(cmd *cobra.Command) *[]string {
	return cmd.Flags().StringArray("journal", nil, "show the pending writes of this journal too; may be repeated (default $TRADING_JOURNAL)")
}

// shownJournals are those that are named, and the one of this program's own writes.
func shownJournals(service *cli.Service, named []string) []string {
	if own, ok := service.OwnJournal(); ok {
		for _, path := range named {
			if path == own {
				return named
			}
		}
		return append(named, own)
	}
	return named
}

// err says that something could not be read.
func (s statusView) err() error {
	failed := len(s.Errors)
	for _, a := range s.Accounts {
		failed += len(a.Errors)
	}
	if failed > 0 {
		return cli.WithCode(cli.NotApplied, fmt.Errorf("%d reads failed", failed))
	}
	return nil
}

// withClient runs a command that only reads.
func withClient(ctx context.Context, service *cli.Service, do func(context.Context, *cli.Session) error) (err error) {
	if err := service.Read(); err != nil {
		return err
	}
	session, err := service.Connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	ctx, cancel := service.Context(ctx)
	defer cancel()
	return do(ctx, session)
}

// listing is what a command reads of each account.
type listing[T any] struct {
	use, short string
	liveOnly   bool
	fires      bool // reading it fires the paper account's triggers
	header     []any
	read       func(context.Context, handle) ([]T, error)
	row        func(T) []any
	long       string
	forms      []string // that write has beside the table and JSON
	write      func(w io.Writer, form string, all []T) error
}

// list returns the command of a listing.
func list[T any](app *cli.App, l listing[T]) *cobra.Command {
	cmd := &cobra.Command{Use: l.use, Short: l.short, Args: cli.Args()}
	service := app.Connection(cmd, readTimeout).Environment(accountToRead)
	out := app.Output(cmd, l.forms...)
	cmd.Long = l.long
	if l.fires {
		cmd.Long = l.short + "." + firesTriggers
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withClient(cmd.Context(), service, func(ctx context.Context, session *cli.Session) error {
			if l.liveOnly && service.Env != trading.EnvLive {
				return cli.Misuse("the paper account has no %s: --env live", l.use)
			}
			handles, _, err := traders(ctx, service, session.Client)
			if err != nil {
				return err
			}
			all := []T{}
			var errs []error
			for _, h := range handles {
				some, err := l.read(ctx, h)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", nameOf(h.id, service.Env), err))
				}
				all = append(all, some...)
			}
			if len(errs) > 0 && len(errs) == len(handles) {
				return errors.Join(errs...) // an empty table would say that there are none
			}
			return errors.Join(append(errs, l.print(app, out, all))...)
		})
	}
	return cmd
}

// print writes what was read, in the form that was chosen.
func (l listing[T]) print(app *cli.App, out *cli.Output, all []T) error {
	if slices.Contains(l.forms, out.Format()) {
		return l.write(app.Out, out.Format(), all)
	}
	return out.Print(all, func(w io.Writer) {
		cli.Row(w, l.header...)
		for _, one := range all {
			cli.Row(w, l.row(one)...)
		}
	})
}

// marketView is a market, for programs too.
type marketView struct {
	Symbol      string          `json:"symbol"`
	Label       string          `json:"label"`
	Category    string          `json:"category"`
	MaxLeverage decimal.Decimal `json:"maxLeverage"`
	MarkPrice   cli.Amount      `json:"markPrice"`
}

func newMarkets(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "markets", Short: "List the markets, with their marks and leverage caps", Args: cli.Args(),
		Long: "List the markets, with their marks and leverage caps. It takes a sandbox key: a live key shows no\nmarkets. A market without a mark has no price now.",
	}
	service, out := app.Connection(cmd, readTimeout), app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withClient(cmd.Context(), service, func(ctx context.Context, session *cli.Session) error {
			markets, err := session.Sandbox.Markets(ctx)
			if err != nil {
				return err
			}
			all := make([]marketView, len(markets))
			for i, m := range markets {
				all[i] = marketView{m.Symbol, m.Label, m.Category, m.MaxLeverage, cli.AmountIf(m.Mark.Price())}
			}
			return out.Print(all, func(w io.Writer) {
				cli.Row(w, "SYMBOL", "LABEL", "CATEGORY", "MAX LEVERAGE", "MARK")
				for _, m := range all {
					cli.Row(w, m.Symbol, cli.Printable(m.Label), cli.Printable(m.Category), m.MaxLeverage, m.MarkPrice)
				}
			})
		})
	}
	return cmd
}

func newPositions(app *cli.App) *cobra.Command {
	return list(app, listing[positionView]{
		use: "positions", short: "List the open positions", fires: true,
		header: []any{"ACCOUNT", "SYMBOL", "SIDE", "SIZE", "LEVERAGE", "ENTRY", "MARK", "PNL", "STOP", "TARGET"},
		read: func(ctx context.Context, h handle) (all []positionView, err error) {
			positions, err := h.Positions(ctx)
			for _, p := range positions {
				all = append(all, viewPosition(h.id, p))
			}
			return all, err
		},
		row: func(p positionView) []any {
			return []any{
				nameOf(p.Account, ""), p.Symbol, p.Side, cli.Short(p.Size), p.Leverage, cli.Short(p.EntryPrice), p.MarkPrice,
				cli.DollarsIf(p.UnrealizedPnL), p.StopLoss, p.TakeProfit,
			}
		},
	})
}

func newOrders(app *cli.App) *cobra.Command {
	return list(app, listing[orderView]{
		use: "orders", short: "List the resting limit orders of live accounts", liveOnly: true,
		header: []any{"ACCOUNT", "ID", "SYMBOL", "SIDE", "SIZE", "LIMIT PRICE"},
		read: func(ctx context.Context, h handle) (all []orderView, err error) {
			open, err := h.live.OpenOrders(ctx)
			if err != nil {
				return nil, err
			}
			for _, o := range open.Limits {
				all = append(all, viewOrder(h.id, o))
			}
			return all, nil
		},
		row: func(o orderView) []any {
			return []any{nameOf(o.Account, ""), o.ID, o.Symbol, o.Side, o.Size, o.LimitPrice}
		},
	})
}

func newRuns(app *cli.App) *cobra.Command {
	return list(app, listing[runView]{
		use: "runs", short: "List the Pro runs of live accounts, running and finished", liveOnly: true,
		header: []any{"ACCOUNT", "ID", "STATE", "SYMBOL", "SIDE"},
		read: func(ctx context.Context, h handle) (all []runView, err error) {
			open, err := h.live.OpenOrders(ctx)
			if err != nil {
				return nil, err
			}
			for _, r := range open.Runs {
				all = append(all, viewRun(h.id, r, false))
			}
			finished, err := h.live.FinishedRuns(ctx)
			for _, r := range finished {
				all = append(all, viewRun(h.id, r, true))
			}
			return all, err
		},
		row: func(r runView) []any {
			state := "running"
			if r.Finished {
				state = "finished"
			}
			return []any{nameOf(r.Account, ""), r.ID, state, r.Symbol, r.Side}
		},
	})
}

func newTrades(app *cli.App) *cobra.Command {
	return list(app, listing[tradeView]{
		use: "trades", short: "List the closed trades",
		header: []any{"ACCOUNT", "CLOSED", "SYMBOL", "SIDE", "SIZE", "ENTRY", "EXIT", "GROSS", "FEES", "NET", "CAUSE"},
		read: func(ctx context.Context, h handle) (all []tradeView, err error) {
			trades, err := h.Trades(ctx)
			for _, t := range trades {
				all = append(all, viewTrade(h.id, t))
			}
			return all, err
		},
		row: func(t tradeView) []any {
			return []any{
				nameOf(t.Account, ""), cli.Stamp(t.ClosedAt), t.Symbol, t.Side, t.Size, t.EntryPrice, cli.Short(t.ExitPrice),
				cli.Dollars(t.GrossPnL), cli.Dollars(t.RoundTripFee), cli.Dollars(t.NetPnL), t.Cause,
			}
		},
		long: `List the closed trades, as the service lists them.

-o csv writes columns that spreadsheets and tax tools take, -o jsonl one object a line.
Both have every digit, and times in UTC. The service can list the newest trades only:
to keep all of them, write them as they close (package export).`,
		forms: []string{"csv", "jsonl"}, write: writeTrades,
	})
}

// writeTrades writes trades for other programs.
func writeTrades(w io.Writer, form string, all []tradeView) error {
	trades := export.CSV(w)
	if form == "jsonl" {
		trades = export.JSONLines(cli.Escaped(w))
	}
	if err := trades.Begin(); err != nil {
		return err
	}
	for _, t := range all {
		if err := trades.Write(t.Account, t.record); err != nil {
			return err
		}
	}
	return nil
}
