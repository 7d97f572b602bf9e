package trading

import (
	"iter"
	"slices"
)

// Rules yields the whole table, in the order of the contract. The retry stage,
// the documentation and the tests read the same rows.
func Rules() iter.Seq[Rule] {
	return func(yield func(Rule) bool) {
		for _, rule := range rules {
			if !yield(rule) {
				return
			}
		}
	}
}

// ruleFor finds the row for an answer: the exact one, else the same code below
// 500, else the one for the status. A 5xx needs its exact row, since only a code
// documented with that status is known to mean that nothing was placed.
func ruleFor(code Code, status int, env Environment) Rule {
	var near *Rule
	for i := range rules {
		rule := &rules[i]
		if rule.Code != code || rule.Environment != "" && env != "" && rule.Environment != env {
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

// statusRule is the row for a code that the table does not have, or not with
// this status.
func statusRule(code Code, status int) Rule {
	rule := Rule{Code: code, Status: status, Outcome: NotApplied, Advice: AdviseChange,
		Meaning: "a refusal that this version does not know"}
	switch {
	case status >= 500:
		rule.Outcome, rule.Advice = Unknown, AdviseRead
		rule.Meaning = "the service failed; a write may have been applied"
	case status == 429:
		rule.Advice = AdviseWait
	case status == 401:
		rule.Advice, rule.Kind = AdviseNever, ErrKeyRefused
	case status == 403:
		rule.Advice = AdviseNever
	}
	return rule
}

// knownCode reports whether the contract has a code, for any operation.
func knownCode(code Code) bool {
	return slices.ContainsFunc(rules[:], func(r Rule) bool { return r.Code == code })
}
