package postgres

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

var rests = flag.Duration("rests", 0, "how long a bot has not traded when it hands over, beside one that has just traded")

// The first entry under a lease that nobody has held goes at once. After a release it waits until a read
// shows what the one before did, so 5 s after its last order; and not where that is long ago.
func TestTheFirstEntry(t *testing.T) {
	at, b := database(t), newFileBot(t)
	holds := func(name string, rests time.Duration) (first time.Duration) {
		s := opened(t, at, b.o)
		assert.Equal(t, name == "new", s.New())
		client, err := trading.New(b.sim.URL(), trading.WithLiveKey(b.sim.LiveKey()), trading.WithTransport(b.sim.Transport()),
			trading.WithJournal(s), trading.WithExclusiveAccounts(trading.AccountID(b.o.Accounts[0])))
		require.NoError(t, err)
		_, err = client.Recover(t.Context())
		require.NoError(t, err)
		began := time.Now()
		_, err = b.buy(client, "BTC", trading.WithClientOrderID(name))
		require.NoError(t, err)
		first = time.Since(began)
		time.Sleep(rests)
		require.NoError(t, client.Close())
		require.NoError(t, s.Close())
		return first
	}
	assert.Less(t, holds("new", 0), 4*time.Second)
	after := holds("after one that has just traded", *rests)
	assert.Greater(t, after, 4*time.Second)
	if *rests > 0 {
		fmt.Printf("the first entry after a release: %s after one that has just traded, %s after one that has rested %s\n", after, holds("rested", 0), *rests)
	}
}
