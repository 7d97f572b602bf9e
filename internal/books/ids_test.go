package books

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// The journal of a limit says that its ids count no longer once anything beside it may have left one of which it
// does not know, whatever it was told before: else the next run takes that for the limit's.
func TestAJournalKnowsThatItsIDsCountNoMore(t *testing.T) {
	refused := &Did{Own: accounting.Own{Unsure: true}}
	type beside struct {
		w   func(b *book, symbol string) *Booked
		did *Did
	}
	order := func(b *book, symbol string) *Booked { return b.order(symbol) }
	limit := func(b *book, symbol string) *Booked { return b.limit(symbol) }
	bought := beside{order, opened(1)}
	rests := beside{limit, resting("ord_1")}
	for name, row := range map[string]struct {
		beside []beside
		symbol string // of the last of them
		want   bool
	}{
		"an order":                               {[]beside{bought}, "BTC", false},
		"an order that was refused":              {[]beside{{order, refused}}, "BTC", false},
		"a limit that may have run all the same": {[]beside{{limit, refused}}, "BTC", true},
		"a limit":                                {[]beside{rests}, "BTC", true},
		"a limit of another market":              {[]beside{rests}, "ETH", true},
		"an order, then a limit":                 {[]beside{bought, rests}, "BTC", true},
		"an order, then a limit elsewhere":       {[]beside{bought, rests}, "ETH", true},
		"a refused order, then a limit":          {[]beside{{order, refused}, rests}, "BTC", true},
		"a refused order, then one elsewhere":    {[]beside{{order, refused}, rests}, "ETH", true},
		"an order twice, then a limit elsewhere": {[]beside{bought, bought, rests}, "ETH", true},
		"a limit, then an order":                 {[]beside{rests, bought}, "BTC", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			b.Declare(declared)
			b.read(nil)
			w := b.journaled(b.limit("BTC"))
			b.enterNoted(w)
			for i, one := range row.beside {
				symbol := "BTC"
				if i == len(row.beside)-1 {
					symbol = row.symbol
				}
				other := b.journaled(one.w(b, symbol))
				b.enterNoted(other)
				did := *one.did
				b.leave(other, &did)
			}
			assert.Equal(t, row.want, b.fold(w).NoIDs)
		})
	}
}

// What a limit or a run did of which nobody knows more than that it ended may have traded by itself: after a restart too,
// by the journal of an order in doubt beside it.
func TestAJournalKnowsThatALimitMayTrade(t *testing.T) {
	for name, of := range map[string]func(b *book) *Booked{
		"a limit": func(b *book) *Booked { return b.limit("BTC") },
		"a run":   func(b *book) *Booked { return b.pro("BTC") },
		"an edit of a run": func(b *book) *Booked {
			w := b.pro("BTC")
			w.Asked, w.Run = &accounting.Act{Kind: accounting.EditRun, Side: accounting.Long, Size: asked.Size}, false
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := restartedBook(t, Earlier{None: true})
			b.read(nil)
			lost := b.journaled(b.order("BTC"))
			b.enterNoted(lost)
			b.Doubt(lost)
			other := b.journaled(of(b))
			b.enterNoted(other)
			b.leave(other, &Did{ShownFrom: b.now, Own: accounting.Own{Act: accounting.Act{Ran: true}}})

			next := restartedBook(t, Earlier{})
			left := next.order("BTC")
			left.ID = lost.ID
			next.Restore(Left{left, b.fold(lost)})
			c, ok := next.Course(left, true, true, "ACTIVE")
			require.True(t, ok)
			require.NotEmpty(t, c.Waiting)
			may := c.Waiting[len(c.Waiting)-1]
			assert.Equal(t, other.ID, may.ID)
			assert.Equal(t, name == "a limit", may.Size.Valid && !may.Run, "a bound")
		})
	}
}
