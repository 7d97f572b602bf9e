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

// exit sends an exit, and answers within twenty seconds.
func (e *Engine) exit(ctx context.Context, a action) (*ticketView, *refusal) {
	w := &write{ID: newID("x_"), Action: a}
	e.mu.Lock()
	if e.gone {
		e.mu.Unlock()
		return nil, refuse("closed", "The engine has ended. Call again.")
	}
	e.register(w)
	e.mu.Unlock()
	e.carry(w, a.send)
	patience, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	select {
	case <-w.done:
	case <-patience.Done():
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.viewOf(w), nil
}

// closeOut closes a whole position, or cancels an order that only adds exposure.
func (e *Engine) closeOut(ctx context.Context, account trading.AccountID, args arguments) (*ticketView, *refusal) {
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
func (e *Engine) flatten(ctx context.Context, account trading.AccountID) (*flattened, *refusal) {
	w := &write{ID: newID("x_"), Action: action{Kind: "flatten", Account: account}}
	e.mu.Lock()
	if e.gone {
		e.mu.Unlock()
		return nil, refuse("closed", "The engine has ended. Call again.")
	}
	e.leaving[account]++
	for _, t := range e.tickets {
		if t.write.Action.Account == account {
			t.end("flattening")
		}
	}
	e.register(w)
	e.mu.Unlock()
	var report *flatten.Report
	e.work.Go(func() {
		defer close(w.done)
		within, cancel := context.WithTimeout(context.Background(), flattenFor)
		defer cancel()
		var err error
		if account == "" {
			report, err = flatten.Sandbox(within, e.client.Sandbox, flatten.Options{Urgent: true})
		} else {
			report, err = flatten.Account(within, e.client.Live.Account(account), flatten.Options{Urgent: true})
		}
		outcome, code := trading.Applied, ""
		if err != nil { // what is left, a look shows
			outcome, code = trading.NotApplied, "not_flat"
		}
		e.finish(w, outcome, code, nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.leaving[account]--; e.leaving[account] == 0 {
			delete(e.leaving, account)
		}
	})
	out := &flattened{Account: accountName(account), Advice: "It goes on. Call account to see what is left; to flatten again is safe."}
	patience, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	select {
	case <-w.done:
	case <-patience.Done():
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
