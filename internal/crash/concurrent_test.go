package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
)

// Many goroutines write at once, in two markets, through whatever goes wrong; the
// program dies in the middle of it, and the next one dies while it recovers and
// trades on. The same holds.
func TestConcurrentWritersAreKilled(t *testing.T) {
	rounds := uint64(20)
	if *full {
		rounds = 200
	}
	for seed := range rounds {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x6d616e79))
			w := newWorld(schedule{seed: seed, op: market, held: position, lifetime: time.Minute, bound: true, sole: r.IntN(2) == 0})
			for range 12 {
				w.tries = append(w.tries, pickFault(r, writeFaults))
			}
			w.trade("first", 20+r.IntN(120), false)
			w.check("after the first death")
			time.Sleep(pick(r, awayTimes...))
			w.trade("second", 10+r.IntN(120), true)
			w.check("after the second death")
			w.recoverProcess("third", 0, true)
			w.check("after the last recovery")
			time.Sleep(25 * time.Hour)
			w.check("a day later")
			for _, p := range w.problems {
				t.Errorf("seed %d: %s", seed, p)
			}
		})
	}
}

// trade is a process in which eight goroutines write, and one recovers.
func (w *world) trade(name string, killAt int, recovers bool) {
	p := w.newProcess(name, killAt)
	client := p.client(w.sim.URL(), w.clientOptions()...)
	defer p.end(client)
	a := client.Live.Account(account)
	readAll(p.ctx, a)
	var writers sync.WaitGroup
	if recovers {
		writers.Go(func() {
			verdicts, _ := client.Recover(p.ctx)
			for _, v := range verdicts {
				if !p.gone() {
					p.hear(v, nil)
				}
			}
		})
	}
	for i := range 8 {
		writers.Go(func() {
			for n := range 4 {
				_ = p.writeOne(p.ctx, a, i, n)
				if !pause(p.ctx, time.Duration(i)*time.Second) {
					return
				}
			}
		})
	}
	writers.Wait()
}

// writeOne is one of many writes: orders and closes, some of them decided.
func (p *process) writeOne(ctx context.Context, a *trading.Account, i, n int) error {
	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
	if i%2 == 1 {
		order.Symbol, order.Size = "ETH", trading.Dec("0.1")
	}
	var opts []trading.CallOption
	if i%4 < 2 {
		opts = append(opts, trading.WithDecision("many", fmt.Sprint(i, n)))
	}
	if i == 7 {
		_, err := a.ClosePosition(ctx, order.Symbol, trading.Percent(trading.Dec("10")), opts...)
		return err
	}
	_, err := a.PlaceOrder(ctx, order, opts...)
	return err
}
