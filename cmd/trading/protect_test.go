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

// An account that drifts towards its floor is flattened while it is still above it.
func TestProtectFlattens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		end := r.protects(t.TempDir())
		r.sim.Trade("acc_1", "long", "5", "BTC") // without a stop
		r.falls(100)
		assert.True(t, r.sim.Position("acc_1", "BTC").IsZero())
		code, out, errs := end()
		assert.Equal(t, cli.Done, code, errs)
		assert.Contains(t, errs, "protecting acc_1")
		assert.Contains(t, errs, "beside such bots 16.7 % were lost, and 17.3 % with no protection")
		for _, want := range []string{"from starting to ok", "to flattening: room is $", "from flattening to held: flat"} {
			assert.Contains(t, out, want)
		}
	})
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

// Where nobody runs, a halt binds who follows, and says what it does not do.
func TestHaltWithoutAProtection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		dir := t.TempDir()
		_, _, _ = r.protects(dir)()
		out := r.ends(cli.Done, "warning: no protection of acc_1 runs on "+dir, "halt", "--account", "acc_1", "--state-dir", dir, "-o", "json")
		assert.Contains(t, out, `"running": false`)

		r.ends(cli.NotApplied, "no protection of the account runs", "halt", "--account", "acc_1", "--state-dir", dir, "--flatten", "--yes")
		r.terminal, r.types = true, "y\n"
		r.ends(cli.NotApplied, "no protection of the account runs", "resume", "--account", "acc_1", "--state-dir", dir)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.ctx = ctx
		r.ends(cli.Unknown, "the halt stays", "halt", "--account", "acc_1", "--state-dir", dir)
		r.ctx = t.Context()

		end := r.protects(dir)
		s, err := protect.ReadStatus(dir, "acc_1")
		require.NoError(t, err)
		assert.True(t, s.Manual, "the next protection begins halted")
		_, _, _ = end()

		r.refuses("", []refusal{
			{cli.NotApplied, "not protected here", "halt --account acc_9 --state-dir " + dir},
			{cli.NotApplied, "not protected here", "resume --account acc_9 --state-dir " + dir},
			{cli.Usage, "there is no such folder", "halt --account acc_1 --state-dir " + dir + "/none"},
			{cli.Usage, "there is no such folder", "resume --account acc_1 --state-dir " + os.Args[0]},
			{cli.Usage, "which folder?", "halt --account acc_1"},
			{cli.Usage, "--timeout", "halt --account acc_1 --state-dir " + dir + " --timeout 0s"},
		})
	})
}

// How a protection ends, and what it does not begin with.
func TestProtectExitCodes(t *testing.T) {
	bare := `{"account":{"id":"acc_1","status":"ACTIVE","phase":1,"balance":100000,"equity":100000,"profitTarget":110000}}`
	withoutFloors := func(r *rig) {
		r.sim.FaultEach(func(operation string) tradingsim.Fault {
			if operation == "GET /accounts/{accountId}" {
				return tradingsim.Raw(200, nil, bare)
			}
			return nil
		})
	}
	for name, c := range map[string]struct {
		prepare func(r *rig, dir string)
		args    []string
		code    int
		says    string
	}{
		"interrupted":         {nil, nil, cli.Done, "protecting acc_1"},
		"no floor":            {func(r *rig, _ string) { withoutFloors(r) }, nil, cli.Refused, "--without-floors starts"},
		"no floor, allowed":   {func(r *rig, _ string) { withoutFloors(r) }, []string{"--without-floors"}, cli.Done, ""},
		"a floor of its own":  {func(r *rig, _ string) { withoutFloors(r) }, []string{"--floor", "acc_1=96000"}, cli.Done, ""},
		"no such account":     {nil, []string{"--account", "acc_9"}, cli.NotApplied, "acc_9"},
		"another runs":        {func(r *rig, dir string) { end := r.protects(dir); r.t.Cleanup(func() { end() }) }, nil, cli.Refused, "in use by another"},
		"twice":               {nil, []string{"--account", "acc_1"}, cli.Usage, "named twice"},
		"no keys":             {func(r *rig, _ string) { r.env = append(r.env[:1:1], r.env[3:]...) }, nil, cli.Usage, "no live key"},
		"no sandbox key":      {func(r *rig, _ string) { r.env = append(r.env[:1:1], r.env[2:]...) }, nil, cli.Usage, "no sandbox key"},
		"a floor of nobody":   {nil, []string{"--floor", "acc_2=96000"}, cli.Usage, "one floor for an account"},
		"no floor at all":     {nil, []string{"--floor", "acc_1=0"}, cli.Usage, "want ACCOUNT=DOLLARS"},
		"a floor of what":     {nil, []string{"--floor", "96000"}, cli.Usage, "want ACCOUNT=DOLLARS"},
		"no shock":            {nil, []string{"--shock", "0"}, cli.Usage, "--shock must be greater than 0"},
		"a gap below a shock": {nil, []string{"--gap", "0.001"}, cli.Usage, "Limits.Gap is 0.001"},
		"all is kept":         {nil, []string{"--keep", "1"}, cli.Usage, "Limits.Keep is 1"},
		"at no time":          {nil, []string{"--rollover", "24:00"}, cli.Usage, "want a time of day"},
		"in no zone":          {nil, []string{"--rollover-zone", "Nowhere/None"}, cli.Usage, "name of a time zone"},
		"blind at once":       {nil, []string{"--blind-after", "0s"}, cli.Usage, "--blind-after must"},
		"never blind":         {nil, []string{"--flatten-blind", "-1s"}, cli.Usage, "FlattenBlind must not be negative"},
		"while it flattens": {func(r *rig, _ string) {
			r.sim.Trade("acc_1", "long", "5", "BTC")
			r.sim.SetFillError("BTC", "NO_PRICE")
		}, []string{"--flatten-at", "90000"}, cli.NotFlat, "account acc_1 is not proven flat"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				dir := t.TempDir()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel() // of what prepare has started
				r.ctx = ctx
				if c.prepare != nil {
					c.prepare(r, dir)
				}
				code, out, errs := r.protects(dir, c.args...)()
				assert.Equal(t, c.code, code, "%s%s", out, errs)
				assert.Contains(t, errs, c.says)
			})
		})
	}
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

// With -o json each event is a line of JSON, with amounts as strings.
func TestProtectJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		end := r.protects(t.TempDir(), "-o", "json")
		r.sim.Trade("acc_1", "long", "5", "BTC")
		r.falls(100)
		code, out, errs := end()
		require.Equal(t, cli.Done, code, errs)
		var states []protect.State
		for line := range strings.Lines(out) {
			var event map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &event), line)
			walkNumbers(event, "", func(member string) { t.Errorf("%s is a number: %s", member, line) })
			assert.Equal(t, "acc_1", event["account"])
			if event["kind"] == string(protect.Changed) {
				states = append(states, protect.State(event["state"].(string)))
			}
		}
		assert.Contains(t, states, protect.OK)
		assert.Contains(t, states, protect.Flattening)
		assert.Equal(t, protect.Held, states[len(states)-1])
		assert.Contains(t, out, `"from":"starting","state":"ok"`)
	})
}

// The status says what watches each account, and what does not any more.
func TestStatusShowsTheProtection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		dir := t.TempDir()
		status := []string{"status", "--env", "live", "--account", "acc_1", "--state-dir", dir}
		show := func() string { return r.done(status...) }
		read := func() (p *protectionView) {
			var s struct {
				Accounts []struct{ Protection *protectionView }
			}
			require.NoError(t, json.Unmarshal([]byte(r.done(append(status, "-o", "json")...)), &s))
			return s.Accounts[0].Protection
		}
		out := r.ends(cli.NotApplied, "", status...)
		assert.Contains(t, out, "!! acc_1: not known: protection: ")
		assert.Contains(t, out, "no protection of it has used the folder")

		end := r.protects(dir)
		time.Sleep(10 * time.Second)
		assert.Regexp(t, `(?m)^  protection ok for \d+s, entries pass$`, show())
		assert.Contains(t, show(), "Nothing needs attention.")
		p := read()
		assert.True(t, p.Running && p.Entries && !p.Manual && !p.Blind, "%+v", p)

		r.done("halt", "--account", "acc_1", "--state-dir", dir, "--reason", "red \x1b[31m")
		assert.Contains(t, show(), ` ! acc_1: its protection refuses entries: "soft halt: halted: red \x1b[31m"`)
		assert.Regexp(t, `(?m)^  protection soft halt for \d+s, halted by a person, entries are refused: `, show())
		assert.Equal(t, protect.SoftHalt, read().State)

		// By the variable, in each environment.
		before := r.env
		r.env = append(r.env, "TRADING_STATE_DIR="+dir)
		assert.Contains(t, r.done("status", "--env", "live"), "protection soft halt")
		assert.NotContains(t, r.done("status"), "protection")
		r.env = before
		assert.NotContains(t, r.done("status", "--env", "live"), "protection")
		r.ends(cli.Usage, "the paper account has no protection", "status", "--state-dir", dir)

		end()
		assert.Contains(t, show(), "!! acc_1: its protection does not run: nothing watches it, and it was soft halt")
		assert.Contains(t, show(), "DOES NOT RUN, halted by a person, entries are refused")
		assert.False(t, read().Running)

		files, err := filepath.Glob(filepath.Join(dir, "acc_1*"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.NoError(t, os.WriteFile(files[0], []byte("?"), 0o600))
		out = r.ends(cli.NotApplied, "", status...)
		assert.Contains(t, out, "the state is corrupt")
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

// An operator who halts an account means this command too: it places nothing while it can see the
// halt, nor while it cannot see whether there is one. Exits pass.
func TestFound23_PlaceObeysAHaltThatItCanSee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		dir := filepath.Join(t.TempDir(), "state")
		r.env = append(r.env, "TRADING_STATE_DIR="+dir)
		r.ends(cli.Refused, "no such file or directory: nothing was sent", place()...)
		end := r.protects(dir)
		time.Sleep(10 * time.Second)
		r.done(place()...)
		r.done("halt", "--account", "acc_1", "--reason", "look at the fills")
		for _, entry := range [][]string{
			place(), place("--dry-run"), append([]string{"limit", "--limit-price", "60000"}, place()[1:]...),
			{"pro", "twap", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--side", "long", "--size", "2", "--leverage", "2", "--duration", "1h", "--yes"},
		} {
			r.ends(cli.Refused, "halted: look at the fills: nothing was sent; resume it first", entry...)
		}
		assert.Len(t, r.sim.Ledger(), 1)
		r.done("close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--yes")
		r.env = r.env[:len(r.env)-1]
		r.done(place()...)
		end()
	})
}
