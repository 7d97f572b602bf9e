package tradingotel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/tradingapi/trading-go/journal"
)

// Journal returns the journal with its durable appends measured, for [trading.WithJournal]. The
// program closes what it has opened, and not this.
func Journal(c Config, store journal.Store) (journal.Store, error) {
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	took, err := c.MeterProvider.Meter(scope).Float64Histogram("trading.journal.append.duration", metric.WithUnit("s"),
		metric.WithDescription("How long durable appends to the journal took."),
		metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30))
	if err != nil {
		return nil, fmt.Errorf("tradingotel: Journal: %w", err)
	}
	m := measured{store, took}
	// The client asks a journal what else it can.
	leaser, leased := store.(journal.Leaser)
	gapper, gaps := store.(journal.Gapper)
	switch {
	case leased && gaps:
		return struct {
			measured
			journal.Leaser
			journal.Gapper
		}{m, leaser, gapper}, nil
	case leased:
		return struct {
			measured
			journal.Leaser
		}{m, leaser}, nil
	case gaps:
		return struct {
			measured
			journal.Gapper
		}{m, gapper}, nil
	default:
		return m, nil
	}
}

// measured is a journal whose appends are measured.
type measured struct {
	journal.Store
	took metric.Float64Histogram
}

// Append implements [journal.Store].
func (m measured) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	began := time.Now()
	err := m.Store.Append(ctx, durable, records...)
	if durable {
		var attrs []attribute.KeyValue
		if err != nil {
			attrs = append(attrs, appendError(err))
		}
		m.took.Record(context.WithoutCancel(ctx), time.Since(began).Seconds(), metric.WithAttributes(attrs...))
	}
	return err
}

// appendError names an error without its text.
func appendError(err error) attribute.KeyValue {
	for _, known := range []struct {
		name string
		err  error
	}{
		{"fenced", journal.ErrFenced}, {"lost_history", journal.ErrLostHistory}, {"closed", journal.ErrClosed},
		{"invalid", journal.ErrInvalid}, {"resolved", journal.ErrResolved},
		{"canceled", context.Canceled}, {"deadline", context.DeadlineExceeded},
	} {
		if errors.Is(err, known.err) {
			return semconv.ErrorTypeKey.String(known.name)
		}
	}
	return semconv.ErrorTypeKey.String("failed")
}
