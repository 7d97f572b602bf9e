package books

import (
	"fmt"
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

// What the search has found, each schedule by itself.

// The reads of a world.
const aPosition, aTrades, whatWaits = 0, 1, 2

// stillWorld has a position and nothing that rests, a minute after its books began. No read lags, and nothing
// moves by itself.
func stillWorld(seed uint64, pos int) *world {
	w := newWorld(seed)
	time.Sleep(time.Minute)
	w.lags, w.moves, w.wide, w.now.pos, w.now.rests = [4]int{}, 1<<30, false, [2]int{pos}, nil
	w.keep()
	return w
}

// TestABaselineIsOfOneMoment: while an own run may trade, whether a read has shown it or not, a
// position and a list of closed trades are a baseline only if neither changes for so long that
// both were so at one moment.
func TestABaselineIsOfOneMoment(t *testing.T) {
	for _, row := range []struct {
		reads []int
		want  bool
	}{
		{[]int{aPosition, aTrades}, false},
		{[]int{whatWaits, aPosition, aTrades}, false},
		{[]int{aTrades, aPosition, aPosition}, false},
		{[]int{whatWaits, aTrades, aPosition, aPosition}, false},
		{[]int{aPosition, aTrades, aPosition, aTrades}, true},
	} {
		t.Run(fmt.Sprint(row.reads), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := stillWorld(0, 20)
				w.read(whatWaits)
				for w.now.rests == nil {
					w.write(aLimit)
				}
				for _, read := range row.reads {
					time.Sleep(ledger.Lag + time.Second)
					w.read(read)
				}
				b := &Booked{ID: "lost", Places: &[2]pending.Place{market(btc)}}
				b.Asked = &accounting.Act{Kind: accounting.Close, Percent: decimal.NewFromInt(50)}
				w.Enter(b)
				_, based := w.Course(b, true, true, "ACTIVE")
				assert.Equal(t, row.want, based)
			})
		})
	}
}

// Equal looks begin a trail anew only if they show every write that was answered before, however
// far reads are behind by the client's options.
func TestLooksThatLagOpenNoMarket(t *testing.T) {
	for lag, want := range map[time.Duration]bool{ledger.Lag: true, 12 * time.Second: false} {
		t.Run(lag.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := stillWorld(0, 0)
				w.LagBehind(lag)
				w.look()
				buy := func(id string) *Booked {
					b := &Booked{ID: id, Places: &[2]pending.Place{market(btc)}, Entry: true}
					b.Asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(1)}
					w.Enter(b)
					return b
				}
				lost := buy("lost")
				w.Doubt(lost)
				_ = w.Leave(buy("answered"), after(1, 1))
				time.Sleep(8 * time.Second)
				saw := w.look()
				looks := saw.read()
				time.Sleep(lag)
				again := w.look()
				looks.Ended = again.ended
				_, opens := w.GiveUp(lost, looks, again.at, saw.of(0))
				assert.Equal(t, want, opens)
				opened, unnoted := w.OpenMarket(lost, looks, again.at, saw.of(0))
				assert.Equal(t, want, opened)
				require.NoError(t, unnoted)
			})
		})
	}
}

// An order that an earlier run left to rest can fill before this run reads for the first time what waits. Then no
// read shows it, and what it traded must not be taken for an own order that did not run.
func TestAnOrderOfAnEarlierRunFillsUnseen(t *testing.T) {
	for name, row := range map[string]struct {
		lag     int   // of positions, in milliseconds
		before  []int // reads, before it fills
		after   []int
		restart bool
	}{
		"and positions lag behind that":            {lag: 4900, after: []int{aPosition, whatWaits, aTrades}},
		"after what was the same for so long":      {before: []int{aPosition, aTrades, aPosition, aTrades}, after: []int{whatWaits}},
		"the same, and the run that reads is over": {before: []int{aPosition, aTrades, aPosition, aTrades}, after: []int{whatWaits}, restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := stillWorld(1, 0)
				w.lags[aPosition] = row.lag
				o := w.rest(0, false)
				for _, read := range row.before {
					time.Sleep(ledger.Lag + time.Second)
					w.read(read)
				}
				time.Sleep(ledger.Lag + time.Second)
				w.now.rests = nil
				w.trade(0, o.side*o.left, accounting.Market, o.id)
				for _, read := range row.after {
					w.read(read)
				}
				b := &Booked{ID: "lost", Places: &[2]pending.Place{market(btc)}, Entry: true}
				b.Asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Direction(o.side), Size: decimal.NewFromInt(int64(o.left))}
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
				require.True(t, first.of(0).Equal(second.of(0), btc))
				outcome, why := judged(w, w.Books, b, &lost{}, first, second)
				assert.Equal(t, ledger.Unknown, outcome, why)
			})
		})
	}
}

// A lost limit fills, and looks at the account say so. No read shows it among what waits, and still it is what
// bought: an order that is lost right after it may not have run.
func TestALimitThatWasFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := stillWorld(1, 0)
		b := &book{Books: w.Books, t: t}
		w.look()
		time.Sleep(ledger.Lag)
		w.look()
		limit := b.limit(btc)
		limit.ID = "limit"
		w.Enter(limit)
		w.trade(0, 1, accounting.Market, "limit")
		time.Sleep(time.Minute)
		shown := w.look().at
		_ = w.Leave(limit, &Did{ShownFrom: shown, Own: accounting.Own{Act: accounting.Act{Ran: true}, Heard: time.Now()}})
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

// A stop closes the position between the two reads of the last of two equal looks, and twenty trades elsewhere hide
// it. What then opens the market of a lost write again says that the position may be gone: a lost order that opens
// the same again has run.
func TestWhatOpensAMarketMayHideAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := stillWorld(0, 1)
		much := func() {
			for range w.now.cut {
				w.row("SOL", accounting.Long, accounting.Market, 1, 0)
			}
			w.keep()
		}
		buys := func(id string) *Booked {
			b := &Booked{ID: id, Asked: asked, Places: &[2]pending.Place{market(btc)}, Entry: true}
			w.Enter(b)
			w.Doubt(b)
			return b
		}
		w.look()
		givenUp := buys("given up")
		time.Sleep(2 * ledger.Lag)
		much()
		first := w.look()
		time.Sleep(ledger.Lag)
		w.lags[aPosition] = 4900
		w.trade(0, -1, accounting.StopLoss, "a stop")
		much()
		second := w.look()
		require.True(t, first.of(0).Equal(second.of(0), btc))
		opened, _ := w.OpenMarket(givenUp, Read{Begun: first.at, Ended: second.ended}, second.at, second.of(0))
		require.True(t, opened)

		again := buys("again")
		w.trade(0, 1, accounting.Market, again.ID)
		time.Sleep(2 * ledger.Lag)
		first = w.look()
		time.Sleep(ledger.Lag)
		outcome, why := judged(w, w.Books, again, &lost{}, first, w.look())
		assert.Equal(t, ledger.Unknown, outcome, why)
	})
}

// A program is killed right before the journal takes the beginning of a close, which the trail of a lost one beside it has
// already. Nobody ends it in the next run. Once it can run no more, equal looks open the market of the lost one all the same.
func TestAWriteThatNoJournalHasEndsByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := stillWorld(0, 20)
		w.look()
		closes := func(id string) *Booked {
			return &Booked{ID: id, Asked: &accounting.Act{Kind: accounting.Close, Percent: decimal.NewFromInt(50)}, Places: &[2]pending.Place{market(btc)}}
		}
		b := closes("lost")
		journal := w.books(b, false)
		require.NotNil(t, b.Note)
		w.Enter(closes("in no journal"))
		w.Doubt(b)
		time.Sleep(time.Second)

		w.begin(Earlier{})
		b = closes("lost")
		w.Restore(Left{b, journal.fold()})
		opens := func() bool {
			time.Sleep(2 * ledger.Lag)
			first := w.look()
			time.Sleep(ledger.Lag)
			last := w.look()
			_, opens := w.GiveUp(b, Read{Begun: first.at, Ended: last.ended}, last.at, last.of(0))
			return opens
		}
		assert.False(t, opens(), "it may be on its way")
		require.NotNil(t, w.of[mine].trails.trail(btc).Find("in no journal"))
		time.Sleep(ledger.Gone)
		assert.True(t, opens())
	})
}
