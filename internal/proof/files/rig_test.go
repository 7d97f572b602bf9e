//go:build unix

package files_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// asRoot skips where the owner of a file cannot be changed.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: it takes root to give a file to another user")
	}
}

// folder is one that its owner alone can enter.
func folder(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Mkdir(path, 0o700))
	return path
}

func connect(t *testing.T) (*tradingsim.Sim, *trading.Client) {
	t.Helper()
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	t.Cleanup(func() { assert.NoError(t, sim.Close()) })
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()), trading.WithLiveKey(sim.LiveKey()))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return sim, client
}

// protection are the options of a protection that has not run.
func protection(t *testing.T) protect.Options {
	t.Helper()
	_, client := connect(t)
	return protect.Options{Client: client, Accounts: []trading.AccountID{"acc_1"}, Dir: folder(t)}
}

// sidecarConfig is that of a sidecar that has not run.
func sidecarConfig(t *testing.T) sidecar.Config {
	t.Helper()
	sim, _ := connect(t)
	return sidecar.Config{
		BaseURL: sim.URL(), Dir: folder(t), Locks: folder(t), Journal: journal.NewMemory(),
		Options: []trading.Option{trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport())},
	}
}

// halt halts a sidecar, as its operator does.
func halt(t *testing.T, s *sidecar.Server) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Operator().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/halt", strings.NewReader(`{"reason":"a test"}`)))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
}
