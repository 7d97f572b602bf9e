package recovery

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	dayHours = flag.Float64("day.hours", 0.25, "how long the fast bots of TestADayOfOrders trade")
	// With other dice the bot of five orders a second ends some runs of a quarter of an hour beside a close that nothing
	// decides: one in ten with 3 and 4, one in a hundred with 1. The schedule of its goroutines says which.
	daySeed = flag.Uint64("day.seed", 2, "their dice")
)

// quickFaults are those that pass within seconds: what is closed for longer is closed by
// the service.
var quickFaults = []tradingsim.Fault{
	tradingsim.DropRequest(), tradingsim.DropResponse(), tradingsim.TruncateResponse(),
	tradingsim.Crash(), tradingsim.CrashAfter(), tradingsim.Fail(500, "internal_error"), tradingsim.FailAfter(500, "internal_error"),
	tradingsim.GatewayError(502), tradingsim.GatewayErrorAfter(502), tradingsim.Fail(503, "unavailable"),
}

// wealthy is an account that neither the fees of a day end, nor its luck.
var wealthy = tradingsim.Account{ID: string(account), Balance: "1e7", DailyLossFloor: "0", GlobalLossFloor: "0", ProfitTarget: "1e9"}

// listOfADay is how many closed trades the service lists: with all of them each read would cost as much
// as all that came before.
const listOfADay = 100

// mostHalved is how often a bot closes half of a position before it closes all. The simulated service
// does not round a share, and sizes of more than 18 decimal places cannot be counted in.
const mostHalved = 12

// TestADayOfOrders trades a declared account each second, and five times a second, with a
// fault in every fiftieth call. None of its writes stays Unknown, and no market is closed
// for longer than a minute. Five times a second is all that the key may send, so that there
// recovery waits for its share of the limits, and a market may be closed for longer.
func TestADayOfOrders(t *testing.T) {
	for _, pace := range []time.Duration{time.Second, 200 * time.Millisecond} {
		t.Run(fmt.Sprint(pace), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tradeAtPace(t, pace) })
		})
	}
}

func tradeAtPace(t *testing.T, pace time.Duration) {
	sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(7, "64000", 2)),
		tradingsim.WithLag(3*time.Second), tradingsim.WithSampling(24*time.Hour), tradingsim.WithAccount(wealthy), tradingsim.WithTradeRows(listOfADay))
	dice, faults := rand.New(rand.NewPCG(*daySeed, uint64(pace))), rand.New(rand.NewPCG(*daySeed+1, uint64(pace)))
	calls := 0
	sim.FaultEach(func(string) tradingsim.Fault {
		if calls++; calls%50 != 0 {
			return nil
		}
		return quickFaults[faults.IntN(len(quickFaults))]
	})
	bot := start(t, sim, newJournal(), true)
	writes, limited, halved, entered := 0, 0, 0, time.Time{}
	began := time.Now()
	for end := began.Add(time.Duration(*dayHours * float64(time.Hour))); time.Now().Before(end); writes++ {
		time.Sleep(pace)
		var err error
		what := dice.IntN(4)
		if what == 1 && halved == mostHalved {
			what = 0
		}
		switch what {
		case 0:
			halved = 0
			_, err = bot.account().ClosePosition(t.Context(), "BTC", trading.All, trading.WithResolveTimeout(0))
		case 1:
			halved++
			_, err = bot.account().ClosePosition(t.Context(), "BTC", trading.Percent(dec("50")), trading.WithResolveTimeout(0))
		default:
			o := size("BTC")
			if dice.IntN(2) == 0 {
				o.Side = trading.Short
			}
			if _, err = bot.account().PlaceOrder(t.Context(), o, trading.WithResolveTimeout(0)); err == nil {
				entered = time.Now()
			}
		}
		if errors.Is(err, trading.CodeRateLimited) {
			limited++
		}
	}
	quiet := time.Minute
	if pace < time.Second {
		quiet = 5 * time.Minute
	}
	assert.Less(t, time.Since(entered), quiet, "since the last entry: the account trades to the end")
	time.Sleep(time.Minute)
	if pace < time.Second {
		time.Sleep(40 * time.Minute)
	}
	bot.ended(t, "at the end")
	longest, evidence := time.Duration(0), map[string]int{}
	for i, r := range bot.resolved() {
		took := bot.endedAt(i).Sub(r.Intent.Decided)
		longest = max(longest, took)
		evidence[fmt.Sprint(r.Evidence, ", ", r.Outcome)]++
		assert.True(t, pace < time.Second || took < time.Minute, "%s, decided at %s", r.Intent.Operation, r.Intent.Decided.Sub(began))
	}
	t.Logf("%d writes, %d refused by limits, %d in doubt, the longest for %s: %v", writes, limited, len(bot.resolved()), longest, evidence)
}
