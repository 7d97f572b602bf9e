package doubt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
)

// An order runs, and something in front turns its answer into a 401. The journal hangs while that is noted, the second
// question has no answer, and the program is killed. The next run does not take that for the same answer again.
func TestATurnedAwayAnswerThatNoJournalHas(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		var front atomic.Bool
		way := rig.Way(func(req *http.Request) (*http.Response, error) {
			order := req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/orders")
			if front.Load() && !order && !strings.HasSuffix(req.URL.Path, "/health") {
				return nil, errors.New("the network is gone")
			}
			resp, err := r.Sim.Transport().RoundTrip(req)
			if front.Load() && order && err == nil {
				_ = resp.Body.Close()
				body := `{"error":"revoked_api_key","message":"no"}`
				resp.StatusCode, resp.ContentLength, resp.Body = http.StatusUnauthorized, int64(len(body)), io.NopCloser(strings.NewReader(body))
			}
			return resp, err
		})
		disk, opts := rig.NewDisk(), []trading.Option{rig.Sole, trading.WithTransport(way)}
		r = r.Restart(disk, opts...)
		r.ReadAll()
		r.ReadAll()
		front.Store(true)
		disk.FailOn(func(record journal.Record) error {
			if bytes.Contains(record.Data, []byte(`"fact":{"k":2`)) || bytes.Contains(record.Data, []byte(`"fact":{"k":4`)) {
				return errors.New("it hangs") // the end of the send, and of the sending
			}
			return nil
		})
		_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.05"), rig.InDoubt...)
		lost := rig.IntentOf(r.T, err)
		ctx, cancel := context.WithTimeout(r.T.Context(), 10*time.Second)
		_, _ = r.ResolveID(ctx, lost)
		cancel()
		disk.FailOn(func(journal.Record) error { return errors.New("killed") })
		front.Store(false)
		r = r.Restart(disk, opts...)
		disk.FailOn(nil)
		_, _ = r.Recover(r.T.Context())
		of, _ := r.ResolveID(r.T.Context(), lost)
		require.Equal(r.T, 1, r.Ran(trading.OpOrder))
		assert.Equal(r.T, trading.Applied, of.Outcome)
	})
}
