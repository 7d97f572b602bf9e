package books

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// A journal that takes no note for a moment lacks what ended then, and what it should have said of it. The next run
// takes an order that has run for no other that has not.
func TestWhatFollowsANoteThatWasNotTaken(t *testing.T) {
	for name, beside := range map[string]func(b *book, left, first *Booked) (open []*Booked){
		// It did not run. What ended first and what ended then are to be noted with it.
		"of a write on its way": func(b *book, left, first *Booked) []*Booked {
			b.enterNoted(left)
			b.enterNoted(first)
			b.hangs = true
			assert.Error(b.t, b.Leave(first, opened(3)))
			b.hangs = false
			b.sendsNoted(opened(1))
			return []*Booked{left, first}
		},
		// It has ended without having run, and its journal does not say so.
		"of the end of the write itself": func(b *book, left, first *Booked) []*Booked {
			b.enterNoted(first)
			b.Doubt(first)
			b.enterNoted(left)
			b.hangs = true
			assert.Error(b.t, b.Leave(left, &Did{Own: accounting.Own{Unsure: true}}))
			b.hangs = false
			b.leave(first, opened(3))
			b.sendsNoted(opened(1))
			return []*Booked{left}
		},
		// Its beginning is on the disk, and its program has not heard so yet. It is not sent before.
		"of a write whose beginning is on its way": func(b *book, left, first *Booked) []*Booked {
			b.sendsNoted(opened(3))
			n := b.Enter(left)
			b.sendsNoted(opened(1))
			b.notes[left] = append([]Note{n}, b.notes[left]...)
			return []*Booked{left}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := restartedBook(t, Earlier{None: true})
			b.look("ACTIVE")
			left, first := b.journaled(b.order("BTC")), b.journaled(b.order("BTC"))
			first.Asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(3)}
			again := restartedBook(t, Earlier{})
			var lefts []Left
			for _, w := range beside(b, left, first) {
				lefts = append(lefts, Left{&Booked{ID: w.ID, Asked: w.Asked, Places: w.Places, Entry: true}, b.fold(w)})
			}
			again.Restore(lefts...)
			c, ok := again.Course(lefts[0].Booked, true, true, "ACTIVE")
			if !ok {
				return
			}
			require.True(t, c.still(again.now.Add(3*ledger.Lag), decimal.NewFromInt(4), nil))
			got, why := c.Of(c.asked, -1).Verdict()
			assert.NotEqual(t, ledger.Applied, got, why)
		})
	}
}

// An order that was refused beside one in doubt is not under way in the next run: its journal has its end, and the other's that
// it did nothing.
func TestWhatDidNothingBesideOneInDoubt(t *testing.T) {
	b := restartedBook(t, Earlier{None: true})
	b.look("ACTIVE")
	left, other := b.journaled(b.order("BTC")), b.journaled(b.order("BTC"))
	b.enterNoted(left)
	b.enterNoted(other)
	b.Doubt(left)
	b.leave(other, nil)

	again := restartedBook(t, Earlier{})
	w := &Booked{ID: left.ID, Asked: left.Asked, Places: left.Places, Entry: true}
	again.Restore(Left{w, b.fold(left)})
	c, ok := again.Course(w, true, true, "ACTIVE")
	require.True(t, ok && c.still(again.now.Add(3*ledger.Lag), decimal.NewFromInt(1), nil))
	assert.False(t, c.open())
	outcome, why := c.Of(c.asked, accounting.NoAct).Verdict()
	assert.Equal(t, ledger.Applied, outcome, why)
}
