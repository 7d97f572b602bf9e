// Package rawbody reads the body of a write as strictly as it can be read, so that what a guard
// judges is what the service executes: no member twice, none that the contract does not have, no
// number that is a text.
package rawbody

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/wire"
)

// kind is the type of a member.
type kind uint8

const (
	text kind = iota + 1
	number
	integer
	boolean
	scalar // the contract does not show which
)

// members are those of an operation.
type members map[string]kind

// with adds members to others.
func (m members) with(more members) members {
	all := make(members, len(m)+len(more))
	for _, some := range [...]members{m, more} {
		for name, k := range some {
			all[name] = k
		}
	}
	return all
}

var paperOrder = members{
	"symbol": text, "side": text, "size": number, "leverage": number, "orderType": text, "limitPrice": number,
	"takeProfitPrice": number, "stopLossPrice": number, "expectedPrice": number, "maxSlippagePct": number,
}

var order = paperOrder.with(members{"accountId": text, "reduceOnly": boolean})

// of are the members of each operation, by its path.
var of = map[string]members{
	"/sandbox/orders":          paperOrder,
	"/sandbox/positions/close": {"symbol": text, "pct": number},
	"/sandbox/positions/tpsl":  {"symbol": text, "takeProfitPrice": number, "stopLossPrice": number, "closePct": number},
	"/sandbox/reset":           {},
	"/orders":                  order,
	"/orders/limit":            order,
	"/orders/cancel":           {"accountId": text, "orderId": text},
	"/positions/close":         {"accountId": text, "symbol": text, "closePercent": number},
	"/positions/tpsl":          {"accountId": text, "symbol": text, "takeProfitPrice": number, "stopLossPrice": number},
	"/orders/conditional":      order.with(members{"triggerPrice": number, "execKind": text}),
	"/orders/ladder":           order.with(members{"startPrice": number, "endPrice": number, "totalOrders": integer, "sizeSkew": number}),
	"/orders/twap":             order.with(members{"durationMs": integer, "randomizeSize": boolean, "randomizeTime": boolean}),
	"/orders/chase":            order.with(members{"chaseTo": number}),
	"/orders/chase-twap":       order.with(members{"durationMs": integer, "chaseTo": number}),
	"/orders/swarm":            order.with(members{"totalOrders": integer, "aggression": scalar, "slippageBps": number, "irregular": boolean}),
	"/runs/edit":               {"accountId": text, "runId": text, "totalSize": number},
	"/runs/cancel":             {"accountId": text, "runId": text},
}

// codes are those by which the service refuses a member of another type.
var codes = map[string]string{
	"side": "bad_side", "size": "bad_size", "totalSize": "bad_size", "limitPrice": "bad_limit_price", "pct": "bad_pct",
	"maxSlippagePct": "BAD_MAX_SLIPPAGE", "triggerPrice": "BAD_TRIGGER", "durationMs": "BAD_DURATION", "totalOrders": "BAD_ORDER_COUNT",
}

// Body is the body of a write.
type Body struct{ values map[string]any }

// Parse reads the body of the operation at a path. ignored are further members that it may have:
// nobody reads them. A fault has the code that the service would use.
func Parse(path string, data []byte, ignored ...string) (*Body, *check.Fault) {
	b := &Body{values: map[string]any{}}
	if path == "/sandbox/reset" && len(data) == 0 {
		return b, nil
	}
	known := of[path].with(nil)
	for _, name := range ignored {
		if known[name] == 0 {
			known[name] = 0
		}
	}
	d := wire.NewDecoder(data)
	d.Object()
	for d.Member() {
		name := string(d.Name())
		k, is := known[name]
		if !is {
			return nil, &check.Fault{Code: "bad_request", Text: "the body has a member that the contract does not have here: " + clean(name)}
		}
		if _, twice := b.values[name]; twice {
			return nil, &check.Fault{Code: "invalid_json", Text: "the body has a member twice: " + name}
		}
		value := d.Raw()
		if d.Err() != nil {
			break
		}
		read, ok := k.read(value)
		if !ok {
			code := codes[name]
			if code == "" {
				code = "bad_request"
			}
			return nil, &check.Fault{Code: code, Text: name + " is not " + kinds[k]}
		}
		b.values[name] = read
	}
	if err := d.Finish(); err != nil {
		problem := (*wire.Error)(nil)
		errors.As(err, &problem)
		return nil, &check.Fault{Code: "invalid_json", Text: "the body is not a JSON object: " + string(problem.Problem)}
	}
	return b, nil
}

// kinds are the types in words.
var kinds = [...]string{text: "a text", number: "a number", integer: "a whole number", boolean: "true or false", scalar: "a number, a text, true or false"}

// read reads a value; null is nil.
func (k kind) read(value json.RawMessage) (any, bool) {
	if string(value) == "null" || k == 0 {
		return nil, true
	}
	switch c := value[0]; k {
	case text:
		if c != '"' {
			return nil, false
		}
		d := wire.NewDecoder(value)
		s := d.Text()
		return s, d.Err() == nil
	case boolean:
		return c == 't', c == 't' || c == 'f'
	case scalar:
		return value, c != '{' && c != '['
	default:
		n, err := wire.ParseDecimal(value)
		return n, err == nil && wire.Writable(n) && (k == number || n.IsInteger() && len(n.String()) < 16)
	}
}

// clean is a name for people.
func clean(name string) string {
	if len(name) > 40 {
		name = name[:40]
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}

// Has reports whether a member is there, null or not.
func (b *Body) Has(member string) bool {
	_, is := b.values[member]
	return is
}

// Text returns a member, "" if it is absent or null.
func (b *Body) Text(member string) string {
	s, _ := b.values[member].(string)
	return s
}

// Bool returns a member, false if it is absent or null.
func (b *Body) Bool(member string) bool {
	is, _ := b.values[member].(bool)
	return is
}

// Number returns a member; it can be absent or null.
func (b *Body) Number(member string) wire.Opt[decimal.Decimal] {
	switch n, is := b.values[member]; {
	case !is:
		return wire.Opt[decimal.Decimal]{}
	case n == nil:
		return wire.Null[decimal.Decimal]()
	default:
		return wire.Some(n.(decimal.Decimal))
	}
}

// Decimal returns a member, 0 if it is absent or null.
func (b *Body) Decimal(member string) decimal.Decimal {
	n, _ := b.values[member].(decimal.Decimal)
	return n
}

// Scalar returns a member as it is spelled; ok is false if it is absent or null.
func (b *Body) Scalar(member string) (value json.RawMessage, ok bool) {
	value, ok = b.values[member].(json.RawMessage)
	return value, ok
}
