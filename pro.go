package trading

import (
	"cmp"
	"context"
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/wire"
)

// A Pro order is placed once and then carried out by the service over time. What
// to trade is an Order, and how is a [Pro]. Each clip or rung has to be worth at least the
// minimum order value: [CodeMinNotional] if it is not.
// A run that was placed can add exposure after this program has ended.

// Pro is how the service carries out a Pro order: a [Conditional], a [Ladder], a [TWAP], a
// [Chase], a [ChaseTWAP] or a [Swarm].
type Pro interface {
	operation() Operation
	// request adds this to an order, and says what is wrong with it.
	request(api.ProOrderRequest) (encoder, *check.Fault)
}

// PlacePro places an order that the service carries out over time, in the way that how says.
func (a *Account) PlacePro(ctx context.Context, o Order, how Pro, opts ...CallOption) (*RunResult, error) {
	if err := checkPro(how); err != nil {
		return nil, err
	}
	call, order, err := a.beginOrder(ctx, how.operation(), o, opts)
	if err != nil {
		return nil, err
	}
	request, fault := how.request(api.ProOrderRequest(order))
	return posted(call, request, runResultOf, fault)
}

// CheckPro is [Order.Check] of an order that PlacePro places.
func (o Order) CheckPro(how Pro) error {
	if err := checkPro(how); err != nil {
		return err
	}
	request := orderRequest("", &o)
	fault := check.Order(check.Live, &request)
	if fault == nil { // a ladder calculates with the order's numbers
		_, fault = how.request(api.ProOrderRequest(request))
	}
	return local(EnvLive, fault)
}

// checkPro refuses none, and a pointer to none.
func checkPro(how Pro) error {
	if v := reflect.ValueOf(how); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return invalid("how", "it is nil: it must say how the order is carried out, such as a TWAP")
	}
	return nil
}

func (Conditional) operation() Operation { return OpConditional }
func (Ladder) operation() Operation      { return OpLadder }
func (TWAP) operation() Operation        { return OpTWAP }
func (Chase) operation() Operation       { return OpChase }
func (ChaseTWAP) operation() Operation   { return OpChaseTWAP }
func (Swarm) operation() Operation       { return OpSwarm }

func (how Conditional) request(o api.ProOrderRequest) (encoder, *check.Fault) {
	kind := api.ExecKindStopMarket
	if typ, _ := o.OrderType.Get(); typ == api.OrderTypeLimit {
		kind = api.ExecKindStopLimit
	}
	o.OrderType = wire.Nullable[api.OrderType]{} // execKind says it
	r := &api.ConditionalOrderRequest{ProOrderRequest: o, TriggerPrice: how.Trigger, ExecKind: wire.Some(kind)}
	return r.AppendWire, check.Conditional(r)
}

func (how Ladder) request(o api.ProOrderRequest) (encoder, *check.Fault) {
	r := &api.LadderOrderRequest{
		ProOrderRequest: o, StartPrice: how.From, EndPrice: how.To, TotalOrders: int64(how.Rungs), SizeSkew: wireJSON(how.SizeSkew),
	}
	return r.AppendWire, cmp.Or(check.Ladder(r), check.Number("sizeSkew", wireOpt(how.SizeSkew)))
}

func (how TWAP) request(o api.ProOrderRequest) (encoder, *check.Fault) {
	r := &api.TWAPOrderRequest{
		ProOrderRequest: o, DurationMs: how.Duration.Milliseconds(),
		RandomizeSize: wireJSON(how.RandomizeSize), RandomizeTime: wireJSON(how.RandomizeTime),
	}
	return r.AppendWire, check.Duration(how.Duration)
}

func (how Chase) request(o api.ProOrderRequest) (encoder, *check.Fault) {
	to := wireLevel(how.To)
	r := &api.ChaseOrderRequest{ProOrderRequest: o, ChaseTo: to}
	return r.AppendWire, check.ChaseTo(to)
}

func (how ChaseTWAP) request(o api.ProOrderRequest) (encoder, *check.Fault) {
	to := wireLevel(how.To)
	r := &api.ChaseTWAPOrderRequest{ProOrderRequest: o, DurationMs: how.Duration.Milliseconds(), ChaseTo: to}
	return r.AppendWire, cmp.Or(check.Duration(how.Duration), check.ChaseTo(to))
}

func (how Swarm) request(o api.ProOrderRequest) (encoder, *check.Fault) {
	r := &api.SwarmOrderRequest{
		ProOrderRequest: o, TotalOrders: int64(how.Orders), Aggression: wireOpt(how.Aggression),
		SlippageBps: wireJSON(how.SlippageBps), Irregular: wireJSON(how.Irregular),
	}
	return r.AppendWire, cmp.Or(check.Orders(r.TotalOrders), check.Aggression(r.Aggression), check.Number("slippageBps", wireOpt(how.SlippageBps)))
}

// EditRun changes the size of a running [TWAP], the only kind of run that can be changed. totalSize
// is that of the whole run in base units, what is already filled included: less than that is
// [CodeSizeBelowExecuted]. It can add exposure, so it is an entry.
func (a *Account) EditRun(ctx context.Context, id RunID, totalSize decimal.Decimal, opts ...CallOption) (*Ack, error) {
	call := a.begin(ctx, OpEditRun, opts)
	call.symbol = a.caller.core.books.MarketOf(books.AccountKey{Environment: EnvLive, ID: a.id}, string(id))
	request := api.EditRunRequest{AccountID: string(a.id), RunID: string(id), TotalSize: totalSize}
	return posted(call, request.AppendWire, ackOf, check.ID("run", string(id)), check.TotalSize(totalSize))
}

// CancelRun stops a Pro run as a unit. What it has filled stays. [CodeRunNotFound]
// can mean that it has finished.
func (a *Account) CancelRun(ctx context.Context, id RunID, opts ...CallOption) (*Ack, error) {
	request := api.CancelRunRequest{AccountID: string(a.id), RunID: string(id)}
	return posted(a.begin(ctx, OpCancelRun, opts), request.AppendWire, ackOf, check.ID("run", string(id)))
}
