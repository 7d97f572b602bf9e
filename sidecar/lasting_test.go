package sidecar

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
)

// Two bots whose keys collide are two bots, if the sidecar puts their names before; without that the
// key is one, as on the service.
func TestKeysThatCollide(t *testing.T) {
	for _, perBot := range []bool{false, true} {
		inTime(t, nil, func(r *rig) {
			r.server.config.KeysPerBot = perBot
			other := r.key(localkey.Key{Name: "momentum", Live: true, Accounts: []string{"acc_1"}, May: localkey.Trade})
			r.days("momentum")
			key := []string{"Idempotency-Key", "entry-1"}
			require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy, key...).status)
			second := r.do(other, "POST /orders", buyMore, key...)
			if perBot {
				assert.Equal(r.t, 200, second.status, second.body)
				assert.Len(r.t, r.sim.Executed("grid.entry-1"), 1)
				assert.Len(r.t, r.sim.Executed("momentum.entry-1"), 1)
				return
			}
			assert.Equal(r.t, []any{422, "idempotency_key_reused"}, []any{second.status, second.code})
			assert.Len(r.t, r.sim.Executed("entry-1"), 1)
		})
	}
}

// Somebody else's order on an account that was declared exclusive ends the declaration with an
// alert, for the next run too.
func TestExclusiveEnds(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		said := new(alerts)
		r.config.Alert, r.config.Exclusive = said.say, []trading.AccountID{"acc_1"}
		r.restart()
		look := func() {
			for range 3 {
				time.Sleep(6 * time.Second)
				r.do(r.live, "GET /accounts/acc_1/orders", "")
				r.do(r.live, "GET /positions?accountId=acc_1", "")
			}
			synctest.Wait() // the alert comes beside the read
		}
		require.Equal(r.t, 200, r.do(r.live, "POST /orders", buy).status)
		look()
		require.Empty(r.t, said.all)
		limit := `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":10000}`
		require.Equal(r.t, 200, r.directly("POST /orders/limit", limit).status)
		look()
		assert.Len(r.t, said.with("somebody else trades acc_1"), 1)
		r.restart()
		look()
		assert.Len(r.t, said.all, 1, "it was said")
	})
}

// Ten thousand connections that ask for nothing are bounded, and a bot is served beside them.
func TestTenThousandConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds, and many file descriptors")
	}
	r, address, _ := hostile(t)
	var mu sync.Mutex
	var open []net.Conn
	var dialers sync.WaitGroup
	for range 100 {
		dialers.Go(func() {
			for range 100 {
				c, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
				if err != nil { // the queue of the port is full
					continue
				}
				mu.Lock()
				open = append(open, c)
				mu.Unlock()
			}
		})
	}
	dialers.Wait()
	assert.Greater(t, len(open), mostStrangers+mostKnown)
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	bot := http.Client{Transport: new(http.Transport), Timeout: 20 * time.Second}
	defer bot.CloseIdleConnections()
	var status int
	var said []byte
	for range 10 { // an entry that has waited for too long on a busy machine is not sent, and comes again
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/orders", strings.NewReader(buy))
		require.NoError(t, err)
		request.Header.Set("X-API-Key", r.live)
		a, err := bot.Do(request)
		require.NoError(t, err)
		said, _ = io.ReadAll(a.Body)
		require.NoError(t, a.Body.Close())
		if status = a.StatusCode; status != http.StatusServiceUnavailable {
			break
		}
	}
	assert.Equal(t, http.StatusOK, status, "%s", said)
	assert.Len(t, r.sim.Ledger(), 1)
}
