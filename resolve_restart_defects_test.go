package trading_test

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
				sim, d := tradingsim.New(), newDisk()
				first := programAt(t, sim, d, urls[0])
				first.date()
				sim.Fault("POST /orders", tradingsim.DropResponse())
				_, err := first.account().PlaceOrder(t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
				require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
				closeClient(t, first.Client)
				second := programAt(t, sim, d, urls[1])
				require.ErrorIs(t, entryCall(second), trading.ErrPendingWrite)
				found, err := second.Recover(t.Context())
				require.NoError(t, err)
				require.Len(t, found, 1)
				assert.Equal(t, trading.Applied, found[0].Outcome)
				assert.Equal(t, 1, second.ran(trading.OpOrder))
				require.NoError(t, entryCall(second))
			})
		})
	}
}

// A write that was sent to another service is told, and closes its market: under the
// same account id it may be the same account. It is not asked about here.
func TestAWriteOfAnotherBaseURLIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, d := tradingsim.New(), newDisk()
		first := programAt(t, sim, d, "https://one.test/v1")
		lost := first.doubtful(tradingsim.DropRequest(), buy("0.05"))
		closeClient(t, first.Client)
		second := programAt(t, sim, d, "https://two.test/v1")
		asked := len(sim.Requests())
		found, err := second.Recover(t.Context())
		require.ErrorIs(t, err, trading.ErrUndetermined)
		require.ErrorContains(t, err, "https://one.test/v1")
		require.Len(t, found, 1)
		assert.Equal(t, trading.Unknown, found[0].Outcome)
		time.Sleep(time.Hour)
		assert.Len(t, sim.Requests(), asked, "no fence, and no look")
		require.ErrorIs(t, entryCall(second), trading.ErrPendingWrite)
		require.Equal(t, []trading.IntentID{intentOf(t, lost)}, second.pendingIDs())

		require.NoError(t, second.Acknowledge(t.Context(), intentOf(t, lost), trading.NotApplied, "seen in the terminal"))
		require.NoError(t, entryCall(second))
		assert.Equal(t, 1, second.ran(trading.OpOrder))
		assert.Empty(t, d.pending())
	})
}

// programAt is a program with a journal whose service has a base URL.
func programAt(t *testing.T, sim *tradingsim.Sim, d *disk, base string) rig {
	client, err := trading.New(base, trading.WithJournal(d.open()), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	t.Cleanup(func() { closeClient(t, client) })
	return rig{client, t, sim}
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
		clock, d := &serviceClock{}, newDisk()
		sim := tradingsim.New(tradingsim.WithClock(clock.now))
		r := join(t, sim, trading.WithJournal(d.open()), sole)
		r.readAll()
		r.sim.Fault("POST /orders", tradingsim.Hang(2*time.Minute)) // by the service's clock
		_, err := r.account().PlaceOrder(t.Context(), buy("0.05"), once, trading.WithResolveTimeout(0))
		require.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		closeClient(t, r.Client)
		clock.setForward(time.Hour)
		r = join(t, sim, trading.WithJournal(d.open()), sole)
		found, err := r.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, trading.Applied, found[0].Outcome)
		assert.Equal(t, 1, r.ran(trading.OpOrder))
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
			liveTest(t, nil, nil, func(r rig) {
				d := newDisk()
				r = r.restart(d)
				r.open(buy("0.1"))
				closing := func(opts ...trading.CallOption) error {
					_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("50")), append(opts, exit)...)
					return err
				}
				r.sim.Fault("POST /positions/close", fault)
				require.Equal(r.t, trading.Unknown, trading.OutcomeOf(closing(once, trading.WithResolveTimeout(0))))
				closeClient(r.t, r.Client)
				r.sim.Advance(time.Hour) // which the machine does not notice
				r = r.restart(d)
				found, _ := r.Recover(r.t.Context())
				require.Len(r.t, found, 1)
				assert.NotEqual(r.t, trading.NotApplied, found[0].Outcome)
				assert.NotEqual(r.t, trading.NotApplied, trading.OutcomeOf(closing()))
				assert.Equal(r.t, 1, r.ran(trading.OpClose))
				equalDec(r.t, "0.05", r.sim.Position("acc_1", "BTC"))
			})
		})
	}
}

// An exit that the journal did not take ran beside one that never arrived: after a
// restart its trade is not taken for that one's.
func TestAnExitThatTheJournalDidNotTake(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		alone := []trading.Option{sole, trading.WithoutBackground()}
		r = r.restart(d, alone...)
		r.open(buy("0.2"))
		r.readAll()
		r.readAll()
		half := func(opts ...trading.CallOption) (*trading.CloseResult, error) {
			return r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("50")), opts...)
		}
		r.sim.Fault("POST /positions/close", tradingsim.DropRequest())
		_, err := half(once, trading.WithResolveTimeout(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err))
		d.fail = func(journal.Record) error { return errors.New("disk full") }
		result, err := half()
		require.NoError(r.t, err)
		require.Error(r.t, result.Meta.Unjournaled)

		r = r.restart(d, alone...)
		d.fail = nil
		found, err := r.Recover(r.t.Context())
		require.ErrorIs(r.t, err, trading.ErrUndetermined)
		require.ErrorContains(r.t, err, "the journal did not take")
		require.Len(r.t, found, 1)
		assert.Equal(r.t, trading.Unknown, found[0].Outcome)
		assert.True(r.t, d.gap)

		require.NoError(r.t, r.Acknowledge(r.t.Context(), found[0].Intent.ID, trading.NotApplied, ""))
		r = r.restart(d, alone...)
		require.Empty(r.t, r.pendingIDs())
		assert.False(r.t, d.gap, "nothing is left that it could be taken for")
	})
}

// The journal lacks the second send of an exit, which was refused: the stored refusal is
// that send's, and the first one ran.
func TestARefusalOfASendThatTheJournalDidNotTake(t *testing.T) {
	liveTest(t, nil, nil, func(r rig) {
		d := newDisk()
		r = r.restart(d, trading.WithoutBackground())
		r.open(buy("0.2"))
		r.sim.Fault("POST /positions/close", tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()))
		r.sim.Fault("POST /positions/close", tradingsim.Fail(409, "STALE_PRICE"))
		var begun atomic.Bool
		d.failOn(func(journal.Record) error {
			if begun.Swap(true) {
				return errors.New("disk full")
			}
			return nil
		})
		_, err := r.account().ClosePosition(r.t.Context(), "BTC", trading.Percent(dec("50")), trading.WithResolveTimeout(0))
		require.Equal(r.t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		require.Equal(r.t, 2, r.sent(trading.OpClose))
		require.Equal(r.t, 1, r.ran(trading.OpClose))

		d.failOn(nil)
		for range 2 { // the second restart reads what the first one found
			r = r.restart(d, trading.WithoutBackground())
			found, err := r.Recover(r.t.Context())
			require.ErrorIs(r.t, err, trading.ErrUndetermined)
			require.Len(r.t, found, 1)
			assert.Equal(r.t, trading.Unknown, found[0].Outcome)
		}
	})
}
