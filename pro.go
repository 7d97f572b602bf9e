package trading

import (
	"cmp"
	"context"
	"errors"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/wire"
)

// A Pro order is placed once and then carried out by the service over time. What
// to trade is an Order, and how is the second argument. Each clip or rung has to
// be worth at least the minimum order value: [CodeMinNotional] if it is not.
// A run that was placed can add exposure after this program has ended.

// wireBody is a request of the wire.
type wireBody interface{ AppendWire(dst []byte) []byte }

// runRequest adds to an order how it is carried out, and says what is wrong with that.
type runRequest func(api.ProOrderRequest) (wireBody, *check.Fault)

// PlaceConditional waits for a trigger price. A [StopLimit] needs the order's
// LimitPrice; a [StopMarket] must not have one.
func (a *Account) PlaceConditional(ctx context.Context, o Order, how Conditional, opts ...CallOption) (*RunResult, error) {
	o.Type = how.orderType()
	return a.placeRun(ctx, OpConditional, o, opts, how.request)
}

// orderType is the order's, which the kind of execution decides.
func (how Conditional) orderType() OrderType {
	if how.Exec == StopLimit {
		return LimitOrder
	}
	return MarketOrder
}

func (how Conditional) request(o api.ProOrderRequest) (wireBody, *check.Fault) {
	o.OrderType = wire.Nullable[api.OrderType]{} // execKind says it
	r := &api.ConditionalOrderRequest{
		ProOrderRequest: o, TriggerPrice: how.Trigger, ExecKind: wire.Some(api.ExecKind(how.Exec.String())),
	}
	return r, check.Conditional(r)
}

// PlaceLadder spreads the size over limits between two prices.
func (a *Account) PlaceLadder(ctx context.Context, o Order, how Ladder, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpLadder, o, opts, how.request)
}

func (how Ladder) request(o api.ProOrderRequest) (wireBody, *check.Fault) {
	r := &api.LadderOrderRequest{
		ProOrderRequest: o, StartPrice: how.From, EndPrice: how.To, TotalOrders: int64(how.Rungs), SizeSkew: wireJSON(how.SizeSkew),
	}
	return r, cmp.Or(check.Ladder(r), check.Number("sizeSkew", wireOpt(how.SizeSkew)))
}

// PlaceTWAP spreads the size over time, in clips.
func (a *Account) PlaceTWAP(ctx context.Context, o Order, how TWAP, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpTWAP, o, opts, how.request)
}

func (how TWAP) request(o api.ProOrderRequest) (wireBody, *check.Fault) {
	return &api.TWAPOrderRequest{
		ProOrderRequest: o, DurationMs: how.Duration.Milliseconds(),
		RandomizeSize: wireJSON(how.RandomizeSize), RandomizeTime: wireJSON(how.RandomizeTime),
	}, check.Duration(how.Duration)
}

// PlaceChase follows the market with a limit, as far as how.To if it is set.
func (a *Account) PlaceChase(ctx context.Context, o Order, how Chase, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpChase, o, opts, how.request)
}

func (how Chase) request(o api.ProOrderRequest) (wireBody, *check.Fault) {
	to := wireLevel(how.To)
	return &api.ChaseOrderRequest{ProOrderRequest: o, ChaseTo: to}, check.ChaseTo(to)
}

// PlaceChaseTWAP spreads the size over time, each clip a chase.
func (a *Account) PlaceChaseTWAP(ctx context.Context, o Order, how ChaseTWAP, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpChaseTWAP, o, opts, how.request)
}

func (how ChaseTWAP) request(o api.ProOrderRequest) (wireBody, *check.Fault) {
	to := wireLevel(how.To)
	return &api.ChaseTWAPOrderRequest{ProOrderRequest: o, DurationMs: how.Duration.Milliseconds(), ChaseTo: to},
		cmp.Or(check.Duration(how.Duration), check.ChaseTo(to))
}

// PlaceSwarm splits the size into many orders.
func (a *Account) PlaceSwarm(ctx context.Context, o Order, how Swarm, opts ...CallOption) (*RunResult, error) {
	return a.placeRun(ctx, OpSwarm, o, opts, how.request)
}

func (how Swarm) request(o api.ProOrderRequest) (wireBody, *check.Fault) {
	r := &api.SwarmOrderRequest{
		ProOrderRequest: o, TotalOrders: int64(how.Orders), Aggression: wireOpt(how.Aggression),
		SlippageBps: wireJSON(how.SlippageBps), Irregular: wireJSON(how.Irregular),
	}
	return r, cmp.Or(check.Orders(r.TotalOrders), check.Aggression(r.Aggression), check.Number("slippageBps", wireOpt(how.SlippageBps)))
}

// placeRun places an order that the service carries out over time.
func (a *Account) placeRun(ctx context.Context, op Operation, o Order, opts []CallOption, how runRequest) (*RunResult, error) {
	call, order, err := a.beginOrder(ctx, op, o, opts)
	if err != nil {
		return nil, err
	}
	request, fault := how(api.ProOrderRequest(order))
	if err := call.check(fault); err != nil {
		return nil, err
	}
	var answer api.RunResponse
	err = call.post(request.AppendWire(newBody()), &answer)
	if err != nil && !errors.Is(err, ErrLate) {
		return nil, err
	}
	return runResultOf(&answer, call.meta()), err
}

// EditRun edits a running TWAP. It can add exposure, so it is an entry.
// [CodeSizeBelowExecuted]: more has been filled already.
func (a *Account) EditRun(ctx context.Context, id RunID, e RunEdit, opts ...CallOption) (*Ack, error) {
	call := a.begin(ctx, OpEditRun, opts)
	call.symbol = a.caller.core.books.MarketOf(bookOf(EnvLive, a.id), string(id))
	if err := call.check(check.ID("run", string(id)), check.TotalSize(e.TotalSize)); err != nil {
		return nil, err
	}
	request := api.EditRunRequest{AccountID: string(a.id), RunID: string(id), TotalSize: e.TotalSize}
	return call.acknowledge(request.AppendWire(newBody()))
}

// CancelRun stops a Pro run as a unit. What it has filled stays. [CodeRunNotFound]
// can mean that it has finished.
func (a *Account) CancelRun(ctx context.Context, id RunID, opts ...CallOption) (*Ack, error) {
	call := a.begin(ctx, OpCancelRun, opts)
	if err := call.check(check.ID("run", string(id))); err != nil {
		return nil, err
	}
	request := api.CancelRunRequest{AccountID: string(a.id), RunID: string(id)}
	return call.acknowledge(request.AppendWire(newBody()))
}

// checkRun is the Check of an order that the service carries out over time.
func checkRun(o *Order, how runRequest) error {
	request := orderRequest("", o)
	if f := check.Order(check.Live, &request); f != nil {
		return local(EnvLive, f)
	}
	_, f := how(api.ProOrderRequest(request))
	return local(EnvLive, f)
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Conditional) Check(o Order) error {
	o.Type = how.orderType()
	return checkRun(&o, how.request)
}

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Ladder) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how TWAP) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Chase) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how ChaseTWAP) Check(o Order) error { return checkRun(&o, how.request) }

// Check returns what is wrong with the order placed in this way, as [Order.Check].
func (how Swarm) Check(o Order) error { return checkRun(&o, how.request) }
