package sidecar

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rig is a sidecar in front of a simulated service, with two local keys.
type rig struct {
	t      *testing.T
	sim    *tradingsim.Sim
	server *Server
	config Config
	live   string // the key of "grid", which trades acc_1
	paper  string // the key of "paper"
}

func newRig(t *testing.T, sim []tradingsim.Option, change ...func(*Config)) *rig {
	t.Helper()
	service := tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3000")}, sim...)...)
	t.Cleanup(func() { assert.NoError(t, service.Close()) })
	r := &rig{t: t, sim: service, config: Config{
		BaseURL: "https://" + newID() + ".example/v1", Dir: t.TempDir(), Locks: filepath.Join(t.TempDir(), "locks"), Journal: journal.NewMemory(),
		Options: []trading.Option{
			trading.WithLiveKey(service.LiveKey()), trading.WithSandboxKey(service.SandboxKey()), trading.WithTransport(service.Transport()),
		},
	}}
	for _, f := range change {
		f(&r.config)
	}
	r.live = r.key(localkey.Key{Name: "grid", Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade})
	r.paper = r.key(localkey.Key{Name: "paper", May: localkey.Trade})
	r.start()
	r.days("grid", "paper")
	t.Cleanup(func() { _ = r.server.Close() }) // writes may be pending
	return r
}

func (r *rig) start() {
	var err error
	r.server, err = New(r.config)
	require.NoError(r.t, err)
}

// restart ends the sidecar, and starts it on what it has left.
func (r *rig) restart() {
	_ = r.server.Close() // writes may be pending
	r.start()
}

// key makes a local key.
func (r *rig) key(k localkey.Key) string {
	token, err := localkey.Add(filepath.Join(r.config.Dir, "keys"), k, time.Now())
	require.NoError(r.t, err)
	return token
}

// fresh is the key of a bot that has come to the sidecar now.
func (r *rig) fresh() string {
	return r.key(localkey.Key{Name: "fresh", Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade})
}

// days lets the bots have traded behind the sidecar for longer than the service keeps a key.
func (r *rig) days(bots ...string) {
	for _, bot := range bots {
		for _, account := range []string{"acc_1", "acc_2", "acc_9"} {
			_, err := r.server.file.First(r.t.Context(), bot, account, time.Now().Add(-25*time.Hour))
			require.NoError(r.t, err)
		}
	}
}

// answer is what a bot was answered.
type answer struct {
	status  int
	code    string
	reason  string
	outcome string
	write   string
	header  http.Header
	body    string
}

// do sends a request as a bot in the same process, which hears every answer. header are pairs.
func (r *rig) do(key, operation, body string, header ...string) answer {
	r.t.Helper()
	return r.by(present{}, key, operation, body, header...)
}

// by sends a request of a bot.
func (r *rig) by(p peer, key, operation, body string, header ...string) answer {
	method, path, _ := strings.Cut(operation, " ")
	request := httptest.NewRequest(method, "http://localhost/v1"+path, strings.NewReader(body))
	if key != "" {
		request.Header.Set("X-API-Key", key)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	request = request.WithContext(context.WithValue(r.t.Context(), peerKey{}, p))
	w := httptest.NewRecorder()
	var connection http.ResponseWriter = w
	if q, ok := p.(*quick); ok {
		connection = hears{w, q}
	}
	r.server.ServeHTTP(connection, request)
	a := answer{
		status: w.Code, header: w.Header(), body: w.Body.String(),
		outcome: w.Header().Get(headerOutcome), write: w.Header().Get(headerWrite),
	}
	var refusal struct{ Error, Reason string }
	if json.Unmarshal(w.Body.Bytes(), &refusal) == nil {
		a.code, a.reason = refusal.Error, refusal.Reason
	}
	return a
}

// inTime runs a test in virtual time.
func inTime(t *testing.T, sim []tradingsim.Option, f func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newRig(t, sim)) })
}

const (
	buy      = `{"accountId":"acc_1", "symbol":"BTC","side":"long","size":1.0e-2,"leverage":2.00}`
	buyMore  = `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.02,"leverage":2}`
	buyPaper = `{"symbol":"BTC","side":"long","size":0.010}`
	closeBTC = `{"accountId":"acc_1","symbol":"BTC"}`
)

// deaf is a bot that is answered, and may hear that later. It may have left.
type deaf struct{ hears, away atomic.Bool }

func (d *deaf) age() time.Duration { return 0 }
func (d *deaf) old() bool          { return false }
func (d *deaf) gone() bool         { return d.away.Load() }
func (d *deaf) left() bool         { return d.away.Load() }
func (d *deaf) writing() answered  { return d }
func (d *deaf) Heard() bool        { return d.hears.Load() }
func (d *deaf) OnHeard(func())     {}
