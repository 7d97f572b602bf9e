package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/internal/loopback"
)

// serving is a sidecar that runs in this process.
type serving struct {
	*rig
	dir, keys string
	errs      *bytes.Buffer // once it has ended
	stop      context.CancelFunc
	ended     chan int
}

func serveSidecar(t *testing.T, args ...string) *serving {
	t.Helper()
	s := &serving{rig: newRig(t), errs: new(bytes.Buffer), ended: make(chan int, 1)}
	s.dir = t.TempDir()
	require.NoError(t, os.Chmod(s.dir, 0o700))
	s.keys = filepath.Join(s.dir, "real.keys")
	s.writeKeys(s.sim.LiveKey())
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	app := &cli.App{
		In: strings.NewReader(""), Out: s.errs, Err: s.errs, Environ: s.env,
		Options: []trading.Option{trading.WithTransport(s.sim.Transport())}, Transport: s.sim.Transport(),
	}
	go func() {
		service := "https://" + strings.ToLower(rand.Text()) + ".example/v1" // of nobody else: an account has one sidecar
		s.ended <- app.Run(ctx, newRoot(app), append([]string{"sidecar", "serve", "--base-url", service, "--state-dir", s.dir, "--key-file", s.keys, "--exits", "1ms"}, args...))
	}()
	require.Eventually(t, func() bool {
		code, _, _ := s.run("sidecar", "status", "--state-dir", s.dir)
		return code == 0
	}, time.Minute, 10*time.Millisecond)
	t.Cleanup(func() { stop(); <-s.ended })
	return s
}

func (s *serving) writeKeys(liveKey string) {
	require.NoError(s.t, os.WriteFile(s.keys, []byte(liveKey+"\n"+s.sim.SandboxKey()+"\n"), 0o600))
}

// bot sends a request as a bot does.
func (s *serving) bot(key, path, body string) (status int, code string) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", botsSocket(s.dir))
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://localhost/v1"+path, strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("X-API-Key", key)
	response, err := (&http.Client{Transport: transport}).Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	var refusal struct{ Error string }
	require.NoError(s.t, json.NewDecoder(response.Body).Decode(&refusal))
	return response.StatusCode, refusal.Error
}

// An operator lets a bot trade, halts it, gets out, and lets it trade again.
func TestSidecarServe(t *testing.T) {
	s := serveSidecar(t, "--max-position", "BTC=0.03", "--keys", "per-bot", "--unknown-members", "note")
	at := []string{"--state-dir", s.dir}
	do := func(args ...string) string { return s.done(append(append([]string{"sidecar"}, args...), at...)...) }
	key := strings.TrimSpace(do("keys", "add", "grid", "--account", "acc_1"))
	const buy = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`
	order := func() int { status, _ := s.bot(key, "/orders", buy); return status }
	assert.Equal(t, 200, order())
	assert.Contains(t, do("halt", "--reason", "news"), "halted: news")
	assert.Equal(t, 403, order())
	assert.Contains(t, do("status"), "takes no entries")
	assert.Contains(t, do("resume"), "takes entries")
	assert.Equal(t, 200, order())
	status, refused := s.bot(key, "/orders", strings.Replace(buy, "0.01", `0.011, "note": "x"`, 1))
	assert.Equal(t, []any{400, "PER_POSITION_CAP"}, []any{status, refused})
	if !testing.Short() { // its proof takes five seconds
		assert.Contains(t, do("flatten", "--reason", "night", "--account", "acc_1"), "entries of all bots are refused until: trading sidecar resume --state-dir "+s.dir+"\n")
		assert.Equal(t, "0", s.sim.Position("acc_1", "BTC").String())
		assert.Equal(t, 403, order())
		do("resume")
	}
	assert.Contains(t, do("pending", "-o", "json"), "[]")
	s.ends(cli.Unknown, "", append([]string{"sidecar", "resolve", "x"}, at...)...)

	s.writeKeys(s.sim.NewLiveKey()) // the real key is rotated
	s.sim.RevokeKey("pk_live_simulated00000002")
	assert.Equal(t, 200, order())
	do("keys", "remove", "grid")
	status, refused = s.bot(key, "/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`)
	assert.Equal(t, []any{401, "revoked_api_key"}, []any{status, refused})

	s.ends(cli.Refused, "", "sidecar", "serve", "--state-dir", s.dir, "--key-file", s.keys)
	s.stop()
	code := <-s.ended
	s.ended <- code
	assert.Zero(t, code, s.errs.String())
	assert.NotContains(t, s.errs.String(), "pk_live_simulated")
	s.ends(cli.Refused, "does it run?", "sidecar", "status", "--state-dir", s.dir)
}

// A sidecar whose service is itself would send each request to itself.
func TestASidecarIsNotItsOwnService(t *testing.T) {
	number, err := loopback.Port()
	require.NoError(t, err)
	port := strconv.Itoa(number)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		s := &serving{rig: newRig(t), dir: t.TempDir()}
		require.NoError(t, os.Chmod(s.dir, 0o700))
		s.keys = filepath.Join(s.dir, "real.keys")
		s.writeKeys(s.sim.LiveKey())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		s.ctx = ctx
		s.ends(cli.Refused, "is the address of this sidecar", "sidecar", "serve", "--base-url", "http://"+net.JoinHostPort(host, port)+"/v1",
			"--state-dir", s.dir, "--key-file", s.keys, "--listen", "127.0.0.1:"+port, "--exits", "1ms")
		cancel()
	}
}

// A second sidecar in one folder says so, and a journal that cannot be read is not taken for one.
func TestWhyASidecarDoesNotStart(t *testing.T) {
	s := serveSidecar(t)
	s.ends(cli.Refused, "another sidecar runs with --state-dir "+s.dir+"\n", "sidecar", "serve", "--state-dir", s.dir, "--key-file", s.keys)
	other := t.TempDir()
	require.NoError(t, os.Chmod(other, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(other, "journal"), []byte("no journal"), 0o600))
	_, _, errs := s.run("sidecar", "serve", "--state-dir", other, "--key-file", s.keys)
	assert.NotContains(t, errs, "another sidecar")
	assert.Contains(t, errs, filepath.Join(other, "journal"))
}
