package books

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// Equal looks begin a trail anew only if they show every write that was answered before, however
// far reads are behind by the client's options.
func TestLooksThatLagSettleNothing(t *testing.T) {
	for lag, want := range map[time.Duration]bool{ledger.Lag: true, 12 * time.Second: false} {
		t.Run(lag.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(0)
				w.lags, w.moves = [3]int{}, 1<<30
				w.LagBehind(lag)
				w.look()
				buy := func(id string) *Write {
					b := &Write{ID: id, Places: &[2]pending.Place{market(btc)}, Entry: true, Declared: true, Lists: true}
					b.Asked = &accounting.Write{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(1)}
					w.Enter(b)
					return b
				}
				lost := buy("lost")
				w.Doubt(lost)
				w.Leave(buy("answered"), &Did{Filled: decimal.NewFromInt(1), After: &accounting.Position{Size: decimal.NewFromInt(1)}})
				time.Sleep(8 * time.Second)
				s := w.look().shown()
				time.Sleep(lag)
				s.Ended = w.look().ended
				assert.Equal(t, want, w.GiveUp(lost, s))
				assert.Equal(t, want, w.Settle(lost, s))
			})
		})
	}
}

// shown is a look as the driver gives it to the books.
func (l *look) shown() *Shown {
	return &Shown{Begun: l.at, Ended: l.ended, Position: l.shows.Position.Size, Rows: l.shows.Rows, Status: l.shows.Status}
}
