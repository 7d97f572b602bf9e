package main

import (
	"context"
	"encoding/json"
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

// TestAFleet: two bots on a real server, one of which has a pending write. A person sees them, halts
// them over a takeover, resumes one, and hands over the lease of one that died.
func TestAFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	address := postgrestest.Server(t)
	at := address("postgres")
	require.NoError(t, postgres.Migrate(t.Context(), at))
	r := newRig(t)
	onFleet := func(args ...string) []string { return append(args, "--fleet", at) }
	assert.Contains(t, r.done(onFleet("status")...), "no leases")
	r.ends(cli.NotApplied, "", onFleet("halt", "--all")...)

	options := func(name, account string) postgres.Options {
		return postgres.Options{Name: name, BaseURL: r.sim.URL(), Accounts: []string{account}, Lease: time.Second, Declares: "version 1"}
	}
	one, err := postgres.Open(t.Context(), at, options("one", "acc_1"))
	require.NoError(t, err)
	two, err := postgres.Open(t.Context(), at, options("two", "acc_2"))
	require.NoError(t, err)
	defer two.Close()
	client, err := trading.New(r.sim.URL(), trading.WithLiveKey(r.sim.LiveKey()), trading.WithTransport(r.sim.Transport()),
		trading.WithJournal(one), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
	require.NoError(t, err)
	r.sim.Fault("POST /orders", tradingsim.DropResponse())
	buy := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
	_, err = client.Live.Account("acc_1").PlaceOrder(t.Context(), buy, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithClientOrderID("first"))
	require.Equal(t, trading.Unknown, trading.OutcomeOf(err))

	status := func() map[string]leaseView {
		var list []leaseView
		require.NoError(t, json.Unmarshal([]byte(r.done(onFleet("status", "-o", "json")...)), &list))
		all := map[string]leaseView{}
		for _, l := range list {
			all[l.Name] = l
		}
		return all
	}
	seen := status()
	require.Len(t, seen, 2)
	assert.Equal(t, "held", seen["one"].State)
	assert.EqualValues(t, 1, seen["one"].Pending)
	assert.Equal(t, []string{"acc_1"}, seen["one"].Accounts)
	assert.EqualValues(t, 0, seen["two"].Pending)
	table := r.done(onFleet("status")...)
	assert.Contains(t, table, "LEASE")
	assert.Contains(t, table, "held")

	var pending []pendingView
	require.NoError(t, json.Unmarshal([]byte(r.done(onFleet("pending", "ls", "-o", "json")...)), &pending))
	require.Len(t, pending, 1)
	assert.Equal(t, "first", pending[0].ClientOrderID)
	assert.Equal(t, "lease one", pending[0].Journal)
	assert.Contains(t, r.done(onFleet("pending", "ls", "--lease", "two")...), "no pending writes")
	assert.Contains(t, r.done(onFleet("journal", "ls", "--lease", "one")...), "POST /orders")
	r.ends(cli.NotApplied, "no such lease", onFleet("journal", "ls", "--lease", "three")...)

	id := string(pending[0].ID)
	onOne := func(args ...string) []string { return onFleet(append(args, "--lease", "one")...) }
	assert.Contains(t, r.done(onOne("journal", "show", id)...), "POST /orders")
	assert.Equal(t, "whole: 1 pending, 0 resolved\n", r.done(onOne("journal", "verify")...))
	for _, args := range [][]string{{"pending", "resolve", id}, {"flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes"}} {
		r.ends(cli.Refused, "stop the bots first", onOne(args...)...)
	}

	// The halt of all, over a takeover.
	assert.Contains(t, r.done(onFleet("halt", "--all", "--reason", "look at the fills")...), "halted: look at the fills")
	require.Eventually(t, func() bool { _, halted := client.Halted(); return halted }, time.Minute, time.Millisecond)
	_, err = client.Live.Account("acc_1").PlaceOrder(t.Context(), buy)
	require.ErrorIs(t, err, trading.ErrHalted)
	require.NoError(t, two.Close())
	again, err := postgres.Open(t.Context(), at, options("two", "acc_2"))
	require.NoError(t, err)
	defer again.Close()
	reason, halted := again.Halted()
	assert.Equal(t, "look at the fills", reason)
	assert.True(t, halted)
	r.ends(cli.Usage, "", onFleet("resume", "--lease", "two")...) // a script has not looked
	r.terminal, r.types = true, "yes\n"
	r.done(onFleet("resume", "--lease", "two")...)
	seen = status()
	assert.Equal(t, [2]bool{true, false}, [2]bool{seen["one"].Halted, seen["two"].Halted})

	// A lease whose holder lives is waited for; one that is free is taken, and handed over.
	r.ends(cli.NotApplied, "", onFleet("release", "--lease", "two", "--timeout", "1500ms")...)
	_ = client.Close() // its write is pending
	require.NoError(t, one.Close())
	assert.Contains(t, r.done(onFleet("release", "--lease", "one")...), "one is free")
	assert.Equal(t, "released", status()["one"].State)
	ctx, interrupt := context.WithCancel(t.Context())
	r.ctx = ctx
	took := make(chan int)
	go func() {
		code, _, _ := r.run(onFleet("take", "--lease", "one")...)
		took <- code
	}()
	require.Eventually(t, func() bool {
		all, err := postgres.Leases(t.Context(), at)
		return err == nil && all[0].Held()
	}, time.Minute, 10*time.Millisecond)
	interrupt()
	<-took
	r.ctx = t.Context()
	seen = status()
	assert.Equal(t, "released", seen["one"].State)
	assert.EqualValues(t, 1, seen["one"].Pending)
}
