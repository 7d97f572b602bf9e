package doubt

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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

// A limit, or a Pro order, never arrives. Beside it an order fills, then another limit rests, or another run begins,
// and the program is killed before the first attempt has timed out. After the restart what is there beside it is not
// taken for it.
func TestWhatIsLeftBesideASwallowedOneIsNotItsOwn(t *testing.T) {
	limit := func(size string) func(r rig.Rig) error {
		return func(r rig.Rig) error {
			return rig.Only(r.Account().PlaceLimit(r.T.Context(), rig.Buy(size, func(o *trading.Order) { o.LimitPrice = rig.At("60000") })))
		}
	}
	pro := func(size string) func(r rig.Rig) error {
		return func(r rig.Rig) error {
			return rig.Only(r.Account().PlacePro(r.T.Context(), rig.Buy(size), trading.TWAP{Duration: time.Hour}))
		}
	}
	for name, row := range map[string]struct {
		op                trading.Operation
		swallowed, beside func(r rig.Rig) error
	}{
		"a limit":     {trading.OpLimit, limit("0.05"), limit("0.03")},
		"a Pro order": {trading.OpTWAP, pro("0.5"), pro("0.4")},
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				var swallow atomic.Bool
				way := rig.Way(func(req *http.Request) (*http.Response, error) {
					if strings.HasSuffix(req.URL.Path, strings.TrimPrefix(string(row.op), "POST /")) && swallow.Load() {
						_, _ = io.Copy(io.Discard, req.Body) // all of it leaves
						<-req.Context().Done()
						return nil, req.Context().Err()
					}
					return r.Sim.Transport().RoundTrip(req)
				})
				disk := rig.NewDisk()
				r = r.Restart(disk, rig.Sole, trading.WithTransport(way))
				r.ReadAll()
				r.ReadAll()
				swallow.Store(true)
				var call sync.WaitGroup
				call.Go(func() {
					err := row.swallowed(r)
					assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
				})
				synctest.Wait()
				swallow.Store(false)
				r.Open(rig.Buy("0.1"))
				require.NoError(r.T, row.beside(r))

				disk.FailOn(func(journal.Record) error { return errors.New("killed") })
				rig.CloseClient(r.T, r.Client)
				call.Wait()
				disk.FailOn(nil)
				r = r.Restart(disk, rig.Sole)
				found, _ := r.Recover(r.T.Context())
				require.Len(r.T, found, 1)
				assert.NotEqual(r.T, trading.Applied, found[0].Outcome, "%v", found[0].Err)
				assert.Equal(r.T, 1, r.Ran(row.op), "the one beside it")
			})
		})
	}
}

// Beside an order that never arrived a limit rests whose answer is lost. A person says that it was placed, and then it
// fills. After a restart what it bought is not taken for the order's.
func TestALimitThatAPersonSawFillsBesideALostOrder(t *testing.T) {
	for _, restart := range []bool{false, true} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			disk, opts := rig.NewDisk(), []trading.Option{rig.Sole, trading.WithRecovery(trading.Recovery{WithoutBackground: true})}
			r = r.Restart(disk, opts...)
			r.ReadAll()
			r.ReadAll()
			lost := rig.IntentOf(r.T, r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05")))
			r.Sim.Fault("POST /orders/limit", tradingsim.DropResponse())
			limit := rig.Buy("0.05", func(o *trading.Order) { o.LimitPrice = rig.At("60000") })
			_, err := r.Account().PlaceLimit(r.T.Context(), limit, append(rig.InDoubt, trading.AllowPending(), trading.WithSendTTL(0))...)
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
			require.NoError(r.T, r.Acknowledge(r.T.Context(), rig.IntentOf(r.T, err), trading.Applied, "it rests"))
			r.Sim.SetMark("BTC", "59000")
			if restart {
				r = r.Restart(disk, opts...)
			}
			_, _ = r.Recover(r.T.Context())
			of, _ := r.ResolveID(r.T.Context(), lost)
			assert.NotEqual(r.T, trading.Applied, of.Outcome, "restart %t: %v", restart, of.Err)
			rig.EqualDec(r.T, "0.05", r.Sim.Position("acc_1", "BTC"), "the limit's")
		})
	}
}

// A run trades more than it was begun with, once it was edited: an order that never arrived is not taken for what the run
// has bought since.
func TestWhatAnEditedRunBuysIsNotTheLostOrders(t *testing.T) {
	rig.LiveTest(t, nil, []trading.Option{rig.Sole}, func(r rig.Rig) {
		for range 2 {
			time.Sleep(6 * time.Second)
			r.ReadAll()
		}
		run, err := r.Account().PlacePro(r.T.Context(), rig.Buy("0.02"), trading.TWAP{Duration: 2 * time.Minute})
		require.NoError(r.T, err)
		time.Sleep(time.Second)
		_, err = r.Account().EditRun(r.T.Context(), run.ID, rig.Dec("0.2"))
		require.NoError(r.T, err)
		for range 4 {
			time.Sleep(6 * time.Second)
			r.ReadAll()
		}
		time.Sleep(4800 * time.Millisecond)
		resolution, _ := r.Resolved(r.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05")))
		assert.NotEqual(r.T, trading.Applied, resolution.Outcome)
		assert.Zero(r.T, r.Ran(trading.OpOrder))
	})
}
