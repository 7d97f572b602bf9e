package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

const (
	mostBytes = 64 << 10 // of a message
	mostDepth = 32
)

var errNotStrict = errors.New("not strict JSON")

// strict refuses what is no JSON, what is nested deeply, and an object with a member twice, by any
// spelling: whoever reads the last one and whoever reads the first must not differ.
func strict(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := strictValue(d, 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: text behind it", errNotStrict)
	}
	return nil
}

func strictValue(d *json.Decoder, depth int) error {
	if depth > mostDepth {
		return fmt.Errorf("%w: more than %d levels", errNotStrict, mostDepth)
	}
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", errNotStrict, err)
	}
	opening, is := t.(json.Delim)
	if !is {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if opening == '{' {
			key, err := d.Token()
			if err != nil {
				return fmt.Errorf("%w: %w", errNotStrict, err)
			}
			folded := strings.ToLower(fmt.Sprint(key))
			if seen[folded] {
				return fmt.Errorf("%w: a member twice", errNotStrict)
			}
			seen[folded] = true
		}
		if err := strictValue(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// field is an argument of a tool. Its kind says what it may hold.
type field struct {
	name     string
	kind     kind
	required bool
	values   []string // of a choice
	about    string
}

type kind int

const (
	text   kind = iota // a name: 40 plain characters
	amount             // a plain decimal
	price              // an amount, or the word clear
	choice
	free // words to search by
)

var plainAmount = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?$`)

const mostDigits = 24

// arguments are those of one call: texts all of them.
type arguments map[string]string

func (a arguments) amount(name string) decimal.Decimal {
	d, _ := decimal.NewFromString(a[name]) // decode has read it; absent is zero, which every check refuses
	return d
}

// level is a price, or the word clear.
func (a arguments) level(name string) trading.Level {
	switch a[name] {
	case "":
		return trading.Level{}
	case "clear":
		return trading.Clear
	default:
		return trading.At(a.amount(name))
	}
}

// decode reads the arguments of a tool. What is wrong is answered by an example of what is right.
func decode(raw json.RawMessage, fields []field, example map[string]string) (arguments, *refusal) {
	wrong := func(format string, args ...any) (arguments, *refusal) {
		r := refuse("bad_argument", fmt.Sprintf(format, args...))
		if r.Example = "{}"; len(example) > 0 {
			r.Example = example
		}
		return nil, r
	}
	if trimmed := string(bytes.TrimSpace(raw)); trimmed == "" || trimmed == "null" {
		raw = json.RawMessage("{}")
	}
	if len(raw) > mostBytes || strict(raw) != nil {
		return wrong("The arguments must be one flat JSON object, each member once.")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return wrong("The arguments must be one flat JSON object.")
	}
	a := arguments{}
	for _, f := range fields {
		value, is := members[f.name]
		delete(members, f.name)
		if !is {
			if f.required {
				return wrong("%s is missing.", f.name)
			}
			continue
		}
		var s *string
		if json.Unmarshal(value, &s) != nil || s == nil {
			return wrong("%s must be a text in quotes.", f.name)
		}
		switch {
		case (f.kind == amount || f.kind == price && *s != "clear") && (len(*s) > mostDigits || !plainAmount.MatchString(*s)):
			return wrong("%s must be plain digits, such as \"0.05\": no sign, no exponent, no leading zeros, %d characters at the most.", f.name, mostDigits)
		case f.kind == text && !plainName.MatchString(*s):
			return wrong("%s must be a name of 40 plain characters at the most.", f.name)
		case f.kind == choice && !slices.Contains(f.values, *s):
			return wrong("%s must be one of: %s.", f.name, strings.Join(f.values, ", "))
		case f.kind == free && (*s == "" || len(*s) > 400):
			return wrong("%s must have 1 to 400 bytes.", f.name)
		}
		a[f.name] = *s
	}
	if len(members) > 0 {
		var known []string
		for _, f := range fields {
			known = append(known, f.name)
		}
		return wrong("There is a member that this tool does not have. It has: %s.", strings.Join(known, ", "))
	}
	return a, nil
}
