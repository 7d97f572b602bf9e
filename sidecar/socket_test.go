package sidecar

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// socketBot is a bot in another process, by its HTTP client.
func socketBot(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
}

// A bot on a Unix socket orders, reads and closes.
func TestOverASocket(t *testing.T) {
	r := newRig(t, nil)
	path := filepath.Join(t.TempDir(), "bots", "sidecar.sock")
	l, err := Listen(path, false)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(l) }()
	bot := socketBot(path)
	defer bot.CloseIdleConnections()
	send := func(method, path, body string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/v1"+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("X-API-Key", r.live)
		response, err := bot.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(text)
	}
	status, text := send("POST", "/orders", buy)
	assert.Equal(t, 200, status, text)
	status, text = send("GET", "/positions?accountId=acc_1", "")
	assert.Equal(t, 200, status)
	assert.Contains(t, text, `"symbol":"BTC"`)
	status, _ = send("POST", "/positions/close", closeBTC)
	assert.Equal(t, 200, status)
	assert.Len(t, r.sim.Ledger(), 2)
	require.NoError(t, r.server.Close())
	assert.NoError(t, <-served)
}
