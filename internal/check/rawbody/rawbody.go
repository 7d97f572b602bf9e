// Package rawbody reads the body of a write as strictly as it can be read, so that what a guard
// judges is what the service executes: no member twice, none that the contract does not have, no
// number that is a text.
package rawbody

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
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

// write is what is generated of one.
type write struct {
	path    string
	answer  func() wire.Value // a new value for a success
	members []member
}

// member is one of a body.
type member struct {
	name string
	kind kind
}

// kindOf is that of a member; 0 if the write has none of the name.
func (w *write) kindOf(name string) kind {
	for i := range w.members {
		if w.members[i].name == name {
			return w.members[i].kind
		}
	}
	return 0
}

// likely are the kinds of members whose type the contract does not show: what their names suggest.
var likely = map[string]kind{"sizeSkew": number, "randomizeSize": boolean, "randomizeTime": boolean, "slippageBps": number, "irregular": boolean}

// codes are those by which the service refuses a member of another type.
var codes = map[string]string{
	"side": "bad_side", "size": "bad_size", "totalSize": "bad_size", "limitPrice": "bad_limit_price", "pct": "bad_pct",
	"maxSlippagePct": "BAD_MAX_SLIPPAGE", "triggerPrice": "BAD_TRIGGER", "durationMs": "BAD_DURATION", "totalOrders": "BAD_ORDER_COUNT",
}

// Parsed is the body of a write.
type Parsed struct {
	of     *write
	values map[string]any
}

// Parse reads the body of the operation at a path. ignored are further members that it may have:
// nobody reads them. A fault has the code that the service would use.
func Parse(path string, data []byte, ignored ...string) (*Parsed, *check.Fault) {
	b := &Parsed{values: map[string]any{}}
	if i := slices.IndexFunc(of, func(w write) bool { return w.path == path }); i >= 0 {
		b.of = &of[i]
	} else {
		return b, &check.Fault{Code: "bad_request", Text: "the operation has no body: " + clean(path)}
	}
	if path == "/sandbox/reset" && len(data) == 0 {
		return b, nil
	}
	d := wire.NewDecoder(data)
	d.Object()
	for d.Member() {
		name := string(d.Name())
		k := b.of.kindOf(name)
		if k == scalar {
			k = cmp.Or(likely[name], k)
		}
		if k == 0 && !slices.Contains(ignored, name) {
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
		problem := (*wire.JSONError)(nil)
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

// Text returns a member, "" if it is absent or null.
func (b *Parsed) Text(member string) string {
	s, _ := b.values[member].(string)
	return s
}

// Bool returns a member, false if it is absent or null.
func (b *Parsed) Bool(member string) bool {
	is, _ := b.values[member].(bool)
	return is
}

// Number returns a member; it can be absent or null.
func (b *Parsed) Number(member string) wire.Nullable[decimal.Decimal] {
	switch n, is := b.values[member]; {
	case !is:
		return wire.Nullable[decimal.Decimal]{}
	case n == nil:
		return wire.Null[decimal.Decimal]()
	default:
		return wire.Some(n.(decimal.Decimal))
	}
}

// Decimal returns a member, 0 if it is absent or null.
func (b *Parsed) Decimal(member string) decimal.Decimal {
	n, _ := b.values[member].(decimal.Decimal)
	return n
}

// Price returns a member; null is absent.
func (b *Parsed) Price(member string) wire.Nullable[decimal.Decimal] {
	if n := b.Number(member); !n.IsNull() {
		return n
	}
	return wire.Nullable[decimal.Decimal]{}
}

// Takes reports whether the operation has a member, whether or not it is there.
func (b *Parsed) Takes(member string) bool { return b.of.kindOf(member) != 0 }

// Answer returns a new value for a success of the operation.
func (b *Parsed) Answer() wire.Value { return b.of.answer() }
