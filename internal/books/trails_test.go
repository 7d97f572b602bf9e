package books

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// TestEdge47_NoOneLookOnAnAccountThatHasEnded reads an account once after its status has
// changed: its position and its list may be from before, and its status is not.
func TestEdge47_NoOneLookOnAnAccountThatHasEnded(t *testing.T) {
	for status, want := range map[string]bool{"ACTIVE": true, "PURCHASED": true, "FUNDED": true, "PASSED": false, "FAILED": false, "LOCKED": false, "AN_UNKNOWN_ONE": false} {
		t.Run(status, func(t *testing.T) {
			b := newBook(t)
			b.Declare(declared)
			b.look(status, Held{Symbol: "BTC", Position: accounting.Position{Size: decimal.NewFromInt(3)}})
			w := b.lost("lost")
			_, ok := b.Course(w, false, status)
			assert.Equal(t, want, ok)
		})
	}
}

func declared(account string) bool { return account == mine.ID }

// TestTrailsAreOfDeclaredAccounts: on any other, no closed trade is taken in but those of a
// baseline, and no write.
func TestTrailsAreOfDeclaredAccounts(t *testing.T) {
	b := newBook(t)
	asked := 0
	list := func(most int) []accounting.Row { asked = most; return make([]accounting.Row, 30) }
	lost := b.lost("lost")
	b.SawTrades(mine, atOnce(b.now), list)
	b.SawOrders(mine, atOnce(b.now), []Waiting{{ID: "ord_0"}}, nil)
	a := b.of[mine]
	assert.Equal(t, KeptRows, asked)
	assert.Equal(t, trails{}, a.trails)

	done := b.Declare(declared)
	require.NotNil(t, a.trails.trail("BTC").Find(lost.ID), "what is under way is in the trail from its beginning on")
	b.Restore(b.order("ETH"), nil, Note{})
	b.SawTrades(mine, atOnce(b.now), list)
	assert.Len(t, a.trails.trades.Rows, 30)
	done()
	b.Enter(b.order("DOGE"))
	assert.Len(t, a.trails.of, 3, "who has closed has declared it all the same")
	assert.False(t, b.account(Account{"live", "acc_2"}).trailed)
}

// What an earlier run left is not kept beyond its end where no trail needs it.
func TestNothingIsKeptOfWhatIsOver(t *testing.T) {
	b := newBook(t)
	w := b.order("BTC")
	b.Restore(w, nil, Note{})
	b.Leave(w, nil)
	assert.Empty(t, b.of[mine].trails.left)
}

// look reads an account once, in which nothing was closed and nothing waits.
func (b *book) look(status string, held ...Held) {
	b.pass(2 * ledger.Lag)
	b.SawStatus(mine, b.now, status)
	b.SawPositions(mine, atOnce(b.now), held)
	b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })
	b.SawOrders(mine, atOnce(b.now), nil, nil)
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
}

// lost is a buy that has been sent.
func (b *book) lost(id string) *Write {
	w := b.order("BTC")
	w.ID, w.Declared = id, true
	w.Asked = &accounting.Write{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(1)}
	b.Enter(w)
	return w
}

// TestAWriteOfWhichNobodyIsSure is refused by who knows, and may have run: a lost one of its
// size beside it is not found to have run by what the other may have left, after a restart
// neither, until a later baseline.
func TestAWriteOfWhichNobodyIsSure(t *testing.T) {
	b := newBook(t)
	b.Declare(declared)
	b.look("ACTIVE")
	var notes []Note
	b.Leave(b.lost("refused before"), &Did{Refused: true})
	lost := b.order("BTC")
	lost.ID, lost.Declared, lost.Asked = "lost", true, asked
	lost.Note = func(n Note) { notes = append(notes, n) }
	base, entered := b.Enter(lost)
	assert.Nil(t, base.Orders)
	_, err := b.Journaled(t.Context(), lost, false)
	require.NoError(t, err)
	b.Doubt(lost)
	beside := b.lost("refused beside")
	b.Leave(beside, &Did{Refused: true})
	b.Leave(b.lost("did not run"), nil)

	judge := func(b *book, w *Write, size int64) (ledger.Outcome, accounting.Reason) {
		c, ok := b.Course(w, true, "ACTIVE")
		require.True(t, ok)
		c.To = decimal.NewNullDecimal(decimal.NewFromInt(size))
		for i := range c.Acts {
			c.Acts[i].Late = false
		}
		return c.Of(c.Asked, -1).Verdict()
	}
	for _, n := range notes {
		entered.Add(n)
	}
	again := newBook(t)
	again.Declare(declared)
	left := again.order("BTC")
	left.ID, left.Declared, left.Asked = "lost", true, asked
	again.Restore(left, nil, entered)
	for name, w := range map[string]struct {
		*book
		*Write
	}{"in process": {b, lost}, "after a restart": {again, left}} {
		for size, want := range map[int64]ledger.Outcome{0: ledger.NotApplied, 1: ledger.Unknown, 2: ledger.Unknown, 3: ledger.Applied} {
			got, why := judge(w.book, w.Write, size)
			assert.Equal(t, want, got, "%s, %d: %s", name, size, why)
		}
	}
}

// bought is what the writes of these tests do.
var (
	asked  = &accounting.Write{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(1)}
	bought = accounting.Booked{Act: asked.Act()}
)
