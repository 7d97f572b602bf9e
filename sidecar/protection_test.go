package sidecar

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A bot that knows of no protection is held back by it, and may leave.
func TestProtection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "100000", DailyLossFloor: "99000", GlobalLossFloor: "94000"})}, func(c *Config) {
			c.Protect.Accounts = []trading.AccountID{"acc_1"}
			c.Exclusive = []trading.AccountID{"acc_1"}
		})
		before := r.do(r.live, "POST /orders", buy)
		assert.Equal(t, []any{403, "forbidden"}, []any{before.status, before.code}, "before the first look")
		r.server.background()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		small := r.do(r.live, "POST /orders", buy)
		assert.Equal(t, 200, small.status, small.body)
		large := r.do(r.live, "POST /orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":3,"leverage":5}`)
		assert.Equal(t, []any{400, "PER_POSITION_CAP", "not-applied"}, []any{large.status, large.code, large.outcome}, large.body)
		closed := r.do(r.live, "POST /positions/close", closeBTC)
		assert.Equal(t, 200, closed.status)
		assert.Len(t, r.sim.Ledger(), 2)
	})
}

// A protection that does not run is alerted of, unless it ends with its sidecar.
func TestAProtectionThatDoesNotRunIsAlerted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *Config) {
			c.Protect.Accounts = []trading.AccountID{"acc_1"}
			c.Exclusive = []trading.AccountID{"acc_1"}
		})
		r.server.background()
		synctest.Wait()
		var alerts []string
		say := func(text string) { alerts = append(alerts, text) }
		ctx, end := context.WithCancel(t.Context())
		r.server.guard.run(ctx, say) // a second time
		require.Len(t, alerts, 1)
		assert.Contains(t, alerts[0], "the protection has ended, and entries are refused")
		end()
		r.server.guard.run(ctx, say)
		assert.Len(t, alerts, 1)
	})
}

// After a start the guard still counts what runs, and judges what comes beside it.
func TestProtectionAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []tradingsim.Option{tradingsim.WithFeed("BTC", breathing{})}, func(c *Config) {
			c.Protect.Accounts = []trading.AccountID{"acc_1"}
			c.Exclusive = []trading.AccountID{"acc_1"}
		})
		r.server.background()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		run := r.do(r.live, "POST /orders/twap", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":2,"leverage":5,"durationMs":3600000}`)
		assert.Equal(t, 200, run.status, run.body)
		r.restart()
		r.server.background()
		for range 2 { // before a read must show it, and after
			time.Sleep(2 * time.Second)
			synctest.Wait()
			large := r.do(r.live, "POST /orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":2,"leverage":5}`)
			assert.Equal(t, []any{400, "PER_POSITION_CAP", "not-applied"}, []any{large.status, large.code, large.outcome}, large.body)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		small := r.do(r.live, "POST /orders", buy)
		assert.Equal(t, 200, small.status, small.body)
	})
}

// breathing is a price that changes by cents, or the feed would be taken for dead.
type breathing struct{}

// At is the price at a time.
func (breathing) At(t time.Time) (decimal.Decimal, bool) {
	return decimal.New(6400000+t.Unix()%7, -2), true
}
