package trading

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// logger writes a line a call, of facts from a fixed list: no key, no header and
// no body can get into it. Without a logger it does nothing.
type logger struct{ *slog.Logger }

// call logs how a call ended.
func (l logger) call(c *call, err error) {
	if l.Logger == nil {
		return
	}
	level, text := slog.LevelDebug, "call"
	switch {
	case err == nil:
	case c.endpoint.write && OutcomeOf(err) == Unknown:
		level, text = slog.LevelWarn, "write of unknown outcome"
	default:
		level, text = slog.LevelInfo, "call failed"
	}
	// The caller's context may have ended; the line is about that.
	ctx := context.WithoutCancel(c.Context)
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", string(c.endpoint.op)),
		slog.Int("attempts", c.sends),
		slog.Duration("took", time.Since(c.began)),
	}
	if c.symbol != "" {
		attrs = append(attrs, slog.String("symbol", c.symbol))
	}
	if c.opts.tag != "" {
		attrs = append(attrs, slog.String("tag", c.opts.tag))
	}
	if c.last.status != 0 {
		attrs = append(attrs, slog.Int("status", c.last.status))
	}
	if c.endpoint.write {
		attrs = append(attrs, slog.String("outcome", OutcomeOf(err).String()))
	}
	if err != nil {
		attrs = append(attrs, slog.String("err", err.Error()))
		if refusal := (*Error)(nil); errors.As(err, &refusal) {
			attrs = append(attrs, slog.String("code", string(refusal.Code)))
		}
	}
	l.LogAttrs(ctx, level, text, attrs...)
}

// rateLimitStore logs a call of the rate limit store that failed: the client counts by
// itself meanwhile.
func (l logger) rateLimitStore(call string, err error) {
	if l.Logger == nil {
		return
	}
	l.LogAttrs(context.Background(), slog.LevelWarn, "rate limit store failed",
		slog.String("call", call), slog.String("err", err.Error()))
}

// unwritten logs a settlement that the journal did not take: the intent stays
// pending there, and the next run will look into it.
func (l logger) unwritten(c *call, err error) {
	if l.Logger == nil {
		return
	}
	l.LogAttrs(context.WithoutCancel(c.Context), slog.LevelWarn, "settlement not written",
		slog.String("operation", string(c.endpoint.op)),
		slog.String("outcome", c.outcome.String()),
		slog.String("err", err.Error()))
}
