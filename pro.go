package trading

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// A Pro order is placed once and then carried out by the service over time. What
// to trade is an Order, and how is the second argument. Each clip or rung has to
// be worth at least the minimum order value: [CodeMinNotional] if it is not.
// A run that was placed can add exposure after this program has ended.

// PlaceConditional waits for a trigger price. A [StopLimit] needs the order's
// LimitPrice; a [StopMarket] must not have one.
func (a *Account) PlaceConditional(ctx context.Context, o Order, how Conditional, opts ...CallOption) (*RunResult, error) {
	o.Type = MarketOrder
	if how.Exec == StopLimit {
		o.Type = LimitOrder
	}
	return a.placeRun(ctx, &endpointConditional, &o, opts, how.check(), func(r api.OrderRequest) wireBody {
		return &api.ConditionalOrderRequest{
			AccountID: r.AccountID, Symbol: r.Symbol, Side: r.Side, Size: r.Size, Leverage: r.Leverage,
			LimitPrice: r.LimitPrice, ReduceOnly: r.ReduceOnly,
			TakeProfitPrice: r.TakeProfitPrice, StopLossPrice: r.StopLossPrice,
			ExpectedPrice: r.ExpectedPrice, MaxSlippagePct: r.MaxSlippagePct,
			TriggerPrice: how.Trigger,
			ExecKind:     wire.Some(api.ExecKind(how.Exec.String())),
		}
	})
}

// PlaceLadder spreads the size over limits between two prices.
func (a *Account) PlaceLadder(ctx context.Context, o Order, how Ladder, opts ...CallOption) (*RunResult, error) {
	wrong := firstError(how.check(), how.checkRungs(o.Size))
	return a.placeRun(ctx, &endpointLadder, &o, opts, wrong, func(r api.OrderRequest) wireBody {
		return &api.LadderOrderRequest{
			AccountID: r.AccountID, Symbol: r.Symbol, Side: r.Side, Size: r.Size, Leverage: r.Leverage,
			OrderType: r.OrderType, LimitPrice: r.LimitPrice, ReduceOnly: r.ReduceOnly,
			TakeProfitPrice: r.TakeProfitPrice, StopLossPrice: r.StopLossPrice,
			ExpectedPrice: r.ExpectedPrice, MaxSlippagePct: r.MaxSlippagePct,
			StartPrice: how.From, EndPrice: how.To, TotalOrders: int64(how.Rungs), SizeSkew: wireSetting(how.SizeSkew),
		}
	})
}

// PlaceTWAP spreads the size over time, in clips.
func (a *Account) PlaceTWAP(ctx context.Context, o Order, how TWAP, opts ...CallOption) (*RunResult, error) {
	wrong := firstError(checkDuration(how.Duration), checkSettings(how.RandomizeSize, how.RandomizeTime))
	return a.placeRun(ctx, &endpointTWAP, &o, opts, wrong, func(r api.OrderRequest) wireBody {
		return &api.TWAPOrderRequest{
			AccountID: r.AccountID, Symbol: r.Symbol, Side: r.Side, Size: r.Size, Leverage: r.Leverage,
			OrderType: r.OrderType, LimitPrice: r.LimitPrice, ReduceOnly: r.ReduceOnly,
			TakeProfitPrice: r.TakeProfitPrice, StopLossPrice: r.StopLossPrice,
			ExpectedPrice: r.ExpectedPrice, MaxSlippagePct: r.MaxSlippagePct,
			DurationMs:    how.Duration.Milliseconds(),
			RandomizeSize: wireSetting(how.RandomizeSize), RandomizeTime: wireSetting(how.RandomizeTime),
		}
	})
}

// PlaceChase follows the market with a limit, as far as how.To if it is set.
func (a *Account) PlaceChase(ctx context.Context, o Order, how Chase, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, &endpointChase, &o, opts, checkChaseTo(how.To), func(r api.OrderRequest) wireBody {
		return &api.ChaseOrderRequest{
			AccountID: r.AccountID, Symbol: r.Symbol, Side: r.Side, Size: r.Size, Leverage: r.Leverage,
			OrderType: r.OrderType, LimitPrice: r.LimitPrice, ReduceOnly: r.ReduceOnly,
			TakeProfitPrice: r.TakeProfitPrice, StopLossPrice: r.StopLossPrice,
			ExpectedPrice: r.ExpectedPrice, MaxSlippagePct: r.MaxSlippagePct,
			ChaseTo: wireLevel(how.To),
		}
	})
}

// PlaceChaseTWAP spreads the size over time, each clip a chase.
func (a *Account) PlaceChaseTWAP(ctx context.Context, o Order, how ChaseTWAP, opts ...CallOption) (*RunResult, error) {
	wrong := firstError(checkDuration(how.Duration), checkChaseTo(how.To))
	return a.placeRun(ctx, &endpointChaseTWAP, &o, opts, wrong, func(r api.OrderRequest) wireBody {
		return &api.ChaseTWAPOrderRequest{
			AccountID: r.AccountID, Symbol: r.Symbol, Side: r.Side, Size: r.Size, Leverage: r.Leverage,
			OrderType: r.OrderType, LimitPrice: r.LimitPrice, ReduceOnly: r.ReduceOnly,
			TakeProfitPrice: r.TakeProfitPrice, StopLossPrice: r.StopLossPrice,
			ExpectedPrice: r.ExpectedPrice, MaxSlippagePct: r.MaxSlippagePct,
			DurationMs: how.Duration.Milliseconds(), ChaseTo: wireLevel(how.To),
		}
	})
}

// PlaceSwarm splits the size into many orders.
func (a *Account) PlaceSwarm(ctx context.Context, o Order, how Swarm, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, &endpointSwarm, &o, opts, how.check(), func(r api.OrderRequest) wireBody {
		return &api.SwarmOrderRequest{
			AccountID: r.AccountID, Symbol: r.Symbol, Side: r.Side, Size: r.Size, Leverage: r.Leverage,
			OrderType: r.OrderType, LimitPrice: r.LimitPrice, ReduceOnly: r.ReduceOnly,
			TakeProfitPrice: r.TakeProfitPrice, StopLossPrice: r.StopLossPrice,
			ExpectedPrice: r.ExpectedPrice, MaxSlippagePct: r.MaxSlippagePct,
			TotalOrders: int64(how.Orders), Aggression: wireSetting(how.Aggression),
			SlippageBps: wireSetting(how.SlippageBps), Irregular: wireSetting(how.Irregular),
		}
	})
}

// EditRun edits a running TWAP. It can add exposure, so it is an entry.
// [CodeSizeBelowExecuted]: more has been filled already.
func (a *Account) EditRun(ctx context.Context, id RunID, e RunEdit, opts ...CallOption) (*Ack, error) {
	call := a.begin(ctx, &endpointEditRun, opts)
	call.entry = true
	if err := checkID("run", string(id)); err != nil {
		return nil, call.refused(err)
	}
	if !e.TotalSize.IsPositive() || !writable(e.TotalSize) {
		return nil, call.refused(refuse(EnvLive, CodeBadSize, "total size %s is not a number of base units above 0", numberText(e.TotalSize)))
	}
	request := api.EditRunRequest{AccountID: string(a.id), RunID: string(id), TotalSize: e.TotalSize}
	call.body = request.AppendWire(newBody())
	return call.acknowledge()
}

// CancelRun stops a Pro run as a unit. What it has filled stays. [CodeRunNotFound]
// can mean that it has finished.
func (a *Account) CancelRun(ctx context.Context, id RunID, opts ...CallOption) (*Ack, error) {
	call := a.begin(ctx, &endpointCancelRun, opts)
	if err := checkID("run", string(id)); err != nil {
		return nil, call.refused(err)
	}
	request := api.CancelRunRequest{AccountID: string(a.id), RunID: string(id)}
	call.body = request.AppendWire(newBody())
	return call.acknowledge()
}

// wireBody is a request of the wire.
type wireBody interface{ AppendWire(dst []byte) []byte }

// placeRun places an order that the service carries out over time. how is what is
// wrong with the second argument, and request adds that to what the order says.
func (a *Account) placeRun(ctx context.Context, e *endpoint, o *Order, opts []CallOption, how *Error,
	request func(api.OrderRequest) wireBody,
) (*RunResult, error) {
	call := a.beginOrder(ctx, e, o, opts)
	if err := firstError(o.checkLive(), how); err != nil {
		return nil, call.refused(err)
	}
	call.body = request(a.orderRequest(o)).AppendWire(newBody())
	var answer api.RunResponse
	if err := call.do(&answer); err != nil {
		return nil, err
	}
	return &RunResult{ID: RunID(answer.RunID), Meta: call.meta(), Extra: answer.Extra}, nil
}

// minOrderValue is the contract's: dollars of an order, a clip or a rung.
var minOrderValue = decimal.NewFromInt(10)

// checkRungs refuses a ladder that is certain to have a rung below the minimum:
// one whose average rung, at the highest of its prices, is. Clips of the other
// kinds have no price that is known before they fill.
func (how Ladder) checkRungs(size decimal.Decimal) *Error {
	value := size.Mul(decimal.Max(how.From, how.To))
	if how.Rungs <= 0 || value.GreaterThanOrEqual(minOrderValue.Mul(decimal.NewFromInt(int64(how.Rungs)))) {
		return nil
	}
	return refuse(EnvLive, CodeMinNotional, "%d rungs of a total of at most $%s are below $%s each",
		how.Rungs, numberText(value), numberText(minOrderValue))
}

func (how Conditional) check() *Error {
	switch {
	case !how.Exec.valid():
		return refuse(EnvLive, CodeBadRequest, "exec kind %s is neither stop-market nor stop-limit", how.Exec)
	case !how.Trigger.IsPositive() || !writable(how.Trigger):
		return refuse(EnvLive, CodeBadTrigger, "trigger price %s is not above 0", numberText(how.Trigger))
	default:
		return nil
	}
}

func (how Ladder) check() *Error {
	switch {
	case !how.From.IsPositive() || !writable(how.From) || !how.To.IsPositive() || !writable(how.To):
		return refuse(EnvLive, CodeBadPrice, "a ladder from %s to %s is not between prices above 0", numberText(how.From), numberText(how.To))
	case how.Rungs <= 0:
		return refuse(EnvLive, CodeBadOrderCount, "a ladder of %d orders", how.Rungs)
	default:
		return checkSettings(how.SizeSkew)
	}
}

func (how Swarm) check() *Error {
	if how.Orders <= 0 {
		return refuse(EnvLive, CodeBadOrderCount, "a swarm of %d orders", how.Orders)
	}
	return checkSettings(how.Aggression, how.SlippageBps, how.Irregular)
}

// checkDuration wants whole milliseconds above 0, which is what is sent.
func checkDuration(d time.Duration) *Error {
	if d < time.Millisecond || d%time.Millisecond != 0 {
		return refuse(EnvLive, CodeBadDuration, "a duration of %s is not a number of milliseconds above 0", d)
	}
	return nil
}

func checkChaseTo(to Level) *Error {
	if to.IsClear() || !to.valid() {
		return refuse(EnvLive, CodeBadPrice, "the bound of the chase, %s, is not a price above 0", to)
	}
	return nil
}

func checkSettings(settings ...Setting) *Error {
	for _, setting := range settings {
		if !setting.valid() {
			return refuse(EnvLive, CodeBadRequest, "setting %s cannot be written as JSON", setting)
		}
	}
	return nil
}

// firstError returns the first that is one.
func firstError(errs ...*Error) *Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
