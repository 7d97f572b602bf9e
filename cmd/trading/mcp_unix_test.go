//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

var mcpKills = flag.Int("mcp.kills", 4, "kills of the engine of trading mcp, and of its front")

// chat is a front, as a host starts it.
type chat struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
	last    int
}

func (r *rig) chat(args ...string) *chat {
	r.t.Helper()
	c := &chat{t: r.t, cmd: exec.CommandContext(r.t.Context(), os.Args[0], append([]string{"mcp"}, args...)...)}
	c.cmd.Env = append(r.env[:len(r.env):len(r.env)], childCommand+"=1", "GORACE=atexit_sleep_ms=0")
	c.cmd.Stderr = os.Stderr
	var err error
	c.in, err = c.cmd.StdinPipe()
	require.NoError(r.t, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(r.t, err)
	c.answers = bufio.NewReader(out)
	require.NoError(r.t, c.cmd.Start())
	r.t.Cleanup(func() { _ = c.in.Close(); _ = c.cmd.Wait() })
	c.send("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	_, err = c.answers.ReadString('\n')
	require.NoError(r.t, err)
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	require.NoError(r.t, err)
	return c
}

func (c *chat) send(method, params string) {
	c.last++
	_, _ = fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.last, method, params) // the front may be gone
}

func (c *chat) begin(tool string, args map[string]string) {
	data, err := json.Marshal(args)
	require.NoError(c.t, err)
	c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, data))
}

// call calls a tool, and returns the answer; nil from a front that has ended.
func (c *chat) call(tool string, args map[string]string) map[string]any {
	c.begin(tool, args)
	line, err := c.answers.ReadString('\n')
	if err != nil {
		return nil
	}
	var answer struct {
		Result struct{ StructuredContent map[string]any }
	}
	require.NoError(c.t, json.Unmarshal([]byte(line), &answer), "%s", line)
	return answer.Result.StructuredContent
}

var enginePID = regexp.MustCompile(`process (\d+)`)

// engine is the process that answers the fronts.
func (r *rig) engine(state string) int {
	logs, err := filepath.Glob(filepath.Join(state, "trading", "mcp", "*", "log"))
	require.NoError(r.t, err)
	require.Len(r.t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(r.t, err)
	found := enginePID.FindStringSubmatch(string(text))
	require.NotNil(r.t, found, "%s", text)
	assert.NotContains(r.t, string(text), "pk_")
	pid, err := strconv.Atoi(found[1])
	require.NoError(r.t, err)
	return pid
}

// The engine is killed in the middle of orders, and its front in every other round. No order happens
// twice, and what a ticket says of itself is what happened.
func TestMCPKills(t *testing.T) {
	marks := []tradingsim.Option{tradingsim.WithBalance("10000000"), tradingsim.WithKeyLimit(6000)}
	for i := range *mcpKills {
		marks = append(marks, tradingsim.WithMark(fmt.Sprint("M", i), "100"))
	}
	r, _ := onLoopback(t, marks...)
	state, err := os.MkdirTemp("", "m") // the path of a socket is short
	require.NoError(t, err)
	r.env = append(r.env, "XDG_STATE_HOME="+state)
	t.Cleanup(func() { _ = syscall.Kill(r.engine(state), syscall.SIGKILL); _ = os.RemoveAll(state) })
	r.sim.FaultEach(func(operation string) tradingsim.Fault {
		if operation != "POST /sandbox/orders" {
			return tradingsim.Pass()
		}
		return tradingsim.Together(tradingsim.Delay(time.Duration(rand.IntN(10))*time.Millisecond), tradingsim.DelayResponse(time.Duration(rand.IntN(10))*time.Millisecond))
	})
	tickets := map[string]string{} // by market
	fills := func(market string) (n int) {
		for _, x := range r.sim.Ledger() {
			if x.Symbol == market && x.Filled {
				n++
			}
		}
		return n
	}
	for i := range *mcpKills {
		market := fmt.Sprint("M", i)
		c := r.chat("--mode", "paper")
		account := c.call("account", nil)
		require.NotNil(t, account["state"], "%v", account)
		preview := c.call("preview_order", map[string]string{"symbol": market, "side": "long", "size": "1", "leverage": "1", "state": fmt.Sprint(account["state"])})
		require.NotNil(t, preview["ticket"], "%v", preview)
		tickets[market] = fmt.Sprint(preview["ticket"])
		victim := r.engine(state)
		if i%2 == 1 {
			victim = c.cmd.Process.Pid
		}
		c.begin("execute", map[string]string{"ticket": tickets[market]})
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		require.NoError(t, syscall.Kill(victim, syscall.SIGKILL))
		_ = c.in.Close()
		_ = c.cmd.Wait()
	}
	last := r.chat("--mode", "paper")
	known := 0
	for market, ticket := range tickets {
		var told map[string]any
		for range 100 {
			if told = last.call("get_ticket", map[string]string{"ticket": ticket}); told["phase"] != "in_flight" {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		n := fills(market)
		assert.LessOrEqual(t, n, 1, "%s: %v", market, told)
		switch {
		case told["outcome"] == "applied":
			known++
			assert.Equal(t, 1, n, "%s: %v", market, told)
		case told["outcome"] == "not_applied":
			known++
			assert.Zero(t, n, "%s: %v", market, told)
		}
	}
	t.Logf("%d kills: %d outcomes known, 0 false, 0 doubles", *mcpKills, known)
	closed := last.call("flatten", nil)
	assert.Equal(t, true, closed["flat"], "%v", closed)
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
		_ = syscall.Kill(r.engine(state), syscall.SIGTERM)
		time.Sleep(100 * time.Millisecond)
		_ = os.RemoveAll(state)
	})
	c := r.chat()
	account := c.call("account", nil)
	preview := c.call("preview_order", map[string]string{"symbol": "BTC", "side": "long", "size": "0.1", "leverage": "2", "state": fmt.Sprint(account["state"])})
	done := c.call("execute", map[string]string{"ticket": fmt.Sprint(preview["ticket"])})
	assert.Equal(t, "applied", done["outcome"], "%v", done)
}
