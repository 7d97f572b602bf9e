package books

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// shows reads a declared account, two lags after the read before: so much BTC is held, and some runs go on.
func (b *book) shows(size int64, runs ...accounting.Waiting) {
	var held []Held
	if size != 0 {
		held = []Held{{Symbol: "BTC", Holding: accounting.Holding{Size: decimal.NewFromInt(size), EntryPrice: decimal.NewFromInt(1)}}}
	}
	time.Sleep(2 * ledger.Lag)
	b.now = time.Now()
	b.SawStatus(mine, b.now, "ACTIVE")
	b.SawPositions(mine, atOnce(b.now), held)
	b.SawTrades(mine, atOnce(b.now), func(int) []accounting.Row { return nil })
	b.SawOrders(mine, atOnce(b.now), nil, runs)
	b.SawFinished(mine, atOnce(b.now), accounting.Newest{})
}

// judged is the verdict on a write by looks that show so much BTC, and runs.
func (b *book) judged(w *Booked, size int64, runs ...string) accounting.Verdict {
	show := accounting.State{Position: accounting.Holding{Size: decimal.NewFromInt(size)}, Status: "ACTIVE", Runs: runs}
	f := b.Known(w, true, true, show, time.Now())
	f.EqualLooks, f.Symbol, f.Held, f.Again = 2, "BTC", true, true
	return accounting.Judge(f)
}

// bubbled is a declared account that was read, on the clock of a bubble.
func bubbled(t *testing.T, by Earlier) *book {
	b := newBook(t)
	b.Books, b.now = New(time.Now(), by, nil), time.Now()
	b.Declare(declared)
	return b
}

// An order is lost beside another write that was refused in words of something in front, and ran all the same: what that
// bought is not taken for the lost one's, here and after a restart.
func TestWhatARefusedWriteBoughtIsNotTheLostOnes(t *testing.T) {
	for name, kind := range map[string]func(*book, string) *Booked{"order": (*book).order, "limit": (*book).limit, "run": (*book).pro} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := bubbled(t, Earlier{None: true})
				b.shows(0)
				b.shows(0)
				lost, beside := b.journaled(b.order("BTC")), b.journaled(kind(b, "BTC"))
				b.enterNoted(lost)
				b.SendEnded(mine, time.Now())
				b.Doubt(lost)
				b.enterNoted(beside)
				b.leave(beside, &Did{Own: accounting.Own{Unsure: true}})
				again := bubbled(t, Earlier{})
				left := &Booked{ID: lost.ID, Asked: lost.Asked, Places: lost.Places, Entry: true}
				again.Restore(Left{left, b.fold(lost)})
				for in, w := range map[*book]*Booked{b: lost, again: left} {
					in.shows(1)
					in.shows(1)
					assert.Equal(t, accounting.Verdict{Reason: accounting.BothFit}, in.judged(w, 1))
				}
			})
		})
	}
}

// Nor is the run that it left in another market the one that a lost Pro order may have left.
func TestTheRunOfARefusedWriteIsNotTheLostOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bubbled(t, Earlier{None: true})
		b.shows(0)
		b.shows(0)
		lost, beside := b.journaled(b.pro("BTC")), b.journaled(b.pro("ETH"))
		b.enterNoted(lost)
		b.enterNoted(beside)
		b.SendEnded(mine, time.Now())
		b.Doubt(lost)
		b.leave(beside, &Did{Own: accounting.Own{Unsure: true}})
		time.Sleep(2 * ledger.Lag)
		assert.Equal(t, ledger.Unknown, b.judged(lost, 0, "run_1").Outcome)
		assert.True(t, b.fold(lost).NoIDs)
	})
}

// A run may trade more than it was begun with, once it was edited, in whatever market the edit says it is.
func TestAnEditedRunHasNoBound(t *testing.T) {
	for _, symbol := range []string{"BTC", "any market"} {
		synctest.Test(t, func(t *testing.T) {
			b := bubbled(t, Earlier{None: true})
			b.shows(0)
			twap, edit := b.pro("BTC"), b.pro(symbol)
			twap.Asked.Size = decimal.NewFromInt(5)
			b.enter(twap)
			b.leave(twap, &Did{Own: accounting.Own{Act: accounting.Act{Kind: accounting.Pro, Side: accounting.Long, Size: decimal.NewFromInt(5), Ran: true}, WaitID: "run_1"}})
			runs := accounting.Waiting{ID: "run_1", Symbol: "BTC", Side: accounting.Long, Run: true}
			b.shows(0, runs)
			edit.Run, edit.Asked = false, &accounting.Act{Kind: accounting.EditRun, Size: decimal.NewFromInt(20)}
			b.enter(edit)
			b.leave(edit, &Did{Own: accounting.Own{Act: accounting.Act{Kind: accounting.EditRun, Size: decimal.NewFromInt(20), Ran: true}}})
			for range 3 {
				b.shows(0, runs)
			}
			lost := b.order("BTC")
			lost.Asked = &accounting.Act{Kind: accounting.Entry, Side: accounting.Long, Size: decimal.NewFromInt(7)}
			b.enter(lost)
			b.SendEnded(mine, b.now)
			time.Sleep(2 * ledger.Lag)
			assert.Equal(t, accounting.Verdict{Reason: accounting.BothFit}, b.judged(lost, 12, "run_1"), symbol) // the run bought them
		})
	}
}
