package tradingotel

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/tradingapi/trading-go"
)

// The attributes that OpenTelemetry's semantic conventions have no name for. Of theirs,
// spans and metrics have error.type, those of attempts http.response.status_code, and the
// spans of attempts http.request.method, url.template and http.request.resend_count too.
const (
	attrOperation   = attribute.Key("trading.operation")   // the endpoint, such as POST /orders
	attrEnvironment = attribute.Key("trading.environment") // sandbox or live
	attrAccount     = attribute.Key("trading.account")     // of spans and of floors, where Config asks for it
	attrSymbol      = attribute.Key("trading.symbol")      // spans only
	attrPriority    = attribute.Key("trading.priority")    // exit, recovery, entry or read
	attrOutcome     = attribute.Key("trading.outcome")     // of writes
	attrAttempts    = attribute.Key("trading.attempts")    // spans of calls only: how many there were
	attrReason      = attribute.Key("trading.wait.reason") // rate limit or backoff
	attrSeconds     = attribute.Key("trading.wait.seconds")
	attrLease       = attribute.Key("trading.lease")     // the lease of a journal
	attrLimit       = attribute.Key("trading.ratelimit") // such as key/live or market-orders
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
	attrs := make([]attribute.KeyValue, 0, 2)
	if c.Write {
		attrs = append(attrs, attrOutcome.String(d.Outcome.String()))
	}
	if d.Err != nil {
		attrs = append(attrs, h.errorType(d.Err))
	}
	return attrs
}

// ofRequest are the attributes of the span of every attempt of a call.
func ofRequest(c trading.Call) []attribute.KeyValue {
	method, path, _ := strings.Cut(string(c.Operation), " ")
	return []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(method), semconv.URLTemplate(path)}
}

// ofAttempt are the attributes of an attempt's end.
func (h *hooks) ofAttempt(c trading.Call, a trading.Attempt) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	if a.Status != 0 {
		attrs = append(attrs, semconv.HTTPResponseStatusCode(a.Status))
	}
	if c.Write {
		attrs = append(attrs, attrOutcome.String(a.Outcome.String()))
	}
	switch {
	case a.Code != "":
		return append(attrs, h.codeType(a.Code))
	case a.Err != nil:
		return append(attrs, h.errorType(a.Err))
	case a.Status >= firstError:
		return append(attrs, semconv.ErrorTypeKey.String(strconv.Itoa(a.Status)))
	default:
		return attrs
	}
}

// firstError is the lowest status of an answer that is no success.
const firstError = 400

// errorType names an error without its text: the code of a refusal, or the type of what
// failed.
func (h *hooks) errorType(err error) attribute.KeyValue {
	if refusal := (*trading.Error)(nil); errors.As(err, &refusal) {
		return h.codeType(refusal.Code)
	}
	if write := (*trading.WriteError)(nil); errors.As(err, &write) {
		err = write.Err
	}
	return semconv.ErrorTypeKey.String(fmt.Sprintf("%T", err))
}

// codeType is a code of the service, or the convention's _OTHER for one that this version
// of the client does not know.
func (h *hooks) codeType(code trading.Code) attribute.KeyValue {
	if !h.codes[code] {
		return semconv.ErrorTypeOther
	}
	return semconv.ErrorTypeKey.String(string(code))
}
