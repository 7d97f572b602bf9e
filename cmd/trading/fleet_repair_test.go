package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/contrib/postgres/postgrestest"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestRepairsOfAFleet: a bot ends with two writes pending, and no other one starts. A person has one
// resolved, acknowledges the other, and gets out under the lease: all of it is in the lease's journal.
func TestRepairsOfAFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	at := postgrestest.Server(t)("postgres")
	require.NoError(t, postgres.Migrate(t.Context(), at))
	r := newRig(t)
	onOne := func(args ...string) []string { return append(args, "--fleet", at, "--lease", "one") }
	store, err := postgres.Open(t.Context(), at, postgres.Options{Name: "one", BaseURL: r.sim.URL(), Accounts: []string{"acc_1"}, Lease: time.Second})
	require.NoError(t, err)
	client, err := trading.New(r.sim.URL(), trading.WithLiveKey(r.sim.LiveKey()), trading.WithTransport(r.sim.Transport()),
		trading.WithJournal(store), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	require.NoError(t, err)
	ids := map[string]string{}
	for _, symbol := range []string{"BTC", "ETH"} {
		r.sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err = client.Live.Account("acc_1").PlaceOrder(t.Context(),
			trading.Order{Symbol: symbol, Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}, trading.WithRetry(trading.Retry{Attempts: 1}))
		var write *trading.WriteError
		require.ErrorAs(t, err, &write)
		require.Equal(t, trading.Unknown, write.Outcome)
		ids[symbol] = string(write.Intent)
	}
	_ = client.Close() // its writes are pending
	require.NoError(t, store.Close())

	assert.Contains(t, r.done(onOne("pending", "resolve", ids["BTC"])...), "applied")
	assert.Equal(t, "whole: 1 pending, 0 resolved\n", r.done(onOne("journal", "verify")...))
	r.terminal, r.types = true, "applied\n"
	assert.Equal(t, ids["ETH"]+": applied\n", r.done(onOne("pending", "ack", ids["ETH"], "--found", "applied")...))
	assert.Contains(t, r.done("pending", "ls", "--fleet", at), "no pending writes")
	r.terminal = false

	flatten := []string{"flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes", "--proof-interval", "1ms"}
	assert.Contains(t, r.done(onOne(flatten...)...), "flat")
	leases, err := postgres.Leases(t.Context(), at)
	require.NoError(t, err)
	assert.Equal(t, [2]bool{true, false}, [2]bool{leases[0].Released, leases[0].Gap})
	assert.Greater(t, leases[0].Records, int64(8), "the closes are in its journal")
	r.ends(cli.Done, "warning: without the lease", append(flatten, "--without-lease")...)
}
