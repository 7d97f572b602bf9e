package tradingotel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradingapi/trading-go"
)

const scope = "github.com/tradingapi/trading-go/contrib/otel"

// Config says where to report. Its zero value reports to OpenTelemetry's global providers.
type Config struct {
	// TracerProvider and MeterProvider are where spans and metrics go; nil for the
	// global ones.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Account names the live account in spans. It is not a secret, but whose it is
	// may be nobody's business where traces are read.
	Account bool
}

// hooks are one client's, or several's.
type hooks struct {
	tracer  trace.Tracer
	account bool
	codes   map[trading.Code]bool // that are known

	calls, attempts, outcomes, resolutions metric.Int64Counter
	callTook, attemptTook, waits           metric.Float64Histogram
}

// New returns hooks for [trading.WithHooks].
func New(c Config) (trading.Hooks, error) {
	if c.TracerProvider == nil {
		c.TracerProvider = otel.GetTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	h := &hooks{tracer: c.TracerProvider.Tracer(scope), account: c.Account, codes: map[trading.Code]bool{}}
	for rule := range trading.Rules() {
		h.codes[rule.Code] = true
	}
	if err := h.instrument(c.MeterProvider.Meter(scope)); err != nil {
		return trading.Hooks{}, fmt.Errorf("tradingotel: New: %w", err)
	}
	return trading.Hooks{
		CallStart: h.callStart, CallDone: h.callDone,
		AttemptStart: h.attemptStart, AttemptDone: h.attemptDone,
		Waiting: h.waiting, Resolved: h.resolved,
	}, nil
}

// instrument makes the metrics.
func (h *hooks) instrument(m metric.Meter) error {
	var errs []error
	counter := func(name, unit, what string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
		return c
	}
	seconds := func(name, what string) metric.Float64Histogram {
		c, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what),
			metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60))
		errs = append(errs, err)
		return c
	}
	h.calls = counter("trading.calls", "{call}", "Calls that have ended.")
	h.attempts = counter("trading.attempts", "{attempt}", "Sends that have ended.")
	h.outcomes = counter("trading.outcomes", "{write}", "Writes that have ended, by what is known of them.")
	h.resolutions = counter("trading.resolutions", "{write}", "Writes in doubt, by what they were found to have come to.")
	h.callTook = seconds("trading.call.duration", "How long calls took, waits included.")
	h.attemptTook = seconds("trading.attempt.duration", "How long sends took.")
	h.waits = seconds("trading.wait.duration", "How long calls expected to wait.")
	return errors.Join(errs...)
}

// Spans travel under keys of their own: the context's current span may be another
// hook's.
type (
	callKey    struct{}
	attemptKey struct{}
)

func (h *hooks) callStart(ctx context.Context, c trading.Call) context.Context {
	ctx, span := h.tracer.Start(ctx, string(c.Operation), trace.WithAttributes(h.ofSpan(c)...))
	return context.WithValue(ctx, callKey{}, span)
}

func (h *hooks) callDone(ctx context.Context, c trading.Call, d trading.Done) {
	end := h.ofDone(c, d)
	if span, ok := ctx.Value(callKey{}).(trace.Span); ok {
		span.SetAttributes(end...)
		span.SetAttributes(attrAttempts.Int(d.Attempts))
		finish(span, d.Err != nil)
	}
	all := metric.WithAttributes(slices.Concat(ofCall(c), end)...)
	h.calls.Add(ctx, 1, all)
	h.callTook.Record(ctx, d.Took.Seconds(), all)
	if c.Write {
		h.outcomes.Add(ctx, 1, metric.WithAttributes(append(ofCall(c), attrOutcome.String(d.Outcome.String()))...))
	}
}

func (h *hooks) attemptStart(ctx context.Context, c trading.Call, attempt int) context.Context {
	if call, ok := ctx.Value(callKey{}).(trace.Span); ok {
		ctx = trace.ContextWithSpan(ctx, call)
	}
	ctx, span := h.tracer.Start(ctx, string(c.Operation), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(ofRequest(c)...))
	if attempt > 1 {
		span.SetAttributes(semconv.HTTPRequestResendCount(attempt - 1))
	}
	return context.WithValue(ctx, attemptKey{}, span)
}

func (h *hooks) attemptDone(ctx context.Context, c trading.Call, a trading.Attempt) {
	end := h.ofAttempt(c, a)
	if span, ok := ctx.Value(attemptKey{}).(trace.Span); ok {
		span.SetAttributes(end...)
		finish(span, a.Err != nil || a.Status >= firstError)
	}
	all := metric.WithAttributes(slices.Concat(ofCall(c), end)...)
	h.attempts.Add(ctx, 1, all)
	h.attemptTook.Record(ctx, a.Took.Seconds(), all)
}

// finish ends a span. Its status has no text: an error's may hold what a proxy said.
func finish(span trace.Span, failed bool) {
	if failed {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

func (h *hooks) waiting(ctx context.Context, c trading.Call, w trading.Wait) {
	reason, seconds := attrReason.String(string(w.Reason)), w.For.Round(time.Millisecond).Seconds()
	if span, ok := ctx.Value(callKey{}).(trace.Span); ok {
		span.AddEvent("wait", trace.WithAttributes(reason, attrSeconds.Float64(seconds)))
	}
	h.waits.Record(ctx, seconds, metric.WithAttributes(append(ofCall(c), reason)...))
}

func (h *hooks) resolved(ctx context.Context, r trading.Resolution) {
	h.resolutions.Add(ctx, 1, metric.WithAttributes([]attribute.KeyValue{
		attrOperation.String(string(r.Intent.Operation)),
		attrEnvironment.String(string(r.Intent.Environment)),
		attrOutcome.String(r.Outcome.String()),
	}...))
}
