package mcp

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// limited is a live engine under a policy with some members replaced.
func limited(t *testing.T, pairs ...string) *rig {
	t.Helper()
	policy := t.TempDir() + "/policy.json"
	text := livePolicy
	if len(pairs) > 0 {
		text = strings.NewReplacer(pairs...).Replace(text)
		require.NotEqual(t, livePolicy, text)
	}
	require.NoError(t, writeFile(policy, text))
	r := newRig(t, Live, func(c *Config) { c.Policy = policy })
	time.Sleep(10 * time.Second)
	return r
}

// Each rule refuses what is beyond it, and lets through what is not.
func TestEachRuleOfThePolicy(t *testing.T) {
	const last = `"entries_per_hour":1000`
	for _, c := range []struct {
		rule   string
		policy []string
		in     []string
		out    []string
	}{
		{"accounts", nil, nil, []string{"account", "acc_2"}},
		{"symbols", []string{`"BTC","ETH"`, `"ETH"`}, []string{"symbol", "ETH"}, nil},
		{"kinds", []string{`"market","limit",`, `"limit",`}, []string{"type", "limit", "limit_price", "65000"}, nil},
		{"max_order_notional", []string{`"max_order_notional":"100000"`, `"max_order_notional":"6400"`}, nil, []string{"size", "0.101"}},
		{"max_position_notional", []string{`"max_position_notional":"400000"`, `"max_position_notional":"6400"`}, nil, []string{"size", "0.101"}},
		{"max_day_notional", []string{`"max_day_notional":"1000000"`, `"max_day_notional":"6400"`}, nil, []string{"size", "0.101"}},
		{"max_leverage", []string{`"max_leverage":"5"`, `"max_leverage":"2"`}, nil, []string{"leverage", "2.1"}},
		{"stop_required", []string{last, last + `,"stop_required":true`}, []string{"stop_loss", "63000"}, nil},
		{"max_open_risk", []string{last, last + `,"max_open_risk":"100"`}, []string{"stop_loss", "63000"}, []string{"stop_loss", "62900"}},
		{"max_open_risk", []string{last, last + `,"max_open_risk":"6399"`}, []string{"size", "0.05"}, nil},
		{"entries_per_hour", []string{last, `"entries_per_hour":0`}, []string{"", ""}, nil},
		{"hours", []string{last, last + `,"hours":"01:00-02:00"`}, []string{"", ""}, nil}, // a bubble begins at midnight
	} {
		synctest.Test(t, func(t *testing.T) {
			r := limited(t, c.policy...)
			if len(c.in) == 0 || c.in[0] != "" {
				_, refused := r.call(t.Context(), "preview_order", r.buy(c.in...))
				assert.False(t, refused, "%s refuses what it allows", c.rule)
			}
			args := r.buy(c.out...)
			delete(args, "")
			v, refused := r.call(t.Context(), "preview_order", args)
			assert.True(t, refused, "%s: %v", c.rule, v)
			if c.rule != "accounts" { // which is refused before
				assert.Equal(t, c.rule, v["rule"], "%v", v)
			}
		})
	}
}

// The equity falls beyond what is allowed, also across a restart.
func TestDrawdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limited(t, `"entries_per_hour":1000`, `"entries_per_hour":1000,"max_drawdown":"500"`)
		r.must("execute", ticketOf(r.ticket(r.buy("size", "0.5"))))
		r.sim.SetMark("BTC", "62900")
		time.Sleep(10 * time.Second)
		eth := func() map[string]string { return r.buy("symbol", "ETH") }
		assert.Equal(t, "max_drawdown", r.refused("policy", "preview_order", eth()).text("rule"))
		r.stop()
		r.start()
		assert.Equal(t, "max_drawdown", r.refused("policy", "preview_order", eth()).text("rule"))
	})
}

// What rests, and what a person has placed there, counts whole; an order whose size is not known is
// not judged.
func TestWhatRestsCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limited(t, `"max_position_notional":"400000"`, `"max_position_notional":"20000"`)
		first := r.must("execute", ticketOf(r.ticket(r.buy("type", "resting", "limit_price", "60000", "size", "0.2"))))
		require.Equal(t, "applied", first.text("outcome"), "%v", first)
		beside := func() map[string]string { return r.buy("adds_to", first.text("ticket"), "size", "0.15") }
		assert.Equal(t, "max_position_notional", r.refused("policy", "preview_order", beside()).text("rule"))
		time.Sleep(20 * time.Second)
		assert.Equal(t, "max_position_notional", r.refused("policy", "preview_order", beside()).text("rule"))
		r.stop()
		r.start()
		assert.Equal(t, "max_position_notional", r.refused("policy", "preview_order", beside()).text("rule"))
		r.must("flatten", nil)
		r.must("account", nil) // does not show it: it may have filled
		assert.Equal(t, "max_position_notional", r.refused("policy", "preview_order", beside()).text("rule"))
		time.Sleep(6 * time.Second)
		r.must("preview_order", beside())
		_, err := r.sim.Terminal("POST /orders/twap", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.1,"leverage":2,"durationMs":600000}`)
		require.NoError(t, err)
		time.Sleep(time.Second)
		assert.Equal(t, "max_position_notional", r.refused("policy", "preview_order", beside()).text("rule"))
	})
}

// A limit that fills right before the only look since it was placed is not among the orders any more, and
// not in the positions yet.
func TestWhatFillsUnseenCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limited(t, `"max_position_notional":"400000"`, `"max_position_notional":"20000"`)
		first := r.must("execute", ticketOf(r.ticket(r.buy("type", "resting", "limit_price", "60000", "size", "0.2"))))
		require.Equal(t, "applied", first.text("outcome"), "%v", first)
		r.sim.SetLag("GET /positions", 5*time.Second)
		time.Sleep(11 * time.Second)
		r.sim.SetMark("BTC", "59000")
		time.Sleep(time.Second)
		require.Equal(t, "0.2", r.sim.Position("acc_1", "BTC").String())
		beside := r.buy("adds_to", first.text("ticket"), "size", "0.2")
		assert.Equal(t, "max_position_notional", r.refused("policy", "preview_order", beside).text("rule"))
	})
}

// A resting order whose outcome nobody finds out counts until nothing of it can arrive, over a
// restart too, and not for ever.
func TestWhatRestsInDoubtEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limited(t, `"max_position_notional":"400000"`, `"max_position_notional":"20000"`)
		id := r.ticket(r.buy("type", "resting", "limit_price", "60000", "size", "0.2"))
		w := r.engine.tickets[id].write
		r.engine.mu.Lock()
		r.engine.tickets[id].phase = used
		r.engine.register(w)
		r.engine.mu.Unlock()
		r.engine.finish(w, trading.Unknown, "", nil)
		look := func() map[string]string {
			for range 3 {
				time.Sleep(6 * time.Second)
				r.must("account", nil)
			}
			return r.buy("adds_to", id, "size", "0.2")
		}
		assert.Equal(t, "max_position_notional", r.refused("policy", "preview_order", look()).text("rule"))
		time.Sleep(time.Hour)
		r.must("preview_order", look())
	})
}

// Without a sandbox key no mark judges an order at the market.
func TestWithoutASandboxKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := limited(t)
		r.stop()
		r.keys = []trading.Option{trading.WithLiveKey(r.sim.LiveKey())}
		r.start()
		time.Sleep(10 * time.Second)
		r.refused("no_mark", "preview_order", r.buy())
		v := r.must("execute", ticketOf(r.ticket(r.buy("type", "resting", "limit_price", "60000"))))
		assert.Equal(t, "applied", v.text("outcome"), "%v", v)
	})
}

// An order whose outcome stays unknown closes its market until a read that began five seconds after
// its call has ended; then an entry that names it passes.
func TestAnUnknownOutcomeStopsClosing(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		time.Sleep(10 * time.Second)
		args := r.buy("adds_to", r.ticket(r.buy()))
		w := r.engine.tickets[args["adds_to"]].write
		r.engine.mu.Lock()
		r.engine.tickets[w.ID].phase = used
		r.engine.register(w)
		ended := r.engine.now()
		w.Ended = &ended
		r.engine.changed(w)
		r.engine.mu.Unlock()
		look := func() map[string]string { return with(maps.Clone(args), "state", r.must("account", nil).text("state")) }
		early := look()
		r.refused("market_closed", "preview_order", early)
		time.Sleep(6 * time.Second)
		r.refused("market_closed", "preview_order", early)
		r.refused("adds_to_needed", "preview_order", with(look(), "adds_to", "t_other"))
		r.must("preview_order", with(look(), "adds_to", w.ID))
	})
}

// An order whose outcome is not known closes its market, and no other.
func TestAnUnknownOutcome(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		time.Sleep(10 * time.Second)
		operation := map[Mode]string{Paper: "POST /sandbox/orders", Live: "POST /orders"}[r.config.Mode]
		drop := tradingsim.Together(tradingsim.CrashAfter(), tradingsim.DropResponse())
		r.sim.Fault(operation, drop, drop, drop, drop, drop, drop)
		ticket := r.ticket(r.buy())
		v, _ := r.call(t.Context(), "execute", ticketOf(ticket))
		require.NotEqual(t, "applied", v.text("outcome"))
		r.sim.ClearFaults()
		for range 10 {
			if told := r.must("get_ticket", ticketOf(ticket)); told.text("outcome") == "applied" {
				break
			}
			_, refused := r.call(t.Context(), "preview_order", r.buy())
			require.True(t, refused)
			r.must("preview_order", r.buy("symbol", "ETH", "size", "1"))
			time.Sleep(10 * time.Second)
		}
		assert.Equal(t, 1, r.fills())
	})
}

// A policy that is named is read in each mode, also where nothing is traded.
func TestAPolicyThatIsNamedIsRead(t *testing.T) {
	for _, mode := range []Mode{Read, Paper, Live} {
		for text, says := range map[string]string{"": "no such file", "{": "policy.json"} {
			config := newRig(t, mode, nil).config
			config.Dir, config.Policy = config.Dir+"2", t.TempDir()+"/policy.json"
			require.NoError(t, disk0700(config.Dir))
			if text != "" {
				require.NoError(t, writeFile(config.Policy, text))
			}
			_, err := New(config)
			require.ErrorContains(t, err, says, mode)
		}
	}
}
