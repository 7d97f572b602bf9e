package books

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// A lost limit fills, and looks at the account say so. No read shows it among what waits, and still it is what
// bought: an order that is lost right after it may not have run.
func TestALimitThatWasFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1)
		time.Sleep(time.Minute)
		w.lags, w.moves, w.now.pos, w.now.rests = [3]int{}, 1<<30, 0, nil
		w.keep()
		b := &book{Books: w.Books, t: t}
		w.look()
		time.Sleep(ledger.Lag)
		w.look()
		limit := b.limit(btc)
		limit.ID = "limit"
		w.Enter(limit)
		w.trade(1, accounting.Market, "limit")
		time.Sleep(time.Minute)
		shown := w.look().at
		w.Leave(limit, &Did{ShownFrom: shown, Own: accounting.Own{Act: accounting.Act{Ran: true}, Heard: time.Now()}})
		lost := b.order(btc)
		lost.ID = "lost"
		w.Enter(lost)
		time.Sleep(time.Minute)
		w.look()
		time.Sleep(ledger.Lag)
		at := w.look()
		c, ok := w.Course(lost, true, true, "ACTIVE")
		require.True(t, ok)
		c.still(at.at, decimal.NewFromInt(1), nil)
		outcome, why := c.Of(c.asked, accounting.NoAct).Verdict()
		assert.Equal(t, ledger.Unknown, outcome, why)
	})
}
