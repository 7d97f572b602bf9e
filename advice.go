package trading

import (
	"errors"
	"iter"
)

// Advice answers the last question about a failed call: what now?
type Advice uint8

const (
	// AdviseNever: no retry helps; a person must act.
	AdviseNever Advice = iota
	// AdviseChange: the order is at fault, as it is or at this price; change it first.
	AdviseChange
	// AdviseNewKey: nothing was placed and the cause passes; send again, on a live
	// account under a new key, since the refusal is stored under the old one.
	AdviseNewKey
	// AdviseSameKey: nothing is stored, or the first request still runs; send the same bytes under the same key.
	AdviseSameKey
	// AdviseWait: wait for [RetryAfter], then send the same again.
	AdviseWait
	// AdviseRead: look first, by Resolve or by reading the account; do not send again blindly.
	AdviseRead
)

// String returns the advice in words.
func (a Advice) String() string {
	switch a {
	case AdviseChange:
		return "change the request"
	case AdviseNewKey:
		return "send again under a new key"
	case AdviseSameKey:
		return "send again under the same key"
	case AdviseWait:
		return "wait, then send again"
	case AdviseRead:
		return "read first"
	default:
		return "do not retry"
	}
}

// Rule is one row of the table that the client's own retries follow.
type Rule struct {
	// Code is the refusal; empty in the rows for codes that this version does not know.
	Code Code
	// Status is the HTTP status; 0 stands for any below 500.
	Status int
	// Environment is where the row holds; empty for both.
	Environment Environment
	// Kind is the family that the code belongs to, if any.
	Kind Kind
	// Advice is what to do next.
	Advice Advice
	// Outcome is what the answer says of a write that nothing was doubtful about before.
	Outcome Outcome
	// Meaning says it in a sentence.
	Meaning string
}

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

// AdviceOf returns what to do about err. Doubt stands above the table: while the
// outcome of a write is [Unknown], the advice is [AdviseRead].
func AdviceOf(err error) Advice {
	if err == nil {
		return AdviseNever
	}
	outcome := OutcomeOf(err)
	if outcome == Unknown {
		return AdviseRead
	}
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return refusal.rule().Advice
	}
	if outcome == Applied {
		return AdviseRead // executed, but the answer could not be read
	}
	if transport := (*TransportError)(nil); errors.As(err, &transport) {
		return AdviseSameKey
	}
	if edge := (*EdgeError)(nil); errors.As(err, &edge) {
		return AdviseSameKey // to a read, by something in front, which passes
	}
	if guard := (*GuardError)(nil); errors.As(err, &guard) {
		return AdviseNewKey // nothing was sent; it may pass later
	}
	return AdviseNever
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
