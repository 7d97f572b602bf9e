package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// lockLease holds a lease's row until the test releases it, as a terminal that somebody left does.
func lockLease(t *testing.T, at, lease string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), at)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "BEGIN")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "SELECT FROM trading.lease WHERE name = $1 FOR UPDATE", lease)
	require.NoError(t, err)
	return func() { _ = conn.Close(t.Context()) }
}

const pendingOf = "SELECT count(*)::int FROM trading.pending WHERE lease = $1"

// What nobody waits for is taken while the database is away, and is there with what it follows: so the
// end of a write whose beginning was on its way is no later than the beginning.
func TestFound11_TheEndOfAWriteWhoseCallerWasLetGo(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	s := opened(t, at, o)
	release := lockLease(t, at, o.Name)
	begun, ended := record(1), record(1)
	ended.Final = true
	require.ErrorIs(t, s.Append(t.Context(), true, begun), journal.ErrUnanswered)
	require.NoError(t, s.Append(t.Context(), false, ended))
	require.Error(t, s.Append(t.Context(), true, record(2)), "what somebody waits for fails at once")
	release()
	require.Eventually(t, func() bool { return s.Append(t.Context(), true, record(3)) == nil }, patience, 10*time.Millisecond)
	assert.Equal(t, []string{"intent 3"}, intents(t, s))
	assert.Equal(t, 1, scalar[int](t, at, pendingOf, o.Name))
}

// The last record of a write has room where its first one had, however much waits.
func TestTheLastRecordHasRoom(t *testing.T) {
	t.Parallel()
	at, o := address(t), options()
	s := opened(t, at, o)
	require.NoError(t, s.Append(t.Context(), true, record(1)))
	release := lockLease(t, at, o.Name)
	for _, size := range []int{1 << 20, 1 << 10, 1} {
		filler := journal.Record{Intent: "filler", Data: make([]byte, size)}
		for s.Append(t.Context(), false, filler) == nil {
		}
		require.ErrorContains(t, s.Append(t.Context(), false, filler), "too slow")
	}
	ended := record(1)
	ended.Final = true
	require.NoError(t, s.Append(t.Context(), false, ended))
	release()
}

// While a terminal holds the lease's row a bot gives its order an id, and nothing is sent. What it is told is
// what this process knows: another one has not held the lease, so nobody has placed the order. What it
// knows only once the database is back, it waits for, or says when it is asked.
func TestFound11_AnOrderThatNeverLeft(t *testing.T) {
	for name, row := range map[string]struct {
		patience time.Duration // of the caller
		held     time.Duration // the row
		want     trading.Outcome
	}{
		"the caller is gone before anything is known to be wrong": {200 * time.Millisecond, time.Second, trading.NotApplied},
		"the row is free in time":                                 {20 * time.Second, 2 * time.Second, trading.NotApplied},
		"the caller is gone when the lease may be another's":      {2 * time.Second, 3 * time.Second, trading.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, o := address(t), options()
			id := o.Accounts[0]
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithAccount(tradingsim.Account{ID: id, Balance: "1000000"}))
			defer func() { _ = sim.Close() }()
			o.BaseURL = sim.URL()
			s := opened(t, at, o)
			client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()), trading.WithJournal(s), trading.WithExclusiveAccounts(trading.AccountID(id)))
			require.NoError(t, err)
			defer func() { _ = client.Close() }()
			account := client.Live.Account(trading.AccountID(id))
			order := func(ctx context.Context, id string) error {
				_, err := account.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}, trading.WithClientOrderID(id))
				return err
			}
			require.NoError(t, order(t.Context(), "before"))

			release := lockLease(t, at, o.Name)
			freed := make(chan struct{})
			time.AfterFunc(row.held, func() { release(); close(freed) })
			ctx, cancel := context.WithTimeout(t.Context(), row.patience)
			defer cancel()
			err = order(ctx, "meanwhile")
			require.Error(t, err)
			assert.Equal(t, row.want, trading.OutcomeOf(err), "%v", err)
			<-freed
			back := time.Now()
			resolution, err := client.Resolve(t.Context(), err)
			require.NoError(t, err)
			assert.Equal(t, trading.NotApplied, resolution.Outcome)
			require.Eventually(t, func() bool { return order(t.Context(), "after") == nil }, patience, 10*time.Millisecond)
			took := time.Since(back)
			t.Logf("measured 1 times: median %s, longest %s", took, took) // bench reads it
			assert.Len(t, sim.Ledger(), 2)
			require.NoError(t, s.Append(t.Context(), true))
			assert.Zero(t, scalar[int](t, at, pendingOf, o.Name))
		})
	}
}
