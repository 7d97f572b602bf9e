package doubt

import (
	"errors"
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

// A write that was sent to another spelling of the base URL is found.
func TestRecoverKnowsEverySpellingOfTheBaseURL(t *testing.T) {
	for name, urls := range map[string][2]string{
		"the default port":      {"https://api.test/v1", "https://api.test:443/v1"},
		"the case of the host":  {"https://API.test/v1", "https://api.TEST/v1"},
		"localhost":             {"http://localhost:8080/v1", "http://127.0.0.1:8080/v1"},
		"a slash at the end":    {"https://api.test/v1", "https://api.test/v1/"},
		"all of it, over http":  {"http://localhost/v1", "http://127.0.0.1:80/v1/"},
		"the loopback, over v6": {"http://[::1]/v1", "http://[::1]:80/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim, d := tradingsim.New(), rig.NewDisk()
				first := programAt(t, sim, d, urls[0])
				first.Date()
				_ = first.Lost(tradingsim.DropResponse(), rig.Buy("0.05"))
				rig.CloseClient(t, first.Client)
				second := programAt(t, sim, d, urls[1])
				require.ErrorIs(t, rig.EntryCall(second), trading.ErrPendingWrite)
				found, err := second.Recover(t.Context())
				require.NoError(t, err)
				require.Len(t, found, 1)
				assert.Equal(t, trading.Applied, found[0].Outcome)
				assert.Equal(t, 1, second.Ran(trading.OpOrder))
				require.NoError(t, rig.EntryCall(second))
			})
		})
	}
}

// A write that was sent to another service is told, and closes its market: under the
// same account id it may be the same account. It is not asked about here.
func TestAWriteOfAnotherBaseURLIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, d := tradingsim.New(), rig.NewDisk()
		first := programAt(t, sim, d, "https://one.test/v1")
		lost := first.Doubtful(tradingsim.DropRequest(), rig.Buy("0.05"))
		rig.CloseClient(t, first.Client)
		second := programAt(t, sim, d, "https://two.test/v1")
		asked := len(sim.Requests())
		found, err := second.Recover(t.Context())
		require.ErrorIs(t, err, trading.ErrUndetermined)
		require.ErrorContains(t, err, "https://one.test/v1")
		require.Len(t, found, 1)
		assert.Equal(t, trading.Unknown, found[0].Outcome)
		time.Sleep(time.Hour)
		assert.Len(t, sim.Requests(), asked, "no fence, and no look")
		require.ErrorIs(t, rig.EntryCall(second), trading.ErrPendingWrite)
		require.Equal(t, []trading.IntentID{rig.IntentOf(t, lost)}, second.PendingIDs())

		require.NoError(t, second.Acknowledge(t.Context(), rig.IntentOf(t, lost), trading.NotApplied, "seen in the terminal"))
		require.NoError(t, rig.EntryCall(second))
		assert.Equal(t, 1, second.Ran(trading.OpOrder))
		assert.Empty(t, d.Pending())
	})
}

// programAt is a program with a journal whose service has a base URL.
func programAt(t *testing.T, sim *tradingsim.Sim, d *rig.Disk, base string) rig.Rig {
	client, err := trading.New(base, trading.WithJournal(d.Open()), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	t.Cleanup(func() { rig.CloseClient(t, client) })
	return rig.Rig{Client: client, T: t, Sim: sim}
}

// serviceClock is the service's clock, against which the machine's can be set.
type serviceClock struct {
	mu      sync.Mutex
	stopped time.Time
	offset  time.Duration
}

func (c *serviceClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped
	}
	return time.Now().Add(c.offset)
}

// setForward sets the machine's clock forward: to the service no time passes.
func (c *serviceClock) setForward(d time.Duration) {
	now := c.now()
	c.mu.Lock()
	c.stopped = now
	c.mu.Unlock()
	time.Sleep(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped, c.offset = time.Time{}, c.offset-d
}

// The machine's clock is set an hour forward over a restart: an order that still runs is
// not taken for one that never ran.
func TestAClockAnHourForwardOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, d := &serviceClock{}, rig.NewDisk()
		sim := tradingsim.New(tradingsim.WithClock(clock.now))
		r := rig.Join(t, sim, trading.WithJournal(d.Open()), rig.Sole)
		r.ReadAll()
		r.Sim.Fault("POST /orders", tradingsim.Hang(2*time.Minute)) // by the service's clock
		_, err := r.Account().PlaceOrder(t.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		rig.CloseClient(t, r.Client)
		clock.setForward(time.Hour)
		r = rig.Join(t, sim, trading.WithJournal(d.Open()), rig.Sole)
		found, err := r.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, trading.Applied, found[0].Outcome)
		assert.Equal(t, 1, r.Ran(trading.OpOrder))
	})
}

// The machine's clock is set back over a restart, into the send TTL of a close that ran:
// the close is not sent again.
func TestAClockSetBackIntoTheTTL(t *testing.T) {
	exit := trading.WithClientOrderID("exit")
	for name, fault := range map[string]tradingsim.Fault{
		"its answer is stored":     tradingsim.DropResponse(),
		"its answer is not stored": tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()),
	} {
		t.Run(name, func(t *testing.T) {
			rig.DiskTest(t, nil, func(r rig.Rig, d *rig.Disk) {
				r.Open(rig.Buy("0.1"))
				closing := func(opts ...trading.CallOption) error {
					return rig.Only(r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), append(opts, exit)...))
				}
				r.Sim.Fault("POST /positions/close", fault)
				require.Equal(r.T, trading.Unknown, trading.OutcomeOf(closing(rig.Once, trading.WithResolveTimeout(0))))
				rig.CloseClient(r.T, r.Client)
				r.Sim.Advance(time.Hour) // which the machine does not notice
				r = r.Restart(d)
				found, _ := r.Recover(r.T.Context())
				require.Len(r.T, found, 1)
				assert.NotEqual(r.T, trading.NotApplied, found[0].Outcome)
				assert.NotEqual(r.T, trading.NotApplied, trading.OutcomeOf(closing()))
				assert.Equal(r.T, 1, r.Ran(trading.OpClose))
				rig.EqualDec(r.T, "0.05", r.Sim.Position("acc_1", "BTC"))
			})
		})
	}
}

// An exit that the journal did not take ran beside one that never arrived: after a
// restart its trade is not taken for that one's.
func TestAnExitThatTheJournalDidNotTake(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		d := rig.NewDisk()
		alone := []trading.Option{rig.Sole, trading.WithRecovery(trading.Recovery{WithoutBackground: true})}
		r = r.Restart(d, alone...)
		r.Open(rig.Buy("0.2"))
		r.ReadAll()
		r.ReadAll()
		half := func(opts ...trading.CallOption) (*trading.CloseResult, error) {
			return r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), opts...)
		}
		r.Sim.Fault("POST /positions/close", tradingsim.DropRequest())
		_, err := half(rig.Once, trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
		d.Fail = func(journal.Record) error { return errors.New("disk full") }
		result, err := half()
		require.NoError(r.T, err)
		require.Error(r.T, result.Meta.Unjournaled)

		r = r.Restart(d, alone...)
		d.Fail = nil
		found, err := r.Recover(r.T.Context())
		require.ErrorIs(r.T, err, trading.ErrUndetermined)
		require.ErrorContains(r.T, err, "the journal did not take")
		require.Len(r.T, found, 1)
		assert.Equal(r.T, trading.Unknown, found[0].Outcome)
		assert.True(r.T, d.Gap)

		require.NoError(r.T, r.Acknowledge(r.T.Context(), found[0].Intent.ID, trading.NotApplied, ""))
		r = r.Restart(d, alone...)
		require.Empty(r.T, r.PendingIDs())
		assert.False(r.T, d.Gap, "nothing is left that it could be taken for")
	})
}

// The journal lacks the second send of an exit, which was refused: the stored refusal is
// that send's, and the first one ran.
func TestARefusalOfASendThatTheJournalDidNotTake(t *testing.T) {
	rig.DiskTest(t, []trading.Option{trading.WithRecovery(trading.Recovery{WithoutBackground: true})}, func(r rig.Rig, d *rig.Disk) {
		r.Open(rig.Buy("0.2"))
		r.Sim.Fault("POST /positions/close", tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()))
		r.Sim.Fault("POST /positions/close", tradingsim.Fail(409, "STALE_PRICE"))
		var begun atomic.Bool
		d.FailOn(func(journal.Record) error {
			if begun.Swap(true) {
				return errors.New("disk full")
			}
			return nil
		})
		_, err := r.Account().ClosePosition(r.T.Context(), "BTC", trading.Percent(rig.Dec("50")), trading.WithResolveTimeout(0))
		require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		require.Equal(r.T, 2, r.Sent(trading.OpClose))
		require.Equal(r.T, 1, r.Ran(trading.OpClose))

		d.FailOn(nil)
		for range 2 { // the second restart reads what the first one found
			r = r.Restart(d, trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
			found, err := r.Recover(r.T.Context())
			require.ErrorIs(r.T, err, trading.ErrUndetermined)
			require.Len(r.T, found, 1)
			assert.Equal(r.T, trading.Unknown, found[0].Outcome)
		}
	})
}
