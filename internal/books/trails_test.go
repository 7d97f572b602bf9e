package books

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// TestEdge47_NoOneLookOnAnAccountThatHasEnded reads an account once after its status has
// changed: its position and its list may be from before, and its status is not.
func TestEdge47_NoOneLookOnAnAccountThatHasEnded(t *testing.T) {
	for status, want := range map[string]bool{"ACTIVE": true, "PURCHASED": true, "FUNDED": true, "PASSED": false, "FAILED": false, "LOCKED": false, "AN_UNKNOWN_ONE": false} {
		t.Run(status, func(t *testing.T) {
			b := newBook(t)
			b.pass(2 * accounting.Lag)
			b.SawStatus(mine, b.now, status)
			b.SawPositions(mine, atOnce(b.now), []Held{{Symbol: "BTC", Position: accounting.Position{Size: decimal.NewFromInt(3)}}})
			b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })
			b.SawOrders(mine, atOnce(b.now), nil, nil)
			b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
			w := b.order("BTC")
			w.ID, w.Declared = "lost", true
			w.Act = accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(1)}
			b.Enter(w)
			_, ok := b.Course(w, false, status)
			assert.Equal(t, want, ok)
		})
	}
}
