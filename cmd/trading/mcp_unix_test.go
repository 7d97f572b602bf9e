//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/mcp"
	"github.com/tradingapi/trading-go/tradingsim"
)

var mcpKills = flag.Int("mcp.kills", 8, "kills of the engine of trading mcp, and of its front")

// chat is a front, as a host starts it.
type chat struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
	url     string // over HTTP
	token   string
	last    int
}

// begun starts a front.
func (r *rig) begun(args ...string) (c *chat, errs io.Reader) {
	r.t.Helper()
	c = &chat{t: r.t, cmd: exec.CommandContext(r.t.Context(), os.Args[0], append([]string{"mcp"}, args...)...)}
	c.cmd.Env = append(r.env[:len(r.env):len(r.env)], childCommand+"=1", "GORACE=atexit_sleep_ms=0")
	var err error
	c.in, err = c.cmd.StdinPipe()
	require.NoError(r.t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(r.t, err)
	errs, err = c.cmd.StderrPipe()
	require.NoError(r.t, err)
	c.answers = bufio.NewReader(out)
	require.NoError(r.t, c.cmd.Start())
	r.t.Cleanup(func() { _ = c.in.Close(); _ = c.cmd.Cancel(); _ = c.cmd.Wait() })
	return c, errs
}

// chat is a front on the standard streams.
func (r *rig) chat(args ...string) *chat {
	r.t.Helper()
	c, errs := r.begun(args...)
	_, err := io.WriteString(c.in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n")
	require.NoError(r.t, err)
	if _, err = c.answers.ReadString('\n'); err != nil {
		said, _ := io.ReadAll(errs) // the more the better
		require.NoError(r.t, err, "%s", said)
	}
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	require.NoError(r.t, err)
	return c
}

// web is a front over HTTP.
func (r *rig) web(args ...string) *chat {
	r.t.Helper()
	c, errs := r.begun(append(args, "--listen", "127.0.0.1:0")...)
	line, err := bufio.NewReader(errs).ReadString('\n')
	require.NoError(r.t, err)
	url, file, ok := strings.Cut(strings.TrimSpace(line), ", with the bearer token of ")
	require.True(r.t, ok, line)
	token, err := os.ReadFile(file)
	require.NoError(r.t, err)
	c.url, c.token = url, strings.TrimSpace(string(token))
	return c
}

// begin calls a tool. Its answer is nil from a front or an engine that has ended.
func (c *chat) begin(tool string, args map[string]string) (answer func() map[string]any) {
	data, err := json.Marshal(args)
	require.NoError(c.t, err)
	c.last++
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", c.last, tool, data)
	read := func(text string) map[string]any {
		assert.NotContains(c.t, text, "pk_")
		var v struct {
			Result struct{ StructuredContent map[string]any }
		}
		require.NoError(c.t, json.Unmarshal([]byte(text), &v), "%s", text)
		return v.Result.StructuredContent
	}
	if c.url == "" {
		_, _ = io.WriteString(c.in, line) // the front may be gone
		return func() map[string]any {
			text, err := c.answers.ReadString('\n')
			if err != nil {
				return nil
			}
			return read(text)
		}
	}
	q, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(line))
	require.NoError(c.t, err)
	q.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer " + c.token}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	said := make(chan string, 1)
	go func() {
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			said <- ""
			return
		}
		text, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil || a.StatusCode != http.StatusOK {
			text = nil
		}
		said <- string(text)
	}()
	return func() map[string]any {
		text := <-said
		if text == "" {
			return nil
		}
		return read(text)
	}
}

func (c *chat) call(tool string, args map[string]string) map[string]any { return c.begin(tool, args)() }

var enginePID = regexp.MustCompile(`process (\d+)`)

// engine is the process that answers the fronts of a mode.
func (r *rig) engine(state, mode string) int {
	logs, err := filepath.Glob(filepath.Join(state, "trading", "mcp", "*-"+mode, "log"))
	require.NoError(r.t, err)
	require.Len(r.t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(r.t, err)
	found := enginePID.FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(r.t, found, "%s", text)
	assert.NotContains(r.t, string(text), "pk_")
	pid, err := strconv.Atoi(found[len(found)-1][1])
	require.NoError(r.t, err)
	return pid
}

// Fronts with the same flags have the same settings, from whatever folder and every time.
func TestMCPSettings(t *testing.T) {
	r := newRig(t)
	settings := func(args ...string) string {
		a := newAgent(&cli.App{Environ: r.env}, new(cobra.Command))
		require.NoError(t, a.cmd.ParseFlags(args))
		_, s, err := a.complete()
		require.NoError(t, err)
		return s
	}
	here := t.TempDir()
	t.Chdir(here)
	require.NoError(t, os.WriteFile("policy", nil, 0o600))
	want := settings("--mode", "live", "--policy", "policy", "--approve", "nothing", "--docs-url", "http://docs.example.com", "--key-file", "keys")
	for range 20 {
		require.Equal(t, want, settings("--mode", "live", "--policy", here+"/policy", "--approve", "nothing", "--docs-url", "http://docs.example.com", "--key-file", here+"/keys"))
	}
	require.NotEqual(t, want, settings("--mode", "live", "--policy", "policy"))
}

// The engine or its front is killed in the middle of an order: on the paper account and on a live one,
// over the standard streams and over HTTP. No order happens twice, and what a ticket says of itself
// is what happened.
func TestMCPKills(t *testing.T) {
	marks, symbols := []tradingsim.Option{tradingsim.WithBalance("10000000"), tradingsim.WithKeyLimit(6000), tradingsim.WithUserLimits(6000, 6000)}, []string{}
	for i := range *mcpKills {
		symbols = append(symbols, fmt.Sprint("M", i))
		marks = append(marks, tradingsim.WithMark(symbols[i], "100"))
	}
	r, _ := onLoopback(t, marks...)
	state, err := os.MkdirTemp("", "m") // the path of a socket is short
	require.NoError(t, err)
	policy, err := json.Marshal(map[string]any{
		"accounts": []string{"acc_1"}, "symbols": symbols, "kinds": []string{"market"}, "max_order_notional": "1000", "max_position_notional": "1000",
		"max_day_notional": "1000000", "max_leverage": "1", "entries_per_hour": 100000,
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(state, "policy"), policy, 0o600))
	flags := map[string][]string{"paper": {"--mode", "paper"}, "live": {"--mode", "live", "--approve", "nothing", "--policy", filepath.Join(state, "policy")}}
	r.env = append(r.env, "XDG_STATE_HOME="+state)
	t.Cleanup(func() {
		for mode := range flags {
			_ = syscall.Kill(r.engine(state, mode), syscall.SIGKILL)
		}
		_ = os.RemoveAll(state)
	})
	r.sim.FaultEach(func(operation string) tradingsim.Fault {
		if operation != "POST /sandbox/orders" && operation != "POST /orders" {
			return tradingsim.Pass()
		}
		return tradingsim.Together(tradingsim.Delay(time.Duration(rand.IntN(10))*time.Millisecond), tradingsim.DelayResponse(time.Duration(rand.IntN(10))*time.Millisecond))
	})
	type sent struct{ mode, market, ticket string }
	before, doubt, known := map[string]*sent{}, []*sent{}, map[string]int{}
	judge := func(c *chat, w *sent) {
		told := map[string]any{"outcome": "unknown"}
		for wait := 50 * time.Millisecond; told["outcome"] == "unknown" && wait < time.Second; wait *= 2 {
			told = c.call("get_ticket", map[string]string{"ticket": w.ticket})
			require.NotEqual(t, "too_many_calls", told["code"])
			time.Sleep(wait)
		}
		n := 0
		for _, x := range r.sim.Ledger() {
			if x.Symbol == w.market && x.Filled && strings.HasSuffix(x.Operation, "/orders") {
				n++
			}
		}
		assert.LessOrEqual(t, n, 1, "%s: %v", w.market, told)
		if told["outcome"] == "unknown" {
			doubt = append(doubt, w)
			return
		}
		known[w.mode]++
		assert.Equal(t, n == 1, told["outcome"] == "applied", "%s: %v", w.market, told)
	}
	for i := range *mcpKills {
		mode, start := []string{"paper", "live"}[i%2], r.chat
		if i/2%2 == 1 {
			start = r.web
		}
		c := start(flags[mode]...)
		if w := before[mode]; w != nil {
			judge(c, w)
		}
		account := c.call("account", nil)
		require.NotNil(t, account["state"], "%v", account)
		preview := c.call("preview_order", map[string]string{"symbol": symbols[i], "side": "long", "size": "1", "leverage": "1", "state": fmt.Sprint(account["state"])})
		require.NotNil(t, preview["ticket"], "%v", preview)
		w := &sent{mode, symbols[i], fmt.Sprint(preview["ticket"])}
		before[mode] = w
		victim := r.engine(state, mode)
		if i/4%2 == 1 {
			victim = c.cmd.Process.Pid
		}
		answer := c.begin("execute", map[string]string{"ticket": w.ticket})
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		require.NoError(t, syscall.Kill(victim, syscall.SIGKILL))
		answer()
		_ = c.in.Close()
		_ = c.cmd.Cancel()
		_ = c.cmd.Wait()
	}
	for mode, w := range before {
		c := r.chat(flags[mode]...)
		judge(c, w)
		closed := c.call("close", map[string]string{"symbol": w.market})
		assert.NotEqual(t, "unknown", closed["outcome"], "%v", closed)
	}
	t.Logf("%d kills, half on each account: outcomes known of %v and %d in doubt, 0 false, 0 doubles", *mcpKills, known, len(doubt))
}

// The operator's command finds the engine that it is for among those that run, and asks for the
// passphrase once.
func TestApproveAmongEngines(t *testing.T) {
	r, _ := onLoopback(t)
	state, err := os.MkdirTemp("", "m")
	require.NoError(t, err)
	r.env = append(r.env, "XDG_STATE_HOME="+state)
	require.NoError(t, os.MkdirAll(filepath.Join(state, "trading", "mcp"), 0o700))
	require.NoError(t, mcp.SetPassphrase(filepath.Join(state, "trading", "mcp"), "correct horse"))
	policy := filepath.Join(state, "policy")
	text, err := os.ReadFile("../../contrib/mcp/policy.example.json")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(policy, text, 0o600))
	t.Cleanup(func() {
		for _, mode := range []string{"read", "paper", "live"} {
			_ = syscall.Kill(r.engine(state, mode), syscall.SIGKILL)
		}
		_ = os.RemoveAll(state)
	})
	r.chat("--mode", "read")
	live, c := r.chat("--mode", "live", "--policy", policy), r.chat("--mode", "paper")
	account := c.call("account", nil)
	preview := c.call("preview_order", map[string]string{"symbol": "BTC", "side": "long", "size": "0.1", "state": fmt.Sprint(account["state"])})
	ticket := fmt.Sprint(preview["ticket"])
	require.Equal(t, "applied", c.call("execute", map[string]string{"ticket": ticket})["outcome"])
	run := func(a approver, ticket string) (asked int, err error) {
		a.app = &cli.App{Environ: r.env, Out: io.Discard, Err: io.Discard}
		a.phrase = func(string) (string, error) { asked++; return "correct horse", nil }
		return asked, a.run(t.Context(), ticket)
	}
	asked, err := run(approver{outcome: "applied"}, ticket)
	require.NoError(t, err)
	assert.Equal(t, 1, asked)
	_, err = run(approver{outcome: "applied"}, "t_none")
	require.ErrorContains(t, err, "name a ticket")
	c.call("halt", nil)
	live.call("halt", nil)
	asked, err = run(approver{resume: true}, "")
	require.NoError(t, err)
	assert.Equal(t, 1, asked)
	for _, c := range []*chat{live, c} {
		assert.Equal(t, false, c.call("status", nil)["halted"])
	}
}

// A second engine that another front starts at the same moment ends, and leaves the log to the first.
func TestMCPEnginesAtOnce(t *testing.T) {
	r, _ := onLoopback(t)
	state, err := os.MkdirTemp("", "m")
	require.NoError(t, err)
	r.env = append(r.env, "XDG_STATE_HOME="+state)
	c := r.chat("--mode", "paper")
	pid := r.engine(state, "paper")
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL); _ = os.RemoveAll(state) })
	a := newAgent(&cli.App{Environ: r.env}, new(cobra.Command))
	require.NoError(t, a.cmd.ParseFlags([]string{"--mode", "paper"}))
	dir, _, err := a.complete()
	require.NoError(t, err)
	second := newAgent(&cli.App{Environ: []string{childCommand + "=1"}}, new(cobra.Command)) // which finds no folder, and ends
	require.NoError(t, second.cmd.ParseFlags([]string{"--mode", "paper"}))
	require.NoError(t, second.start(t.Context(), dir))
	assert.Equal(t, pid, r.engine(state, "paper"))
	assert.Equal(t, "paper", c.call("status", nil)["mode"])
}

// The first command of the page, with nothing configured.
func TestMCPWithNothing(t *testing.T) {
	r := newRig(t)
	state, err := os.MkdirTemp("", "m")
	require.NoError(t, err)
	var env []string
	for _, pair := range r.env {
		if !strings.HasPrefix(pair, "TRADING_") {
			env = append(env, pair)
		}
	}
	r.env = append(env, "XDG_STATE_HOME="+state)
	t.Cleanup(func() {
		_ = syscall.Kill(r.engine(state, "paper"), syscall.SIGTERM)
		time.Sleep(100 * time.Millisecond)
		_ = os.RemoveAll(state)
	})
	c := r.chat()
	account := c.call("account", nil)
	preview := c.call("preview_order", map[string]string{"symbol": "BTC", "side": "long", "size": "0.1", "leverage": "2", "state": fmt.Sprint(account["state"])})
	done := c.call("execute", map[string]string{"ticket": fmt.Sprint(preview["ticket"])})
	assert.Equal(t, "applied", done["outcome"], "%v", done)
}
