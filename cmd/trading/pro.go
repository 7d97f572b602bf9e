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

// placeRun sends a Pro order.
type placeRun = func(context.Context, *trading.Account, ...trading.CallOption) (*trading.RunResult, error)

// pro is a Pro order: its flags, and how they are checked and sent.
type pro struct {
	name, short string
	op          trading.Operation
	required    []string
	flags       func(*pflag.FlagSet)
	method      func() risk.Method
	place       func(trading.Order) placeRun
	prepare     func(*trading.Order)
}

func newPro(app *cli.App) *cobra.Command {
	cmd := cli.Group("pro", "Place Pro orders, which the service carries out over time (live only)")
	for _, p := range []pro{conditional(), ladder(), twap(), chase(), chaseTWAP(), swarm()} {
		cmd.AddCommand(newProOrder(app, p))
	}
	cmd.AddCommand(newRunEdit(app))
	return cmd
}

func newProOrder(app *cli.App, p pro) *cobra.Command {
	cmd := &cobra.Command{Use: p.name, Short: p.short, Args: cli.Args()}
	var o trading.Order
	w := newWriter(app, cmd, true)
	orderFlags(cmd.Flags(), &o)
	p.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		required := append([]string{"symbol", "side", "size", "leverage"}, p.required...)
		if err := cmp.Or(cli.Require(cmd, required...), w.requireLive("Pro orders")); err != nil {
			return err
		}
		if p.prepare != nil {
			p.prepare(&o)
		}
		w.entry = !o.ReduceOnly
		place := p.place(o)
		return w.run(cmd.Context(), w.order(o, p.method(), p.op, p.name+" ",
			func(ctx context.Context, s *cli.Session, opts ...trading.CallOption) (v writeView, err error) {
				r, err := place(ctx, w.live(s), opts...)
				if r != nil {
					v.meta(r.Meta)
					v.RunID = r.ID
				}
				return v, err
			}))
	}
	return cmd
}

func conditional() pro {
	var how trading.Conditional
	var limit trading.Level
	return pro{
		name: "conditional", short: "Wait for a trigger price, then place the order", op: trading.OpConditional, required: []string{"trigger"},
		flags: func(f *pflag.FlagSet) {
			cli.Number(f, &how.Trigger, "trigger", "the price to wait for (required)")
			cli.Price(f, &limit, "limit-price", "place a limit order at this price, not a market order")
		},
		prepare: func(o *trading.Order) {
			if o.LimitPrice = limit; !limit.IsZero() {
				o.Type, how.Exec = trading.LimitOrder, trading.StopLimit
			}
		},
		method: func() risk.Method { return risk.Conditional(how) },
		place: func(o trading.Order) placeRun {
			return func(ctx context.Context, a *trading.Account, opts ...trading.CallOption) (*trading.RunResult, error) {
				return a.PlaceConditional(ctx, o, how, opts...)
			}
		},
	}
}

func ladder() pro {
	var how trading.Ladder
	return pro{
		name: "ladder", short: "Spread the size over limits between two prices", op: trading.OpLadder, required: []string{"from", "to", "rungs"},
		flags: func(f *pflag.FlagSet) {
			cli.Number(f, &how.From, "from", "the first price (required)")
			cli.Number(f, &how.To, "to", "the last price (required)")
			f.IntVar(&how.Rungs, "rungs", 0, "how many limits (required)")
			cli.Decimal(f, &how.SizeSkew, "size-skew", "how the size is spread")
		},
		method: func() risk.Method { return risk.Ladder(how) },
		place: func(o trading.Order) placeRun {
			return func(ctx context.Context, a *trading.Account, opts ...trading.CallOption) (*trading.RunResult, error) {
				return a.PlaceLadder(ctx, o, how, opts...)
			}
		},
	}
}

func twap() pro {
	var how trading.TWAP
	return pro{
		name: "twap", short: "Spread the size over time, in clips", op: trading.OpTWAP, required: []string{"duration"},
		flags: func(f *pflag.FlagSet) {
			f.DurationVar(&how.Duration, "duration", 0, "how long it takes (required)")
			cli.Switch(f, &how.RandomizeSize, "randomize-size", "vary the size of the clips")
			cli.Switch(f, &how.RandomizeTime, "randomize-time", "vary the time between the clips")
		},
		method: func() risk.Method { return risk.TWAP(how, 0) },
		place: func(o trading.Order) placeRun {
			return func(ctx context.Context, a *trading.Account, opts ...trading.CallOption) (*trading.RunResult, error) {
				return a.PlaceTWAP(ctx, o, how, opts...)
			}
		},
	}
}

func chase() pro {
	var how trading.Chase
	return pro{
		name: "chase", short: "Follow the market with a limit until it fills", op: trading.OpChase,
		flags: func(f *pflag.FlagSet) {
			cli.Price(f, &how.To, "to", "follow no further than this price")
		},
		method: func() risk.Method { return risk.Chase(how) },
		place: func(o trading.Order) placeRun {
			return func(ctx context.Context, a *trading.Account, opts ...trading.CallOption) (*trading.RunResult, error) {
				return a.PlaceChase(ctx, o, how, opts...)
			}
		},
	}
}

func chaseTWAP() pro {
	var how trading.ChaseTWAP
	return pro{
		name: "chase-twap", short: "Spread the size over time, each clip a chase", op: trading.OpChaseTWAP, required: []string{"duration"},
		flags: func(f *pflag.FlagSet) {
			f.DurationVar(&how.Duration, "duration", 0, "how long it takes (required)")
			cli.Price(f, &how.To, "to", "follow no further than this price")
		},
		method: func() risk.Method { return risk.ChaseTWAP(how, 0) },
		place: func(o trading.Order) placeRun {
			return func(ctx context.Context, a *trading.Account, opts ...trading.CallOption) (*trading.RunResult, error) {
				return a.PlaceChaseTWAP(ctx, o, how, opts...)
			}
		},
	}
}

func swarm() pro {
	var how trading.Swarm
	return pro{
		name: "swarm", short: "Split the size into many small orders", op: trading.OpSwarm, required: []string{"orders"},
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&how.Orders, "orders", 0, "how many orders (required)")
			cli.Value(f, &how.Aggression, "aggression", "how eagerly they take the price")
			cli.Decimal(f, &how.SlippageBps, "slippage-bps", "how far they may fill away, in basis points")
			cli.Switch(f, &how.Irregular, "irregular", "vary the orders")
		},
		method: func() risk.Method { return risk.Swarm(how) },
		place: func(o trading.Order) placeRun {
			return func(ctx context.Context, a *trading.Account, opts ...trading.CallOption) (*trading.RunResult, error) {
				return a.PlaceSwarm(ctx, o, how, opts...)
			}
		},
	}
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
				return acked(w.live(s).EditRun(ctx, id, trading.RunEdit{TotalSize: size}, opts...))
			}))
	}
	return cmd
}
