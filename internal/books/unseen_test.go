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
	"github.com/tradingapi/trading-go/internal/pending"
)

// An order that an earlier run left to rest can fill before this run reads for the first time what waits. Then no
// read shows it, and what it traded must not be taken for an own order that did not run.
func TestAnOrderOfAnEarlierRunFillsUnseen(t *testing.T) {
	const position, trades, waits = 0, 1, 2
	for name, row := range map[string]struct {
		lag     int   // of positions, in milliseconds
		before  []int // reads, before it fills
		after   []int
		restart bool
	}{
		"and positions lag behind that":            {lag: 4900, after: []int{position, waits, trades}},
		"after what was the same for so long":      {before: []int{position, trades, position, trades}, after: []int{waits}},
		"the same, and the run that reads is over": {before: []int{position, trades, position, trades}, after: []int{waits}, restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(1)
				w.lags, w.moves = [3]int{row.lag}, 1<<30
				w.now.pos = 0
				w.keep()
				o := w.rest(false)
				for _, read := range row.before {
					time.Sleep(ledger.Lag + time.Second)
					w.read(read)
				}
				time.Sleep(ledger.Lag + time.Second)
				w.now.rests = nil
				w.trade(o.side*o.left, accounting.Market, o.id)
				for _, read := range row.after {
					w.read(read)
				}
				b := &Booked{ID: "lost", Places: &[2]pending.Place{market(btc)}, Entry: true}
				b.Asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Side(o.side), Size: decimal.NewFromInt(int64(o.left))}
				journal := w.books(b, false)
				w.Doubt(b)
				if row.restart {
					w.begin(Earlier{})
					again := *b
					b = &Booked{ID: again.ID, Asked: again.Asked, Places: again.Places, Entry: true, Note: again.Note}
					w.Restore(Left{b, journal.fold()})
				}
				time.Sleep(ledger.Lag + time.Second)
				first := w.look()
				time.Sleep(ledger.Lag + time.Second)
				second := w.look()
				require.True(t, first.shows.Equal(second.shows, btc))
				outcome, why := judged(w, w.Books, b, false, first, second, true)
				assert.Equal(t, ledger.Unknown, outcome, why)
			})
		})
	}
}
