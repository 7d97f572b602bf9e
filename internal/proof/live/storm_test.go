package live

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// storm chooses faults at random, one answer in three going wrong. A delay lasts for up to longest.
func storm(rng *rand.Rand, longest time.Duration) func(string) tradingsim.Fault {
	var mu sync.Mutex
	return func(op string) tradingsim.Fault {
		mu.Lock()
		defer mu.Unlock()
		if op == string(trading.OpHealth) || rng.IntN(3) > 0 {
			return nil
		}
		short := time.Duration(rng.Int64N(int64(longest)))
		faults := []tradingsim.Fault{
			tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.TruncateResponse(), tradingsim.RefuseConnection(),
			tradingsim.GatewayError(502), tradingsim.GatewayErrorAfter(200), tradingsim.Delay(short), tradingsim.DelayResponse(short),
			tradingsim.Fail(503, "no_price"), tradingsim.Fail(409, "STALE_PRICE"), tradingsim.Fail(500, "internal_error"),
			tradingsim.FailAfter(500, "internal_error"), tradingsim.Crash(), tradingsim.CrashAfter(), tradingsim.ArriveLate(short),
			tradingsim.LateCopy(short), tradingsim.Repeat(), tradingsim.RateLimit(time.Second),
		}
		return faults[rng.IntN(len(faults))]
	}
}

// attempt is a write of the storm and what its caller was told in the end.
type attempt struct {
	key     trading.Key
	outcome trading.Outcome
}

// 64 goroutines place, close and resolve on four accounts while answers are lost,
// hidden, late, repeated and refused. Whatever a caller was told is what the ledger
// says, nothing ran twice but by the contract's own exception, and nothing of the
// client runs after Close.
func TestAStormOfFaults(t *testing.T) {
	for seed := range uint64(4) {
		stormOf(t, seed, 4*time.Second, func(_ *testing.T, sim *tradingsim.Sim) http.RoundTripper { return sim.Transport() })
	}
}

// The same over connections, where writes are listened to and exits ask twice, and a service that works for
// longer than an attempt lasts.
func TestAStormOfFaultsThatIsListenedTo(t *testing.T) {
	for seed := range *storms {
		stormOf(t, seed, 20*time.Second, func(t *testing.T, sim *tradingsim.Sim) http.RoundTripper { return rig.OverPipes(t, sim).Transport })
	}
}

var storms = flag.Uint64("storms", 4, "how many storms over connections")

func stormOf(t *testing.T, seed uint64, longest time.Duration, over func(*testing.T, *tradingsim.Sim) http.RoundTripper) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		options := []tradingsim.Option{tradingsim.WithUserLimits(100_000, 100_000), tradingsim.WithKeyLimit(1_000_000), tradingsim.WithLag(2 * time.Second)}
		for i := range 4 {
			options = append(options, tradingsim.WithAccount(tradingsim.Account{ID: fmt.Sprintf("acc_%d", i), Balance: "10000000"}))
		}
		sim := tradingsim.New(options...)
		sim.FaultEach(storm(rand.New(rand.NewPCG(seed, 1)), longest))
		client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(over(t, sim)),
			trading.WithJournal(journal.NewMemory())) // so that a given key is known to be new
		require.NoError(t, err)

		var mu sync.Mutex
		var attempts []attempt
		var wg sync.WaitGroup
		for g := range 64 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(g)))
				account := client.Live.Account(trading.AccountID(fmt.Sprintf("acc_%d", g%4)))
				symbol := []string{"BTC", "ETH", "SOL"}[rng.IntN(3)]
				for range 6 {
					told := stormWrite(client, account, symbol, rng)
					mu.Lock()
					attempts = append(attempts, told)
					mu.Unlock()
					time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
				}
			})
		}
		wg.Wait()
		rig.CloseClient(t, client)
		synctest.Wait()
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, of := range []string{"trading-go.(", "trading-go/internal/resolve.", "trading-go/internal/transport."} {
			assert.NotContains(t, string(stacks), of, "nothing of the client runs after Close")
		}
		time.Sleep(20 * time.Minute) // until what was late is done
		sim.Advance(time.Second)

		runs := map[trading.Key]int{}
		for _, e := range sim.Ledger() {
			if e.Actor == "api" && !strings.Contains(e.Operation, "cancel") {
				runs[trading.Key(e.Key)]++
			}
		}
		told := map[trading.Outcome]int{}
		for _, a := range attempts {
			told[a.outcome]++
			switch a.outcome {
			case trading.Applied:
				assert.Positive(t, runs[a.key], "told applied, and never executed")
			case trading.NotApplied:
				assert.Zero(t, runs[a.key], "told not applied, and executed")
			}
		}
		for key, n := range runs {
			if n > 2 {
				t.Errorf("key %s ran %d times", key, n)
			}
		}
		t.Logf("seed %d: %v", seed, told)
		assert.Greater(t, told[trading.Applied], 50)
		assert.Greater(t, told[trading.NotApplied], 20)
	})
}

// stormWrite makes one write under a key of its own, resolves it if it is in doubt,
// and returns what its caller knows in the end.
func stormWrite(client *trading.Client, account *trading.Account, symbol string, rng *rand.Rand) attempt {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(500+rng.IntN(8000))*time.Millisecond)
	defer cancel()
	key := trading.NewKey()
	var err error
	if rng.IntN(4) == 0 {
		_, err = account.ClosePosition(ctx, symbol, trading.Percent(rig.Dec("20")), trading.WithIdempotencyKey(key))
	} else {
		o := rig.Buy("0.01", func(o *trading.Order) { o.Symbol = symbol })
		switch symbol {
		case "ETH":
			o.Size = rig.Dec("0.2")
		case "SOL":
			o.Size = rig.Dec("4")
		}
		_, err = account.PlaceOrder(ctx, o, trading.WithIdempotencyKey(key))
	}
	outcome := trading.OutcomeOf(err)
	if outcome == trading.Unknown {
		patience, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		verdict, verdictErr := account.Resolve(patience, err)
		if verdictErr == nil {
			outcome = verdict.Outcome
		} else if write := (*trading.WriteError)(nil); rng.IntN(2) == 0 && errors.As(err, &write) {
			// A person looks, so that the symbol is open again; the ledger is not asked.
			_ = client.Acknowledge(context.Background(), write.Intent, trading.Applied, "storm")
		}
	}
	return attempt{key, outcome}
}
