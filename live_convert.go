package trading

import (
	"encoding/json"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

func accountInfoOf(a *api.LiveAccount) AccountInfo {
	created := timeOf(a.CreatedAt, "createdAt", &a.Extra)
	return AccountInfo{
		ID:              AccountID(a.ID),
		Status:          AccountStatus(a.Status),
		EvalType:        EvalType(a.EvalType),
		Phase:           int(a.Phase),
		Trial:           a.IsTrial,
		Tournament:      a.IsTournament,
		Archived:        a.Archived,
		TournamentName:  textOf(a.TournamentName),
		ChallengeSize:   a.ChallengeSize,
		StartingBalance: a.StartingBalance,
		CurrentBalance:  a.CurrentBalance,
		FundedFrom:      AccountID(textOf(a.FundedFromAccountID)),
		CreatedAt:       created,
		Extra:           a.Extra,
	}
}

func liveStateOf(id AccountID, a *api.LiveAccountDetail) AccountState {
	state := AccountState{
		ID:              id,
		Environment:     EnvLive,
		Status:          AccountStatus(a.Status),
		Balance:         a.Balance,
		Equity:          a.Equity,
		ProfitTarget:    optOf(a.ProfitTarget),
		DailyLossFloor:  optOf(a.DailyLossFloor),
		GlobalLossFloor: optOf(a.GlobalLossFloor),
		Extra:           a.Extra,
	}
	if phase, ok := a.Phase.Get(); ok {
		state.Phase = Some(int(phase))
	}
	// Not shown for live accounts, but the sandbox has it under this name.
	if pnl, ok := state.Extra.Decimal("unrealizedPnL"); ok {
		state.UnrealizedPnL = Some(pnl)
	}
	return state
}

func livePositionOf(p *api.LivePosition) Position {
	opened := optTimeOf(p.OpenedAt, "openedAt", &p.Extra)
	position := Position{
		Symbol:     p.Symbol,
		Side:       Side(p.Side),
		Size:       p.Size,
		EntryPrice: p.EntryPrice,
		Leverage:   optOf(p.Leverage),
		Notional:   optOf(p.NotionalValue),
		Margin:     optOf(p.MarginRequired),
		Mark:       markOf(p.MarkPrice),
		TakeProfit: levelOf(p.TakeProfitPrice),
		StopLoss:   levelOf(p.StopLossPrice),
		OpenedAt:   opened,
		Extra:      p.Extra,
	}
	if _, priced := position.Mark.Price(); priced || p.MarkPrice.IsAbsent() {
		position.UnrealizedPnL = optOf(p.UnrealizedPnL)
	}
	return position
}

func optLivePosition(p *wire.Opt[api.LivePosition]) Opt[Position] {
	if position := p.Value(); position != nil {
		return Some(livePositionOf(position))
	}
	return Opt[Position]{}
}

func liveFillOf(f *api.LiveFill) Fill {
	return Fill{Price: f.Price, Size: Some(f.Size), Fee: Some(f.Fee)}
}

func orderResultOf(answer *api.OrderResponse, meta Meta) *OrderResult {
	return &OrderResult{
		Action:   answer.Action,
		Fill:     liveFillOf(&answer.Fill),
		Balance:  answer.NewBalance,
		Position: optLivePosition(&answer.Position),
		Meta:     meta,
		Extra:    answer.Extra,
	}
}

func closeResultOf(answer *api.ClosePositionResponse, meta Meta) *CloseResult {
	return &CloseResult{
		PnL:     answer.Pnl,
		Fee:     answer.Fee,
		Balance: answer.NewBalance,
		Status:  AccountStatus(answer.Status),
		Meta:    meta,
		Extra:   answer.Extra,
	}
}

// restingOrderOf reads the names of the request where the record uses them. They
// stay in Extra too, since the contract does not promise what they mean there.
func restingOrderOf(o *api.RestingOrder) RestingOrder {
	order := RestingOrder{ID: OrderID(o.ID), Extra: o.Extra}
	order.Symbol, _ = order.Extra.Text("symbol")
	side, _ := order.Extra.Text("side")
	order.Side = Side(side)
	if size, ok := order.Extra.Decimal("size"); ok {
		order.Size = Some(size)
	}
	if price, ok := order.Extra.Decimal("limitPrice"); ok {
		order.LimitPrice = Some(price)
	}
	return order
}

func runOf(r *api.Run) Run {
	run := Run{ID: RunID(r.RunID), Extra: r.Extra}
	run.Symbol, _ = run.Extra.Text("symbol")
	side, _ := run.Extra.Text("side")
	run.Side = Side(side)
	return run
}

func fundingOf(f *api.FundingPayment) FundingPayment { return FundingPayment{Extra: f.Extra} }

// orderRequest is an order as a live account takes it.
func (a *Account) orderRequest(o *Order) api.OrderRequest {
	request := api.OrderRequest{
		AccountID:       string(a.id),
		Symbol:          o.Symbol,
		Side:            api.Side(o.Side),
		Size:            o.Size,
		Leverage:        o.Leverage,
		LimitPrice:      wireLevel(o.LimitPrice),
		TakeProfitPrice: wireLevel(o.TakeProfit),
		StopLossPrice:   wireLevel(o.StopLoss),
		ExpectedPrice:   wireLevel(o.ExpectedPrice),
		MaxSlippagePct:  wireLevel(o.MaxSlippagePct),
	}
	if o.Type == LimitOrder {
		request.OrderType = wire.Some(api.OrderTypeLimit)
	}
	if o.ReduceOnly {
		request.ReduceOnly = wire.Some(true)
	}
	return request
}

// limitRequest is an order that rests.
func (a *Account) limitRequest(o *Order) api.LimitOrderRequest {
	common := a.orderRequest(o)
	price, _ := o.LimitPrice.Value()
	return api.LimitOrderRequest{
		AccountID:       common.AccountID,
		Symbol:          common.Symbol,
		Side:            common.Side,
		Size:            common.Size,
		Leverage:        common.Leverage,
		ReduceOnly:      common.ReduceOnly,
		LimitPrice:      price,
		TakeProfitPrice: common.TakeProfitPrice,
		StopLossPrice:   common.StopLossPrice,
		ExpectedPrice:   common.ExpectedPrice,
		MaxSlippagePct:  common.MaxSlippagePct,
	}
}

// wireSetting leaves out a setting that the caller did not give.
func wireSetting(s Setting) wire.Opt[json.RawMessage] {
	if s.IsZero() {
		return wire.Opt[json.RawMessage]{}
	}
	return wire.Some(json.RawMessage(s.json))
}
