package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Entries are on their way, in any stage and with any accident, when a program gets out. What is proven flat stays so:
// nothing is executed after the proof.
func TestNothingIsExecutedAfterAProof(t *testing.T) {
	proofs, runs := 0, depth.Of(300, 10_000)
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) {
			if (&leaving{rand.New(rand.NewPCG(uint64(seed), 7))}).run(t, seed) {
				proofs++
			}
		})
	}
	assert.Greater(t, proofs, runs*9/10)
}

// leaving is a program that gets out.
type leaving struct{ dice *rand.Rand }

func (l *leaving) moment(seconds int) time.Duration {
	return time.Duration(l.dice.IntN(10*seconds)) * 100 * time.Millisecond
}

func (l *leaving) accident() tradingsim.Fault {
	switch l.dice.IntN(12) {
	case 0:
		return tradingsim.DropRequest()
	case 1:
		return tradingsim.DropResponse()
	case 2:
		return tradingsim.Delay(l.moment(40))
	case 3:
		return tradingsim.Hang(l.moment(40))
	case 4:
		return tradingsim.DelayResponse(l.moment(40))
	case 5:
		return tradingsim.RateLimit(time.Duration(1+l.dice.IntN(20)) * time.Second)
	case 6:
		return tradingsim.FailAfter(500, "internal_error")
	case 7:
		return tradingsim.GatewayErrorAfter(502)
	default:
		return tradingsim.Pass()
	}
}

// client is one with some of the stages that hold an entry up.
func (l *leaving) client(t *testing.T, sim *tradingsim.Sim) rig.Rig {
	opts := []trading.Option{trading.WithJournal(journal.NewMemory())}
	if l.dice.IntN(2) == 0 {
		opts = append(opts, trading.WithExclusiveAccounts("acc_1"))
	}
	if l.dice.IntN(2) == 0 {
		opts = append(opts, rig.OverPipes(t, sim).Option())
	}
	if slow := l.moment(9); l.dice.IntN(3) == 0 {
		opts = append(opts, trading.WithGuard(func(context.Context, trading.Write) error {
			time.Sleep(slow)
			return nil
		}))
	}
	return rig.Join(t, sim, opts...)
}

// run reports whether the account was proven flat.
func (l *leaving) run(t *testing.T, seed int) bool {
	sim := rig.NewSim(tradingsim.WithLag(time.Duration(l.dice.IntN(5)) * time.Second))
	r := l.client(t, sim)
	for _, op := range []trading.Operation{trading.OpOrder, trading.OpLimit, trading.OpClose, trading.OpCancelOrder} {
		sim.Fault(string(op), l.accident(), l.accident(), l.accident())
	}
	var entries sync.WaitGroup
	for i := range 1 + l.dice.IntN(4) {
		at, rests := l.moment(12), l.dice.IntN(3) == 0
		entries.Go(func() {
			time.Sleep(at)
			o := rig.Buy(fmt.Sprint("0.0", i+1))
			if !rests {
				_, _ = r.Account().PlaceOrder(t.Context(), o)
				return
			}
			o.LimitPrice = trading.At(rig.Dec("60000"))
			_, _ = r.Account().PlaceLimit(t.Context(), o)
		})
	}
	time.Sleep(l.moment(12))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	report, _ := flatten.Account(ctx, r.Account(), flatten.Options{Halt: r.Client, Urgent: l.dice.IntN(2) == 0})
	before := len(sim.Ledger())
	entries.Wait()
	time.Sleep(time.Hour)
	if report.Flat {
		assert.Empty(t, sim.Ledger()[before:], "seed %d: after the proof", seed)
	}
	return report.Flat
}
