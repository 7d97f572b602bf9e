package books

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/testing/depth"
)

var (
	mine   = AccountKey{"live", "acc_1"}
	origin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// atOnce is a read that took no time.
func atOnce(at time.Time) Read { return Read{at, at} }

func market(symbol string) pending.Place { return marketOf(mine, symbol) }

func marketOf(a AccountKey, symbol string) pending.Place {
	return pending.Place{Environment: a.Environment, Account: a.ID, Symbol: symbol}
}

// book is books with a clock, and the notes that journals took.
type book struct {
	*Books
	t     *testing.T
	now   time.Time
	notes map[*Booked][]Note
	hangs bool // the journal takes no note
	next  atomic.Int64
}

func newBook(t *testing.T) *book {
	return &book{Books: New(origin, Earlier{None: true}, nil), t: t, now: origin, notes: map[*Booked][]Note{}}
}

func (b *book) pass(d time.Duration) { b.now = b.now.Add(d) }

// read reads everything, twice, so that it serves every write.
func (b *book) read(held []Held) {
	for range 2 {
		b.pass(ledger.Lag)
		b.SawStatus(mine, b.now, "ACTIVE")
		b.SawPositions(mine, atOnce(b.now), held)
		b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return []accounting.Row{{Digest: 7}} })
		b.SawOrders(mine, atOnce(b.now), []accounting.Waiting{{ID: "ord_0", Symbol: "DOGE"}}, nil)
		b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
	}
}

// order returns an order that is not entered yet.
func (b *book) order(symbol string) *Booked {
	return &Booked{ID: "w" + strconv.FormatInt(b.next.Add(1), 10), Asked: asked, Places: &[2]pending.Place{market(symbol)}, Entry: true}
}

func (b *book) limit(symbol string) *Booked {
	w := b.order(symbol)
	w.Asked = &accounting.Act{Kind: accounting.Limit, Side: accounting.Long, Size: asked.Size}
	w.Places[1] = market("")
	return w
}

func (b *book) pro(symbol string) *Booked {
	w := b.limit(symbol)
	w.Asked, w.Run = &accounting.Act{Kind: accounting.Pro, Side: accounting.Long}, true
	return w
}

// journaled gives a write a journal.
func (b *book) journaled(w *Booked) *Booked {
	w.Note = func(n Note) error {
		if b.hangs {
			return errNotesHang
		}
		b.notes[w] = append(b.notes[w], n)
		return nil
	}
	return w
}

// enter sends a write, and returns what its journal has of it at first.
func (b *book) enter(w *Booked) Note {
	n := b.Enter(w)
	b.SendBegan(mine)
	return n
}

// based enters a write, and reports whether it has a baseline.
func (b *book) based(w *Booked) bool {
	b.Enter(w)
	_, ok := b.Course(w, false, false, "ACTIVE")
	return ok
}

// ended reports whether nothing can be said of a write, since its account began anew.
func (b *book) ended(w *Booked) bool {
	return b.Known(w, false, false, accounting.State{}, time.Time{}).Ended
}

func (b *book) leave(w *Booked, did *Did) {
	b.SendEnded(mine, b.now)
	if did != nil {
		did.Own.Heard = b.now
	}
	_ = b.Leave(w, did)
}

// sends is a write from its beginning to its end.
func (b *book) sends(w *Booked, did *Did) {
	b.enter(w)
	b.leave(w, did)
}

func opened(n int64) *Did {
	return &Did{Own: accounting.Own{Act: accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(n), Ran: true}}}
}

func after(n, size int64) *Did {
	d := opened(n)
	d.Own.After = decimal.NewNullDecimal(decimal.NewFromInt(size))
	return d
}

func resting(id string) *Did {
	return &Did{Own: accounting.Own{Act: accounting.Act{Kind: accounting.Limit, Side: accounting.Long, Size: decimal.NewFromInt(1), Ran: true}, WaitID: id}}
}

func unclear(from time.Time) *Did { return &Did{ShownFrom: from, Own: accounting.Own{Unsure: true}} }

// run is an order that has ended, and a lag after it.
func (b *book) run(did *Did) {
	b.sends(b.order("BTC"), did)
	b.pass(ledger.Lag)
}

// Of an account that began anew nothing can be said of the writes that are open.
func TestAResetEndsAccounting(t *testing.T) {
	b := newBook(t)
	b.read(nil)
	w, other := b.order("BTC"), &Booked{Asked: asked, Places: &[2]pending.Place{{Environment: "live", Account: "acc_2", Symbol: "BTC"}}}
	b.Enter(w)
	b.Enter(other)
	b.Reset(mine)
	assert.True(t, b.ended(w))
	assert.False(t, b.ended(other))
}

// What was read of the paper account is no baseline of another holder's, nor of the one
// that the service has put in its place.
func TestAnotherIDEndsAccounting(t *testing.T) {
	for _, row := range []struct {
		before, after string
		ended         bool
	}{
		{"", "sbx_1", false},
		{"sbx_1", "sbx_1", false},
		{"sbx_1", "", false},
		{"sbx_1", "sbx_2", true},
	} {
		b := newBook(t)
		b.SawPaper(mine, b.now, row.before, decimal.Zero)
		b.read(nil)
		w := b.order("BTC")
		b.Enter(w)
		b.SawPaper(mine, b.now, row.after, decimal.Zero)
		assert.Equal(t, row.ended, b.ended(w), "%q, then %q", row.before, row.after)
		assert.Equal(t, row.ended, !b.based(b.order("ETH")))
	}
}

// Somebody else has reset the paper account where its closed trades are gone, or where its
// balance has risen although nothing is held and nothing was ever closed.
func TestEdge40_AResetThatNobodyTold(t *testing.T) {
	paper := AccountKey{Environment: "sandbox"}
	one := []Held{{"BTC", accounting.Holding{Size: decimal.NewFromInt(1)}}}
	row := []accounting.Row{{Digest: 7}}
	for name, at := range map[string]struct {
		account       AccountKey
		before, after []accounting.Row
		balance       int64 // it was 100
		held          []Held
		reads         int
		want          bool
	}{
		"nothing":                         {account: paper, balance: 100, reads: 3},
		"the closed trades are gone":      {account: paper, before: row, balance: 100, reads: 1, want: true},
		"those of a live account":         {account: mine, before: row, balance: 100, reads: 1},
		"the balance has risen":           {account: paper, balance: 101, reads: 2, want: true},
		"which a closed trade may say":    {account: paper, balance: 101, reads: 1},
		"which a closed trade says":       {account: paper, after: row, balance: 101, reads: 3},
		"beside a position, by a funding": {account: paper, balance: 101, held: one, reads: 3},
		"it has fallen":                   {account: paper, balance: 99, reads: 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBook(t)
			read := func(balance int64, held []Held, rows []accounting.Row) {
				b.pass(ledger.Lag)
				b.SawPaper(at.account, b.now, "sbx_1", decimal.NewFromInt(balance))
				b.SawPositions(at.account, atOnce(b.now), held)
				b.SawTrades(at.account, atOnce(b.now), func(int) []accounting.Row { return rows })
			}
			for range 2 {
				read(100, one, at.before)
			}
			w := &Booked{Asked: asked, Places: &[2]pending.Place{marketOf(at.account, "BTC")}}
			b.Enter(w)
			for range at.reads {
				read(at.balance, at.held, at.after)
			}
			assert.Equal(t, at.want, b.ended(w))
		})
	}
	b := newBook(t)
	b.SawPaper(paper, b.now, "", decimal.NewFromInt(100))
	b.Reset(paper)
	w := &Booked{Asked: asked, Places: &[2]pending.Place{marketOf(paper, "BTC")}}
	b.Enter(w)
	for range 3 {
		b.pass(ledger.Lag)
		b.SawPaper(paper, b.now, "", decimal.NewFromInt(101))
		b.SawPositions(paper, atOnce(b.now), nil)
		b.SawTrades(paper, atOnce(b.now), func(int) []accounting.Row { return nil })
	}
	assert.False(t, b.ended(w), "the program's own reset is told")
}

func TestNobodyHasToKnowOfALoneWriteWithoutReads(t *testing.T) {
	b := newBook(t)
	w := b.order("BTC")
	b.Enter(w)
	assert.False(t, b.Wants(w))
	b = newBook(t)
	b.Declare(declared)
	b.Enter(w)
	assert.True(t, b.Wants(w), "its trail has to know")
}

// A write that leaves is gone, whatever its path: in doubt, with company, refused.
func TestEveryWriteThatLeavesIsForgotten(t *testing.T) {
	b := newBook(t)
	b.read(nil)
	var group sync.WaitGroup
	for n := range depth.Of(8, 32) {
		group.Go(func() {
			for i := range 50 {
				w := b.limit("BTC")
				if n%2 == 0 {
					w = b.order("ETH")
				}
				w.Note = func(Note) error { return nil }
				b.Enter(w)
				if i%3 == 0 {
					b.Doubt(w)
				}
				b.ended(w)
				var did *Did
				if i%2 == 0 {
					did = resting("ord_" + strconv.Itoa(n*100+i))
				}
				_ = b.Leave(w, did)
				_ = b.Leave(w, did)
			}
		})
	}
	group.Wait()
	a := b.of[mine]
	assert.Empty(t, a.open)
	for at, p := range a.places {
		assert.Empty(t, p.plain, at)
		assert.Empty(t, p.detailed, at)
	}
}
