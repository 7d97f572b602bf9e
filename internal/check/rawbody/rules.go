package rawbody

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Fault is the first thing that is wrong with the values of the body, in an environment. order is the one
// that it places, nil if it places none.
func (b *Parsed) Fault(env string, order *api.OrderRequest) *check.Fault {
	for _, r := range rules {
		if !b.Takes(r.member) || order != nil && r.alone {
			continue
		}
		if f := r.of(b, env, order); f != nil {
			return f
		}
	}
	return nil
}

// rules are those of the members that an operation takes, in the order in which they are judged. The rule of an
// order is that of its side; one that is alone is not of a member of an order.
var rules = []struct {
	member string
	alone  bool
	of     func(b *Parsed, env string, order *api.OrderRequest) *check.Fault
}{
	{"side", false, func(_ *Parsed, env string, o *api.OrderRequest) *check.Fault { return check.Order(env, o) }},
	{"symbol", true, func(b *Parsed, env string, _ *api.OrderRequest) *check.Fault {
		return check.Symbol(env, b.Text("symbol"))
	}},
	{"closePercent", true, func(b *Parsed, env string, _ *api.OrderRequest) *check.Fault { return b.part(env, "closePercent") }},
	{"pct", true, func(b *Parsed, env string, _ *api.OrderRequest) *check.Fault { return b.part(env, "pct") }},
	{"takeProfitPrice", true, func(b *Parsed, env string, _ *api.OrderRequest) *check.Fault {
		return check.TPSL(env, b.Number("takeProfitPrice"), b.Number("stopLossPrice"), b.Number("closePct"), false)
	}},
	{"triggerPrice", false, func(b *Parsed, _ string, o *api.OrderRequest) *check.Fault {
		return check.Conditional(&api.ConditionalOrderRequest{
			ProOrderRequest: api.ProOrderRequest(*o), TriggerPrice: b.Decimal("triggerPrice"),
			ExecKind: wire.Some(cmp.Or(api.ExecKind(clean(b.Text("execKind"))), api.ExecKindStopMarket)),
		})
	}},
	{"startPrice", false, func(b *Parsed, _ string, o *api.OrderRequest) *check.Fault {
		return check.Ladder(&api.LadderOrderRequest{
			ProOrderRequest: api.ProOrderRequest(*o), StartPrice: b.Decimal("startPrice"), EndPrice: b.Decimal("endPrice"),
			TotalOrders: b.Decimal("totalOrders").IntPart(),
		})
	}},
	{"sizeSkew", false, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		return check.Number("sizeSkew", b.Price("sizeSkew"))
	}},
	{"durationMs", false, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		ms := b.Decimal("durationMs").IntPart()
		if ms > int64(1<<62/time.Millisecond) {
			ms = 0 // which is refused
		}
		return check.Duration(time.Duration(ms) * time.Millisecond)
	}},
	{"chaseTo", false, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault { return check.ChaseTo(b.Price("chaseTo")) }},
	{"totalOrders", false, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		return check.Orders(b.Decimal("totalOrders").IntPart())
	}},
	{"aggression", false, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		text, is := b.values["aggression"].(json.RawMessage)
		if !is {
			return nil
		}
		return check.Aggression(wire.Some(text))
	}},
	{"slippageBps", false, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		return check.Number("slippageBps", b.Price("slippageBps"))
	}},
	{"orderId", true, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		return check.ID("order", b.Text("orderId"))
	}},
	{"runId", true, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault { return check.ID("run", b.Text("runId")) }},
	{"totalSize", true, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		return check.TotalSize(b.Decimal("totalSize"))
	}},
	{"accountId", false, func(b *Parsed, _ string, _ *api.OrderRequest) *check.Fault {
		return check.ID("account", b.Text("accountId"))
	}},
}

// part judges how much a close closes: all of it where the body does not say.
func (b *Parsed) part(env, member string) *check.Fault {
	pct, given := b.Price(member).Get()
	if !given {
		pct = decimal.NewFromInt(100)
	}
	return check.Part(env, pct)
}
