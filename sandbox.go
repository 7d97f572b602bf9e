package trading

import (
	"context"
	"errors"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/wire"
)

// MarketData is markets and marks: the part of the sandbox that a live bot
// needs. It cannot read the paper account, and so never fires its triggers.
// Reads come from a warm cache and lag by seconds; only a fill's price is
// authoritative.
type MarketData struct{ caller caller }

// Markets lists the tradeable universe. It is the only place that does: a live
// key has no markets endpoint.
func (m *MarketData) Markets(ctx context.Context, opts ...CallOption) ([]Market, error) {
	return listed(m.caller.begin(ctx, OpMarkets, opts), shownList("markets", marketOf))
}

// Price reads one market's mark. A market without a price returns an unpriced mark and
// a nil error. An unknown symbol is [CodeBadSymbol], which no retry mends.
func (m *MarketData) Price(ctx context.Context, symbol string, opts ...CallOption) (Mark, error) {
	call := m.caller.begin(ctx, OpPrices, opts)
	call.symbol = symbol
	if err := call.check(check.Symbol(check.Sandbox, symbol)); err != nil {
		return Mark{}, err
	}
	call.aim("symbol", symbol)
	var answer api.SandboxPrice
	err := call.do(checked{&answer, func() error { return sameName("symbol", answer.Symbol, symbol) }})
	if errors.Is(err, CodeNoPrice) {
		return Mark{}, nil
	}
	if err != nil {
		return Mark{}, err
	}
	return markOf(answer.Price), nil
}

// Prices reads every mark. A symbol that is missing from the map has no price
// now, and reads as the unpriced mark.
func (m *MarketData) Prices(ctx context.Context, opts ...CallOption) (map[string]Mark, error) {
	call := m.caller.begin(ctx, OpPrices, opts)
	var answer api.SandboxPriceMap
	if err := call.do(&answer); err != nil {
		return nil, err
	}
	marks := make(map[string]Mark, len(answer.Prices))
	for symbol, price := range answer.Prices {
		marks[symbol] = markOf(price)
	}
	return marks, nil
}

// Sandbox is the paper account. Nothing there counts, and its rules are simpler
// than a live account's: no resting limits, no Pro orders, no idempotency. So
// its writes go one at a time, and one that may have arrived is never sent again.
//
// TPSL fire when the account or its positions are read, and only then:
// [Sandbox.State] and [Sandbox.Positions] can close positions, and without a
// reader no stop fires.
type Sandbox struct{ *MarketData }

var _ Trader = (*Sandbox)(nil)

// State reads the paper account. Reading it fires triggers.
func (s *Sandbox) State(ctx context.Context, opts ...CallOption) (*AccountState, error) {
	call := s.caller.begin(ctx, OpSandboxState, opts)
	var answer api.SandboxAccountResponse
	paper := func() error { return sameName("account.environment", answer.Account.Environment, string(EnvSandbox)) }
	if err := call.do(checked{&answer, paper}); err != nil {
		return nil, err
	}
	state := accountStateOf(&answer.Account)
	call.saw(&state)
	return &state, nil
}

// Positions reads the open positions. Reading them fires triggers.
func (s *Sandbox) Positions(ctx context.Context, opts ...CallOption) (Positions, error) {
	rows, err := listed(s.caller.begin(ctx, OpSandboxPositions, opts), shownList("positions", positionOf))
	return openOf(rows), err
}

// Trades reads the closed trades, the most recent first.
func (s *Sandbox) Trades(ctx context.Context, opts ...CallOption) ([]Trade, error) {
	return listed(s.caller.begin(ctx, OpSandboxTrades, opts), shownList("trades", tradeOf))
}

// read carries out a read, for [Client.Do].
func (s *Sandbox) read(ctx context.Context, op Operation, symbol string, opts []CallOption) error {
	switch op {
	case OpMarkets:
		return only(s.Markets(ctx, opts...))
	case OpPrices:
		if symbol == "" {
			return only(s.Prices(ctx, opts...))
		}
		return only(s.Price(ctx, symbol, opts...))
	case OpSandboxState:
		return only(s.State(ctx, opts...))
	case OpSandboxPositions:
		return only(s.Positions(ctx, opts...))
	case OpSandboxTrades:
		return only(s.Trades(ctx, opts...))
	default:
		return errNoOperation(op)
	}
}

// PlaceOrder opens a position, adds to one, or nets against an opposite one, at
// a fresh mark. The result is nil exactly when the error is not.
func (s *Sandbox) PlaceOrder(ctx context.Context, o Order, opts ...CallOption) (*OrderResult, error) {
	call := s.caller.begin(ctx, OpSandboxOrder, opts)
	if o.Type == MarketOrder && o.MaxSlippagePct.IsZero() {
		o.MaxSlippagePct = s.caller.core.maxSlippage
	}
	call.write.place(o)
	order := orderRequest("", &o)
	return posted(call, sandboxRequest(&order).AppendWire, sandboxOrderOf, check.Order(check.Sandbox, &order))
}

// ClosePosition closes a position or part of it, at a fresh mark.
func (s *Sandbox) ClosePosition(ctx context.Context, symbol string, part Part, opts ...CallOption) (*CloseResult, error) {
	call := s.caller.begin(ctx, OpSandboxClose, opts)
	call.symbol = symbol
	request := api.SandboxCloseRequest{Symbol: symbol, Pct: wire.Some(part.pct)}
	return posted(call, request.AppendWire, sandboxCloseOf, check.Symbol(check.Sandbox, symbol), check.Part(check.Sandbox, part.pct))
}

// SetTPSL changes the levels that are named, and leaves the others. Levels
// are judged against the current price, not the entry: for a long the stop
// below it and the take-profit above, for a short the reverse.
func (s *Sandbox) SetTPSL(ctx context.Context, symbol string, t TPSL, opts ...CallOption) (*TPSLResult, error) {
	call := s.caller.begin(ctx, OpSandboxTPSL, opts)
	call.symbol = symbol
	request := api.SandboxTPSLRequest{
		Symbol: symbol, TakeProfitPrice: wireLevel(t.TakeProfit), StopLossPrice: wireLevel(t.StopLoss), ClosePct: wireClosePct(&t),
	}
	return posted(call, request.AppendWire, sandboxTPSLOf, check.Symbol(check.Sandbox, symbol), t.fault(check.Sandbox))
}

// Reset wipes the paper account back to its opening balance: positions, trades
// and all. It is how a locked account is used again.
func (s *Sandbox) Reset(ctx context.Context, opts ...CallOption) (*AccountState, error) {
	call := s.caller.begin(ctx, OpSandboxReset, opts)
	var answer api.SandboxResetResponse
	if err := call.post(nil, &answer); err != nil {
		return nil, err
	}
	state := accountStateOf(&answer.Account)
	return &state, nil
}

// Pending is [Account.Pending] of the paper account.
func (s *Sandbox) Pending(ctx context.Context) ([]PendingWrite, error) {
	return s.caller.core.pendingOn(ctx, EnvSandbox, "")
}

// Resolve is [Client.Resolve]. The sandbox has no idempotency, so nothing can be asked
// of it: the outcome rests on what was read before and what two reads show now. They
// fire triggers.
func (s *Sandbox) Resolve(ctx context.Context, err error) (*Resolution, error) {
	return s.caller.core.resolveError(ctx, err)
}
