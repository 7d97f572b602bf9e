package trading

import (
	"context"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/check/rawbody"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/spec"
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
	e := spec.Find(op)
	if e == nil {
		return meta, errNoOperation(op)
	}
	opts = append(slices.Clip(opts), ResponseInto(meta))
	if !e.Write {
		return meta, c.read(ctx, e, r, opts)
	}
	return meta, c.begin(ctx, op, opts).passOn(&r)
}

// read carries out a read by its own method, whose result is in the Meta.
func (c *Client) read(ctx context.Context, e *spec.Endpoint, r Raw, opts []CallOption) error {
	switch {
	case e.Name == OpHealth:
		return only(c.Health(ctx, opts...))
	case e.Name == OpOpenAPI:
		return only(c.OpenAPI(ctx, opts...))
	case e.Name == OpMe:
		return only(c.Me(ctx, r.Environment, opts...))
	case e.Env == EnvLive:
		return c.Live.read(ctx, e.Name, r.Account, opts)
	default:
		return c.Sandbox.read(ctx, e.Name, r.Symbol, opts)
	}
}

// passOn carries out a write whose body is given. What it has, and what it is judged by, the generated tables say.
func (c *call) passOn(r *Raw) error {
	b, fault := rawbody.Parse(c.endpoint.Path, r.Body, r.Ignored...)
	if fault == nil && r.Account != "" && b.Text("accountId") != string(r.Account) {
		fault = &check.Fault{Code: string(CodeBadRequest), Text: "the account is not the body's accountId"}
	}
	if err := c.check(fault); err != nil {
		return err
	}
	if c.began = c.began.Add(-r.Age); r.Age < 0 && c.stopped == nil {
		c.stopped = invalid("Raw", "Age is %s: it must not be negative", r.Age)
	}
	c.account, c.symbol = AccountID(b.Text("accountId")), b.Text("symbol")
	var order *api.OrderRequest
	switch {
	case b.Takes("side"):
		o, err := c.orderIn(b)
		if err != nil {
			return c.refused(err)
		}
		c.write.place(o)
		request := orderRequest(c.account, &o)
		order = &request
	case b.Takes("closePercent"):
		c.all = isAll(b.Decimal("closePercent"))
	case c.endpoint.Asks == spec.AsksRunEdit:
		c.symbol = c.core.books.MarketOf(books.AccountKey{Environment: EnvLive, ID: c.account}, b.Text("runId"))
	case c.endpoint.Asks == spec.AsksLevels:
		c.write.unnamed = resolve.Unnamed{TakeProfit: b.Number("takeProfitPrice").IsAbsent(), StopLoss: b.Number("stopLossPrice").IsAbsent()}
	}
	if err := c.check(b.Fault(string(c.env), order)); err != nil {
		return err
	}
	return c.post(r.Body, b.Answer())
}

// orderIn is the order in a body, as guards judge it.
func (c *call) orderIn(b *rawbody.Parsed) (o Order, err error) {
	price := func(member string) Level { return levelOf(b.Price(member)) }
	o = Order{
		Symbol: b.Text("symbol"), Side: Side(b.Text("side")), Size: b.Decimal("size"), Leverage: b.Decimal("leverage"),
		LimitPrice: price("limitPrice"), ReduceOnly: b.Bool("reduceOnly"), TakeProfit: price("takeProfitPrice"),
		StopLoss: price("stopLossPrice"), ExpectedPrice: price("expectedPrice"), MaxSlippagePct: optOf(b.Number("maxSlippagePct")),
	}
	if kind := b.Text("orderType"); kind != "" && o.Type.UnmarshalText([]byte(kind)) != nil {
		return o, refuse(c.env, CodeBadRequest, "orderType is %q: it must be market or limit", kind)
	}
	switch {
	case c.endpoint.Asks == spec.AsksLimit, b.Text("execKind") == string(api.ExecKindStopLimit):
		o.Type = LimitOrder
	case b.Takes("execKind"): // which says it
		o.Type = MarketOrder
	}
	return o, nil
}
