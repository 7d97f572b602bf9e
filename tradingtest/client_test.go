package tradingtest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

var order = trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}

// TestABotsOwnTest is what a bot author writes: three lines of setup, no sleep.
func TestABotsOwnTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		acct := tradingtest.Client(t, sim).Live.Account("acc_1")

		sim.Fault("POST /orders", tradingsim.DropResponse())
		res, err := acct.PlaceOrder(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		if !res.Meta.Replayed || res.Meta.Attempts != 2 {
			t.Errorf("got %+v", res.Meta)
		}
		if got := sim.Ledger(); len(got) != 1 {
			t.Errorf("%d executions, want 1: %v", len(got), got)
		}

		// And without a resend: the call finds out what became of its only one.
		sim.Fault("POST /orders", tradingsim.Fail(409, "MAX_SLIPPAGE"), tradingsim.DropResponse())
		_, err = acct.PlaceOrder(t.Context(), order)
		if trading.OutcomeOf(err) != trading.NotApplied {
			t.Errorf("refused: got %v", err)
		}
		_, err = acct.PlaceOrder(t.Context(), order, trading.WithSendTTL(time.Second), trading.WithRetry(trading.Retry{Attempts: 1}))
		if err != nil {
			t.Errorf("got %v", err)
		}
		if got := sim.Position("acc_1", "BTC"); !got.Equal(trading.Dec("0.02")) {
			t.Errorf("holds %s BTC", got)
		}
	})
}

// A named order that is refused is known not to be executed, and one whose reply is lost
// is pending: the client keeps a journal.
func TestAnIDIsKnownToBeNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		client := tradingtest.Client(t, sim)
		client.Halt("the desk is closed")
		_, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), order, trading.WithClientOrderID("a"))
		require.ErrorIs(t, err, trading.ErrHalted)
		require.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
		client.Resume()
		sim.SetStatus("acc_1", "FAILED")
		_, err = client.Live.Account("acc_1").PlaceOrder(t.Context(), order, trading.WithClientOrderID("b"))
		require.ErrorIs(t, err, trading.ErrAccountLocked)
		require.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "%v", err)
	})
}

func TestBothKeysReachTheirEnvironments(t *testing.T) {
	client := tradingtest.Client(t, tradingsim.New())
	for _, env := range []trading.Environment{trading.EnvSandbox, trading.EnvLive} {
		who, err := client.Me(t.Context(), env)
		require.NoError(t, err)
		require.Equal(t, env, who.Environment)
	}
}

// TestNeedsNoSocket would fail at the first dial: a started simulation is reached
// in process as well.
func TestNeedsNoSocket(t *testing.T) {
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = nobody{}
	for name, sim := range map[string]*tradingsim.Sim{"made": tradingsim.New(), "started": tradingsim.Start(t)} {
		mark, err := tradingtest.Client(t, sim).Sandbox.Price(t.Context(), "BTC")
		require.NoError(t, err, name)
		_, ok := mark.Price()
		require.True(t, ok, name)
	}
}

type nobody struct{}

func (nobody) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no network") }

func TestOptionsWin(t *testing.T) {
	sim := tradingsim.New()
	key := sim.NewLiveKey()
	refused := errors.New("not in this test")
	client := tradingtest.Client(t, sim, trading.WithLiveKey(sim.LiveKey()),
		trading.WithGuard(func(context.Context, trading.Write) error { return refused }))
	require.Equal(t, key, sim.LiveKey())
	_, err := client.Live.Account("acc_1").PlaceOrder(t.Context(), order)
	require.ErrorIs(t, err, refused)
	require.Empty(t, sim.Ledger())

	client = tradingtest.Client(t, sim, trading.WithTransport(nobody{}))
	_, err = client.Sandbox.State(t.Context())
	require.ErrorContains(t, err, "no network")
}

func TestIsClosedAtTheEnd(t *testing.T) {
	sim := tradingsim.New()
	var client *trading.Client
	t.Run("inside", func(t *testing.T) {
		client = tradingtest.Client(t, sim)
		_, err := client.Sandbox.State(t.Context())
		require.NoError(t, err)
	})
	_, err := client.Sandbox.State(t.Context())
	require.ErrorIs(t, err, trading.ErrClosed)
	require.Len(t, sim.Requests(), 1, "the simulation is the test's own")
	_, err = tradingtest.Client(t, sim).Sandbox.State(t.Context())
	require.NoError(t, err)
}

// stopped notes what Fatalf was told.
type stopped struct {
	testing.TB
	why string
}

func (s *stopped) Helper() {}
func (s *stopped) Fatalf(format string, args ...any) {
	s.why = format
	panic(s)
}

func TestBadOptionsEndTheTest(t *testing.T) {
	fake := &stopped{TB: t}
	require.Panics(t, func() { tradingtest.Client(fake, tradingsim.New(), trading.WithAttemptTimeout(-1)) })
	require.NotEmpty(t, fake.why)
}
