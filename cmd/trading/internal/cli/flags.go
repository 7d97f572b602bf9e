package cli

import (
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
	*n.into, err = parseNumber(v)
	n.set = err == nil
	return err
}

// parseNumber takes a number in plain notation.
func parseNumber(v string) (decimal.Decimal, error) {
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
	d, err := parseNumber(v)
	if err != nil {
		return err
	}
	*l.into = trading.At(d)
	return nil
}

// setting is a flag for a field whose type the contract does not show.
type setting struct{ into *trading.Setting }

// Setting adds a flag that takes true, false, a number or a text.
func Setting(f *pflag.FlagSet, into *trading.Setting, name, usage string) {
	f.Var(setting{into}, name, usage)
}

func (s setting) Type() string { return "value" }
func (s setting) String() string {
	if s.into == nil || s.into.IsZero() {
		return ""
	}
	return s.into.String()
}

func (s setting) Set(v string) error {
	d, err := parseNumber(v)
	switch {
	case v == "":
		return fmt.Errorf("must not be empty")
	case v == "true":
		*s.into = trading.On
	case v == "false":
		*s.into = trading.Off
	case err == nil:
		*s.into = trading.Number(d)
	default:
		*s.into = trading.Text(v)
	}
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
