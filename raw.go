package trading

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/check/rawbody"
)

// Raw is a request as it goes over the wire, for a program that passes on what others ask.
type Raw struct {
	// Account is the live account of a read. A write's is in its body.
	Account AccountID
	// Symbol is the market of [OpPrices]; empty for all of them.
	Symbol string
	// Environment is whose key [OpMe] resolves.
	Environment Environment
	// Body is a write's, and goes out byte for byte. It is read strictly: a member twice, one
	// that the contract does not have, and a number that is a text are refused before anything
	// is sent, so that what guards judge is what the service executes.
	Body []byte
	// Age is how long ago the decision of a write was taken, where the call does not begin with it: it waited in
	// a queue. The time in which it may be sent is that much shorter.
	Age time.Duration
	// Ignored names further members that the body may have.
	Ignored []string
}

// Do sends a request as its own method of the client does, but with the bytes that it is given
// and nothing added: the same checks, guards, journal and resolution. The Meta has the answer and
// is never nil; the error says what became of a write. The answer can be passed on if
// [Meta.Settled] is true.
func (c *Client) Do(ctx context.Context, op Operation, r Raw, opts ...CallOption) (*Meta, error) {
	meta := new(Meta)
	e := endpointOf(op)
	if e == nil {
		return meta, errNoOperation(op)
	}
	d := raw{ctx: ctx, client: c, Raw: r, opts: append(slices.Clip(opts), ResponseInto(meta))}
	if !e.write {
		return meta, d.read(op)
	}
	body, fault := rawbody.Parse(e.spec.Path, r.Body, r.Ignored...)
	if fault == nil && r.Account != "" && body.Text("accountId") != string(r.Account) {
		fault = &check.Fault{Code: string(CodeBadRequest), Text: "the account is not the body's accountId"}
	}
	if fault != nil {
		return meta, c.caller().begin(ctx, e, d.opts).refused(local(e.env, fault))
	}
	d.opts = append(d.opts, callOption(func(c *callOptions) error {
		c.body, c.age = r.Body, r.Age
		return refusedIf(r.Age < 0, "Raw", "Age is %s: it must not be negative", r.Age)
	}))
	d.body, d.account = body, c.Live.Account(AccountID(body.Text("accountId")))
	return meta, d.write(op)
}

// raw is a request that is passed on.
type raw struct {
	Raw
	ctx     context.Context
	client  *Client
	opts    []CallOption
	body    *rawbody.Body // of a write
	account *Account
}

func (d *raw) read(op Operation) error {
	switch {
	case op == OpHealth:
		return only(d.client.Health(d.ctx, d.opts...))
	case op == OpOpenAPI:
		return only(d.client.OpenAPI(d.ctx, d.opts...))
	case op == OpMe:
		return only(d.client.Me(d.ctx, d.Environment, d.opts...))
	case endpointOf(op).env == EnvLive:
		return d.client.Live.read(d.ctx, op, d.Account, d.opts)
	default:
		return d.client.Sandbox.read(d.ctx, op, d.Symbol, d.opts)
	}
}

func (d *raw) write(op Operation) error {
	a, s, b := d.account, d.client.Sandbox, d.body
	symbol := b.Text("symbol")
	o, wrong := d.order(op)
	if wrong != nil {
		return d.client.caller().begin(d.ctx, endpointOf(op), d.opts).refused(wrong)
	}
	switch op {
	case OpSandboxOrder:
		return only(s.PlaceOrder(d.ctx, o, d.opts...))
	case OpSandboxClose:
		return only(s.ClosePosition(d.ctx, symbol, d.part("pct"), d.opts...))
	case OpSandboxTPSL:
		return only(s.SetTPSL(d.ctx, symbol, d.levels(), d.opts...))
	case OpSandboxReset:
		return only(s.Reset(d.ctx, d.opts...))
	case OpOrder:
		return only(a.PlaceOrder(d.ctx, o, d.opts...))
	case OpLimit:
		return only(a.PlaceLimit(d.ctx, o, d.opts...))
	case OpCancelOrder:
		return only(a.CancelOrder(d.ctx, OrderID(b.Text("orderId")), d.opts...))
	case OpClose:
		return only(a.ClosePosition(d.ctx, symbol, d.part("closePercent"), d.opts...))
	case OpTPSL:
		return only(a.SetTPSL(d.ctx, symbol, d.levels(), d.opts...))
	case OpConditional:
		how := Conditional{Trigger: b.Decimal("triggerPrice")}
		if kind := b.Text("execKind"); kind != "" && how.Exec.UnmarshalText([]byte(kind)) != nil {
			how.Exec = 255 // which is refused
		}
		return only(a.PlaceConditional(d.ctx, o, how, d.opts...))
	case OpLadder:
		return only(a.PlaceLadder(d.ctx, o, Ladder{
			From: b.Decimal("startPrice"), To: b.Decimal("endPrice"), Rungs: d.count(), SizeSkew: d.number("sizeSkew"),
		}, d.opts...))
	case OpTWAP:
		return only(a.PlaceTWAP(d.ctx, o, TWAP{Duration: d.duration()}, d.opts...))
	case OpChase:
		return only(a.PlaceChase(d.ctx, o, Chase{To: d.price("chaseTo")}, d.opts...))
	case OpChaseTWAP:
		return only(a.PlaceChaseTWAP(d.ctx, o, ChaseTWAP{Duration: d.duration(), To: d.price("chaseTo")}, d.opts...))
	case OpSwarm:
		return only(a.PlaceSwarm(d.ctx, o, Swarm{Orders: d.count(), Aggression: d.scalar("aggression"), SlippageBps: d.number("slippageBps")}, d.opts...))
	case OpEditRun:
		return only(a.EditRun(d.ctx, RunID(b.Text("runId")), RunEdit{TotalSize: b.Decimal("totalSize")}, d.opts...))
	case OpCancelRun:
		return only(a.CancelRun(d.ctx, RunID(b.Text("runId")), d.opts...))
	default:
		return errNoOperation(op)
	}
}

// order is the order in the body, as guards judge it.
func (d *raw) order(op Operation) (o Order, wrong error) {
	b := d.body
	o = Order{
		Symbol: b.Text("symbol"), Side: Side(b.Text("side")), Size: b.Decimal("size"), Leverage: b.Decimal("leverage"),
		LimitPrice: d.price("limitPrice"), ReduceOnly: b.Bool("reduceOnly"), TakeProfit: d.price("takeProfitPrice"),
		StopLoss: d.price("stopLossPrice"), ExpectedPrice: d.price("expectedPrice"), MaxSlippagePct: d.number("maxSlippagePct"),
	}
	if kind := b.Text("orderType"); kind != "" && o.Type.UnmarshalText([]byte(kind)) != nil {
		return o, refuse(endpointOf(op).env, CodeBadRequest, "orderType is %q: it must be market or limit", kind)
	}
	return o, nil
}

// part is how much a close closes: all of it where the body does not say.
func (d *raw) part(member string) Part {
	if n, ok := d.body.Number(member).Get(); ok {
		return Percent(n)
	}
	return Percent(decimal.NewFromInt(100))
}

func (d *raw) levels() TPSL {
	b := d.body
	return TPSL{
		TakeProfit: levelOf(b.Number("takeProfitPrice")), StopLoss: levelOf(b.Number("stopLossPrice")),
		ClosePct: d.number("closePct"), ClearClosePct: b.Number("closePct").IsNull(),
	}
}

// price is one that null leaves out.
func (d *raw) price(member string) Level {
	if n, ok := d.body.Number(member).Get(); ok {
		return At(n)
	}
	return Level{}
}

func (d *raw) number(member string) Opt[decimal.Decimal] { return optOf(d.body.Number(member)) }

func (d *raw) scalar(member string) Opt[json.RawMessage] { return optional(d.body.Scalar(member)) }

func (d *raw) count() int { return int(d.body.Decimal("totalOrders").IntPart()) }

func (d *raw) duration() time.Duration {
	ms := d.body.Decimal("durationMs").IntPart()
	if ms > int64(1<<62/time.Millisecond) {
		ms = 0 // which is refused
	}
	return time.Duration(ms) * time.Millisecond
}
