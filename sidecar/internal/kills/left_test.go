package kills

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// leaverCommand is a client that leaves its calls running.
func leaverCommand(ctx context.Context, client string, env ...string) *exec.Cmd {
	args := leavers[client]
	if args == nil {
		self, err := os.Executable()
		if err != nil {
			panic(err)
		}
		args, env = []string{self}, append(env, "KILLS=leaver")
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // a list of this file's
	cmd.Env = append(os.Environ(), append(env, "no_proxy=*")...)
	return cmd
}

// gate is a way to the service on which entries wait until it opens.
type gate struct {
	next    http.RoundTripper
	waiting chan struct{} // one for each entry that came
	open    chan struct{}
}

// RoundTrip implements [http.RoundTripper].
func (g gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/orders") {
		g.waiting <- struct{}{}
		select {
		case <-g.open:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return g.next.RoundTrip(r)
}

// behindGate starts a sidecar, whose bots reach it by a real connection.
func behindGate(t *testing.T) (sim *tradingsim.Sim, g gate, url, secret string) {
	t.Helper()
	sim = tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	g = gate{sim.Transport(), make(chan struct{}, 64), make(chan struct{})}
	dir := t.TempDir()
	secret, err := sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
	require.NoError(t, err)
	server, err := sidecar.New(sidecar.Config{
		BaseURL: sim.URL(), Dir: dir, Journal: journal.NewMemory(),
		Options: []trading.Option{trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(g), trading.WithAttemptTimeout(time.Minute)},
	})
	require.NoError(t, err)
	l, err := sidecar.Listen("127.0.0.1:0", false)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close() // writes may be pending
		assert.NoError(t, <-served)
	})
	return sim, g, "http://" + l.Addr().String() + "/v1", secret
}

// A call that its bot leaves running, while that reads its positions and decides again: the order
// runs once.
func TestFound02_ACallLeftRunning(t *testing.T) {
	for name, client := range map[string]string{
		"a race of fetch and a timer":          "fetch, a race with a timer",
		"the result of a future in time":       "urllib, a future with a time-out",
		"curl in the background":               "curl in the background",
		"kill -9 of the shell, curl lives on":  "curl in the background",
		"the same by a session of requests":    "requests, a future with a time-out",
		"the same by a goroutine that is left": "go, a goroutine and a timer",
	} {
		for _, how := range goesOn {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel() // most of the time a bot waits
				if missing := needed(client); missing != nil {
					t.Skipf("NOT TESTED: %q does not run on this machine", missing)
				}
				leftRunning(t, client, how, strings.HasPrefix(name, "kill"))
			})
		}
	}
}

func leftRunning(t *testing.T, client, how string, killed bool) {
	sim, g, url, secret := behindGate(t)
	dir := t.TempDir()
	start := func() (cmd *exec.Cmd, lines *bufio.Reader) {
		cmd = leaverCommand(t.Context(), client, "LEFT_URL="+url, "LEFT_KEY="+secret, "LEFT_HOW="+how, "LEFT_PATIENCE=0.3", "LEFT_DIR="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		return cmd, bufio.NewReader(out)
	}
	cmd, lines := start()
	<-g.waiting // it is on its way
	if killed {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		cmd, lines = start()
	}
	line, err := lines.ReadString('\n') // it has decided again, and was answered or not
	require.NoError(t, err)
	require.Equal(t, "again\n", line)
	close(g.open)
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	assert.True(t, strings.HasSuffix(string(rest), "placed\n"), "%s", rest)
	assert.Equal(t, 1, entries(sim), "it ran as often")
}

// entries is how many entries the service has executed.
func entries(sim *tradingsim.Sim) (n int) {
	for _, one := range sim.Ledger() {
		if one.Operation == "POST /orders" {
			n++
		}
	}
	return n
}

// A grid of eight different entries, side by side on connections of their own: each is carried out
// while the others run, and again under its own key it is the same.
func TestEightEntriesSideBySide(t *testing.T) {
	sim, g, url, secret := behindGate(t)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	send := func(i int) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/orders",
			strings.NewReader(fmt.Sprintf(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0%d,"leverage":2}`, i)))
		require.NoError(t, err)
		r.Header.Set("X-API-Key", secret)
		if i%2 == 0 {
			r.Header.Set("Idempotency-Key", fmt.Sprint("level-", i))
		}
		a, err := transport.RoundTrip(r)
		if !assert.NoError(t, err) {
			return 0
		}
		defer func() { _ = a.Body.Close() }()
		text, err := io.ReadAll(a.Body)
		assert.NoError(t, err)
		if a.StatusCode != http.StatusOK {
			t.Log(i, string(text))
		}
		return a.StatusCode
	}
	for round := range 2 { // the second finds what the first has left
		var bots sync.WaitGroup
		for i := 1; i <= 8; i++ {
			bots.Go(func() { assert.Equal(t, http.StatusOK, send(i)) })
		}
		if round == 0 {
			for range 8 {
				<-g.waiting // all are on their way
			}
			close(g.open)
		}
		bots.Wait()
	}
	assert.Equal(t, 12, entries(sim), "of the second round those without a key are new")
}
