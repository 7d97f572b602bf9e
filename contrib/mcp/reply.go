package mcp

import (
	"errors"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// refusal is the one form in which a model is refused something.
type refusal struct {
	Code    string `json:"code"`
	Outcome string `json:"outcome"` // not_applied, unknown or applied
	Rule    string `json:"rule,omitempty"`
	Ticket  string `json:"ticket,omitempty"`
	Advice  string `json:"advice"`
	Example any    `json:"example,omitempty"`
}

// refuse says that nothing was changed.
func refuse(code, advice string) *refusal {
	return &refusal{Code: code, Outcome: "not_applied", Advice: advice}
}

// breaks refuses what a rule of the policy forbids.
func breaks(rule, advice string) *refusal {
	r := refuse("policy", advice+" Only the operator changes the policy: do not try to get around it.")
	r.Rule = rule
	return r
}

func (r *refusal) of(ticket string) *refusal { r.Ticket = ticket; return r }

func outcomeName(o trading.Outcome) string { return strings.ReplaceAll(o.String(), " ", "_") }

// The text of the service does not reach a model, but for names of plain characters and codes that
// are documented.

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._:/-]{0,39}$`)

func name[T ~string](text T) string {
	if plainName.MatchString(string(text)) {
		return string(text)
	}
	return "unknown"
}

// rules are the documented codes.
var rules = func() map[trading.Code]trading.Rule {
	all := map[trading.Code]trading.Rule{}
	for r := range trading.Rules() {
		if _, is := all[r.Code]; !is && r.Code != "" {
			all[r.Code] = r
		}
	}
	return all
}()

// codeOf names why a call failed.
func codeOf(err error) string {
	var refused *trading.Error
	var guard *trading.GuardError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &guard):
		return "client_" + name(string(guard.Kind))
	case errors.As(err, &refused):
		if _, known := rules[refused.Code]; known {
			return string(refused.Code)
		}
	}
	return "unknown"
}

// unread refuses because a read failed.
func unread(err error) *refusal {
	r := refuse(codeOf(err), "The service was not read, so nothing was judged. Try again in some seconds; exits still go out.")
	if r.Code == "unknown" {
		r.Code = "not_read"
	}
	return r
}

func opt(o trading.Opt[decimal.Decimal]) string {
	if d, is := o.Get(); is {
		return d.String()
	}
	return ""
}

func level(l trading.Level) string {
	if d, is := l.Value(); is {
		return d.String()
	}
	return ""
}
