package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
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
	t.Run("in process", func(t *testing.T) {
		playMany(t, 20, func(*world) {})
	})
	t.Run("with SIGKILL", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("there is no SIGKILL")
		}
		playMany(t, 10, func(w *world) { w.inChildren(t.TempDir()) })
	})
}

// playMany plays so many schedules of many writers, in a full run ten times as many,
// each in a world that is prepared for it.
func playMany(t *testing.T, rounds uint64, prepare func(*world)) {
	if *full {
		rounds *= 10
	}
	kills := 0
	for seed := range rounds {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(newMany(seed))
			prepare(w)
			r := rand.New(rand.NewPCG(seed, 0x6b696c6c))
			w.live(decides, 20+r.IntN(120))
			w.check("after the first death")
			time.Sleep(pick(r, awayTimes...))
			w.live(recovers, 10+r.IntN(120))
			w.check("after the second death")
			w.live(settles, 0)
			w.check("after the last recovery")
			time.Sleep(25 * time.Hour)
			w.check("a day later")
			for _, p := range w.problems {
				t.Errorf("seed %d: %s", seed, p)
			}
			kills += len(w.kills)
		})
	}
	t.Logf("%d schedules, %d kills", rounds, kills)
	if kills < int(rounds) { // two a schedule, but where a process ends before
		t.Errorf("%d schedules had %d kills only", rounds, kills)
	}
}

// newMany makes the schedule of a seed in which many write.
func newMany(seed uint64) schedule {
	r := rand.New(rand.NewPCG(seed, 0x6d616e79))
	s := schedule{family: many, seed: seed, op: market, held: position, lifetime: time.Minute, bound: true, sole: r.IntN(2) == 0}
	for range 12 {
		s.tries = append(s.tries, pickFault(r, writeFaults))
	}
	return s
}

// trade is a process in which eight goroutines write, and one recovers.
func (b *bot) trade(client *trading.Client, a *trading.Account) {
	readAll(b.ctx, a)
	var writers sync.WaitGroup
	if b.life == recovers {
		writers.Go(func() {
			verdicts, _ := client.Recover(b.ctx)
			for _, v := range verdicts {
				b.hear(v, nil)
			}
		})
	}
	for i := range 8 {
		writers.Go(func() {
			for n := range 4 {
				_ = writeOne(b.ctx, a, i, n)
				if !pause(b.ctx, time.Duration(i)*time.Second) {
					return
				}
			}
		})
	}
	writers.Wait()
}

// writeOne is one of many writes: orders and closes, some of them decided.
func writeOne(ctx context.Context, a *trading.Account, i, n int) error {
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
