package tradingotel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
)

// Sources are what [Observe] asks each time that the metrics are collected. One that is nil is left
// out.
type Sources struct {
	// Client has the pending writes, the halt and the rate limits. Nothing is sent.
	Client *trading.Client
	// Protection has the room above the loss floors, as its last look found it.
	Protection *protect.Protection
	// Journal has the lease, if it is held under one (contrib/postgres), and Lease is its name.
	Journal journal.Store
	Lease   string
}

// observer asks the sources.
type observer struct {
	Sources
	account bool // name it
	took    time.Time

	pending, halted, left, taken               metric.Int64ObservableGauge
	age, leaseLeft, closedFor, room, need, saw metric.Float64ObservableGauge
}

// Observe reports the state of a bot until stop is called: what is pending and since when, whether
// entries are halted, the rate limits, the room above the loss floors, and the lease of the journal.
// Call it once the lease is held, and stop when it is handed over.
func Observe(c Config, s Sources) (stop func() error, err error) {
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	o := &observer{Sources: s, account: c.Account, took: time.Now()}
	meter := c.MeterProvider.Meter(scope)
	var errs []error
	var all []metric.Observable
	count := func(name, unit, what string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs, all = append(errs, err), append(all, g)
		return g
	}
	number := func(name, unit, what string) metric.Float64ObservableGauge {
		g, err := meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs, all = append(errs, err), append(all, g)
		return g
	}
	if s.Client != nil {
		o.pending = count("trading.pending.writes", "{write}", "Writes whose outcome is not known.")
		o.age = number("trading.pending.age", "s", "How long ago the oldest of them was decided.")
		o.halted = count("trading.halted", "{halt}", "1 while entries are refused, by this program or by the lease.")
		o.left = count("trading.ratelimit.left", "{request}", "Requests that a rate limit has room for.")
		o.closedFor = number("trading.ratelimit.closed", "s", "How long the service refuses every request of a rate limit.")
	}
	if s.Protection != nil {
		o.room = number("trading.floor.room", "{dollar}", "How far the equity is above the loss floor: the account with the least.")
		o.need = number("trading.floor.need", "{dollar}", "How much room the positions of that account need.")
		o.saw = number("trading.floor.age", "s", "How old the look is that this was computed from: the oldest.")
	}
	if _, leased := s.Journal.(journal.Leaser); leased {
		o.leaseLeft = number("trading.lease.left", "s", "How long bytes may leave, if the lease is not renewed; 0 if none may.")
		o.taken = count("trading.lease.taken", "s", "When this process took the lease, in Unix time.")
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("tradingotel: Observe: %w", err)
	}
	if len(all) == 0 {
		return func() error { return nil }, nil
	}
	registered, err := meter.RegisterCallback(o.observe, all...)
	if err != nil {
		return nil, fmt.Errorf("tradingotel: Observe: %w", err)
	}
	return registered.Unregister, nil
}

// observe leaves out what cannot be read: a gauge that is missing is not one of 0.
func (o *observer) observe(ctx context.Context, to metric.Observer) error {
	now := time.Now()
	var errs []error
	if o.Client != nil {
		errs = append(errs, o.ofClient(ctx, to, now))
	}
	if o.Protection != nil {
		errs = append(errs, o.floors(to, now))
	}
	if lease, ok := o.Journal.(journal.Leaser); ok {
		of := metric.WithAttributes(attrLease.String(o.Lease))
		to.ObserveFloat64(o.leaseLeft, max(0, lease.Deadline().Sub(now).Seconds()), of)
		to.ObserveInt64(o.taken, o.took.Unix(), of)
	}
	return errors.Join(errs...)
}

func (o *observer) ofClient(ctx context.Context, to metric.Observer, now time.Time) error {
	pending, err := o.Client.Pending(ctx)
	if err == nil {
		oldest := now
		for _, w := range pending {
			oldest = earlier(oldest, w.Decided)
		}
		to.ObserveInt64(o.pending, int64(len(pending)))
		to.ObserveFloat64(o.age, now.Sub(oldest).Seconds())
	}
	halted := int64(0)
	if _, is := o.Client.Halted(); is {
		halted = 1
	}
	to.ObserveInt64(o.halted, halted)
	limits, errLimits := o.Client.RateLimitUsage(ctx)
	for _, u := range limits {
		of := metric.WithAttributes(attrLimit.String(limitName(u.Bucket.Name)))
		to.ObserveInt64(o.left, int64(u.Left), of)
		to.ObserveFloat64(o.closedFor, u.Closed.Seconds(), of)
	}
	return errors.Join(err, errLimits)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// limitName is the name of a rate limit without whose it is.
func limitName(bucket string) string {
	parts := strings.Split(bucket, "/")
	if parts[0] == "key" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[len(parts)-1]
}

// floors reports the account with the least room, or each by its name.
func (o *observer) floors(to metric.Observer, now time.Time) error {
	var list []protect.Status
	var errs []error
	for _, id := range o.Protection.Accounts() {
		status, err := o.Protection.State(id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, status)
	}
	slices.SortStableFunc(list, func(a, b protect.Status) int {
		x, okX := a.Room.Get()
		y, okY := b.Room.Get()
		switch {
		case okX && okY:
			return x.Cmp(y)
		case okX:
			return -1
		case okY:
			return 1
		}
		return 0
	})
	dollars := func(gauge metric.Float64ObservableGauge, of trading.Opt[decimal.Decimal], opts ...metric.ObserveOption) {
		if d, ok := of.Get(); ok {
			to.ObserveFloat64(gauge, d.InexactFloat64(), opts...)
		}
	}
	oldest := now
	for i, status := range list {
		if !status.Seen.IsZero() {
			oldest = earlier(oldest, status.Seen)
		}
		switch {
		case o.account:
			of := metric.WithAttributes(attrAccount.String(string(status.Account)))
			dollars(o.room, status.Room, of)
			dollars(o.need, status.Need, of)
		case i == 0:
			dollars(o.room, status.Room)
			dollars(o.need, status.Need)
		}
	}
	to.ObserveFloat64(o.saw, now.Sub(oldest).Seconds())
	return errors.Join(errs...)
}
