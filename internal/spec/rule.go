package spec

import "slices"

// Code is a refusal as the service writes it.
type Code string

// Error returns the code as the service writes it.
func (c Code) Error() string { return string(c) }

// CodeRule says what a code means.
type CodeRule struct {
	Code    string      // empty in the rules for codes that the contract does not have
	Status  int         // 0 stands for any below 500
	Env     Environment // where the rule holds; empty for both
	Kind    string      // the family that the code belongs to, if any
	Advice  Advice
	Outcome Says
	Meaning string
}

// Says is what a code says of a write about which nothing was in doubt before.
type Says uint8

// The outcomes.
const (
	NotApplied Says = iota
	// IfConfirmed: the request was turned away before its route, as something in front
	// turns requests away too.
	IfConfirmed
	Unknown
)

// Advice is what to do next. Of a rule whose outcome is Unknown, and of SameKey on the paper account,
// it is what the client's own loop does: a caller finds out first, or decides anew.
type Advice uint8

// The advices.
const (
	Never Advice = iota
	Change
	NewKey
	SameKey
	Wait
	Read
	Resolve
)

// String returns the steps of a caller, with a comma between two; of an advice that nobody knows, what
// never harms.
func (a Advice) String() string {
	if int(a) >= len(adviceSteps) {
		a = Never
	}
	return adviceSteps[a]
}

// The kinds of codes, as their errors read.
const (
	NoPrice       = "no fresh price"
	NotMarketable = "limit has not been reached"
	Slippage      = "fill would be too far away"
	RiskCap       = "risk cap"
	AccountLocked = "account is locked"
	LossLimit     = "loss limit"
	KeyRefused    = "API key refused"
)

// Rules returns all of them, in the order of the contract.
func Rules() []CodeRule { return slices.Clone(rules) }

// RuleFor finds the rule of an answer: the exact one, else the same code below 500, else
// the one for the status. A 5xx needs its exact rule, since only a code documented with
// that status is known to mean that nothing was placed.
func RuleFor(code string, status int, env Environment) CodeRule {
	var near *CodeRule
	for i := range rules {
		rule := &rules[i]
		if rule.Code != code || rule.Env != "" && env != "" && rule.Env != env {
			continue
		}
		if rule.Status == status {
			return *rule
		}
		if near == nil && status < 500 && rule.Status < 500 {
			near = rule
		}
	}
	if near != nil {
		return *near
	}
	return statusRule(code, status)
}

// statusRule is for a code that the table does not have, or not with this status.
func statusRule(code string, status int) CodeRule {
	rule := CodeRule{Code: code, Status: status, Advice: Change, Meaning: "a refusal that this version does not know"}
	switch {
	case status >= 500:
		rule.Outcome, rule.Advice = Unknown, Resolve
		rule.Meaning = "the service failed; a write may have been applied"
	case status == 429:
		rule.Advice = Wait
	case status == 401:
		rule.Advice, rule.Kind = Never, KeyRefused
	case status == 403:
		rule.Advice = Never
	}
	return rule
}
