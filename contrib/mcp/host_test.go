package mcp

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
)

// Where a sidecar runs, it is the host: its client has the keys, the journal and the locks. Where it
// bounds positions, it refuses an entry that is no bot's, and an exit goes out.
func TestBehindASidecar(t *testing.T) {
	for _, bounded := range []bool{false, true} {
		r := newRig(t, Live, nil)
		r.stop()
		writes := journal.NewMemory()
		config := sidecar.Config{
			BaseURL: r.sim.URL(), Options: append(r.keys, trading.WithTransport(r.sim.Transport())), Journal: writes,
			Dir: t.TempDir(), Locks: t.TempDir() + "/locks",
		}
		if bounded {
			config.MaxPosition = map[string]decimal.Decimal{"BTC": decimal.NewFromInt(1)}
		}
		server, err := sidecar.New(config)
		require.NoError(t, err)
		r.config.Client = server.Client()
		engine, err := New(r.config)
		require.NoError(t, err)
		r.engine = engine
		v := r.must("execute", ticketOf(r.ticket(r.buy())))
		assert.Equal(t, map[bool]string{false: "applied", true: "not_applied"}[bounded], v.text("outcome"), "%v", v)
		out := r.must("close", map[string]string{"symbol": "BTC"})
		assert.NotEqual(t, "unknown", out.text("outcome"))
		assert.True(t, r.sim.Position("acc_1", "BTC").IsZero())
		require.NoError(t, engine.Close())
		r.engine = nil
		require.NoError(t, server.Close())
	}
}
