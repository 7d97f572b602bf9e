package resolve

import (
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
)

// replays is a driver with a declared account that was flat, and what is decided of it.
type replays struct {
	*testing.T
	*Driver
	account books.AccountKey
	at      time.Time
	rows    []accounting.Row
	shown   *seenLook
}

func newReplays(t *testing.T) *replays {
	t.Helper()
	d := New(Config{
		Without: nothing, Host: &service{}, BaseURL: "here", Life: NewLife(),
		IsExclusive: func(pending.AccountID) bool { return true },
	})
	r := &replays{T: t, Driver: d, account: books.AccountKey{Environment: "live", ID: "acc_1"}, at: time.Now().Add(time.Minute)}
	for digest := range uint64(3) { // so that no list was ever empty
		r.rows = append(r.rows, accounting.Row{Digest: digest, Symbol: "ETH"})
	}
	d.Books.SawStatus(r.account, time.Now(), "ACTIVE")
	for range 2 {
		r.at = r.at.Add(time.Minute)
		d.Books.SawOrders(r.account, atOnce(r.at), nil, nil)
		d.Books.SawTrades(r.account, atOnce(r.at), func(int) []accounting.Row { return r.rows })
		d.Books.SawPositions(r.account, atOnce(r.at), nil)
	}
	return r
}

// buy is a buy of 1 that has been sent.
func (r *replays) buy(id string, change ...func(*OpenWrite)) *OpenWrite {
	return r.write(id, `{"side":"long","size":1}`, change...)
}

func (r *replays) write(id, body string, change ...func(*OpenWrite)) *OpenWrite {
	w := &OpenWrite{Traits: Traits{Trades: true}, Ledger: ledger.New(ledger.Terms{Keyed: true, Resolves: true, Exclusive: true, FirstUseKnown: true})}
	w.Intent = pending.Intent{ID: pending.IntentID(id), Operation: order, Environment: "live", Account: "acc_1", Symbol: "BTC", Body: []byte(body)}
	for _, change := range change {
		change(w)
	}
	r.Own(w, "")
	w.booked, w.registered = r.bookWrite(w), true
	require.True(r, r.pending.add(w))
	r.Books.Enter(&w.booked)
	return w
}

// held has a fence hold.
func held(w *OpenWrite) *OpenWrite {
	for _, f := range []ledger.Fact{{Kind: ledger.SendBegun}, {Kind: ledger.SendEnded, Answer: silence}, {Kind: ledger.SendingOver}, {Kind: ledger.FenceBegun}, {Kind: ledger.FenceEnded, Answer: noOrder}} {
		w.Ledger.Note(f)
	}
	return w
}

// long is what so many equal looks at a position say of a write.
func (r *replays) long(w *OpenWrite, size int64, equal int) accounting.Verdict {
	r.at = r.at.Add(time.Minute)
	l := &AccountLook{At: r.at, Ended: r.at, Status: "ACTIVE", Rows: r.rows, Positions: map[string]accounting.Holding{"BTC": {Size: decimal.NewFromInt(size)}}}
	r.shown = &seenLook{look: l, began: slices.Repeat([]time.Time{r.at}, equal), equal: equal}
	return r.decide(w, r.shown, true)
}

// A write that is under way beside one in doubt may have done what the account shows. It ends,
// and then that may be known: so nobody gives up before.
func TestADoubtWaitsForTheWritesBesideIt(t *testing.T) {
	r := newReplays(t)
	lost, beside := held(r.buy("lost")), r.buy("beside")
	assert.Equal(t, accounting.PendingBeside, r.long(lost, 1, 2).Reason)
	_ = r.Books.Leave(&beside.booked, nil)
	assert.Equal(t, ledger.Applied, r.long(lost, 1, 2).Outcome)
}

// Of two equal lost writes of which one ran nobody can say which.
func TestTwoEqualDoubtsFitBoth(t *testing.T) {
	r := newReplays(t)
	lost, other := held(r.buy("lost")), held(r.buy("other"))
	assert.Equal(t, accounting.PendingBeside, r.long(lost, 1, 2).Reason, "the other is not known to be held")
	assert.Equal(t, accounting.BothFit, r.long(other, 1, 2).Reason)
	assert.Equal(t, accounting.BothFit, r.long(lost, 1, 2).Reason)
	assert.Equal(t, ledger.NotApplied, r.long(lost, 0, 2).Outcome)
	assert.Equal(t, ledger.Applied, r.long(other, 2, 2).Outcome)
}

// The status of a look is read before its closed trades, and may lag: the service may have closed
// the position that a lost order was to close. Only equal looks say that it has not.
func TestAStatusThatLagsProvesNothing(t *testing.T) {
	r := newReplays(t)
	for range 2 {
		r.at = r.at.Add(time.Minute)
		r.Books.SawPositions(r.account, atOnce(r.at), []books.Held{{Symbol: "BTC", Holding: accounting.Holding{Size: decimal.NewFromInt(1)}}})
		r.Books.SawTrades(r.account, atOnce(r.at), func(int) []accounting.Row { return r.rows })
	}
	lost := held(r.write("lost", `{"side":"short","size":1,"reduceOnly":true}`))
	row := accounting.Row{Digest: 9, Symbol: "BTC", Side: accounting.Long, Cause: accounting.Market, Size: decimal.NewNullDecimal(decimal.NewFromInt(1))}
	r.rows = append([]accounting.Row{row}, r.rows...)
	r.at = r.at.Add(time.Minute)
	r.Books.SawTrades(r.account, atOnce(r.at), func(int) []accounting.Row { return r.rows })
	assert.Equal(t, ledger.Unknown, r.long(lost, 0, 1).Outcome)
	assert.Equal(t, ledger.Applied, r.long(lost, 0, 2).Outcome)
}

// Nobody can find out which of two equal lost writes ran, and both can run no more: then the
// account shows what there is. Its market is open again, and a later lost write is judged from
// there on. Before either is given up, and while another may be on its way, it stays closed.
func TestAMarketOpensThoughNobodyFindsOut(t *testing.T) {
	r := newReplays(t)
	lost, other := held(r.buy("lost")), held(r.buy("other"))
	look := func(w *OpenWrite) bool {
		t.Helper()
		v := r.long(w, 1, 2)
		require.Equal(t, ledger.Unknown, v.Outcome)
		return staysUnknown(v.Reason) && r.giveUp(w, r.shown, v.Reason)
	}
	closed := func() int { return len(r.pending.doubtedIn(lost.Places[0])) }
	for _, w := range []*OpenWrite{lost, other} {
		r.pending.doubt(w)
		r.long(w, 1, 2) // both are known to be held
	}
	assert.False(t, look(lost), "the other is not given up")
	exit := r.buy("an exit")
	assert.False(t, look(other), "an exit is on its way")
	_ = r.Books.Leave(&exit.booked, nil)
	r.pending.remove(exit)
	assert.Equal(t, 2, closed())
	assert.True(t, look(other))
	assert.True(t, look(lost))
	assert.Zero(t, closed())
	assert.Len(t, r.pending.doubted(), 2, "their outcomes are not known")
	assert.True(t, look(lost), "asked again")

	later := held(r.buy("later"))
	assert.Equal(t, ledger.NotApplied, r.long(later, 1, 2).Outcome)
	assert.Equal(t, ledger.Applied, r.long(later, 2, 2).Outcome)
	assert.False(t, r.pending.beside(later, mayHide))
}

// A market opens for none but an order or a close, on an account where nobody else can have done what is there: of
// an id whose first use is not known an earlier run can. It stays closed then, and that is the last word.
func TestWhichMarketsStayClosed(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*OpenWrite)
		opens  bool
	}{
		"an order":                          {func(*OpenWrite) {}, true},
		"its first use is not known":        {func(w *OpenWrite) { w.Ledger.FirstUseKnown = false }, false},
		"a paper order":                     {func(w *OpenWrite) { w.Ledger.Keyed = false }, false},
		"of an account not declared then":   {func(w *OpenWrite) { w.Ledger.Exclusive = false }, false},
		"beside an exit not in the journal": {func(w *OpenWrite) { w.gap = true }, false},
		"an order that can rest":            {func(w *OpenWrite) { w.Intent.Operation, w.Traits = limit, TraitsOf(spec.Find(limit)) }, false},
		"a Pro order":                       {func(w *OpenWrite) { w.Intent.Operation, w.Traits = twap, TraitsOf(spec.Find(twap)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReplays(t)
			lost := held(r.buy("lost", row.change))
			r.pending.doubt(lost)
			r.long(lost, 1, 2)
			assert.True(t, r.giveUp(lost, r.shown, accounting.BothFit))
			assert.Equal(t, row.opens, lost.marketOpen.Load())
			assert.Equal(t, row.opens, len(r.pending.doubtedIn(lost.Places[0])) == 0)
		})
	}
}
