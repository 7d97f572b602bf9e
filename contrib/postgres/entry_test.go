package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// The first entry under a lease that nobody has held goes at once. After a release it does in a market
// of which the one before handed over what it knew; elsewhere it waits until a read shows what that one
// did, so 5 s after its last order.
func TestTheFirstEntry(t *testing.T) {
	at, b := database(t), newFileBot(t)
	holds := func(name, symbol string) (first time.Duration) {
		s := opened(t, at, b.o)
		assert.Equal(t, name == "new", s.New())
		client, err := trading.New(b.sim.URL(), trading.WithLiveKey(b.sim.LiveKey()), trading.WithTransport(b.sim.Transport()),
			trading.WithJournal(s), trading.WithExclusiveAccounts(trading.AccountID(b.o.Accounts[0])))
		require.NoError(t, err)
		_, err = client.Recover(t.Context())
		require.NoError(t, err)
		began := time.Now()
		_, err = b.buy(client, symbol, trading.WithClientOrderID(name))
		require.NoError(t, err)
		first = time.Since(began)
		t.Logf("%s: %s", name, first)
		require.NoError(t, client.Close())
		require.NoError(t, s.Close())
		return first
	}
	assert.Less(t, holds("new", "BTC"), 4*time.Second)
	for i := range 3 {
		assert.Less(t, holds(fmt.Sprint("after release ", i), "BTC"), 4*time.Second)
	}
	assert.Greater(t, holds("in another market", "ETH"), 4*time.Second)
}
