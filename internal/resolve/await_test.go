package resolve

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// The first entry on a declared account waits until one look shows all that was done there
// before. Who has less time than that goes without.
func TestTheFirstEntryWaitsForALook(t *testing.T) {
	waits := func(c *Config) { c.WithoutBaseline = false }
	old := newDisk()
	for name, row := range map[string]struct {
		change []func(*Config)
		after  time.Duration // of the client's start
		ttl    time.Duration
		within time.Duration // the caller's patience
		want   time.Duration
	}{
		"without a journal an earlier run may have traded just now": {change: []func(*Config){waits}, want: accounting.Lag},
		"with a journal that has seen other runs too":               {change: []func(*Config){waits, on(old)}, want: accounting.Lag},
		"a while after the start":                                   {change: []func(*Config){waits}, after: accounting.Lag - time.Second, want: time.Second},
		"later":                                                     {change: []func(*Config){waits}, after: accounting.Lag},
		"with less time to send":                                    {change: []func(*Config){waits}, ttl: accounting.Lag},
		"with less patience":                                        {change: []func(*Config){waits}, within: accounting.Lag},
		"with enough of both":                                       {change: []func(*Config){waits}, within: 2 * accounting.Lag, want: accounting.Lag},
		"of a bot that cannot wait":                                 {},
		"where others trade":                                        {change: []func(*Config){waits, notDeclared}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := client(t, &service{}, append(row.change, foreground)...)
				time.Sleep(row.after)
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				if row.within > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), row.within)
				}
				defer cancel()
				w := newWrite(d, "w_1", order)
				if row.ttl > 0 {
					w.Intent.SendTTL = row.ttl
				}
				d.Own(w, "")
				require.NoError(t, d.AwaitBaseline(ctx, w))
				assert.Equal(t, row.want, time.Since(began))
				require.NoError(t, d.Before(ctx, w, false))

				began = time.Now()
				require.NoError(t, d.AwaitBaseline(ctx, newWrite(d, "w_2", exit)), "an exit waits for nothing")
				require.NoError(t, d.AwaitBaseline(ctx, newWrite(d, "w_3", order)), "it is not the first")
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

// A caller who leaves does not wait on.
func TestWhoLeavesWhileItWaitsForALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := client(t, &service{}, foreground, func(c *Config) { c.WithoutBaseline = false })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, d.AwaitBaseline(ctx, newWrite(d, "w_1", order)), context.Canceled)
	})
}
