package resolve

import (
	"context"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// replayed is a driver with a declared account that was flat, and what is decided of it.
type replays struct {
	*testing.T
	*Driver
	account books.Account
	at      time.Time
}

func newReplays(t *testing.T) *replays {
	t.Helper()
	d := New(Config{
		Host: &service{}, BaseURL: "here", Closing: context.Background(),
		Kind:        func(string) Kind { return Kind{Trades: true} },
		IsExclusive: func(string) bool { return true },
		Enter:       func() bool { return true }, Leave: func() {},
	})
	r := &replays{t, d, books.Account{Environment: "live", ID: "acc_1"}, time.Now().Add(time.Minute)}
	d.Books.SawStatus(r.account, time.Now(), "ACTIVE")
	for range 2 {
		r.at = r.at.Add(time.Minute)
		d.Books.SawOrders(r.account, atOnce(r.at), nil, nil)
		d.Books.SawTrades(r.account, atOnce(r.at), func(int) []accounting.Row { return nil })
		d.Books.SawPositions(r.account, atOnce(r.at), nil)
	}
	return r
}

// buy is a buy of 1 that has been sent.
func (r *replays) buy(id string) *Write {
	w := &Write{Kind: Kind{Trades: true}, Ledger: ledger.New(ledger.Terms{Keyed: true, Resolves: true, Exclusive: true, FirstUseKnown: true})}
	w.Intent = Intent{ID: id, Operation: order, Environment: "live", Account: "acc_1", Symbol: "BTC", Body: []byte(`{"side":"long","size":1}`)}
	r.Own(w, "")
	w.booked, w.registered = r.bookWrite(w), true
	require.True(r, r.pending.Add(&w.Item))
	r.Books.Enter(&w.booked)
	return w
}

// held has a fence hold.
func held(w *Write) *Write {
	for _, f := range []ledger.Fact{{Kind: ledger.SendBegun}, {Kind: ledger.SendEnded, Answer: silence}, {Kind: ledger.SendingOver}, {Kind: ledger.FenceBegun}, {Kind: ledger.FenceEnded, Answer: noOrder}} {
		w.Ledger.Note(f)
	}
	return w
}

// long is what so many equal looks at a position say of a write.
func (r *replays) long(w *Write, size int64, equal int) accounting.Verdict {
	r.at = r.at.Add(time.Minute)
	l := &Look{At: r.at, Ended: r.at, Status: "ACTIVE", Positions: map[string]accounting.Position{"BTC": {Size: decimal.NewFromInt(size)}}}
	return r.decide(w, &seenLook{look: l, began: []time.Time{r.at, r.at}, equal: equal}, true)
}

// A write that is under way beside one in doubt may have done what the account shows. It ends,
// and then that may be known: so nobody gives up before.
func TestADoubtWaitsForTheWritesBesideIt(t *testing.T) {
	r := newReplays(t)
	lost, beside := held(r.buy("lost")), r.buy("beside")
	assert.Equal(t, accounting.LookAgain, r.long(lost, 1, 2).Reason)
	r.Books.Leave(&beside.booked, nil)
	assert.Equal(t, accounting.Applied, r.long(lost, 1, 2).Outcome)
}

// Of two equal lost writes of which one ran nobody can say which.
func TestTwoEqualDoubtsFitBoth(t *testing.T) {
	r := newReplays(t)
	lost, other := held(r.buy("lost")), held(r.buy("other"))
	assert.Equal(t, accounting.LookAgain, r.long(lost, 1, 2).Reason, "the other is not known to be held")
	assert.Equal(t, accounting.BothFit, r.long(other, 1, 2).Reason)
	assert.Equal(t, accounting.BothFit, r.long(lost, 1, 2).Reason)
	assert.Equal(t, accounting.NotApplied, r.long(lost, 0, 2).Outcome)
	assert.Equal(t, accounting.Applied, r.long(other, 2, 2).Outcome)
}
