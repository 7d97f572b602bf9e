package trading_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// D 9: with a TTL of 0 the one send begins within the time of an attempt, whatever a guard
// takes. After a restart nothing is said of the write that a later byte could change.
func TestEdge09_ATTLOf0HasABound(t *testing.T) {
	for name, row := range map[string]struct {
		takes time.Duration
		sent  int
	}{
		"in time": {takes: 4 * time.Second, sent: 1},
		"late":    {takes: 45 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			slow := trading.WithGuard(func(context.Context, trading.Write) error {
				time.Sleep(row.takes)
				return nil
			})
			liveTest(t, nil, []trading.Option{slow}, func(r rig) {
				_, err := r.account().PlaceOrder(r.t.Context(), buy("0.1"), trading.WithSendTTL(0))
				assert.Equal(r.t, row.sent, r.sent(trading.OpOrder))
				if row.sent > 0 {
					require.NoError(r.t, err)
					return
				}
				require.ErrorIs(r.t, err, trading.ErrExpired)
				require.ErrorContains(r.t, err, "decided 45m0s ago, may be sent for 5s")
				assert.Equal(r.t, trading.NotApplied, trading.OutcomeOf(err))
			})
		})
	}
}

// D 10: a probe does not leave after a sync that took minutes, and what the journal has of it
// is that nothing left.
func TestEdge10_AProbeDoesNotWaitForTheDisk(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		d.slow = func(record journal.Record) {
			if bytes.Contains(record.Data, []byte(`{"fact":{"k":7`)) { // ProbeBegun
				time.Sleep(8 * time.Minute)
			}
		}
		r = r.restart(d, sole)
		r.readAll()
		r.sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := r.account().PlaceOrder(r.t.Context(), buy("0.1"), inDoubt...)
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		resolution, err := r.resolve(err)
		require.NoError(r.t, err)
		assert.Equal(r.t, trading.Applied, resolution.Outcome)
		assert.Equal(r.t, trading.EvidenceAccounting, resolution.Evidence)
		assert.Equal(r.t, 1, r.sent(trading.OpOrder), "no probe")
		assert.False(r.t, resolution.MaybeLate)
	})
}

// D 18: an order that may be sent for 300 ms, over a connection that takes 4 s.
func TestEdge18_ADialThatOutlivesTheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived := 0
		slow := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(4 * time.Second)
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				if _, err := http.ReadRequest(bufio.NewReader(far)); err == nil {
					arrived++
				}
			}()
			return near, nil
		}}
		client, err := trading.New("http://127.0.0.1/v1", trading.WithSandboxKey("pk_test_x"), trading.WithTransport(slow),
			trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithSendTTL(300*time.Millisecond))
		require.NoError(t, err)
		_, err = client.Sandbox.PlaceOrder(t.Context(), buy("1"))
		require.ErrorIs(t, err, trading.ErrExpired)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Zero(t, arrived)
		require.NoError(t, client.Close())
	})
}
