// Package check finds what the contract refuses for certain, before a byte is sent, with
// the code that the service would use.
package check

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Live and Sandbox are the environments.
const (
	Live    = "live"
	Sandbox = "sandbox"
)

// Fault is what is wrong: a code of the contract, and a text that names the field, the
// value and the rule.
type Fault struct{ Code, Text string }

func fault(code, format string, args ...any) *Fault {
	return &Fault{code, fmt.Sprintf(format, args...)}
}

// number is the type of optional prices and percents.
type number = wire.Nullable[decimal.Decimal]

// positive reports whether n can be sent as a size or a price.
func positive(n decimal.Decimal) bool { return n.IsPositive() && wire.Writable(n) }

// priceOrAbsent reports whether a price is left out, null, or one that can be sent.
func priceOrAbsent(n number) bool {
	price, given := n.Get()
	return !given || positive(price)
}

// text is a price that is there, for people.
func text(n number) string {
	if price, ok := n.Get(); ok {
		return wire.NumberText(price)
	}
	return "clear"
}

// Symbol wants one, for what is not an order.
func Symbol(env, symbol string) *Fault {
	switch {
	case symbol != "":
		return nil
	case env == Live:
		return fault("missing_fields", "required and missing: symbol")
	default:
		return fault("bad_symbol", "required and missing: symbol")
	}
}

// ID refuses ids that would turn one endpoint into another, and those that no service
// gives out.
func ID(what, id string) *Fault {
	switch id {
	case "":
		return fault("missing_fields", "required and missing: the %s id", what)
	case ".", "..":
		return fault("bad_request", "the %[2]s id is %[1]q: it must not be a part of a path", id, what)
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] == 0x7f {
			return fault("bad_request", "the %s id is %q: it must not have a control character, as at position %d", what, id, i)
		}
	}
	return nil
}

// Part wants a percentage of a position of at most 100, and of at least 1 on the sandbox,
// for which alone the contract names a least part: on a live account a guess must not stop
// an exit.
func Part(env string, pct decimal.Decimal) *Fault {
	switch {
	case env == Live && !percent(pct, decimal.Zero):
		return fault("bad_request", "closePercent is %s%%: it must be greater than 0%% and at most 100%%", wire.NumberText(pct))
	case env != Live && !percent(pct, decimal.NewFromInt(1)):
		return fault("bad_pct", "pct is %s%%: it must be between 1%% and 100%%", wire.NumberText(pct))
	default:
		return nil
	}
}

// percent reports whether pct is above 0, not below least, and at most 100.
func percent(pct, least decimal.Decimal) bool {
	return positive(pct) && pct.GreaterThanOrEqual(least) && pct.LessThanOrEqual(decimal.NewFromInt(100))
}

// TPSL wants a change of levels, and levels that can be prices.
func TPSL(env string, takeProfit, stopLoss, closePct number, clearPct bool) *Fault {
	none := takeProfit.IsAbsent() && stopLoss.IsAbsent()
	pct, partly := closePct.Get()
	switch {
	case env == Live && !closePct.IsAbsent():
		return fault("bad_request", "closePct is %s: it must be left out on a live account, where a level closes the whole position", text(closePct))
	case partly && clearPct:
		return fault("bad_pct", "closePct is %s, and is to be cleared: only one of both can be meant", text(closePct))
	case env == Live && none:
		return fault("missing_fields", "required and missing: takeProfitPrice or stopLossPrice; set one with At, or remove one with Clear")
	case none && closePct.IsAbsent():
		return fault("invalid_tpsl", "required and missing: takeProfitPrice, stopLossPrice or closePct; set one, or remove a level with Clear")
	case !priceOrAbsent(takeProfit):
		return fault("invalid_tpsl", "takeProfitPrice is %s: it must be greater than 0", text(takeProfit))
	case !priceOrAbsent(stopLoss):
		return fault("invalid_tpsl", "stopLossPrice is %s: it must be greater than 0", text(stopLoss))
	case partly && !percent(pct, decimal.NewFromInt(1)):
		return fault("bad_pct", "closePct is %s: it must be between 1 and 100 percent", wire.NumberText(pct))
	default:
		return nil
	}
}

// maxKeyLength is the contract's.
const maxKeyLength = 255

// IdempotencyKey refuses what the service would refuse.
func IdempotencyKey(key string) *Fault {
	if key == "" || len(key) > maxKeyLength {
		return fault("invalid_idempotency_key", "the idempotency key has %d characters: it must have 1 to %d", len(key), maxKeyLength)
	}
	if i := invisible(key); i >= 0 {
		return fault("invalid_idempotency_key", "the idempotency key has %q at position %d: it must have visible ASCII characters only", []rune(key[i:])[0], i)
	}
	return nil
}

// invisible is where the first character stands that is not visible ASCII; -1 for none.
func invisible(text string) int {
	return strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Every API key begins with the prefix of its environment.
const (
	SandboxPrefix = "pk_test_"
	LivePrefix    = "pk_live_"
)

// APIKey refuses a key that the service would refuse on an environment's routes. The text
// has nothing of its secret part.
func APIKey(env, key string) *Fault {
	want, other := SandboxPrefix, LivePrefix
	if env == Live {
		want, other = other, want
	}
	switch {
	case key == "":
		return fault("missing_api_key", "the %s key is empty: it must be set", env)
	case strings.HasPrefix(key, other):
		return fault("wrong_environment", "the %s key begins with %s: it must begin with %s", env, other, want)
	case !strings.HasPrefix(key, want) || key == want:
		return fault("invalid_api_key", "the %s key must begin with %s, followed by its secret part", env, want)
	}
	if i := invisible(key); i >= 0 {
		return fault("invalid_api_key", "the %s key has a character at position %d that no header can carry: it must be visible ASCII", env, i)
	}
	return nil
}
