package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// protects starts a protection of acc_1. end interrupts it if it still runs, and returns
// its exit code and what it printed.
func (r *rig) protects(dir string, more ...string) (end func() (code int, out, errs string)) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.ctx)
	var out, errs bytes.Buffer
	app := &cli.App{
		In: strings.NewReader(""), Out: &out, Err: &errs, Environ: r.env,
		Options: []trading.Option{trading.WithTransport(r.sim.Transport())},
	}
	args := append([]string{"protect", "--account", "acc_1", "--state-dir", dir}, more...)
	code := make(chan int, 1)
	go func() { code <- app.Run(ctx, newRoot(app), args) }()
	time.Sleep(3 * time.Second)
	return func() (int, string, string) {
		cancel()
		ended := <-code
		for _, key := range []string{r.sim.LiveKey(), r.sim.SandboxKey()} {
			require.NotContains(r.t, out.String()+errs.String(), key)
		}
		return ended, out.String(), errs.String()
	}
}

// falls lets BTC fall from 64000 by ten dollars a second.
func (r *rig) falls(seconds int) {
	for i := range seconds {
		r.sim.SetMark("BTC", trading.Dec("64000").Sub(trading.Dec("10").Mul(trading.Dec(strconv.Itoa(i)))).String())
		time.Sleep(time.Second)
	}
}

// An operator halts the bots that follow, looks, and lets them trade again.
func TestHaltAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		dir := filepath.Join(t.TempDir(), "state")
		r.env = append(r.env, "TRADING_STATE_DIR="+dir)
		bot := tradingtest.Client(t, r.sim, trading.WithGuard(protect.Follow(dir))).Live.Account("acc_1")
		enter := func() error {
			_, err := bot.PlaceOrder(t.Context(), trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")})
			return err
		}
		end := r.protects(dir)
		time.Sleep(10 * time.Second)
		require.NoError(t, enter())

		var v askView
		require.NoError(t, json.Unmarshal([]byte(r.done("halt", "--account", "acc_1", "--reason", "look at the fills", "-o", "json")), &v))
		assert.Equal(t, askView{"acc_1", protectionView{
			Running: true, State: protect.SoftHalt, Reason: "halted: look at the fills", Since: v.Since, Manual: true,
			Refusal: "soft halt: halted: look at the fills",
		}}, v)
		require.ErrorIs(t, enter(), protect.ErrHalted)

		r.ends(cli.Usage, "needs a terminal", "resume", "--account", "acc_1")
		r.terminal, r.types = true, "n\n"
		r.ends(cli.NotApplied, "account acc_1 is soft halt since", "resume", "--account", "acc_1")
		require.ErrorIs(t, enter(), protect.ErrHalted)
		r.types = "y\n"
		assert.Contains(t, r.done("resume", "--account", "acc_1"), "runs")
		time.Sleep(5 * time.Second)
		require.NoError(t, enter())

		r.types = "n\n"
		r.ends(cli.NotApplied, "", "halt", "--account", "acc_1", "--flatten")
		r.terminal = false
		r.ends(cli.Usage, "", "halt", "--account", "acc_1", "--flatten")
		assert.False(t, r.sim.Position("acc_1", "BTC").IsZero())
		r.done("halt", "--account", "acc_1", "--flatten", "--yes")
		time.Sleep(20 * time.Second)
		assert.True(t, r.sim.Position("acc_1", "BTC").IsZero())
		require.ErrorIs(t, enter(), protect.ErrHalted)

		code, out, errs := end()
		assert.Equal(t, cli.Done, code, errs)
		assert.Contains(t, out, "halted: look at the fills")
	})
}

// A protection that the service answers nonsense goes on, and prints no key and nothing
// that a terminal would obey. (protects looks for keys.)
func TestProtectPrintsNoKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		end := r.protects(t.TempDir())
		r.sim.Trade("acc_1", "long", "0.1", "BTC")
		echo := `{"error":"\u001b[31m","message":"the key ` + r.sim.LiveKey() + r.sim.SandboxKey() + `"}`
		r.sim.FaultEach(func(string) tradingsim.Fault { return tradingsim.Raw(403, nil, echo) })
		time.Sleep(2 * time.Minute)
		code, out, errs := end()
		assert.Equal(t, cli.Done, code, errs)
		assert.Contains(t, out, "blind began")
		assert.NotContains(t, out+errs, "\x1b")
	})
}

// Each state has its finding, urgent where a person has to act.
func TestFindingsOfAProtection(t *testing.T) {
	for _, c := range []struct {
		p      protectionView
		urgent bool
		text   string
	}{
		{protectionView{Running: true, State: protect.OK, Entries: true}, false, ""},
		{protectionView{Running: true, State: protect.Warned, Entries: true, Reason: "room"}, false, "warns: room"},
		{protectionView{Running: true, State: protect.SoftHalt, Refusal: "why"}, false, "refuses entries: why"},
		{protectionView{Running: true, State: protect.Held, Refusal: "held"}, false, "refuses entries: held"},
		{protectionView{Running: true, State: protect.Flattening, Reason: "room"}, true, "is flattening: room"},
		{protectionView{Running: true, State: protect.Stuck, Reason: "no price"}, true, "is stuck: no price"},
		{protectionView{Running: true, State: protect.TooLate, Reason: "room"}, true, "is too late: room"},
		{protectionView{Running: true, State: protect.Lost, Reason: "FAILED"}, true, "is lost: FAILED"},
		{protectionView{Running: true, State: protect.OK, Blind: true}, true, "is blind"},
		{protectionView{State: protect.OK}, true, "does not run"},
	} {
		var found findings
		found.protection("acc_1", c.p)
		all := append(found.bad, found.warned...)
		if c.text == "" {
			assert.Empty(t, all)
			continue
		}
		require.Len(t, all, 1, "%+v", c.p)
		assert.Equal(t, c.urgent, all[0].Urgent, c.text)
		assert.Contains(t, all[0].Text, "acc_1: its protection "+c.text)
	}
}

// The program of --on-held runs once for an account that is held, gets its name and no key.
func TestOnHeld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	script, log := filepath.Join(dir, "stop"), filepath.Join(dir, "log")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$1 $TRADING_LIVE_KEY.\" >> "+log+"\n"), 0o700))
	r := newRig(t)
	p := &protector{app: &cli.App{Err: &bytes.Buffer{}, Environ: append(os.Environ(), "TRADING_LIVE_KEY=secret")}, onHeld: script}
	for _, to := range []protect.State{protect.OK, protect.Flattening, protect.Held, protect.Flattening, protect.Held} {
		p.held(r.ctx, protect.Event{Account: "acc_1", Kind: protect.Changed, To: to})
	}
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "acc_1 .\n", string(text))
	p.held(r.ctx, protect.Event{Account: "acc_1", Kind: protect.Changed, To: protect.Starting})
	p.held(r.ctx, protect.Event{Account: "acc_1", Kind: protect.Changed, To: protect.Held})
	text, err = os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, "acc_1 .\nacc_1 .\n", string(text))
}
