package trading

import (
	"context"
	"errors"

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
	o.Type = how.orderType()
	return a.placeRun(ctx, OpConditional, o, opts, how.check(&o), func(r api.ProOrderRequest) wireBody {
		r.OrderType = wire.Opt[api.OrderType]{} // execKind says it
		return &api.ConditionalOrderRequest{
			ProOrderRequest: r,
			TriggerPrice:    how.Trigger,
			ExecKind:        wire.Some(api.ExecKind(how.Exec.String())),
		}
	})
}

// PlaceLadder spreads the size over limits between two prices.
func (a *Account) PlaceLadder(ctx context.Context, o Order, how Ladder, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpLadder, o, opts, how.check(&o), func(r api.ProOrderRequest) wireBody {
		return &api.LadderOrderRequest{
			ProOrderRequest: r,
			StartPrice:      how.From, EndPrice: how.To, TotalOrders: int64(how.Rungs), SizeSkew: wireJSON(how.SizeSkew),
		}
	})
}

// PlaceTWAP spreads the size over time, in clips.
func (a *Account) PlaceTWAP(ctx context.Context, o Order, how TWAP, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpTWAP, o, opts, how.check(&o), func(r api.ProOrderRequest) wireBody {
		return &api.TWAPOrderRequest{
			ProOrderRequest: r,
			DurationMs:      how.Duration.Milliseconds(),
			RandomizeSize:   wireJSON(how.RandomizeSize), RandomizeTime: wireJSON(how.RandomizeTime),
		}
	})
}

// PlaceChase follows the market with a limit, as far as how.To if it is set.
func (a *Account) PlaceChase(ctx context.Context, o Order, how Chase, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpChase, o, opts, how.check(&o), func(r api.ProOrderRequest) wireBody {
		return &api.ChaseOrderRequest{
			ProOrderRequest: r,
			ChaseTo:         wireLevel(how.To),
		}
	})
}

// PlaceChaseTWAP spreads the size over time, each clip a chase.
func (a *Account) PlaceChaseTWAP(ctx context.Context, o Order, how ChaseTWAP, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpChaseTWAP, o, opts, how.check(&o), func(r api.ProOrderRequest) wireBody {
		return &api.ChaseTWAPOrderRequest{
			ProOrderRequest: r,
			DurationMs:      how.Duration.Milliseconds(), ChaseTo: wireLevel(how.To),
		}
	})
}

// PlaceSwarm splits the size into many orders.
func (a *Account) PlaceSwarm(ctx context.Context, o Order, how Swarm, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpSwarm, o, opts, how.check(&o), func(r api.ProOrderRequest) wireBody {
		return &api.SwarmOrderRequest{
			ProOrderRequest: r,
			TotalOrders:     int64(how.Orders), Aggression: wireJSON(how.Aggression),
			SlippageBps: wireJSON(how.SlippageBps), Irregular: wireJSON(how.Irregular),
		}
	})
}

// EditRun edits a running TWAP. It can add exposure, so it is an entry.
// [CodeSizeBelowExecuted]: more has been filled already.
func (a *Account) EditRun(ctx context.Context, id RunID, e RunEdit, opts ...CallOption) (*Ack, error) {
	call := a.begin(ctx, OpEditRun, opts)
	call.entry = true
	if err := checkID("run", string(id)); err != nil {
		return nil, call.refused(err)
	}
	if !e.TotalSize.IsPositive() || !writable(e.TotalSize) {
		return nil, call.refused(refuse(EnvLive, CodeBadSize, "totalSize is %s: it must be greater than 0, in base units", numberText(e.TotalSize)))
	}
	request := api.EditRunRequest{AccountID: string(a.id), RunID: string(id), TotalSize: e.TotalSize}
	call.body = request.AppendWire(newBody())
	return call.acknowledge()
}

// CancelRun stops a Pro run as a unit. What it has filled stays. [CodeRunNotFound]
// can mean that it has finished.
func (a *Account) CancelRun(ctx context.Context, id RunID, opts ...CallOption) (*Ack, error) {
	call := a.begin(ctx, OpCancelRun, opts)
	if err := checkID("run", string(id)); err != nil {
		return nil, call.refused(err)
	}
	request := api.CancelRunRequest{AccountID: string(a.id), RunID: string(id)}
	call.body = request.AppendWire(newBody())
	return call.acknowledge()
}

// wireBody is a request of the wire.
type wireBody interface{ AppendWire(dst []byte) []byte }

// placeRun places an order that the service carries out over time. wrong is what is
// wrong with it, and request adds the second argument to what the order says.
func (a *Account) placeRun(ctx context.Context, op Operation, o Order, opts []CallOption, wrong *Error,
	request func(api.ProOrderRequest) wireBody,
) (*RunResult, error) {
	call := a.beginOrder(ctx, op, o, opts)
	if wrong != nil {
		return nil, call.refused(wrong)
	}
	call.body = request(api.ProOrderRequest(orderRequest(a.id, call.order))).AppendWire(newBody())
	var answer api.RunResponse
	err := call.do(&answer)
	if err != nil && !errors.Is(err, ErrLate) {
		return nil, err
	}
	return &RunResult{ID: RunID(answer.RunID), Meta: call.meta(), Extra: answer.Extra}, err
}
