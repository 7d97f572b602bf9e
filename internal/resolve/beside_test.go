package resolve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// One of two Pro orders is acknowledged while the other is judged. The run that shows is
// either one's: it is pending beside it, or nobody knows what it left.
func TestAWriteThatEndsWhileAnotherIsJudged(t *testing.T) {
	pro := Traits{Trades: true, Waits: true, Run: true, Asks: accounting.Pro}
	meanwhile := func() {}
	d := New(Config{
		Without: nothing, Host: &service{}, BaseURL: "here", Life: NewLife(),
		IsExclusive: func(pending.AccountID) bool { meanwhile(); return true },
	})
	begin := func(symbol string) *OpenWrite {
		w := &OpenWrite{Traits: pro, Ledger: ledger.New(ledger.Terms{Keyed: true, Resolves: true, Exclusive: true, FirstUseKnown: true})}
		w.Intent = pending.Intent{ID: pending.IntentID("w_" + symbol), Operation: "POST /orders/twap", Environment: "live", Account: "acc_1", Symbol: symbol, Body: []byte(`{"side":"long","size":1}`)}
		d.Own(w, "")
		w.booked, w.registered = d.bookWrite(w), true
		require.True(t, d.pending.add(w))
		d.Books.Enter(&w.booked)
		return w
	}
	account, read := books.AccountKey{Environment: "live", ID: "acc_1"}, time.Now().Add(time.Minute)
	d.Books.SawStatus(account, time.Now(), "ACTIVE")
	d.Books.SawOrders(account, atOnce(read), nil, nil)
	for _, at := range []time.Time{read, read.Add(time.Minute)} {
		d.Books.SawFinished(account, atOnce(at), accounting.Newest{})
		d.Books.SawTrades(account, atOnce(at), func(int) []accounting.Row { return nil })
		d.Books.SawPositions(account, atOnce(at), nil)
	}
	lost, other := begin("BTC"), begin("ETH")
	now := time.Now().Add(time.Hour)
	shown := &seenLook{look: &AccountLook{At: now, Ended: now, Runs: []string{"run_1"}, Status: "ACTIVE"}, began: []time.Time{now, now}, equal: 2}
	assert.Equal(t, accounting.PendingBeside, d.decide(lost, shown, false).Reason)
	meanwhile = func() {
		d.leaveBooks(other, Final{Outcome: ledger.Applied, Evidence: ByAcknowledged}, &Response{})
	}
	assert.Equal(t, accounting.NoBaseline, d.decide(lost, shown, false).Reason, "it is in the evidence")
}
