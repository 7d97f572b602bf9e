package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/contrib/postgres/postgrestest"
)

// TestTheDrillOfTheGuide runs the drill as the guide writes it, but for the address of the database.
func TestTheDrillOfTheGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server, and takes as long as a takeover")
	}
	text, err := os.ReadFile("../../docs/several-machines.md")
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^trading (drill failover .*)$`).FindSubmatch(text)
	require.NotNil(t, line)
	args := strings.Fields(string(line[1]))
	at := postgrestest.Server(t)("postgres")
	for i, arg := range args {
		if strings.HasPrefix(arg, "postgres://") {
			args[i] = at
		}
	}
	r := newRig(t)
	r.env = append(append(os.Environ(), r.env...), childCommand+"=1")
	out := r.done(args...)
	t.Log(out)
	for _, says := range []string{"is killed; the service has executed its order", "which was pending: applied", " again: applied", "first new order", "none twice"} {
		assert.Contains(t, out, says)
	}
	leases, err := postgres.Leases(t.Context(), at)
	require.NoError(t, err)
	assert.Empty(t, leases, "it cleans up after itself")
}

// The judge of a drill says what the ledger has otherwise than the bots.
func TestTheJudgeOfADrill(t *testing.T) {
	r := newRig(t)
	client, err := trading.New(r.sim.URL(), trading.WithLiveKey(r.sim.LiveKey()), trading.WithTransport(r.sim.Transport()))
	require.NoError(t, err)
	defer client.Close()
	var meta trading.Meta
	_, err = client.Live.Account("acc_1").PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")},
		trading.WithClientOrderID("first"), trading.ResponseInto(&meta))
	require.NoError(t, err)
	var out strings.Builder
	d := &drill{app: &cli.App{Out: &out}, sim: r.sim}
	says := func(want string, words ...drillWord) {
		t.Helper()
		d.words = nil
		for _, w := range words {
			d.words = append(d.words, heard{word: w})
		}
		err := d.judge()
		if want == "" {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, want)
		assert.Equal(t, cli.Unsound, cli.Status(err))
	}
	says("and no bot knows")
	says("first was executed, and no bot knows", drillWord{Decision: "first", Key: meta.Key, Outcome: trading.NotApplied})
	applied := drillWord{Decision: "first", Key: meta.Key, Outcome: trading.Applied}
	says("", applied)
	assert.Contains(t, out.String(), "1 decisions, 1 orders, none twice")
	says("second was not executed", applied, drillWord{Decision: "second", Key: "d-other-1", Outcome: trading.Applied})
}

func TestDrillRefuses(t *testing.T) {
	r := newRig(t)
	const at = "postgres://bot@127.0.0.1:1/x"
	r.refuses("", []refusal{
		{cli.Usage, "missing: --fleet", "drill failover"},
		{cli.Usage, "at least 1s", "drill failover --fleet " + at + " --lease-duration 10ms"},
		{cli.NotApplied, "connect", "drill failover --fleet " + at},
		{cli.Usage, "it is started by", "drill bot"},
	})
}
