package tradingotel

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tradingapi/trading-go"
)

// Every attribute that there can be.
const (
	attrOperation   = attribute.Key("trading.operation")   // the endpoint, such as POST /orders
	attrEnvironment = attribute.Key("trading.environment") // sandbox or live
	attrAccount     = attribute.Key("trading.account")     // spans only, where Config asks for it
	attrSymbol      = attribute.Key("trading.symbol")      // spans only
	attrPriority    = attribute.Key("trading.priority")    // exit, recovery, entry or read
	attrResult      = attribute.Key("trading.result")      // ok, refused or failed
	attrOutcome     = attribute.Key("trading.outcome")     // of writes
	attrAttempts    = attribute.Key("trading.attempts")    // spans of calls only
	attrAttempt     = attribute.Key("trading.attempt")     // spans of attempts only, from 1
	attrStatus      = attribute.Key("trading.status")      // the HTTP status
	attrCode        = attribute.Key("trading.code")        // of a refusal
	attrReason      = attribute.Key("trading.wait.reason") // rate limit or backoff
	attrSeconds     = attribute.Key("trading.wait.seconds")
)

// otherCode stands for a code that this version of the client does not know.
const otherCode = "other"

// The results.
const (
	resultOK      = "ok"
	resultRefused = "refused" // by the service, or locally with a code of its
	resultFailed  = "failed"
)

// ofCall are the attributes of a call that metrics may have.
func ofCall(c trading.Call) []attribute.KeyValue {
	attrs := make([]attribute.KeyValue, 0, 8)
	attrs = append(attrs, attrOperation.String(string(c.Operation)))
	if c.Environment != "" {
		attrs = append(attrs, attrEnvironment.String(string(c.Environment)))
	}
	return append(attrs, attrPriority.String(c.Priority.String()))
}

// ofSpan adds what only a call's span has.
func (h *hooks) ofSpan(c trading.Call) []attribute.KeyValue {
	attrs := ofCall(c)
	if c.Symbol != "" {
		attrs = append(attrs, attrSymbol.String(c.Symbol))
	}
	if c.Account != "" && h.account {
		attrs = append(attrs, attrAccount.String(string(c.Account)))
	}
	return attrs
}

// ofDone are the attributes of a call's end.
func (h *hooks) ofDone(c trading.Call, d trading.Done) []attribute.KeyValue {
	result, code := resultOK, trading.Code("")
	if refusal := (*trading.Error)(nil); errors.As(d.Err, &refusal) {
		result, code = resultRefused, refusal.Code
	} else if d.Err != nil {
		result = resultFailed
	}
	attrs := append(make([]attribute.KeyValue, 0, 4), attrResult.String(result))
	if c.Write {
		attrs = append(attrs, attrOutcome.String(d.Outcome.String()))
	}
	return h.withCode(attrs, code)
}

// ofAttempt are the attributes of an attempt's end.
func (h *hooks) ofAttempt(c trading.Call, a trading.Attempt) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	if a.Status != 0 {
		attrs = append(attrs, attrStatus.Int(a.Status))
	}
	if c.Write {
		attrs = append(attrs, attrOutcome.String(a.Outcome.String()))
	}
	return h.withCode(attrs, a.Code)
}

func (h *hooks) withCode(attrs []attribute.KeyValue, code trading.Code) []attribute.KeyValue {
	switch {
	case code == "":
		return attrs
	case !h.codes[code]:
		code = otherCode
	}
	return append(attrs, attrCode.String(string(code)))
}
