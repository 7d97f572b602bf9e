package doubt

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
	"github.com/tradingapi/trading-go/internal/testing/rig"
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
			rig.LiveTest(t, nil, []trading.Option{slow}, func(r rig.Rig) {
				_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.1"), trading.WithSendTTL(0))
				assert.Equal(r.T, row.sent, r.Sent(trading.OpOrder))
				if row.sent > 0 {
					require.NoError(r.T, err)
					return
				}
				require.ErrorIs(r.T, err, trading.ErrExpired)
				require.ErrorContains(r.T, err, "decided 45m0s ago, may be sent for 5s")
				assert.Equal(r.T, trading.NotApplied, trading.OutcomeOf(err))
			})
		})
	}
}

// D 10: a probe does not leave after a sync that took minutes, and what the journal has of it
// is that nothing left.
func TestEdge10_AProbeDoesNotWaitForTheDisk(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		d.Slow = func(record journal.Record) {
			if bytes.Contains(record.Data, []byte(`{"fact":{"k":7`)) { // ProbeBegun
				time.Sleep(8 * time.Minute)
			}
		}
		r = r.Restart(d, rig.Sole)
		r.ReadAll()
		r.Sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.1"), rig.InDoubt...)
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		resolution, err := r.Resolved(err)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
		assert.Equal(r.T, trading.EvidenceAccounting, resolution.Evidence)
		assert.Equal(r.T, 1, r.Sent(trading.OpOrder), "no probe")
		assert.False(r.T, resolution.MaybeLate)
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
		_, err = client.Sandbox.PlaceOrder(t.Context(), rig.Buy("1"))
		require.ErrorIs(t, err, trading.ErrExpired)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Zero(t, arrived)
		require.NoError(t, client.Close())
	})
}
