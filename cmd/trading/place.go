package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/risk"
)

// orderFlags adds the flags that every order has.
func orderFlags(f *pflag.FlagSet, o *trading.Order) {
	f.StringVar(&o.Symbol, "symbol", "", "the market (required)")
	cli.Choice(f, (*string)(&o.Side), "side", "", "", "the side (required)", "long", "short")
	cli.Number(f, &o.Size, "size", "size in base units (required)")
	cli.Number(f, &o.Leverage, "leverage", "leverage; required with --env live")
	f.BoolVar(&o.ReduceOnly, "reduce-only", false, "only shrink an opposite position (live only)")
	cli.Price(f, &o.StopLoss, "stop-loss", "close at a loss at this price")
	cli.Price(f, &o.TakeProfit, "take-profit", "close at a profit at this price")
}

func newPlace(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "place", Short: "Place an order that fills now", Args: cli.Args(),
		Example: "  trading place --symbol BTC --side long --size 0.05 --stop-loss 63000\n" +
			"  trading place --env live --account acc_1 --symbol BTC --side long --size 0.05 --leverage 2 --yes",
	}
	var o trading.Order
	w := newWriter(app, cmd, true)
	f := cmd.Flags()
	orderFlags(f, &o)
	cli.Price(f, &o.LimitPrice, "limit-price", "fill at this price or better, or not at all")
	cli.Price(f, &o.ExpectedPrice, "expected-price", "refuse a fill too far from this price")
	cli.Decimal(f, &o.MaxSlippagePct, "max-slippage-pct", "refuse a fill further from the middle than this percent")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		required := []string{"symbol", "side", "size"}
		if cmd.Flag("env").Value.String() == string(trading.EnvLive) {
			required = append(required, "leverage")
		}
		if err := cli.Require(cmd, required...); err != nil {
			return err
		}
		if !o.LimitPrice.IsZero() {
			o.Type = trading.LimitOrder
		}
		w.entry = !o.ReduceOnly
		op := trading.OpOrder
		if err := w.service.Read(); err != nil {
			return err
		}
		if w.service.Env == trading.EnvSandbox {
			op = trading.OpSandboxOrder
		}
		return w.run(cmd.Context(), w.order(o, risk.Method{}, op, "",
			func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (v writeView, err error) {
				r, err := w.trader(s).PlaceOrder(ctx, o, opts...)
				if r != nil {
					v.order(w.service.Account, r)
				}
				return v, err
			}))
	}
	return cmd
}

func (v *writeView) order(account trading.AccountID, r *trading.OrderResult) {
	v.meta(r.Meta)
	v.FillPrice, v.FillSize, v.Fee = &r.Fill.Price, cli.Amount{Opt: r.Fill.Size}, cli.Amount{Opt: r.Fill.Fee}
	v.Balance = cli.AmountOf(r.Balance)
	v.position(account, r.Position)
}

func newLimit(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "limit", Short: "Place a limit order that rests (live only)", Args: cli.Args(),
		Example: "  trading limit --env live --account acc_1 --symbol BTC --side long --size 0.05 --leverage 2 --limit-price 60000",
	}
	var o trading.Order
	w := newWriter(app, cmd, true)
	orderFlags(cmd.Flags(), &o)
	cli.Price(cmd.Flags(), &o.LimitPrice, "limit-price", "the price to rest at (required)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cmp.Or(cli.Require(cmd, "symbol", "side", "size", "leverage", "limit-price"), w.requireLive("resting limits")); err != nil {
			return err
		}
		o.Type, w.entry = trading.LimitOrder, !o.ReduceOnly
		return w.run(cmd.Context(), w.order(o, risk.Resting(), trading.OpLimit, "resting ",
			func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (v writeView, err error) {
				r, err := w.live(s).PlaceLimit(ctx, o, opts...)
				if r != nil {
					v.meta(r.Meta)
					v.OrderID = r.Order.ID
				}
				return v, err
			}))
	}
	return cmd
}

type sender = func(context.Context, *cli.Session, ...trading.CallOption) (writeView, error)

// order is the task of placing an order in some way.
func (w *writer) order(o trading.Order, method risk.Method, op trading.Operation, kind string, send sender) task {
	return task{
		plan: func(ctx context.Context, s *cli.Session) (plan, error) {
			p := plan{Operation: op, Account: w.service.Account, Symbol: o.Symbol, What: describe(o, kind)}
			if err := cli.CheckSymbol(o.Symbol); err != nil {
				return p, err
			}
			inputs, err := w.inputs(ctx, s, o.Symbol)
			if err != nil && w.entry {
				return p, err
			}
			inputs.Method = method
			report := risk.Preview(o, inputs)
			p.Order = previewOf(w.service.Account, report, o.Leverage)
			if err := report.Err(); err != nil && w.entry {
				p.refused = cli.WithCode(cli.Refused, fmt.Errorf("it would be refused, or lose in any case: %w", err))
			}
			return p, nil
		},
		send: func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (writeView, error) {
			v, err := send(ctx, s, opts...)
			v.Operation, v.Account, v.Symbol = op, w.service.Account, o.Symbol
			return v, err
		},
	}
}

// describe is an order in words.
func describe(o trading.Order, kind string) string {
	text := fmt.Sprintf("%s%s %s %s", kind, o.Side, o.Size, cli.Printable(o.Symbol))
	if price, ok := o.LimitPrice.Value(); ok {
		text += " at " + price.String() + " or better"
	}
	if o.ReduceOnly {
		text += ", reduce only"
	}
	return text
}

// inputs reads what the preview needs. Without a sandbox key there are no prices.
func (w *writer) inputs(ctx context.Context, s *cli.Session, symbol string) (in risk.Inputs, err error) {
	in.Environment = w.service.Env
	trader := w.trader(s)
	if in.State, err = trader.State(ctx); err != nil {
		return in, fmt.Errorf("reading the account for the preview: %w", err)
	}
	positions, err := trader.Positions(ctx)
	if err != nil {
		return in, fmt.Errorf("reading the positions for the preview: %w", err)
	}
	in.Positions = trading.Some(positions)
	markets, err := s.Sandbox.Markets(ctx)
	var refusal *trading.Error
	switch {
	case errors.As(err, &refusal) && refusal.Local:
		w.app.Sayf("no sandbox key: the preview has no market data")
		return in, nil
	case err != nil:
		return in, fmt.Errorf("reading the markets for the preview: %w", err)
	}
	in.Closed = trading.CodeBadSymbol
	for _, m := range markets {
		if m.Symbol == symbol {
			in.Market, in.Mark, in.Closed = trading.Some(m), m.Mark, ""
		}
	}
	if in.Closed != "" && w.entry {
		return in, cli.WithCode(cli.Refused, fmt.Errorf("%s is not listed%s: trading markets lists them", cli.Printable(symbol), likelyMarket(markets, symbol)))
	}
	return in, nil
}

// likelyMarket is the market that a person may have meant, in words.
func likelyMarket(markets []trading.Market, symbol string) string {
	bare, _, _ := strings.Cut(strings.NewReplacer("/", "-", "_", "-", ":", "-").Replace(symbol), "-")
	for _, m := range markets {
		for _, tail := range []string{"", "USD", "USDT", "USDC", "PERP"} {
			if strings.EqualFold(bare, m.Symbol+tail) {
				return ", but " + cli.Printable(m.Symbol) + " is: --symbol " + cli.Printable(m.Symbol)
			}
		}
	}
	return ""
}

// orderPreview is what an order would do.
type orderPreview struct {
	Effect        risk.Effect   `json:"effect,omitempty"`
	Price         cli.Amount    `json:"price"`
	Leverage      cli.Amount    `json:"leverage"`
	Asked         cli.Amount    `json:"leverageAsked,omitzero"` // where the market's cap is below it
	Notional      cli.Amount    `json:"notional"`
	Fee           cli.Amount    `json:"fee"`
	After         *positionView `json:"positionAfter"`
	BreakEven     cli.Amount    `json:"breakEven"`
	LossAtStop    cli.Amount    `json:"lossAtStop"`
	RoomAfterStop cli.Amount    `json:"roomAfterStop"`
	GainAtTarget  cli.Amount    `json:"gainAtTarget"`
	Problems      []string      `json:"problems"`
}

func previewOf(account trading.AccountID, r risk.Report, asked decimal.Decimal) *orderPreview {
	amount := func(o trading.Opt[decimal.Decimal]) cli.Amount { return cli.Amount{Opt: o} }
	p := &orderPreview{
		Effect: r.Effect, Price: cli.AmountIf(r.Price.Price()), Leverage: amount(r.Leverage), Notional: amount(r.Notional), Fee: amount(r.Fee),
		BreakEven: amount(r.BreakEven), LossAtStop: amount(r.LossAtStop), RoomAfterStop: amount(r.RoomAfterStop), GainAtTarget: amount(r.GainAtTarget),
		Problems: []string{},
	}
	if used, ok := r.Leverage.Get(); ok && used.LessThan(asked) {
		p.Asked = cli.AmountOf(asked)
	}
	if after, ok := r.After.Get(); ok {
		view := viewPosition(account, after)
		p.After = &view
	}
	for _, problem := range r.Problems {
		p.Problems = append(p.Problems, problem.Error())
	}
	return p
}

func (p orderPreview) table(w io.Writer) {
	g := grid{}
	add := func(name, value string) {
		if value != "" && value != "-" {
			g.add(cell{text: name}, cell{text: value})
		}
	}
	add("effect", string(p.Effect))
	add("at price", p.Price.String())
	leverage := p.Leverage.String()
	if asked, ok := p.Asked.Get(); ok && !p.Asked.IsZero() {
		leverage += fmt.Sprintf(" of the %s asked for: the market's cap", asked)
	}
	add("leverage", leverage)
	add("notional", cli.DollarsIf(p.Notional))
	add("fee", cli.DollarsIf(p.Fee))
	if a := p.After; a != nil {
		add("position after", fmt.Sprintf("%s %s, entry %s", a.Side, cli.Short(a.Size), cli.Short(a.EntryPrice)))
	}
	add("break even", p.BreakEven.String())
	add("loss at stop", cli.DollarsIf(p.LossAtStop))
	add("room after stop", cli.DollarsIf(p.RoomAfterStop))
	add("gain at target", cli.DollarsIf(p.GainAtTarget))
	for _, problem := range p.Problems {
		add("problem", cli.Printable(problem))
	}
	for _, line := range g.lines() {
		fmt.Fprintln(w, line)
	}
}
