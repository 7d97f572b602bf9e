package recovery

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rate is how often a fault meets a write at the most; a read it meets a fifth as often,
// since a bot that cannot read does not trade. What happens on the way is as often as
// one in ten; that the service fails over a request after it has begun to carry it out
// is a defect of the service, and one in a hundred.
type rate struct {
	fault tradingsim.Fault
	most  float64
}

var rates = []rate{
	{tradingsim.DropRequest(), 0.1},
	{tradingsim.DropResponse(), 0.1},
	{tradingsim.GatewayError(502), 0.1},
	{tradingsim.GatewayErrorAfter(502), 0.1},
	{tradingsim.Fail(500, "internal_error"), 0.1},
	{tradingsim.Fail(503, "unavailable"), 0.1},
	{tradingsim.Delay(8 * time.Second), 0.1},
	{tradingsim.RateLimit(2 * time.Second), 0.1},
	{tradingsim.Crash(), 0.01},
	{tradingsim.CrashAfter(), 0.01},
	{tradingsim.FailAfter(500, "internal_error"), 0.01},
}

// TestFaultRates leaves no write of a declared account Unknown. Of one that is not, somebody else
// may have left what a write would have left: fewer than three in a hundred are Unknown for that reason,
// and none for another. Where the service fails over its
// work as often as anything else goes wrong, a bot that does not read its account by itself can come
// to its first exits without a baseline: the one try before each entry so far has failed. One that
// has read it knows every outcome.
func TestFaultRates(t *testing.T) {
	often := slices.Clone(rates)
	for i := range often {
		often[i].most = 0.1
	}
	for _, row := range []struct {
		name             string
		rates            []rate
		exclusive, reads bool
		why              accounting.Reason // of those that may stay Unknown
		one              int               // in how many, at the most
	}{
		{"declared", rates, true, false, "", 0},
		{"not declared", rates, false, false, accounting.NotExclusive, 33},
		{"every fault at up to one in ten, reads its account", often, true, true, "", 0},
		{"every fault at up to one in ten", often, true, false, accounting.NoBaseline, 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			writes, unknown := tradeUnderMixed(t, row.rates, row.exclusive, row.reads)
			if row.why != "" {
				assert.Less(t, unknown[string(row.why)], writes/row.one)
				delete(unknown, string(row.why))
			}
			assert.Empty(t, unknown)
		})
	}
}

// tradeUnderMixed trades under faults whose rates are drawn anew for each run.
func tradeUnderMixed(t *testing.T, rates []rate, exclusive, reads bool) (writes int, unknown map[string]int) {
	runs := 12
	if depth.Race {
		runs = 2
	}
	unknown = map[string]int{}
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(uint64(seed), 3))
			drawn := slices.Clone(rates)
			for i := range drawn {
				drawn[i].most *= dice.Float64()
			}
			w, u := tradeUnder(t, drawn, dice, exclusive, reads)
			writes += w
			for why, n := range u {
				unknown[why] += n
			}
		})
	}
	t.Logf("%d of %d writes are Unknown at the end, %.2f %%: %v", rig.Sum(unknown), writes, 100*float64(rig.Sum(unknown))/float64(writes), unknown)
	return writes, unknown
}

// unstored are the faults after which a write has run, and the service has no answer to
// repeat: on an account that is not declared, what it left may be somebody else's.
var unstored = []string{
	"500 after", "died after", "cut, and died after", "cut, and 500 after",
}

// TestEachFaultAtOneInTen lets each fault of the simulator meet one write in ten. Of a
// declared account none is Unknown in the end. Of one that is not, none is but the writes that no
// protocol can tell: fewer than have met the fault.
func TestEachFaultAtOneInTen(t *testing.T) {
	if depth.Race {
		t.Skip("TestFaultRates has the same goroutines")
	}
	for _, f := range everyFault {
		if f.Name == twice {
			continue
		}
		for _, exclusive := range []bool{true, false} {
			name := map[bool]string{true: "declared", false: "not declared"}[exclusive]
			t.Run(f.Name+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					writes, unknown := tradeUnder(t, []rate{{f.Fault, 0.1}}, rand.New(rand.NewPCG(1, 5)), exclusive, false)
					t.Logf("%d of %d writes are Unknown at the end: %v", rig.Sum(unknown), writes, unknown)
					if exclusive {
						assert.Empty(t, unknown)
						return
					}
					if slices.Contains(unstored, f.Name) {
						assert.Less(t, unknown[string(accounting.NotExclusive)], writes/10)
						delete(unknown, string(accounting.NotExclusive))
					}
					assert.Empty(t, unknown)
				})
			})
		}
	}
}

// tradeUnder opens and closes in turn under faults at their rates. It counts the writes
// that are Unknown in the end by their reasons. The bot may have read its account before.
func tradeUnder(t *testing.T, rates []rate, dice *rand.Rand, exclusive, reads bool) (writes int, unknown map[string]int) {
	unknown = map[string]int{}
	sim := tradingsim.New(tradingsim.WithLag(3*time.Second), tradingsim.WithSampling(24*time.Hour))
	sim.FaultEach(func(operation string) tradingsim.Fault {
		at := dice.Float64()
		if strings.HasPrefix(operation, "GET") {
			at *= 5
		}
		for i := range rates {
			if at -= rates[i].most; at < 0 {
				return rates[i].fault
			}
		}
		return nil
	})
	bot := start(t, sim, newJournal(), exclusive)
	time.Sleep(10 * time.Second)
	for reads && readAll(t.Context(), bot.account()) != nil {
		time.Sleep(10 * time.Second)
	}
	for range 100 {
		time.Sleep(30 * time.Second)
		var err error
		if sim.Position(string(account), "BTC").IsZero() { // what it would hold who knows every outcome
			_, err = bot.account().PlaceOrder(t.Context(), size("BTC"))
		} else {
			_, err = bot.account().ClosePosition(t.Context(), "BTC", trading.All)
		}
		writes++
		if trading.OutcomeOf(err) != trading.Unknown {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		r, why := bot.Resolve(ctx, err)
		cancel()
		if r == nil || r.Outcome == trading.Unknown {
			unknown[strings.TrimPrefix(why.Error(), trading.ErrUndetermined.Error()+": ")]++
			found := rig.Became(len(sim.Executed(string(r.Intent.Key))))
			require.NoError(t, bot.Acknowledge(t.Context(), r.Intent.ID, found, "by the simulator's ledger"))
		}
	}
	return writes, unknown
}

// readAll reads what a baseline consists of.
func readAll(ctx context.Context, a *trading.Account) error {
	_, state := a.State(ctx)
	_, positions := a.Positions(ctx)
	_, trades := a.Trades(ctx)
	_, orders := a.OpenOrders(ctx)
	return errors.Join(state, positions, trades, orders)
}
