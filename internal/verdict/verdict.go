// Package verdict says whose an answer is, and what it proves of a write. It is the one
// place that does: the client asks it about every answer, and docs/outcomes.md has its
// table.
//
// Whose an answer is cannot be seen from marks that something in front leaves, since most
// leave none. It is the service's if it has the service's shape, and it is believed as far
// as the contract gives it to the operation. What is left open is found out by questions:
// the stored answer, a fence, the account.
package verdict

import (
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Seen is what is judged.
type Seen struct {
	Endpoint *spec.Endpoint
	Env      spec.Environment // whose key the request had
	Status   int
	Replayed bool       // marked as the stored answer of an earlier request
	JSON     bool       // the body is one well-formed JSON value
	Shape    wire.Shape // empty if it is not

	// What the table looks at besides.
	refusal, documented bool
	rule                spec.CodeRule
}

// Ruling is whose an answer is, and what it proves.
type Ruling struct {
	Proof Proof
	// Refusal means that it has the shape of the service's errors, Documented also that the
	// contract gives the operation this code with this status.
	Refusal, Documented bool
	// Said is the answer as the ledger notes it.
	Said ledger.Answer
}

// Of judges an answer.
func Of(a Seen) (v Ruling) {
	if a.refusal = a.isError(); a.refusal {
		a.documented = a.Endpoint.Documents(a.Shape.Error, a.Status)
		a.rule = spec.RuleFor(a.Shape.Error, a.Status, a.Env)
		v.Refusal, v.Documented = true, a.documented
	}
	i := 0
	for !rows[i].is(a) {
		i++
	}
	v.Proof = rows[i].Fresh
	if a.Replayed {
		v.Proof = rows[i].Replayed
	}
	v.Said = a.said(v.Proof)
	return v
}

// gives reports whether the contract gives the operation this code with this status, and
// what its rule says of a write.
func (a Seen) gives(o spec.Says) bool { return a.documented && a.rule.Outcome == o }

// said is the answer as the ledger notes it.
func (a Seen) said(p Proof) ledger.Answer {
	said := ledger.Answer{Class: proofs[p].class, Status: a.Status, Replayed: a.Replayed}
	if said.Class != ledger.Refusal {
		return said
	}
	said.Code, said.Confirm = a.Shape.Error, p == IfConfirmed
	if p != MayRun {
		said.Says = ledger.NotApplied
	}
	if a.documented {
		said.Advice = advices[a.rule.Advice]
		said.Price = a.rule.Kind == spec.NoPrice
		said.InFront = a.rule.Advice == spec.Wait || a.rule.Kind == spec.KeyRefused
	}
	return said
}

var advices = map[spec.Advice]ledger.Resend{
	spec.SameKey: ledger.SameKey,
	spec.NewKey:  ledger.NewKey,
	spec.Wait:    ledger.WaitFirst,
}

// isError reports whether an answer has the shape of the service's errors: an object with
// the strings error and message, and with neither ok nor success. A write's has the status
// of an error too: a refusal with a 2xx is yes and no at once.
func (a Seen) isError() bool {
	s := &a.Shape
	return (a.Status >= 400 || !a.Endpoint.Write) && s.HasMessage && !s.HasOK && !s.HasSuccess && isCode(s.Error)
}

// isCode reports whether text is made as all codes of the contract are.
func isCode(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return text != ""
}

// isSuccess reports whether an answer has the shape of the service's success: for a write
// the member that says so on a 2xx, for a read any 2xx without error, for health also the
// 503 by which it says that trading is not safe.
func (a Seen) isSuccess() bool {
	s, ok := &a.Shape, a.Status/100 == 2
	switch o := a.Endpoint; {
	case !a.JSON:
		return false
	case o.Path == spec.Health:
		return s.Object && (ok || a.Status == 503)
	case !ok || s.HasError:
		return false
	case o.Path == spec.Description: // nothing decodes it, so its shape is judged here
		return s.Object
	case !o.Write:
		return true
	case a.Env == "live":
		return s.Success
	default:
		return s.OK
	}
}
