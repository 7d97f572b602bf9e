package trading

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Between the shapes of the wire, which are generated, and the records, which
// have a meaning.

// shownList is an answer's list, in the envelope that the contract shows.
func shownList[W, T any, P wire.Record[W]](member string, convert func(*W) T) wire.Rows[W, T, P] {
	return wire.Rows[W, T, P]{Member: member, Convert: convert}
}

// listOf is one whose envelope the contract does not show: it may be missing.
func listOf[W, T any, P wire.Record[W]](member string, convert func(*W) T) wire.Rows[W, T, P] {
	return wire.Rows[W, T, P]{Member: member, Bare: true, Convert: convert}
}

// convertAll converts a list. An empty list is empty and not nil, as it came.
func convertAll[W, T any](from []W, convert func(*W) T) []T {
	to := make([]T, len(from))
	for i := range from {
		to[i] = convert(&from[i])
	}
	return to
}

// optOf takes null and absent for the same: the answer lacks it.
func optOf[T any](member wire.Nullable[T]) Opt[T] { return optional(member.Get()) }

// optional is v, or none.
func optional[T any](v T, ok bool) Opt[T] {
	if ok {
		return Opt[T]{value: v, ok: true}
	}
	return Opt[T]{}
}

// openRecord converts a position, if the answer has one and it is open.
func openRecord[W any](member *wire.Nullable[W], convert func(*W) Position) Opt[Position] {
	record := member.Value()
	if record == nil {
		return Opt[Position]{}
	}
	p := convert(record)
	return optional(p, p.isOpen())
}

// textOf returns a text, empty if the answer lacks it.
func textOf(member wire.Nullable[string]) string {
	text, _ := member.Get()
	return text
}

// markOf returns a mark, unpriced if the answer lacks it.
func markOf(member wire.Nullable[decimal.Decimal]) Mark {
	if price, ok := member.Get(); ok {
		return MarkAt(price)
	}
	return Mark{}
}

// levelOf keeps the three states.
func levelOf(member wire.Nullable[decimal.Decimal]) Level {
	if price, ok := member.Get(); ok {
		return At(price)
	}
	if member.IsNull() {
		return Level{state: levelClear}
	}
	return Level{}
}

// wireClosePct keeps the three states.
func wireClosePct(t *TPSL) wire.Nullable[decimal.Decimal] {
	if t.ClearClosePct && t.ClosePct.IsZero() {
		return wire.Null[decimal.Decimal]()
	}
	return wireOpt(t.ClosePct)
}

// wireOpt leaves out what the caller did not give.
func wireOpt[T any](o Opt[T]) wire.Nullable[T] {
	if v, ok := o.Get(); ok {
		return wire.Some(v)
	}
	return wire.Nullable[T]{}
}

// wireLevel keeps the three states.
func wireLevel(level Level) wire.Nullable[decimal.Decimal] {
	switch level.state {
	case levelAt:
		return wire.Some(level.at)
	case levelClear:
		return wire.Null[decimal.Decimal]()
	default:
		return wire.Nullable[decimal.Decimal]{}
	}
}

// timeOf returns a point in time. One that cannot be read is the zero time, and
// stays reachable in extra under its name.
func timeOf(at wire.Timestamp, name string, extra *map[string]json.RawMessage) time.Time {
	t, ok := at.Get()
	if !ok && at.Raw() != "" {
		if *extra == nil {
			*extra = make(map[string]json.RawMessage, 1)
		}
		raw, _ := json.Marshal(at.Raw()) // a string always marshals
		(*extra)[name] = raw
	}
	return t
}

// optTimeOf is timeOf for a member that may be missing.
func optTimeOf(member wire.Nullable[wire.Timestamp], name string, extra *map[string]json.RawMessage) time.Time {
	at, _ := member.Get()
	return timeOf(at, name, extra)
}

func marketOf(m *api.Market) Market {
	return Market{
		Symbol: m.Symbol, Label: m.Label, Category: m.Category, MaxLeverage: m.MaxLeverage, Mark: markOf(m.MarkPrice),
		Extra: m.Extra,
	}
}

func accountStateOf(a *api.SandboxAccount) AccountState {
	return AccountState{
		ID: AccountID(a.ID), Environment: Environment(a.Environment), Status: AccountStatus(a.Status),
		Locked: a.IsLocked, Balance: a.Balance, Equity: a.Equity, UnrealizedPnL: Some(a.UnrealizedPnL),
		ProfitTarget: Some(a.ProfitTarget), DailyLossFloor: Some(a.DailyLossFloor),
		GlobalLossFloor: Some(a.GlobalLossFloor), ProfitSplit: Some(a.ProfitSplit), Extra: a.Extra,
	}
}

func positionOf(p *api.SandboxPosition) Position {
	opened := timeOf(p.OpenedAt, "openedAt", &p.Extra)
	position := Position{
		Symbol: p.Symbol, Side: Side(p.Side), Size: p.Size, Leverage: Some(p.Leverage), EntryPrice: p.EntryPrice,
		Mark: markOf(p.MarkPrice), Notional: Some(p.NotionalValue), Margin: Some(p.MarginRequired),
		TakeProfit: levelOf(p.TakeProfitPrice), StopLoss: levelOf(p.StopLossPrice), OpenedAt: opened, Extra: p.Extra,
	}
	// What hangs on a mark is worth what the mark is: a profit beside a missing
	// price is somebody's zero.
	if _, priced := position.Mark.Price(); priced {
		position.UnrealizedPnL = optOf(p.UnrealizedPnL)
	}
	return position
}

func tradeOf(t *api.ClosedTrade) Trade {
	opened := optTimeOf(t.OpenedAt, "openedAt", &t.Extra)
	closed := optTimeOf(t.ClosedAt, "closedAt", &t.Extra)
	return Trade{
		Symbol: textOf(t.Symbol), Side: Side(textOf(t.Side)), Cause: CloseCause(t.OrderType), Size: optOf(t.Size),
		EntryPrice: optOf(t.EntryPrice), ExitPrice: t.ExitPrice, GrossPnL: t.RealizedPnL, RoundTripFee: t.Fee,
		OpenedAt: opened, ClosedAt: closed, Extra: t.Extra,
	}
}

func sandboxOrderOf(answer *api.SandboxOrderResponse, meta Meta) *OrderResult {
	return &OrderResult{
		Fill:    Fill{Price: answer.Fill.Price, Repriced: Some(answer.Fill.Repriced), MarkAge: Some(wire.Duration(answer.Fill.AgeMs, time.Millisecond))},
		Balance: answer.Account.Balance, Position: openRecord(&answer.Position, positionOf),
		Account: Some(accountStateOf(&answer.Account)), Meta: meta, Extra: answer.Extra,
	}
}

func sandboxTPSLOf(answer *api.SandboxTPSLResponse, meta Meta) *TPSLResult {
	position := positionOf(&answer.Position)
	return &TPSLResult{Position: optional(position, position.isOpen()), Meta: meta, Extra: answer.Extra}
}

func sandboxCloseOf(answer *api.SandboxCloseResponse, meta Meta) *CloseResult {
	account := accountStateOf(&answer.Account)
	return &CloseResult{
		PnL: answer.Closed.RealizedPnL, Fee: answer.Closed.Fee, Balance: account.Balance, Status: account.Status,
		ClosedPct: Some(answer.Closed.Pct), ExitPrice: Some(answer.Closed.ExitPrice), Left: openRecord(&answer.Position, positionOf),
		Account: Some(account), Meta: meta, Extra: answer.Extra,
	}
}

// healthOf gives an answer its meaning.
func healthOf(answer *api.Health) *Health {
	asOf := timeOf(answer.AsOf, "asOf", &answer.Extra)
	h := &Health{
		OK: answer.OK, Status: HealthStatus(answer.Status), Feed: Feed(answer.Feed), Service: answer.Service,
		Version: answer.Version, AsOf: asOf,
		CacheFor: wire.Duration(answer.CacheSeconds, time.Second), Extra: answer.Extra,
	}
	if answer.CacheSeconds == (decimal.Decimal{}) || h.CacheFor < 0 || h.CacheFor > time.Minute {
		h.CacheFor = maxHealthAge // it is missing, or absurd
	}
	return h
}

func accountInfoOf(a *api.LiveAccount) AccountInfo {
	created := timeOf(a.CreatedAt, "createdAt", &a.Extra)
	return AccountInfo{
		ID: AccountID(a.ID), Status: AccountStatus(a.Status), EvalType: a.EvalType, Phase: int(a.Phase),
		Trial: a.IsTrial, Tournament: a.IsTournament, Archived: a.Archived, TournamentName: textOf(a.TournamentName),
		ChallengeSize: a.ChallengeSize, StartingBalance: a.StartingBalance, CurrentBalance: a.CurrentBalance,
		FundedFrom: AccountID(textOf(a.FundedFromAccountID)), CreatedAt: created, Extra: a.Extra,
	}
}

func liveStateOf(id AccountID, a *api.LiveAccountDetail) AccountState {
	state := AccountState{
		ID: id, Environment: EnvLive, Status: AccountStatus(a.Status), Balance: a.Balance, Equity: a.Equity,
		ProfitTarget: optOf(a.ProfitTarget), DailyLossFloor: optOf(a.DailyLossFloor),
		GlobalLossFloor: optOf(a.GlobalLossFloor), Extra: a.Extra,
	}
	if phase, ok := a.Phase.Get(); ok {
		state.Phase = Some(int(phase))
	}
	// Not shown for live accounts, but the sandbox has it under this name.
	state.UnrealizedPnL = optional(state.Extra.Decimal("unrealizedPnL"))
	return state
}

func livePositionOf(p *api.LivePosition) Position {
	opened := optTimeOf(p.OpenedAt, "openedAt", &p.Extra)
	position := Position{
		Symbol: p.Symbol, Side: Side(p.Side), Size: p.Size, EntryPrice: p.EntryPrice, Leverage: optOf(p.Leverage),
		Notional: optOf(p.NotionalValue), Margin: optOf(p.MarginRequired), Mark: markOf(p.MarkPrice),
		TakeProfit: levelOf(p.TakeProfitPrice), StopLoss: levelOf(p.StopLossPrice), OpenedAt: opened, Extra: p.Extra,
	}
	if _, priced := position.Mark.Price(); priced || p.MarkPrice.IsAbsent() {
		position.UnrealizedPnL = optOf(p.UnrealizedPnL)
	}
	return position
}

func orderResultOf(answer *api.OrderResponse, meta Meta) *OrderResult {
	return &OrderResult{
		Action: answer.Action, Balance: answer.NewBalance,
		Fill:     Fill{Price: answer.Fill.Price, Size: Some(answer.Fill.Size), Fee: Some(answer.Fill.Fee)},
		Position: openRecord(&answer.Position, livePositionOf), Meta: meta, Extra: answer.Extra,
	}
}

func closeResultOf(answer *api.PositionCloseResponse, meta Meta) *CloseResult {
	return &CloseResult{
		PnL: answer.Pnl, Fee: answer.Fee, Balance: answer.NewBalance, Status: AccountStatus(answer.Status), Meta: meta,
		Extra: answer.Extra,
	}
}

// restingOrderOf reads the names of the request where the record uses them. They
// stay in Extra too, since the contract does not promise what they mean there.
func restingOrderOf(o *api.RestingOrder) RestingOrder {
	extra := Extra(o.Extra)
	symbol, side := marketIn(extra)
	return RestingOrder{
		ID: OrderID(o.ID), Symbol: symbol, Side: side, Extra: extra,
		Size: optional(extra.Decimal("size")), LimitPrice: optional(extra.Decimal("limitPrice")),
	}
}

func runOf(r *api.Run) Run {
	symbol, side := marketIn(r.Extra)
	return Run{ID: RunID(r.RunID), Symbol: symbol, Side: side, Extra: r.Extra}
}

func marketIn(extra Extra) (symbol string, _ Side) {
	symbol, _ = extra.Text("symbol")
	side, _ := extra.Text("side")
	return symbol, Side(side)
}

func fundingOf(f *api.FundingPayment) FundingPayment { return FundingPayment{Extra: f.Extra} }

// orderRequest is an order as a live account takes it.
func orderRequest(id AccountID, o *Order) api.OrderRequest {
	r := api.OrderRequest{
		AccountID: string(id), Symbol: o.Symbol, Side: api.Side(o.Side), Size: o.Size, Leverage: o.Leverage,
		LimitPrice: wireLevel(o.LimitPrice), TakeProfitPrice: wireLevel(o.TakeProfit), StopLossPrice: wireLevel(o.StopLoss),
		ExpectedPrice: wireLevel(o.ExpectedPrice), MaxSlippagePct: wireOpt(o.MaxSlippagePct),
	}
	if o.Type != MarketOrder {
		r.OrderType = wire.Some(api.OrderType(o.Type.String()))
	}
	if o.ReduceOnly {
		r.ReduceOnly = wire.Some(true)
	}
	return r
}

// limitRequest is an order that rests.
func limitRequest(o *api.OrderRequest) *api.LimitOrderRequest {
	price, _ := o.LimitPrice.Get()
	return &api.LimitOrderRequest{
		AccountID: o.AccountID, Symbol: o.Symbol, Side: o.Side, Size: o.Size, Leverage: o.Leverage,
		ReduceOnly: o.ReduceOnly, LimitPrice: price, TakeProfitPrice: o.TakeProfitPrice, StopLossPrice: o.StopLossPrice,
		ExpectedPrice: o.ExpectedPrice, MaxSlippagePct: o.MaxSlippagePct,
	}
}

// sandboxRequest is an order as the sandbox takes it.
func sandboxRequest(o *api.OrderRequest) *api.SandboxOrderRequest {
	r := &api.SandboxOrderRequest{
		Symbol: o.Symbol, Side: o.Side, Size: o.Size, LimitPrice: o.LimitPrice, TakeProfitPrice: o.TakeProfitPrice,
		StopLossPrice: o.StopLossPrice, ExpectedPrice: o.ExpectedPrice, MaxSlippagePct: o.MaxSlippagePct,
	}
	if o.Leverage != (decimal.Decimal{}) { // a leverage of 0 is refused before this
		r.Leverage = wire.Some(o.Leverage)
	}
	if kind, ok := o.OrderType.Get(); ok {
		r.OrderType = wire.Some(string(kind))
	}
	return r
}

// wireJSON leaves out what the caller did not give. What cannot be written has been
// refused before.
func wireJSON[T any](o Opt[T]) wire.Nullable[json.RawMessage] {
	text, err := o.MarshalJSON()
	if o.IsZero() || err != nil {
		return wire.Nullable[json.RawMessage]{}
	}
	return wire.Some(json.RawMessage(text))
}

func tpslResultOf(answer *api.TPSLResponse, meta Meta) *TPSLResult {
	return &TPSLResult{Position: openRecord(&answer.Position, livePositionOf), Meta: meta, Extra: answer.Extra}
}

func limitResultOf(answer *api.LimitOrderResponse, meta Meta) *LimitResult {
	return &LimitResult{Order: restingOrderOf(&answer.Order), Meta: meta, Extra: answer.Extra}
}

func runResultOf(answer *api.RunResponse, meta Meta) *RunResult {
	return &RunResult{ID: RunID(answer.RunID), Meta: meta, Extra: answer.Extra}
}

// ackOf is the result of a write whose answer the contract does not show.
func ackOf(members *wire.Members, meta Meta) *Ack {
	delete(*members, "success")
	return &Ack{Meta: meta, Extra: Extra(*members)}
}
