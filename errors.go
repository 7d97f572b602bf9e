package trading

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Error is a refusal: by the service, or by this client with the code that the
// service would have used ([Error.Local]).
//
// Branch on the code, with [errors.Is] and a Code or a [Kind]; show the message
// to people and never parse it.
type Error struct {
	Code           Code   // the service's `error`, exactly
	Status         int    // the HTTP status; 0 if Local
	Message        string // a sentence for people
	Reason, Symbol string // optional members of the body

	// EstSlippagePct is the estimate of a MAX_SLIPPAGE, in percent. It is none for
	// INSUFFICIENT_LIQUIDITY, which is not the same as no slippage.
	EstSlippagePct Opt[decimal.Decimal]
	MaxSlippagePct Opt[decimal.Decimal] // what the order allowed, in percent

	RetryAfter Opt[time.Duration] // how long the service asks to wait before the next try, where it says so
	Local      bool               // nothing was sent
	Meta       Meta               // the facts of the answer
	Extra      Extra              // the body's members that have no field here

	env Environment
	ended
}

// Error says who refused what, and why.
func (e *Error) Error() string {
	text := wire.Printable(string(e.Code), wire.MostMessage)
	if e.Message != "" {
		text += ": " + wire.Printable(e.Message, wire.MostMessage)
	}
	if e.Local {
		return text + " (refused before sending)"
	}
	return text + " (" + strconv.Itoa(e.Status) + ")"
}

// Is reports whether target is this refusal's Code or its Kind.
func (e *Error) Is(target error) bool {
	switch target := target.(type) {
	case Code:
		return e.Code == target
	case Kind:
		return e.rule().Kind == target
	default:
		return false
	}
}

// LogValue logs what a person needs, and no body.
func (e *Error) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("code", string(e.Code)),
		slog.String("message", e.Message),
	}
	if e.Local {
		attrs = append(attrs, slog.Bool("local", true))
	} else {
		attrs = append(attrs, slog.Int("status", e.Status))
	}
	if wait, ok := e.RetryAfter.Get(); ok {
		attrs = append(attrs, slog.Duration("retry_after", wait))
	}
	return slog.GroupValue(attrs...)
}

func (e *Error) rule() Rule { return ruleOf(spec.RuleFor(string(e.Code), e.Status, e.env)) }

// WriteError is what every failed write returns: what became of it, and why the
// call failed. The cause (a refusal, a page of a gateway, a lost connection, an ended
// context) is inside and visible to [errors.Is] and [errors.As].
type WriteError struct {
	Outcome   Outcome   // whether it happened
	Operation Operation // the write
	Account   AccountID // the live account it was for, if it was for one
	Symbol    string    // the market it was for, if it was for one
	Intent    IntentID  // names it for [Client.ResolveID] and in the journal; empty if it is not tracked

	// NotSent is set only if the outcome is Unknown: this call sent nothing, but an earlier
	// run, or another program, may have sent the write under the same key.
	NotSent bool
	Err     error // why the call failed; never nil
}

// Error says what, whether it happened, and why.
func (e *WriteError) Error() string {
	text := string(e.Operation)
	if e.Symbol != "" {
		text += " " + wire.Printable(e.Symbol, wire.MostMessage)
	}
	text += ": " + e.Outcome.String() + ": " + causeText(e.Err)
	if e.Outcome == Unknown && e.Intent != "" { // a person needs both to find out about it
		text += " (write " + string(e.Intent) + " on " + cmp.Or(wire.Printable(string(e.Account), wire.MostMessage), "the paper account") + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// LogValue logs the outcome and the cause.
func (e *WriteError) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("operation", string(e.Operation)),
		slog.String("account", string(e.Account)),
		slog.String("symbol", e.Symbol),
		slog.String("intent", string(e.Intent)),
		slog.String("outcome", e.Outcome.String()),
		slog.Any("cause", e.Err),
	)
}

// GuardError is a write that a guard held back; nothing was sent.
type GuardError struct {
	// Kind is which guard: ErrUnhealthy, ErrHalted, ErrPendingWrite, ErrAccountLocked, ErrJournal, ErrExpired,
	// ErrDecided, or ErrGuard for one of the program's own.
	Kind   Kind
	Reason string  // explains it to a person
	Health *Health // the assessment that held it back; nil if it could not be read or was not the cause
	Err    error   // the cause beneath, such as why health could not be read; may be nil
	ended
}

// Error says which guard, and why.
func (e *GuardError) Error() string {
	text := string(e.Kind)
	if e.Reason != "" {
		text += ": " + wire.Printable(e.Reason, wire.MostMessage)
	}
	if e.Err != nil {
		text += ": " + causeText(e.Err)
	}
	return text
}

// Is reports whether target is this guard's Kind.
func (e *GuardError) Is(target error) bool { return target == e.Kind }

// Unwrap returns the cause beneath.
func (e *GuardError) Unwrap() error { return e.Err }

const snippetSize = 256

// GatewayError is an answer without the service's shape: a page by a proxy, `{}`
// where a result belongs, an error that says success too. Something in front wrote
// it, so it proves nothing about a write.
type GatewayError struct {
	Meta    Meta   // the facts of the answer
	Snippet string // the beginning of the body, for people; at most 256 bytes
	Reason  string // what is not the service's about it
	ended
}

// Error says what came instead of an answer.
func (e *GatewayError) Error() string {
	return fmt.Sprintf("not an answer of the service: %s (status %d): %q", e.Reason, e.Meta.Status, wire.CutText(e.Snippet, snippetSize))
}

// RedirectError is a redirect. It is never followed, since the API key and the
// order would go along. It usually means that the base URL is not the versioned
// root.
type RedirectError struct {
	Meta     Meta   // the facts of the answer
	Location string // where it pointed, without query and user
	ended
}

// Error names the address to use instead.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("redirect to %q not followed (status %d): use the versioned root, which ends in /v1, as the base URL",
		wire.CutText(e.Location, wire.MostMessage), e.Meta.Status)
}

// DecodeError is a 2xx of the service that does not have the documented shape.
// After a write that means: it was executed. Meta.Body has the answer.
type DecodeError struct {
	Meta Meta  // the facts of the answer
	Err  error // where the shape differs
	ended
}

// Error says where the shape differs, and after a write that it was executed.
func (e *DecodeError) Error() string {
	if e.outcome == Applied {
		return "executed, but the answer cannot be read: " + causeText(e.Err)
	}
	return "the answer cannot be read: " + causeText(e.Err)
}

// Unwrap returns where the shape differs.
func (e *DecodeError) Unwrap() error { return e.Err }

// TransportError is an attempt that got no answer.
type TransportError struct {
	Meta    Meta  // the facts of the attempt; it has no status
	Written bool  // the request, or part of it, may have arrived
	Err     error // what broke
	ended
}

// Error says whether the request may have arrived, and what broke.
func (e *TransportError) Error() string {
	text := "not sent: " + causeText(e.Err)
	if e.Written {
		text = "no answer: " + causeText(e.Err)
	}
	if errors.Is(e.Err, http.ErrSchemeMismatch) || errors.As(e.Err, new(tls.RecordHeaderError)) {
		text += ": the base URL begins with https://, and what listens there speaks http"
	}
	return text
}

// Unwrap returns what broke.
func (e *TransportError) Unwrap() error { return e.Err }

// refuse is a local refusal, with the code that the service would have used.
func refuse(env Environment, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Local: true, env: env, ended: ended{NotApplied}}
}

// local is a fault as the service would have refused it; nil if there is none.
func local(env Environment, f *check.Fault) error {
	if f == nil {
		return nil
	}
	return refuse(env, Code(f.Code), "%s", f.Text)
}

// outcomeBearer is an error that remembers the outcome of the call it ended.
type outcomeBearer interface {
	error
	outcomeOfCall() *Outcome
}

// ended is the outcome of the call that an error ended.
type ended struct{ outcome Outcome }

func (e *ended) outcomeOfCall() *Outcome { return &e.outcome }

// readError is what ended a read before there was an answer and is not this
// client's own, such as the end of its context. It says that nothing was applied,
// which the bare error could not.
type readError struct{ error }

func (e readError) Error() string { return causeText(e.error) }

func (e readError) Unwrap() error { return e.error }

func (e readError) outcomeOfCall() *Outcome {
	none := NotApplied
	return &none
}

// OptionError is an option, or another argument, that cannot be meant: [New] returns it,
// and so does the call that it was given to, which sends nothing.
type OptionError struct {
	Option string // its function, such as "WithRetry", or the argument's name
	Reason string // what is wrong with it
	Err    error  // the refusal beneath, such as that of a key; may be nil
}

// Error names the option and the rule.
func (e *OptionError) Error() string {
	if e.Err != nil {
		return "trading: " + e.Option + ": " + causeText(e.Err)
	}
	return "trading: " + e.Option + ": " + wire.Printable(e.Reason, wire.MostMessage)
}

// Unwrap returns the refusal beneath.
func (e *OptionError) Unwrap() error { return e.Err }

// invalid is an option that is refused.
func invalid(option, format string, args ...any) error {
	return &OptionError{Option: option, Reason: fmt.Sprintf(format, args...)}
}

// invalidFor is an option that is refused for a reason with a code of its own; nil without one.
func invalidFor(option string, err error) error {
	if err == nil {
		return nil
	}
	return &OptionError{Option: option, Reason: err.Error(), Err: err}
}

func errNilOption() error { return invalid("opts", "nil option") }

// checkContext refuses a nil context, which would end in a panic of the standard
// library's.
func checkContext(ctx any) error {
	if ctx == nil {
		return invalid("ctx", "the context is nil; without one of the caller's own, pass context.Background()")
	}
	return nil
}

// ErrClosed is the error of calls after [Client.Close].
var ErrClosed = resolve.ErrClosed
