package doubt

import (
	"bytes"
	"context"
	"errors"
	"strings"
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

// D 35: a journal of another account holder is named as such, after a minute in which the key
// is asked with again: one such answer may be a passing fault. The write stays pending, and is
// asked about once a minute; what is of the present key is resolved.
func TestTheJournalOfAnotherAccountHolder(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		t := r.T
		d := rig.NewDisk()
		other := rig.Join(t, tradingsim.New(tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"})))
		ours := other.Restart(d)
		_, err := ours.Live.Accounts(t.Context()) // by which it knows the service's time
		require.NoError(t, err)
		ours.Sim.Fault("POST /orders", tradingsim.DropResponse())
		_, lost := ours.Live.Account("acc_2").PlaceOrder(t.Context(), rig.Buy("0.05"), rig.Once, trading.WithResolveTimeout(0))
		rig.CloseClient(t, ours.Client)
		left := r.Leave(d)
		ours = ours.Restart(d)
		before := len(ours.Sim.Requests())

		began := time.Now()
		found, err := ours.Recover(t.Context())
		require.ErrorContains(t, err, "the API key does not reach account acc_1: the journal may be of another account holder")
		require.ErrorContains(t, err, string(left))
		require.ErrorIs(t, err, trading.CodeAccountNotFound)
		assert.Less(t, time.Since(began), 2*time.Minute)
		require.Len(t, found, 2)
		for _, resolution := range found {
			if resolution.Intent.ID == left {
				assert.Equal(t, trading.Unknown, resolution.Outcome)
				continue
			}
			assert.Equal(t, rig.IntentOf(t, lost), resolution.Intent.ID)
			assert.Equal(t, trading.Applied, resolution.Outcome)
		}

		time.Sleep(2 * time.Hour)
		pending, err := ours.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, pending, 1)
		assert.Equal(t, left, pending[0].ID)
		assert.Equal(t, "the API key does not reach account acc_1: the journal may be of another account holder", pending[0].Reason)
		assert.False(t, pending[0].Waiting)
		about := 0
		for _, request := range ours.Sim.Requests()[before:] {
			if bytes.Contains(request.Body, []byte("acc_1")) || strings.Contains(request.Operation, "accountId") && request.Status == 404 {
				about++
			}
		}
		assert.InDelta(t, 2*60+7, about, 10)
		assert.Equal(t, 1, ours.Ran(trading.OpOrder))
		require.ErrorIs(t, rig.EntryCall(ours), trading.ErrPendingWrite)
		_, err = ours.Live.Account("acc_2").PlaceOrder(t.Context(), rig.Buy("0.05"))
		require.NoError(t, err, "another account is not held back")
	})
}

// While the program has no key for them, the questions about a write wait, and none goes out without one.
func TestNothingIsAskedWithoutAKey(t *testing.T) {
	var sealed atomic.Bool
	var key string
	rig.LiveTest(t, nil, []trading.Option{trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) {
		if sealed.Load() {
			return "", errors.New("the vault is sealed")
		}
		return key, nil
	})}, func(r rig.Rig) {
		key = r.Sim.LiveKey()
		lost := r.Lost(tradingsim.DropResponse(), rig.Buy("0.05"))
		synctest.Wait() // the first question has its key
		sealed.Store(true)
		before := len(r.Sim.Requests())
		time.Sleep(time.Minute)
		for _, request := range r.Sim.Requests()[before:] {
			assert.Equal(r.T, string(trading.OpHealth), request.Operation)
		}
		sealed.Store(false)
		resolution, err := r.Resolved(lost)
		require.NoError(r.T, err)
		assert.Equal(r.T, trading.Applied, resolution.Outcome)
	})
}

// What was read of the paper account under one key is no baseline of what the key of
// another holder shows: the order is on the other account.
func TestTheBaselineOfAnotherAccountHolder(t *testing.T) {
	const anAccountForEachKey = 30 // as two holders have them
	key := func(context.Context) (string, error) { return "", nil }
	rig.LiveTest(t, []tradingsim.Option{tradingsim.WithInterpretation(anAccountForEachKey)},
		[]trading.Option{trading.WithExclusiveAccounts(), trading.WithKeyFunc(trading.EnvSandbox, func(ctx context.Context) (string, error) { return key(ctx) })},
		func(r rig.Rig) {
			use := func(k string) { key = func(context.Context) (string, error) { return k, nil } }
			use(r.Sim.SandboxKey())
			r.ReadPaper()
			r.Sim.Fault("POST /sandbox/orders", tradingsim.DropResponse())
			_, lost := r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.5"), trading.WithResolveTimeout(0))
			use(r.Sim.NewSandboxKey())
			resolution, err := r.Sandbox.Resolve(r.T.Context(), lost)
			require.Error(r.T, err)
			assert.Equal(r.T, trading.Unknown, resolution.Outcome)
			require.ErrorContains(r.T, err, "its holder changed")
			assert.Equal(r.T, 1, r.Ran(trading.OpSandboxOrder))
		})
}

// Whoever asks again after that is answered at once, by one more question.
func TestRecoverAfterAnUnknownAccountReturnsAtOnce(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		t := r.T
		d := rig.NewDisk()
		r.Leave(d)
		ours := rig.Join(t, tradingsim.New(tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"})), trading.WithJournal(d.Open()))
		_, err := ours.Recover(t.Context())
		require.ErrorContains(t, err, "does not reach account acc_1")
		first := ours.Sent(trading.OpCancelOrder)
		for n := 1; n <= 8; n++ {
			began := time.Now()
			_, err := ours.Recover(t.Context())
			require.ErrorContains(t, err, "does not reach account acc_1")
			assert.Less(t, time.Since(began), time.Second)
			assert.Equal(t, first+n, ours.Sent(trading.OpCancelOrder))
		}
		rig.CloseClient(t, ours.Client)
		r = r.Restart(d) // with the right key
		_, err = r.Recover(t.Context())
		require.NoError(t, err)
		assert.Empty(t, d.Pending())
	})
}

// The request that goes out while the journal is still being read is the one that Recover
// or Resolve wants: neither adds another.
func TestAskingWhileTheJournalIsReadAsksOnce(t *testing.T) {
	for name, ask := range map[string]func(rig.Rig, trading.IntentID) error{
		"recover": func(r rig.Rig, _ trading.IntentID) error { _, err := r.Recover(r.T.Context()); return err },
		"resolve": func(r rig.Rig, id trading.IntentID) error { _, err := r.ResolveID(r.T.Context(), id); return err },
	} {
		t.Run(name, func(t *testing.T) {
			rig.LiveTest(t, nil, nil, func(r rig.Rig) {
				t, d := r.T, rig.NewDisk()
				r = r.Restart(d)
				var left [2]trading.IntentID
				for i, symbol := range []string{"BTC", "ETH"} {
					r.Sim.Fault("POST /orders", tradingsim.DropResponse())
					_, err := r.Account().PlaceOrder(t.Context(), rig.Buy("0.05", func(o *trading.Order) { o.Symbol = symbol }), rig.Once, trading.WithResolveTimeout(0))
					left[i] = rig.IntentOf(t, err)
				}
				rig.CloseClient(t, r.Client)
				ours := rig.Join(t, tradingsim.New(tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"})), trading.WithJournal(d.Open()))
				d.Slow = func(r journal.Record) {
					if r.Intent != string(left[0]) {
						time.Sleep(time.Second)
					}
				}
				require.ErrorIs(t, ask(ours, left[0]), trading.CodeAccountNotFound)
				asked := map[string]time.Time{}
				for _, request := range ours.Sim.Requests() {
					if key := request.Header.Get("Idempotency-Key"); key != "" {
						assert.GreaterOrEqual(t, request.At.Sub(asked[key]), time.Second, "the next is a second later at the earliest")
						asked[key] = request.At
					}
				}
				assert.Len(t, asked, 2, "each write")
			})
		})
	}
}

// Without a key for the environment of a pending write nothing is sent, and Recover
// says so at once.
func TestRecoverWithoutAKey(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		t := r.T
		d := rig.NewDisk()
		left := r.Leave(d)
		client, err := trading.New(r.Sim.URL(), trading.WithTransport(r.Sim.Transport()),
			trading.WithSandboxKey(r.Sim.SandboxKey()), trading.WithJournal(d.Open()))
		require.NoError(t, err)
		defer rig.CloseClient(t, client)
		before, began := len(r.Sim.Requests()), time.Now()
		for range 2 {
			found, err := client.Recover(context.Background())
			require.ErrorIs(t, err, trading.CodeMissingAPIKey)
			require.ErrorContains(t, err, "no live API key configured: use WithLiveKey, or set TRADING_LIVE_KEY for FromEnv")
			require.ErrorContains(t, err, string(left))
			require.Len(t, found, 1)
			assert.Equal(t, trading.Unknown, found[0].Outcome)
		}
		assert.Zero(t, time.Since(began))
		time.Sleep(2 * time.Hour)
		pending, err := client.Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, pending, 1)
		assert.Equal(t, "nothing can be asked about it without an API key", pending[0].Reason)
		assert.Len(t, r.Sim.Requests(), before)
	})
}
