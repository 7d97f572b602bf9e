package trading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// interrupted is a host that does something while a write is judged.
type interrupted struct {
	host
	meanwhile func()
}

func (h interrupted) isExclusive(id AccountID) bool {
	h.meanwhile()
	return h.host.isExclusive(id)
}

// One of two Pro orders is acknowledged while the other is judged. The run that shows is
// either one's: it is pending beside it, or nobody knows what it left.
func TestAWriteThatEndsWhileAnotherIsJudged(t *testing.T) {
	c := newTestClient(t, newScript(t), WithExclusiveAccounts()).core
	begin := func(symbol string) *write {
		w := &write{registered: true, books: c.books, ledger: ledger.New(ledger.Terms{Keyed: true, Resolves: true, FirstUseKnown: true})}
		w.intent = Intent{ID: c.newIntentID(), Operation: OpTWAP, Environment: EnvLive, Account: "acc_1", Symbol: symbol, Body: []byte(`{"side":"long","size":1}`)}
		w.Entry.ID, w.Places, w.Write = string(w.intent.ID), w.intent.places(), w
		w.booked = c.bookWrite(w)
		require.True(t, c.pending.Add(&w.Entry))
		c.books.Enter(&w.booked)
		return w
	}
	account, read := bookOf(EnvLive, "acc_1"), time.Now().Add(time.Minute)
	c.books.SawStatus(account, "ACTIVE")
	c.books.SawOrders(account, read, nil, nil)
	for _, at := range []time.Time{read, read.Add(time.Minute)} {
		c.books.SawFinished(account, at, nil)
		c.books.SawTrades(account, at, func(int) []accounting.Row { return nil })
		c.books.SawPositions(account, at, nil)
	}
	lost, other := begin("BTC"), begin("ETH")
	now := time.Now().Add(time.Hour)
	shown := &seenLook{look: &accountLook{at: now, ended: now, runs: []string{"run_1"}, status: "ACTIVE"}, began: []time.Time{now, now}, equal: 2}
	d := c.driver
	assert.Equal(t, accounting.PendingBeside, d.decide(lost, shown).Reason)
	d.host = interrupted{d.host, func() {
		c.leaveBooks(other, final{Outcome: Applied, Evidence: EvidenceAcknowledged}, &heard{}, nil)
	}}
	assert.Equal(t, accounting.PendingBeside, d.decide(lost, shown).Reason)
	assert.Equal(t, accounting.NoBaseline, d.decide(lost, shown).Reason, "after it")
}
