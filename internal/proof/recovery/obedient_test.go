package recovery

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/obedient"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What a paper account cannot know: a request that comes after it was taken for lost.
var latePaper = []string{"works for 3m", "arrives 20s late", "arrives 3m late", "a copy 1m later", "sent twice by a proxy"}

// TestAnObedientBot has the bot that does what the pages say decide three times, under each fault, on each account,
// with and without an id, and with a call that it lets run for two seconds or for as long as it takes. The
// ledger has each decision once, and the bot holds what it wants within half an hour.
func TestAnObedientBot(t *testing.T) {
	pages, err := obedient.Read()
	require.NoError(t, err)
	for _, f := range everyFault {
		for _, paper := range []bool{false, true} {
			for _, id := range []bool{false, true} {
				for _, patience := range []time.Duration{2 * time.Second, 0} {
					if paper && (id || slices.Contains(latePaper, f.Name)) || f.Name == twice {
						continue
					}
					t.Run(fmt.Sprintf("%s, paper %t, id %t, %s", f.Name, paper, id, patience), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { obey(t, pages, f.Fault, paper, id, patience) })
					})
				}
			}
		}
	}
}

func obey(t *testing.T, pages obedient.Pages, fault tradingsim.Fault, paper, id bool, patience time.Duration) {
	sim := tradingsim.New(tradingsim.WithLag(3*time.Second), tradingsim.WithSampling(24*time.Hour), tradingsim.WithRequestLog(1000))
	p := start(t, sim, newJournal(), true)
	bot := &obedient.Bot{Pages: pages, Client: p.Client, Account: p.account(), Symbol: "BTC", Patience: patience, Note: t.Logf}
	if paper {
		bot.Account = p.Sandbox
	}
	persons := 0
	person := obedient.Person(p.Client, sim)
	bot.Alert = func(ctx context.Context, err error) {
		persons++
		person(ctx, err)
	}
	time.Sleep(10 * time.Second)
	for i, want := range []string{"0.05", "0.02", "-0.04"} {
		if id {
			bot.ID = fmt.Sprint("decision ", i)
		}
		if i > 0 { // the first shows what the account held before
			operation := string(trading.OpOrder)
			if paper {
				operation = string(trading.OpSandboxOrder)
			}
			sim.Fault(operation, fault, fault)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		end := bot.Pursue(ctx, dec(want))
		cancel()
		time.Sleep(20 * time.Minute) // for what arrives late
		sim.ClearFaults()
		ran := 0
		for _, e := range sim.Ledger() {
			if e.Actor == "api" && e.Filled {
				ran++
			}
		}
		switch end {
		case obedient.Held:
			require.Equal(t, i+1, ran, "executions")
		case obedient.Dropped: // a refusal that no retry mends
			require.Equal(t, i, ran, "executions")
			return
		default:
			require.Fail(t, "it never ended")
		}
	}
	assert.LessOrEqual(t, bot.Longest, 35*time.Minute, "to find out")
	assert.LessOrEqual(t, rig.Busiest(sim.Requests()), 60, "requests in a minute")
	if persons > 0 {
		t.Logf("a person was alerted %d times", persons)
	}
}
