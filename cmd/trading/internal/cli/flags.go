package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go"
)

// choice is a flag with a fixed set of values.
type choice struct {
	into *string
	of   []string
}

// Choice adds a flag that takes one of some values.
func Choice(f *pflag.FlagSet, into *string, name, short, value, usage string, of ...string) {
	*into = value
	f.VarP(choice{into, of}, name, short, usage)
}

func (c choice) String() string { return *c.into }
func (c choice) Type() string   { return strings.Join(c.of, "|") }
func (c choice) Set(v string) error {
	if !slices.Contains(c.of, v) {
		return fmt.Errorf("must be %s", strings.Join(c.of, " or "))
	}
	*c.into = v
	return nil
}

// number is a flag that takes an exact decimal.
type number struct {
	into *decimal.Decimal
	set  bool
}

// Number adds a flag that takes an exact decimal.
func Number(f *pflag.FlagSet, into *decimal.Decimal, name, usage string) {
	f.Var(&number{into: into}, name, usage)
}

func (n *number) Type() string { return "number" }
func (n *number) String() string {
	if !n.set {
		return ""
	}
	return n.into.String()
}

func (n *number) Set(v string) (err error) {
	*n.into, err = ParseNumber(v)
	n.set = err == nil
	return err
}

// ParseNumber takes a number in plain notation.
func ParseNumber(v string) (decimal.Decimal, error) {
	if len(v) > 40 || strings.ContainsAny(v, "eE_+") {
		return decimal.Decimal{}, fmt.Errorf("want a plain number, such as 0.05")
	}
	d, err := decimal.NewFromString(v)
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("want a plain number, such as 0.05")
	}
	return d, nil
}

// level is a flag that takes a price, or the word clear.
type level struct {
	into  *trading.Level
	clear bool
}

// Price adds a flag that takes a price.
func Price(f *pflag.FlagSet, into *trading.Level, name, usage string) {
	f.Var(&level{into: into}, name, usage)
}

// PriceOrClear adds a flag that takes a price, or the word clear.
func PriceOrClear(f *pflag.FlagSet, into *trading.Level, name, usage string) {
	f.Var(&level{into: into, clear: true}, name, usage)
}

func (l *level) Type() string {
	if l.clear {
		return "number|clear"
	}
	return "number"
}

func (l *level) String() string {
	if l.into == nil || l.into.IsZero() {
		return ""
	}
	return l.into.String()
}

func (l *level) Set(v string) error {
	if l.clear && v == "clear" {
		*l.into = trading.Clear
		return nil
	}
	d, err := ParseNumber(v)
	if err != nil {
		return err
	}
	*l.into = trading.At(d)
	return nil
}

// optional is a flag for an optional member.
type optional[T any] struct {
	into  *trading.Opt[T]
	kind  string
	parse func(string) (T, error)
}

// Decimal adds a flag for an optional number.
func Decimal(f *pflag.FlagSet, into *trading.Opt[decimal.Decimal], name, usage string) {
	f.Var(&optional[decimal.Decimal]{into, "number", ParseNumber}, name, usage)
}

// Switch adds a flag that takes true or false.
func Switch(f *pflag.FlagSet, into *trading.Opt[bool], name, usage string) {
	f.Var(&optional[bool]{into, "true|false", func(v string) (bool, error) {
		if v != "true" && v != "false" {
			return false, fmt.Errorf("must be true or false, not %q", v)
		}
		return v == "true", nil
	}}, name, usage)
}

// Value adds a flag for a member whose type the contract does not show: a number is sent
// as one, anything else as a text.
func Value(f *pflag.FlagSet, into *trading.Opt[json.RawMessage], name, usage string) {
	f.Var(&optional[json.RawMessage]{into, "value", func(v string) (json.RawMessage, error) {
		if v == "" {
			return nil, errors.New("must not be empty")
		}
		if d, err := ParseNumber(v); err == nil {
			return json.RawMessage(d.String()), nil
		}
		return json.Marshal(v)
	}}, name, usage)
}

func (o *optional[T]) Type() string { return o.kind }

func (o *optional[T]) String() string {
	if o.into == nil {
		return ""
	}
	v, ok := o.into.Get()
	if !ok {
		return ""
	}
	return fmt.Sprint(v)
}

func (o *optional[T]) Set(v string) error {
	parsed, err := o.parse(v)
	if err != nil {
		return err
	}
	*o.into = trading.Some(parsed)
	return nil
}

// CheckSymbol refuses what is no symbol, a list with commas in particular.
func CheckSymbol(symbol string) error {
	if symbol == "" || len(symbol) > 64 || strings.IndexFunc(symbol, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`,;"'\`, r)
	}) >= 0 {
		return Misuse("--symbol %q: want one symbol, such as BTC; repeat the flag for several", symbol)
	}
	return nil
}
