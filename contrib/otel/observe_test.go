package tradingotel

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

// leased is a journal under a lease, which a test takes away.
type leased struct {
	journal.Store
	ends time.Time
	halt bool
	err  error
}

func (l *leased) Deadline() time.Time         { return l.ends }
func (l *leased) Kept(context.Context) bool   { return true }
func (l *leased) Covers(string, string) bool  { return true }
func (l *leased) Halted() (string, bool)      { return "by a test", l.halt }
func (l *leased) CompleteFrom() (t time.Time) { return t }
func (l *leased) SetGap(bool) error           { return nil }
func (l *leased) Gap() (bool, error)          { return false, nil }
func (l *leased) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if l.err != nil {
		return l.err
	}
	return l.Store.Append(ctx, durable, records...)
}

// TestTheStateOfABot: what is pending, a halt, the limits, a floor, the lease, and appends of each kind.
func TestTheStateOfABot(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		lease := &leased{Store: journal.NewMemory(), ends: time.Now().Add(time.Hour)}
		reader := sdkmetric.NewManualReader()
		config := Config{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
		measured, err := Journal(config, lease)
		require.NoError(t, err)
		client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
			trading.WithJournal(measured), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		require.NoError(t, err)
		defer client.Close()
		watcher, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithSandboxKey(sim.SandboxKey()), trading.WithTransport(sim.Transport()))
		require.NoError(t, err)
		defer watcher.Close()
		protection, err := protect.New(protect.Options{Client: watcher, Accounts: []trading.AccountID{accountID}, Dir: dir})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error)
		go func() { ran <- protection.Run(ctx) }()
		defer func() { cancel(); require.NoError(t, <-ran); _ = protection.Close() }()

		stop, err := Observe(config, Sources{Client: client, Protection: protection, Journal: measured, Lease: "desk-1/momentum"})
		require.NoError(t, err)
		w := watched{reader: reader}
		_, err = client.Live.Account(accountID).PlaceOrder(t.Context(), buy())
		require.NoError(t, err)
		assert.Contains(t, w.series(t), "trading.pending.writes [{write}] : 0\n")
		sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err = client.Live.Account(accountID).PlaceOrder(t.Context(), buy(), trading.WithRetry(trading.Retry{Attempts: 1}))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		lease.halt = true
		for _, lease.err = range []error{journal.ErrFenced, fmt.Errorf("%w: and late", journal.ErrLostHistory), errors.New("with a text of pk_live_x"), context.Canceled} {
			require.Error(t, measured.Append(t.Context(), true))
			require.Error(t, measured.Append(t.Context(), false), "and is not measured")
		}
		time.Sleep(time.Minute)
		text := w.series(t)
		assert.NotContains(t, text, accountID)
		// The next look is a random while away.
		golden(t, "gauges", regexp.MustCompile(`(trading\.floor\.age \[s\] :) 1?\d\n`).ReplaceAllString(text, "$1 12\n"))

		lease.ends = time.Time{}
		assert.Contains(t, w.series(t), "trading.lease.left [s] trading.lease=desk-1/momentum: 0\n")
		require.NoError(t, stop())
		assert.NotContains(t, w.series(t), "trading.lease.left")
	})
}

// TestNamedFloors: each account by its name, where that is asked for.
func TestNamedFloors(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
		require.NoError(t, err)
		defer client.Close()
		protection, err := protect.New(protect.Options{Client: client, Accounts: []trading.AccountID{accountID}, Dir: dir})
		require.NoError(t, err)
		defer protection.Close()
		reader := sdkmetric.NewManualReader()
		config := Config{Account: true, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
		stop, err := Observe(config, Sources{Protection: protection})
		require.NoError(t, err)
		w := watched{reader: reader}
		assert.NotContains(t, w.series(t), "trading.floor.room", "nobody has looked yet")
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error)
		go func() { ran <- protection.Run(ctx) }()
		time.Sleep(time.Minute)
		assert.Contains(t, w.series(t), "trading.floor.room [{dollar}] trading.account="+accountID+": ")
		cancel()
		require.NoError(t, <-ran)
		require.NoError(t, stop())
	})
}

// TestAJournalStaysWhatItIs: a file is not held under a lease, and can note a gap.
func TestAJournalStaysWhatItIs(t *testing.T) {
	file, err := journal.Open(t.TempDir() + "/j")
	require.NoError(t, err)
	defer file.Close()
	for _, c := range []struct {
		store        journal.Store
		leased, gaps bool
	}{
		{file, false, true},
		{journal.NewMemory(), false, false},
		{&leased{Store: journal.NewMemory()}, true, true},
		{struct {
			journal.Store
			journal.Leaser
		}{journal.NewMemory(), &leased{}}, true, false},
	} {
		wrapped, err := Journal(Config{}, c.store)
		require.NoError(t, err)
		_, isLeased := wrapped.(journal.Leaser)
		_, hasGaps := wrapped.(journal.Gapper)
		assert.Equal(t, [2]bool{c.leased, c.gaps}, [2]bool{isLeased, hasGaps}, "%T", c.store)
		assert.Same(t, c.store.Shared(), wrapped.Shared())
	}
	stop, err := Observe(Config{}, Sources{Journal: journal.NewMemory()})
	require.NoError(t, err)
	require.NoError(t, stop())
}

func TestLimitNames(t *testing.T) {
	for bucket, want := range map[string]string{"key/live/1f0c9a3e": "key/live", "user/desk-1/market-orders": "market-orders", "key": "key"} {
		assert.Equal(t, want, limitName(bucket))
	}
}
