package watch

import (
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// book is an account of n positions, and as many trades.
func book(n int, mark decimal.Decimal) *reading {
	r := &reading{at: start, held: true, listed: true, state: trading.AccountState{
		ID: "acc_1", Environment: trading.EnvLive, Status: trading.StatusActive,
		Balance: trading.Dec("100000"), Equity: trading.Dec("100000").Add(mark),
	}}
	for i := range n {
		r.positions = append(r.positions, trading.Position{
			Symbol: fmt.Sprintf("COIN%03d", i), Side: trading.Long,
			Size: trading.Dec("1.5"), EntryPrice: trading.Dec("64000"), Mark: trading.MarkAt(mark),
			UnrealizedPnL: trading.Some(mark), OpenedAt: start,
		})
		r.trades = append(r.trades, tradeNo(i))
	}
	return r
}

// BenchmarkLook is one look at an account: what changed, worked out and handed to every
// loop that listens. Every position has another mark; nothing else changes.
func BenchmarkLook(b *testing.B) {
	for _, positions := range []int{1, 100} {
		for _, loops := range []int{1, 100} {
			b.Run(fmt.Sprintf("positions=%d/loops=%d", positions, loops), func(b *testing.B) {
				source := &accountSource{name: "account"}
				readings := [2]*reading{book(positions, trading.Dec("64000")), book(positions, trading.Dec("64001"))}
				f := &feed{}
				r := &run{feed: f, watch: Account(&trading.Sandbox{}), listeners: map[*listener]struct{}{}}
				wake := make(chan struct{}, 1)
				for range loops {
					r.listeners[&listener{run: r, wake: wake, every: time.Second}] = struct{}{}
				}
				k := &looking{run: r}
				var before *accountLook
				look := func(i int) (events int) {
					is := source.follow(before, readings[i%2])
					before = is
					next := k.follow(is, start, nil)
					r.update(func(s *standing) { s.node = next })
					for l := range r.listeners {
						events += len(l.take().events)
					}
					return events
				}
				look(0)
				b.ReportAllocs()
				for i := 1; b.Loop(); i++ {
					if look(i) != (positions+1)*loops {
						b.Fatal("not every change was told")
					}
				}
			})
		}
	}
}

// BenchmarkTrades is a list of a thousand closed trades with one more.
func BenchmarkTrades(b *testing.B) {
	long := book(1001, trading.Dec("1")).trades
	b.ReportAllocs()
	var l ledger
	l.list(start, long[1:])
	at := start
	for b.Loop() {
		at = at.Add(time.Hour)
		l.list(at, long[1:])
		at = at.Add(time.Hour)
		if fresh := l.list(at, long); len(fresh.trades) != 1 {
			b.Fatal(len(fresh.trades))
		}
		at = at.Add(time.Hour)
		l.list(at, long[1:])
	}
}
