package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// unheard places an order whose answers are lost until a command lists it, and returns the list.
func (s *serving) unheard(at string, order func()) (listed string) {
	s.t.Helper()
	s.sim.FaultEach(func(operation string) tradingsim.Fault {
		if operation == "GET /health" {
			return nil
		}
		return tradingsim.DropResponse()
	})
	answered := make(chan struct{})
	go func() { defer close(answered); order() }()
	require.Eventually(s.t, func() bool {
		listed = s.done("pending", "ls", "--sidecar", at)
		return strings.Contains(listed, "POST /orders")
	}, time.Minute, 10*time.Millisecond)
	s.sim.FaultEach(nil)
	<-answered
	return listed
}

// An operator looks and gets out by the commands that he knows, through the sidecar that runs.
func TestSidecarFlag(t *testing.T) {
	s := serveSidecar(t)
	at := operatorSocket(s.dir)
	key := strings.TrimSpace(s.done("sidecar", "keys", "add", "grid", "--account", "acc_1", "--state-dir", s.dir))
	s.env = []string{"XDG_STATE_HOME=" + t.TempDir()} // neither a service nor a key
	const buy = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`
	order := func() int { status, _ := s.bot(key, "/orders", buy); return status }
	require.Equal(t, 200, order())

	assert.Contains(t, s.done("status", "--sidecar", at), "takes entries")
	assert.Equal(t, "[]\n", s.done("pending", "ls", "--sidecar", at, "-o", "json"))
	assert.Contains(t, s.unheard(at, func() { assert.Equal(t, 200, order()) }), "grid")

	flatten := []string{"flatten", "--env", "live", "--account", "acc_1", "--sidecar", at}
	s.terminal, s.types = true, "no\n"
	s.ends(cli.NotApplied, "", append(flatten, "--all-symbols")...)
	s.terminal = false
	assert.Contains(t, s.done(append(flatten, "--symbol", "BTC", "--yes")...), "flat")
	assert.Equal(t, "0", s.sim.Position("acc_1", "BTC").String())
	assert.Contains(t, s.done("status", "--sidecar", at), "takes no entries: halted: flatten: trading flatten")
}

// At its port the commands are one of its bots.
func TestSidecarFlagAtThePort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	s := serveSidecar(t, "--listen", address)
	add := func(name string) string {
		return strings.TrimSpace(s.done("sidecar", "keys", "add", name, "--account", "acc_1", "--state-dir", s.dir))
	}
	at, key := "http://"+address, add("person")
	s.env = []string{"XDG_STATE_HOME=" + t.TempDir()}
	assert.Contains(t, s.done("status", "--sidecar", at+"/v1"), "takes entries")
	s.ends(cli.Usage, "", "pending", "ls", "--sidecar", at)

	s.env = append(s.env, "TRADING_LIVE_KEY="+key)
	order := func(key string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/v1/orders", strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`))
		require.NoError(t, err)
		r.Header.Set("X-API-Key", key)
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_ = response.Body.Close()
	}
	defer http.DefaultClient.CloseIdleConnections()
	order(key)
	s.unheard(at, func() { order(key) })
	s.network = true
	assert.Contains(t, s.done("flatten", "--env", "live", "--account", "acc_1", "--sidecar", at, "--all-symbols", "--yes"), "flat")
	assert.Equal(t, "0", s.sim.Position("acc_1", "BTC").String())
	assert.Contains(t, s.done("status", "--sidecar", at), "takes entries", "the others go on")
}

// What answers instead of a sidecar moves no terminal, and is asked once.
func TestSidecarFlagAtSomebodyElse(t *testing.T) {
	r := newRig(t)
	r.env = append(r.env, "TRADING_LIVE_KEY=pk_live_local_0123456789")
	for _, answer := range []string{"", "<html>", `{"error":"x","message":"red [31m","reason":"no"}`} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked++; answer == "" {
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
				w.WriteHeader(http.StatusFound)
				return
			}
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte(answer))
		}))
		code, out, errs := r.run("pending", "ls", "--sidecar", server.URL)
		server.Close()
		assert.Equal(t, cli.NotApplied, code, out)
		assert.NotContains(t, errs, "\x1b")
		assert.Equal(t, 1, asked)
	}
	assert.Empty(t, r.sim.Requests())
}

// What both kinds of address say has one form.
func TestSidecarStatusAtBoth(t *testing.T) {
	s := serveSidecar(t)
	for _, args := range [][]string{{"sidecar", "status", "--state-dir", s.dir}, {"status", "--sidecar", operatorSocket(s.dir)}} {
		var is sidecar.Status
		require.NoError(t, json.Unmarshal([]byte(s.done(append(args, "-o", "json")...)), &is))
		assert.Equal(t, sidecar.Status{Ready: true, Unheard: []string{}}, is)
	}
}

// Nobody knows who listens on a port of this machine while the sidecar is down: it gets no key of the
// service itself.
func TestFound21_OnlyLocalKeysGoToASidecar(t *testing.T) {
	for _, args := range []string{
		"pending ls --sidecar ", "status --sidecar ", "flatten --env live --account acc_1 --all-symbols --yes --sidecar ",
	} {
		t.Run(strings.Fields(args)[0], func(t *testing.T) {
			r := newRig(t)
			r.network = true
			var got []string
			var mu sync.Mutex
			somebody := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				for _, values := range q.Header {
					got = append(got, values...)
				}
				w.WriteHeader(http.StatusBadGateway)
			}))
			defer somebody.Close()
			for _, env := range [][]string{{"TRADING_LIVE_KEY=pk_live_real1234567890"}, {"TRADING_SANDBOX_KEY=pk_test_real1234567890"}} {
				r.env = append([]string{"XDG_STATE_HOME=" + t.TempDir()}, env...)
				code, _, errs := r.run(strings.Fields(args + somebody.URL)...)
				assert.NotEqual(t, cli.Done, code)
				if !strings.HasPrefix(args, "status") {
					assert.Equal(t, cli.Usage, code, errs)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			assert.NotContains(t, strings.Join(got, " "), "real1234567890")
		})
	}
}
