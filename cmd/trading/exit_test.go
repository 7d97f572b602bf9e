package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contract"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Each exit code, by what a script would meet.
func TestExitCodes(t *testing.T) {
	closing := []string{"close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--yes"}
	for name, c := range map[string]struct {
		prepare func(*rig)
		args    []string
		code    int
		says    string
		orders  int // executed, whatever was said
	}{
		"done":               {nil, place(), cli.Done, "", 1},
		"the reply was lost": {func(r *rig) { r.sim.Fault("POST /orders", tradingsim.DropResponse()) }, place(), cli.Done, "", 1},
		"an answer of no shape": {func(r *rig) {
			r.sim.Fault("POST /orders", tradingsim.RawAfter(200, nil, `{"success":true,"action":"opened"}`))
		}, place(), cli.Done, "executed", 1},
		"refused":               {func(r *rig) { r.sim.SetFillError("BTC", "asset_disabled") }, place(), cli.NotApplied, "asset_disabled", 0},
		"no such account":       {nil, []string{"status", "--env", "live", "--account", "acc_9"}, cli.NotApplied, "reads failed", 0},
		"no position":           {nil, closing, cli.NotApplied, "no_position", 0},
		"nothing named":         {nil, []string{"place"}, cli.Usage, "missing: --symbol", 0},
		"no account":            {nil, []string{"place", "--env", "live", "--symbol", "BTC", "--side", "long", "--size", "1", "--leverage", "2", "--yes"}, cli.Usage, "--account", 0},
		"nobody to ask":         {nil, place("--yes=false"), cli.Usage, "no terminal", 0},
		"no leverage":           {nil, []string{"place", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--side", "long", "--size", "1", "--yes"}, cli.Refused, "leverage", 0},
		"not healthy":           {func(r *rig) { r.sim.SetHealth("degraded", "stale") }, place(), cli.Refused, "not safe to trade", 0},
		"loses in any case":     {nil, place("--take-profit", "64001"), cli.Refused, "fees", 0},
		"no such market":        {nil, place("--symbol", "NOPE"), cli.Refused, "not listed", 0},
		"not flat":              {func(r *rig) { r.sim.SetStatus("acc_1", "FAILED"); r.sim.Trade("acc_1", "long", "1", "BTC") }, []string{"flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes"}, cli.NotFlat, "not proven flat", 1},
		"flat":                  {func(r *rig) { r.sim.Trade("acc_1", "long", "1", "BTC") }, []string{"flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes"}, cli.Done, "close BTC: applied", 2},
		"nobody knows":          {func(r *rig) { r.sim.FaultEach(hangOrders) }, place("--timeout", "20s"), cli.Unknown, "Do not send it again", 0},
		"an id twice":           {func(r *rig) { r.done(place("--client-order-id", "one")...) }, place("--client-order-id", "one"), cli.Done, "client order id: one", 1},
		"an id for another one": {func(r *rig) { r.done(place("--client-order-id", "one")...) }, place("--client-order-id", "one", "--size", "0.06"), cli.Refused, "do not take a new client order id", 1},
		"no key":                {func(r *rig) { r.env = append(r.env[:1:1], r.env[3:]...) }, place(), cli.Usage, "no live key", 0},
		"no service":            {func(r *rig) { r.env = r.env[1:] }, place(), cli.Usage, "which service?", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				if c.prepare != nil {
					c.prepare(r)
				}
				time.Sleep(6 * time.Second) // until health shows
				r.ends(c.code, c.says, c.args...)
				assert.Len(t, r.sim.Ledger(), c.orders)
			})
		})
	}
}

// A number that is given as 0 is refused as a 0, and not as one that is missing, or taken for the
// default.
func TestFound08_AFlagOfZeroIsGiven(t *testing.T) {
	paper := func(more ...string) []string {
		return append([]string{"place", "--symbol", "BTC", "--side", "long", "--yes"}, more...)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"size":            {place("--size", "0"), cli.Refused, "size is 0: it must be greater than 0"},
		"size, paper":     {paper("--size", "0.00"), cli.Refused, "size is 0: it must be greater than 0"},
		"leverage":        {place("--leverage", "0"), cli.Refused, "leverage is 0: it must be greater than 0"},
		"leverage, paper": {paper("--size", "0.05", "--leverage", "0"), cli.Refused, "leverage is 0: it must be greater than 0"},
		"percent":         {[]string{"close", "--symbol", "BTC", "--percent", "0", "--yes"}, cli.Refused, "pct is 0"},
		"stop":            {place("--stop-loss", "0"), cli.Refused, "stopLossPrice is 0: it must be greater than 0"},
		"slippage":        {place("--max-slippage-pct", "0"), cli.Refused, "maxSlippagePct is 0"},
		"trigger":         {[]string{"pro", "conditional", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--side", "long", "--size", "1", "--leverage", "2", "--trigger", "0", "--yes"}, cli.Refused, "(triggerPrice) is 0"},
		"limit price":     {[]string{"limit", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--side", "long", "--size", "1", "--leverage", "2", "--limit-price", "0", "--yes"}, cli.Refused, "limitPrice is 0"},
		"total size":      {[]string{"pro", "edit", "--env", "live", "--account", "acc_1", "--total-size", "0", "--yes", "run_1"}, cli.Refused, "totalSize"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				time.Sleep(6 * time.Second) // until health shows
				r.ends(c.code, c.says, c.args...)
				assert.Empty(t, r.sim.Ledger())
			})
		})
	}
}

// hangOrders lets no order be answered, and none run.
func hangOrders(operation string) tradingsim.Fault {
	if operation == "POST /orders" {
		return tradingsim.Together(tradingsim.Hang(time.Hour), tradingsim.DropResponse())
	}
	return nil
}

func TestBreakingContract(t *testing.T) {
	r := newRig(t)
	assert.Equal(t, "0 changes, 0 of them breaking\n", r.done("contract"))
	assert.JSONEq(t, "[]", r.done("contract", "-o", "json"))
	served := strings.ReplaceAll(string(contract.Description()), `"version": "v1"`, `"version": "v1.1"`)
	file := filepath.Join(t.TempDir(), "served.json")
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	assert.Equal(t, "version of the description: v1.1, was v1\n1 changes, 0 of them breaking\n", r.done("contract", "--file", file))
	served = strings.Replace(served, `"/orders/twap"`, `"/orders/thwap"`, 1)
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	out := r.ends(cli.Breaking, "can break a bot", "contract", "--file", file)
	assert.Equal(t, "breaking: POST /orders/twap: operation removed\nPOST /orders/thwap: operation added\n"+
		"version of the description: v1.1, was v1\n3 changes, 1 of them breaking\n", out)
	for _, text := range []string{`{"ok": true}`, `{"openapi": "2.0", "paths": {}}`, "<html>"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		r.ends(cli.NotApplied, "", "contract", "--file", file)
	}
	for _, request := range r.sim.Requests() {
		assert.Equal(t, "GET /openapi.json", request.Operation)
	}
}

// Interrupted before anything is sent, nothing is pending; in mid-write, it may be.
func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		at      string // the request during which it is interrupted
		args    []string
		code    int
		pending int
	}{
		"while reading":        {"GET /positions", []string{"positions", "--env", "live"}, cli.Interrupted, 0},
		"before the order":     {"GET /sandbox/markets", place(), cli.Interrupted, 0},
		"in the order":         {"POST /orders", place(), cli.Unknown, 1},
		"in flattening":        {"POST /positions/close", []string{"flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes"}, cli.NotFlat, 0},
		"in a close":           {"POST /positions/close", []string{"close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--yes"}, cli.Unknown, 1},
		"in a paper order":     {"POST /sandbox/orders", []string{"place", "--symbol", "BTC", "--side", "long", "--size", "0.05", "--yes"}, cli.Unknown, 0},
		"in the resting limit": {"POST /orders/limit", append([]string{"limit", "--limit-price", "60000"}, place()[1:]...), cli.Unknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.sim.Trade("acc_1", "long", "1", "BTC")
				code, out, errs := r.cut(c.at, tradingsim.Hang(time.Minute), c.args...)
				assert.Equal(t, c.code, code, "%s%s", out, errs)
				var pending []any
				require.NoError(t, json.Unmarshal([]byte(r.done("pending", "ls", "-o", "json")), &pending))
				if c.code != cli.NotFlat { // a close of flattening may be pending or not
					assert.Len(t, pending, c.pending)
				}
			})
		})
	}
}

// interrupted is the id of an order that was executed, and interrupted before its answer.
func (r *rig) interrupted(symbol string) string {
	r.t.Helper()
	code, out, errs := r.cut("POST /orders", tradingsim.DropResponse(), place("--symbol", symbol, "-o", "json")...)
	require.Equal(r.t, cli.Unknown, code, "%s%s", out, errs)
	var written writeView
	require.NoError(r.t, json.Unmarshal([]byte(out), &written))
	id := string(written.Intent)
	assert.Contains(r.t, errs, "trading pending resolve "+id)
	return id
}

// Several writes are resolved by one command, and which ones is named.
func TestResolvesSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first, second := r.interrupted("BTC"), r.interrupted("ETH")
		sent := len(r.sim.Requests())
		for _, args := range [][]string{nil, {"--all", first}, {first, first}, {first, ""}} {
			r.ends(cli.Usage, "", append([]string{"pending", "resolve"}, args...)...)
		}
		r.ends(cli.NotApplied, "fourth", "pending", "resolve", first, "fourth")
		assert.Len(t, r.sim.Requests(), sent, "nothing is sent unless all are there")

		var found []resolutionView
		require.NoError(t, json.Unmarshal([]byte(r.done("pending", "resolve", "-o", "json", second, first)), &found))
		require.Len(t, found, 2)
		assert.Equal(t, []string{second, first}, []string{string(found[0].ID), string(found[1].ID)})
		assert.Equal(t, "applied", found[1].Outcome)
		r.ends(cli.NotApplied, "is not pending: it was applied", "pending", "resolve", first)
		assert.Equal(t, "no pending writes\n", r.done("pending", "resolve", "--all"))
		assert.JSONEq(t, "[]", r.done("pending", "resolve", "--all", "-o", "json"))

		third, fourth := r.interrupted("ETH"), r.interrupted("BTC")
		all := r.done("pending", "resolve", "--all")
		assert.Contains(t, all, third)
		assert.Contains(t, all, fourth)
		assert.Len(t, r.sim.Ledger(), 4, "each once")
	})
}
