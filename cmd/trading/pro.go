package main

import (
	"cmp"
	"context"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/risk"
)

// pro is a Pro order: its flags, and how they are checked and sent.
type pro[T trading.Pro] struct {
	name, short string
	op          trading.Operation
	required    []string
	flags       func(*pflag.FlagSet, *T)
	prepare     func(*trading.Order)
	method      func(T) risk.Method
}

func newPro(app *cli.App) *cobra.Command {
	return cli.Group("pro", "Place Pro orders, which the service carries out over time (live only)",
		newConditional(app), newProOrder(app, ladder), newProOrder(app, twap), newProOrder(app, chase), newProOrder(app, chaseTWAP), newProOrder(app, swarm),
		newRunEdit(app))
}

func newProOrder[T trading.Pro](app *cli.App, p pro[T]) *cobra.Command {
	cmd := &cobra.Command{Use: p.name, Short: p.short, Args: cli.Args()}
	var o trading.Order
	var how T
	w := newWriter(app, cmd, true)
	orderFlags(cmd.Flags(), &o)
	p.flags(cmd.Flags(), &how)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		required := append([]string{"symbol", "side", "size", "leverage"}, p.required...)
		if err := cmp.Or(cli.Require(cmd, required...), w.requireLive("Pro orders")); err != nil {
			return err
		}
		if p.prepare != nil {
			p.prepare(&o)
		}
		w.entry = !o.ReduceOnly
		return w.run(cmd.Context(), w.order(o, p.method(how), p.op, p.name+" ",
			func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (v writeView, err error) {
				r, err := w.live(s).PlacePro(ctx, o, how, opts...)
				if r != nil {
					v.meta(r.Meta)
					v.RunID = r.ID
				}
				return v, err
			}))
	}
	return cmd
}

func newConditional(app *cli.App) *cobra.Command {
	var limit trading.Level
	return newProOrder(app, pro[trading.Conditional]{
		name: "conditional", short: "Wait for a trigger price, then place the order", op: trading.OpConditional, required: []string{"trigger"},
		flags: func(f *pflag.FlagSet, how *trading.Conditional) {
			cli.Number(f, &how.Trigger, "trigger", "the price to wait for (required)")
			cli.Price(f, &limit, "limit-price", "place a limit order at this price, not a market order")
		},
		prepare: func(o *trading.Order) {
			if o.LimitPrice = limit; !limit.IsZero() {
				o.Type = trading.LimitOrder
			}
		},
		method: risk.Conditional,
	})
}

var ladder = pro[trading.Ladder]{
	name: "ladder", short: "Spread the size over limits between two prices", op: trading.OpLadder, required: []string{"from", "to", "rungs"},
	flags: func(f *pflag.FlagSet, how *trading.Ladder) {
		cli.Number(f, &how.From, "from", "the first price (required)")
		cli.Number(f, &how.To, "to", "the last price (required)")
		f.IntVar(&how.Rungs, "rungs", 0, "how many limits (required)")
		cli.Decimal(f, &how.SizeSkew, "size-skew", "how the size is spread")
	},
	method: risk.Ladder,
}

var twap = pro[trading.TWAP]{
	name: "twap", short: "Spread the size over time, in clips", op: trading.OpTWAP, required: []string{"duration"},
	flags: func(f *pflag.FlagSet, how *trading.TWAP) {
		f.DurationVar(&how.Duration, "duration", 0, "how long it takes (required)")
		cli.Switch(f, &how.RandomizeSize, "randomize-size", "vary the size of the clips")
		cli.Switch(f, &how.RandomizeTime, "randomize-time", "vary the time between the clips")
	},
	method: func(how trading.TWAP) risk.Method { return risk.TWAP(how, 0) },
}

var chase = pro[trading.Chase]{
	name: "chase", short: "Follow the market with a limit until it fills", op: trading.OpChase,
	flags: func(f *pflag.FlagSet, how *trading.Chase) {
		cli.Price(f, &how.To, "to", "follow no further than this price")
	},
	method: risk.Chase,
}

var chaseTWAP = pro[trading.ChaseTWAP]{
	name: "chase-twap", short: "Spread the size over time, each clip a chase", op: trading.OpChaseTWAP, required: []string{"duration"},
	flags: func(f *pflag.FlagSet, how *trading.ChaseTWAP) {
		f.DurationVar(&how.Duration, "duration", 0, "how long it takes (required)")
		cli.Price(f, &how.To, "to", "follow no further than this price")
	},
	method: func(how trading.ChaseTWAP) risk.Method { return risk.ChaseTWAP(how, 0) },
}

var swarm = pro[trading.Swarm]{
	name: "swarm", short: "Split the size into many small orders", op: trading.OpSwarm, required: []string{"orders"},
	flags: func(f *pflag.FlagSet, how *trading.Swarm) {
		f.IntVar(&how.Orders, "orders", 0, "how many orders (required)")
		cli.Value(f, &how.Aggression, "aggression", "how eagerly they take the price")
		cli.Decimal(f, &how.SlippageBps, "slippage-bps", "how far they may fill away, in basis points")
		cli.Switch(f, &how.Irregular, "irregular", "vary the orders")
	},
	method: risk.Swarm,
}

func newRunEdit(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{Use: "edit RUN", Short: "Change the total size of a running TWAP", Args: cli.Args("RUN")}
	var size decimal.Decimal
	w := newWriter(app, cmd, true)
	cli.Number(cmd.Flags(), &size, "total-size", "the new size of the whole run, what is filled included (required)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(cli.Require(cmd, "total-size"), w.requireLive("Pro orders")); err != nil {
			return err
		}
		id := trading.RunID(args[0])
		return w.run(cmd.Context(), w.plain(trading.OpEditRun, "", "change run "+cli.Printable(id)+" to a total size of "+size.String(),
			func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (v writeView, err error) {
				return acked(w.live(s).EditRun(ctx, id, size, opts...))
			}))
	}
	return cmd
}
