package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rig is an engine on a simulated service. In a bubble all of it runs on virtual time.
type rig struct {
	testing.TB
	sim    *tradingsim.Sim
	client *trading.Client
	writes *journal.Log
	engine *Engine
	config Config
	keys   []trading.Option

	entry     map[string]string // a preview in another market
	hangFacts atomic.Bool
	between   func(http.RoundTripper) http.RoundTripper // the client and the service
}

// newRig makes one; change may change the configuration.
func newRig(t testing.TB, mode Mode, change func(*Config), sim ...tradingsim.Option) *rig {
	r := &rig{TB: t, sim: tradingsim.New(append([]tradingsim.Option{
		tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"), tradingsim.WithBalance("1000000"),
		tradingsim.WithUserLimits(6000, 6000), tradingsim.WithKeyLimit(60000),
	}, sim...)...)}
	boot := time.Now()
	r.config = Config{
		BaseURL: r.sim.URL(), KeyID: "key_1", Mode: mode, Dir: filepath.Join(t.TempDir(), "engine"), Approve: ApproveNothing,
		clock: func() Moment { now := time.Now(); return Moment{Wall: now.Round(0), Up: now.Sub(boot), Boot: "boot"} },
	}
	require.NoError(t, os.Mkdir(r.config.Dir, 0o700))
	if mode == Live {
		r.config.Policy = r.policy(livePolicy)
	}
	if change != nil {
		change(&r.config)
	}
	r.keys = []trading.Option{trading.WithLiveKey(r.sim.LiveKey()), trading.WithSandboxKey(r.sim.SandboxKey())}
	r.start()
	t.Cleanup(func() { r.stop(); _ = r.sim.Close() })
	return r
}

const livePolicy = `{"accounts":["acc_1"],"symbols":["BTC","ETH"],"kinds":["market","limit","resting","conditional","twap","chase","chase_twap","ladder","swarm"],
	"max_order_notional":"100000","max_position_notional":"400000","max_day_notional":"1000000","max_leverage":"5","entries_per_hour":1000}`

// policy writes a file of the operator's.
func (r *rig) policy(text string) string {
	path := filepath.Join(r.TempDir(), "policy.json")
	require.NoError(r, writeFile(path, text))
	return path
}

func (r *rig) start() {
	var err error
	r.writes, err = journal.Open(filepath.Join(r.config.Dir, "journal"), journal.WithLockTimeout(0))
	require.NoError(r, err)
	transport := r.sim.Transport()
	if r.between != nil {
		transport = r.between(transport)
	}
	r.client, err = trading.New(r.sim.URL(), append(r.keys, trading.WithTransport(transport), trading.WithJournal(r.writes), trading.WithRecovery(trading.Recovery{WithoutProbe: true}))...)
	require.NoError(r, err)
	r.config.Client = r.client
	r.engine, err = New(r.config)
	require.NoError(r, err)
	r.engine.page = "http://127.0.0.1:1"
}

func (r *rig) stop() {
	if r.engine == nil {
		return
	}
	_ = r.client.Close() // it names what is pending
	require.NoError(r, r.engine.Close())
	require.NoError(r, r.writes.Close())
	r.engine = nil
}

// reply is what a model reads.
type reply map[string]any

func (v reply) text(name string) string { s, _ := v[name].(string); return s }

func (v reply) list(name string) []reply {
	var rows []reply
	all, _ := v[name].([]any)
	for _, one := range all {
		row, _ := one.(map[string]any)
		rows = append(rows, row)
	}
	return rows
}

// call calls a tool as a front does; refused means that the answer is a refusal.
func (r *rig) call(ctx context.Context, name string, args any) (v reply, refused bool) {
	raw, err := json.Marshal(args)
	require.NoError(r, err)
	for _, one := range r.engine.tools() {
		if one.name != name {
			continue
		}
		out, refusal := r.engine.call(ctx, &one, raw)
		data, err := json.Marshal(out)
		if refusal != nil {
			data, err = json.Marshal(refusal)
		}
		require.NoError(r, err)
		require.NotContains(r, string(data), "pk_")
		require.NoError(r, json.Unmarshal(data, &v))
		return v, refusal != nil
	}
	panic("no tool " + name)
}

// must calls a tool that must not refuse.
func (r *rig) must(name string, args any) reply {
	r.Helper()
	v, refused := r.call(context.Background(), name, args)
	require.False(r, refused, "%s: %v", name, v)
	return v
}

// refused calls a tool that must refuse, with a code.
func (r *rig) refused(code, name string, args any) reply {
	r.Helper()
	v, refused := r.call(context.Background(), name, args)
	require.True(r, refused, "%s: %v", name, v)
	require.Equal(r, code, v["code"], "%v", v)
	return v
}

// buy is a preview of an order in BTC, at the account's present state.
func (r *rig) buy(more ...string) map[string]string {
	return with(map[string]string{"symbol": "BTC", "side": "long", "size": "0.1", "leverage": "2", "state": r.must("account", nil).text("state")}, more...)
}

func with(args map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	return args
}

// ticket previews and returns the ticket.
func (r *rig) ticket(args map[string]string) string {
	r.Helper()
	return r.must("preview_order", args).text("ticket")
}

// fills counts what the service executed of entries.
func (r *rig) fills() (n int) {
	for _, x := range r.sim.Ledger() {
		if x.Filled && (strings.HasPrefix(x.Operation, "POST /orders") || strings.HasPrefix(x.Operation, "POST /sandbox/orders")) {
			n++
		}
	}
	return n
}

func disk0700(path string) error { return os.Mkdir(path, 0o700) }
