package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// plain is the task of a write that needs no look at the market.
func (w *writer) plain(op trading.Operation, symbol, what string, send sender) task {
	return task{
		plan: func(context.Context, *cli.Session) (plan, error) {
			return plan{Operation: op, Account: w.service.Account, Symbol: symbol, What: what}, nil
		},
		send: func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (writeView, error) {
			v, err := send(ctx, s, opts...)
			v.Operation, v.Account, v.Symbol = op, w.service.Account, symbol
			return v, err
		},
	}
}

func acked(r *trading.Ack, err error) (v writeView, _ error) {
	if r != nil {
		v.meta(r.Meta)
	}
	return v, err
}

func newClose(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "close", Short: "Close a position, or a part of it", Args: cli.Args(),
		Example: "  trading close --symbol BTC\n  trading close --env live --account acc_1 --symbol BTC --percent 50",
	}
	var symbol string
	percent := decimal.NewFromInt(100)
	w := newWriter(app, cmd, false)
	cmd.Flags().StringVar(&symbol, "symbol", "", "the market (required)")
	cli.Number(cmd.Flags(), &percent, "percent", "how much of the position (default 100)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmp.Or(cli.Require(cmd, "symbol"), cli.CheckSymbol(symbol), w.service.Read()); err != nil {
			return err
		}
		op := trading.OpClose
		if w.service.Env == trading.EnvSandbox {
			op = trading.OpSandboxClose
		}
		return w.run(cmd.Context(), w.plain(op, symbol, fmt.Sprintf("close %s%% of %s", percent, symbol),
			func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (v writeView, err error) {
				r, err := w.trader(s).ClosePosition(ctx, symbol, trading.Percent(percent), opts...)
				if r != nil {
					v.meta(r.Meta)
					v.PnL, v.Fee, v.Balance, v.Status = cli.AmountOf(r.PnL), cli.AmountOf(r.Fee), cli.AmountOf(r.Balance), r.Status
				}
				return v, err
			}))
	}
	return cmd
}

func newCancel(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel", Short: "Cancel a resting limit or a Pro run (live only)", Args: cli.Args(),
		Example: "  trading cancel --env live --account acc_1 --order ord_1\n  trading cancel --env live --account acc_1 --run run_1",
	}
	var order, run string
	w := newWriter(app, cmd, false)
	cmd.Flags().StringVar(&order, "order", "", "the resting limit")
	cmd.Flags().StringVar(&run, "run", "", "the Pro run")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := w.requireLive("resting limits and Pro runs"); err != nil {
			return err
		}
		switch {
		case (order == "") == (run == ""):
			return cli.Misuse("which one? either --order or --run")
		case order != "":
			return w.run(cmd.Context(), w.plain(trading.OpCancelOrder, "", "cancel order "+cli.Printable(order),
				func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (writeView, error) {
					return acked(w.live(s).CancelOrder(ctx, trading.OrderID(order), opts...))
				}))
		default:
			return w.run(cmd.Context(), w.plain(trading.OpCancelRun, "", "cancel run "+cli.Printable(run),
				func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (writeView, error) {
					return acked(w.live(s).CancelRun(ctx, trading.RunID(run), opts...))
				}))
		}
	}
	return cmd
}

func newTPSL(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tpsl", Short: "Set or clear the stop and the target of a position", Args: cli.Args(),
		Long:    "Set or clear the stop and the target of a position. A level that is not named stays as it\nis.",
		Example: "  trading tpsl --symbol BTC --stop-loss 63000 --take-profit clear",
	}
	var symbol string
	var levels trading.TPSL
	w := newWriter(app, cmd, false)
	cmd.Flags().StringVar(&symbol, "symbol", "", "the market (required)")
	cli.PriceOrClear(cmd.Flags(), &levels.StopLoss, "stop-loss", "the stop, or clear")
	cli.PriceOrClear(cmd.Flags(), &levels.TakeProfit, "take-profit", "the target, or clear")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmp.Or(cli.Require(cmd, "symbol"), cli.CheckSymbol(symbol), w.service.Read()); err != nil {
			return err
		}
		if levels.StopLoss.IsZero() && levels.TakeProfit.IsZero() {
			return cli.Misuse("which level? --stop-loss, --take-profit, or both")
		}
		op := trading.OpTPSL
		if w.service.Env == trading.EnvSandbox {
			op = trading.OpSandboxTPSL
		}
		w.named = !levels.StopLoss.IsZero() && !levels.TakeProfit.IsZero()
		return w.run(cmd.Context(), w.plain(op, symbol, fmt.Sprintf("set the levels of %s: stop %s, target %s", symbol, wanted(levels.StopLoss), wanted(levels.TakeProfit)),
			func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (v writeView, err error) {
				r, err := w.trader(s).SetTPSL(ctx, symbol, levels, opts...)
				if r != nil {
					v.meta(r.Meta)
					v.position(w.service.Account, r.Position)
				}
				return v, err
			}))
	}
	return cmd
}

// wanted is a level as it is to be.
func wanted(l trading.Level) string {
	if l.IsZero() {
		return "as it is"
	}
	return l.String()
}
