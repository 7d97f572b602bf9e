package mcp

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
)

// Exits need no ticket. They take no lock but the one that is held for a moment in memory, and read
// nothing first.

var hundred = decimal.NewFromInt(100)

// flattening is why a ticket has ended, or an entry has not left.
const flattening = "flattening"

// begin makes an exit a write under way, and sends it; a flatten ends the tickets of its account first, and the
// calls of its entries, which may wait for a rate limit: what of them may have left is resolved by the flatten.
func (e *Engine) begin(w *write, send func(context.Context, *trading.Client, string) (*answer, error)) *refusal {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone {
		return refuse("closed", "The engine has ended. Call again.")
	}
	if account := w.Action.Account; w.Action.Kind == "flatten" {
		for _, t := range e.tickets {
			if t.write.Action.Account == account {
				t.end(flattening)
			}
		}
		for _, other := range e.writes {
			if other.Action.Account == account && other.Action.entry() && other.inFlight() {
				other.drop()
			}
		}
	}
	e.register(w)
	e.carry(w, send)
	return nil
}

// exit sends an exit, and answers within twenty seconds.
func (e *Engine) exit(ctx context.Context, a action) (*ticketView, *refusal) {
	w := &write{ID: newID("x_"), Action: a}
	if r := e.begin(w, a.send); r != nil {
		return nil, r
	}
	e.await(ctx, w)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.viewOf(w), nil
}

// closeOut closes a whole position, or cancels an order that only adds exposure.
func (e *Engine) closeOut(ctx context.Context, account trading.AccountID, args arguments) (any, *refusal) {
	named := 0
	for _, n := range []string{"symbol", "order", "run"} {
		if args[n] != "" {
			named++
		}
	}
	if named != 1 {
		r := refuse("bad_argument", "Name exactly one of symbol, order and run.")
		r.Example = map[string]string{"symbol": "BTC"}
		return nil, r
	}
	if symbol := args["symbol"]; symbol != "" {
		return e.exit(ctx, action{Kind: "close", Account: account, Symbol: symbol, Percent: hundred})
	}
	a := action{Kind: "cancel", Account: account, OrderID: trading.OrderID(args["order"]), RunID: trading.RunID(args["run"])}
	e.mu.Lock()
	own := e.placed(account, args["order"]+args["run"])
	e.mu.Unlock()
	if own == nil || !own.Adds {
		return nil, refuse("may_reduce", "It is not known that this order only adds exposure, so to cancel it could loosen. Use preview_change with change cancel. flatten cancels everything.")
	}
	a.Symbol = own.Action.Symbol
	return e.exit(ctx, a)
}

// flattened is what a flatten came to.
type flattened struct {
	Account string   `json:"account"`
	Flat    bool     `json:"flat"`
	Ended   bool     `json:"ended"`
	Left    []string `json:"left,omitempty"`
	Advice  string   `json:"advice"`
}

// flattenFor bounds a flatten.
const flattenFor = 2 * time.Minute

// flatten closes and cancels everything on an account. Its open tickets end, and no entry is taken
// until it has ended.
func (e *Engine) flatten(ctx context.Context, account trading.AccountID, _ arguments) (any, *refusal) {
	w := &write{ID: newID("x_"), Action: action{Kind: "flatten", Account: account}}
	var report *flatten.Report
	r := e.begin(w, func(ctx context.Context, c *trading.Client, _ string) (_ *answer, err error) {
		ctx, cancel := context.WithTimeout(ctx, flattenFor)
		defer cancel()
		if account == "" {
			report, err = flatten.Sandbox(ctx, c.Sandbox, flatten.Options{Urgent: true})
		} else {
			report, err = flatten.Account(ctx, c.Live.Account(account), flatten.Options{Urgent: true})
		}
		return nil, err
	})
	if r != nil {
		return nil, r
	}
	out := &flattened{Account: accountName(account), Advice: "It goes on. Call account to see what is left; to flatten again is safe."}
	if !e.await(ctx, w) {
		return out, nil
	}
	out.Ended, out.Flat, out.Advice = true, report.Flat, "The account is proven flat."
	if !report.Flat {
		out.Advice = "The account is not proven flat. Flatten again, and tell a person."
		if left, ok := report.Left(); ok {
			for i := range left.Positions {
				out.Left = append(out.Left, name(left.Positions[i].Symbol))
			}
		}
	}
	return out, nil
}
