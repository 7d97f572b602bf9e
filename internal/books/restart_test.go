package books

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// What a journal says of a write is enough for the next run: the same evidence as of
// this one, or less.
func TestAJournalHasWhatARestartNeeds(t *testing.T) {
	for name, row := range map[string]struct {
		do   func(b *book, w *Write)
		base bool
		own  []int64
	}{
		"alone": {func(b *book, w *Write) { b.enterNoted(w) }, true, nil},
		"one before": {func(b *book, w *Write) {
			b.run(opened(1))
			b.enterNoted(w)
		}, true, []int64{1}},
		"one beside, in doubt afterwards": {func(b *book, w *Write) {
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.enterNoted(w)
			b.leave(other, opened(2))
			b.Doubt(w)
		}, true, []int64{2}},
		"one beside, in doubt before": {func(b *book, w *Write) {
			b.enterNoted(w)
			b.Doubt(w)
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.leave(other, opened(2))
			third := b.journaled(b.order("BTC"))
			b.enterNoted(third)
			b.leave(third, opened(3))
		}, true, []int64{2, 3}},
		"one beside, never in doubt": {func(b *book, w *Write) {
			b.enterNoted(w)
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.leave(other, opened(2))
		}, false, nil},
		"one that was refused": {func(b *book, w *Write) {
			b.enterNoted(w)
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.leave(other, nil)
		}, true, nil},
		"one that has not ended": {func(b *book, w *Write) {
			b.enterNoted(b.journaled(b.order("BTC")))
			b.enterNoted(w)
		}, false, nil},
		"one in doubt that has not ended": {func(b *book, w *Write) {
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.Doubt(other)
			b.enterNoted(w)
		}, true, nil},
		"one that may have done anything": {func(b *book, w *Write) {
			b.enterNoted(w)
			b.Doubt(w)
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.leave(other, unclear(b.now))
		}, false, []int64{0}},
		"more than a journal takes": {func(b *book, w *Write) {
			for range maxJournaled + 1 {
				b.run(opened(1))
			}
			b.enterNoted(w)
		}, false, nil},
		"one that ended while the journal took it": {func(b *book, w *Write) {
			base, n := b.Enter(w)
			other := b.journaled(b.order("BTC"))
			b.enterNoted(other)
			b.leave(other, opened(2))
			b.begin(w, base, n)
		}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			b.read(nil)
			w := b.journaled(b.order("BTC"))
			row.do(b, w)
			base, own := b.fold(w)
			again := newBook(t)
			left := again.order("BTC")
			again.Restore(left, base, Note{Own: own})
			got := again.Evidence(left)
			assert.Equal(t, row.base, got.Base != nil)
			assert.Equal(t, row.own, sizes(got.Own))

			other := again.order("BTC")
			again.enter(other)
			again.leave(other, opened(9))
			assert.Equal(t, append(slices.Clone(row.own), 9), sizes(again.Evidence(left).Own))
		})
	}
}

// enterNoted is enter, with a journal that takes what it is given.
func (b *book) enterNoted(w *Write) {
	base, n := b.Enter(w)
	b.begin(w, base, n)
}

func (b *book) begin(w *Write, base *accounting.Baseline, n Note) {
	b.begun[w] = base
	b.notes[w] = append([]Note{n}, b.notes[w]...)
	_, _ = b.Journaled(context.Background(), w, n.NoBaseline)
	b.SendBegan(mine)
}

// fold reads the journal of a write.
func (b *book) fold(w *Write) (*accounting.Baseline, []accounting.Own) {
	var all Note
	for _, n := range b.notes[w] {
		all.Add(n)
	}
	base := b.begun[w]
	if all.NoBaseline {
		base = nil
	}
	return base, all.Own
}
