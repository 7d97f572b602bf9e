package postgres

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var sizes = flag.Int("sizes", 0, "how many orders are measured; 0 for a few, whose times are not")

// What an order takes of the database, for docs/several-machines.md: with its client order id, on an
// account that is declared exclusive.
func TestSizes(t *testing.T) {
	at, b, n := database(t), newFileBot(t), max(*sizes, 100)
	b.sim = tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithKeyLimit(1e6), tradingsim.WithUserLimits(1e6, 1e6),
		tradingsim.WithAccount(tradingsim.Account{ID: b.o.Accounts[0], Balance: "1000000000"}), tradingsim.WithRequestLog(0))
	t.Cleanup(func() { _ = b.sim.Close() })
	b.o.Lease = 15 * time.Second
	s := opened(t, at, b.o)
	client, err := trading.New(b.sim.URL(), trading.WithLiveKey(b.sim.LiveKey()), trading.WithTransport(b.sim.Transport()), trading.WithJournal(s),
		trading.WithExclusiveAccounts(trading.AccountID(b.o.Accounts[0])), trading.WithRateLimits(trading.RateLimits{PerKey: 1e6, PerClass: 1e6}))
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Recover(t.Context())
	require.NoError(t, err)
	_, err = b.buy(client, "BTC", trading.WithClientOrderID("the first, which looks at the account"))
	require.NoError(t, err)
	size := func() (rows, data, log int64) {
		rows = scalar[int64](t, at, "SELECT count(*) FROM trading.record")
		data = scalar[int64](t, at, "SELECT pg_total_relation_size('trading.record')")
		return rows, data, scalar[int64](t, at, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")
	}
	rows, data, log := size()
	began := time.Now()
	for i := range n {
		_, err := client.Live.Account(trading.AccountID(b.o.Accounts[0])).PlaceOrder(t.Context(),
			trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.001"), Leverage: trading.Dec("2")},
			trading.WithClientOrderID(fmt.Sprint("desk-1/momentum 2026-11-24T15:04:05Z ", i)))
		require.NoError(t, err)
	}
	took := time.Since(began)
	require.NoError(t, s.Append(t.Context(), true))
	rowsAfter, dataAfter, logAfter := size()
	each := func(d int64) float64 { return float64(d) / float64(n) }
	t.Logf("%d orders: each %.1f records, %.0f bytes with the indexes, %.0f bytes of the server's log, %.2f ms",
		n, each(rowsAfter-rows), each(dataAfter-data), each(logAfter-log), took.Seconds()*1000/float64(n))
	assert.LessOrEqual(t, each(rowsAfter-rows), 2.1, "the guide says 2")
	assert.Less(t, each(dataAfter-data), 6000.0)
	if *sizes == 0 {
		return
	}
	require.NoError(t, client.Close())
	payload := bytes.Repeat([]byte("x"), 1000)
	for _, writers := range []int{1, 64} {
		var done atomic.Int64
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		var work sync.WaitGroup
		for w := range writers {
			work.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					r := record(i)
					r.Intent, r.Data = fmt.Sprint("writer ", writers, " ", w), payload
					if s.Append(ctx, true, r) == nil {
						done.Add(1)
					}
				}
			})
		}
		work.Wait()
		stop()
		t.Logf("%d writers: %.0f durable appends a second, of 1 kB", writers, float64(done.Load())/5)
	}
}
