package obedient

import (
	"context"
	"fmt"
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

// An order without an id is on its way for longer than its caller waits, and the bot does what it is
// advised to do.
func TestFound03_AdviceThatDoubles(t *testing.T) {
	pages, err := Read()
	require.NoError(t, err)
	for _, paper := range []bool{false, true} {
		for name, fault := range map[string]tradingsim.Fault{
			"the answer takes 40s": tradingsim.DelayResponse(40 * time.Second), "it arrives 20s late": tradingsim.ArriveLate(20 * time.Second),
			"the answer is lost": tradingsim.DropResponse(), "the work takes 20s": tradingsim.Delay(20 * time.Second),
		} {
			t.Run(fmt.Sprintf("%s, paper %t", name, paper), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					end, ran := onceMore(t, pages, paper, fault)
					assert.Equal(t, Held, end)
					assert.Equal(t, 1, ran, "in the ledger")
				})
			})
		}
	}
}

// onceMore plays one order that meets a fault, and returns how often the ledger has it.
func onceMore(t *testing.T, pages Pages, paper bool, fault tradingsim.Fault) (End, int) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithLag(3*time.Second))
	client := rig.ClientOf(t, sim, trading.WithJournal(journal.NewMemory()), trading.WithExclusiveAccounts("acc_1"))
	b := &Bot{Pages: pages, Client: client, Account: client.Live.Account("acc_1"), Symbol: "BTC", Patience: 2 * time.Second, Note: t.Logf}
	operation := string(trading.OpOrder)
	if paper {
		b.Account, operation = client.Sandbox, string(trading.OpSandboxOrder)
	}
	b.Alert = Person(client, sim)
	_, err := b.Account.Positions(t.Context())
	require.NoError(t, err)
	sim.Fault(operation, fault)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	end := b.Pursue(ctx, trading.Dec("0.05"))
	time.Sleep(time.Hour)
	return end, len(sim.Ledger())
}

// A decision that no retry mends is dropped, and a person hears of it.
func TestADecisionIsDropped(t *testing.T) {
	pages, err := Read()
	require.NoError(t, err)
	for code, want := range map[trading.Code]int{trading.CodeAccountLocked: 1, trading.CodePerPositionCap: 0} {
		synctest.Test(t, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
			client := rig.ClientOf(t, sim)
			alerts := 0
			b := &Bot{Pages: pages, Client: client, Account: client.Live.Account("acc_1"), Symbol: "BTC"}
			b.Alert = func(context.Context, error) { alerts++ }
			status := map[trading.Code]int{trading.CodeAccountLocked: 403, trading.CodePerPositionCap: 400}[code]
			sim.Fault(string(trading.OpOrder), tradingsim.Fail(status, string(code)))
			assert.Equal(t, Dropped, b.Pursue(t.Context(), trading.Dec("0.05")))
			assert.Equal(t, want, alerts)
			assert.Empty(t, sim.Ledger())
		})
	}
}

// Each line that the bot needs is there: with another it doubles, or the pages cannot be read.
func TestAnotherTableDoubles(t *testing.T) {
	for name, c := range map[string]struct {
		fault  tradingsim.Fault
		change func(*Pages)
	}{
		"in doubt, the same again": {tradingsim.DelayResponse(40 * time.Second), func(p *Pages) {
			p.Advice[trading.AdviseResolve] = []Step{Wait, SendAgain}
		}},
		"found out, and the same again": {tradingsim.DelayResponse(40 * time.Second), func(p *Pages) {
			p.Advice[trading.AdviseResolve] = []Step{FindOut, SendAgain}
		}},
		"a read at once": {tradingsim.Delay(7 * time.Second), func(p *Pages) { p.Behind = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			pages, err := Read()
			require.NoError(t, err)
			c.change(&pages)
			synctest.Test(t, func(t *testing.T) {
				_, ran := onceMore(t, pages, false, c.fault)
				assert.Greater(t, ran, 1, "in the ledger")
			})
		})
	}
	_, err := parse("read the account, hope")
	require.ErrorContains(t, err, "is no step")
	_, err = table("README.md", map[string]trading.Advice{"AdviseNothing": trading.AdviseNever})
	require.ErrorContains(t, err, "README.md does not say what to do after AdviseNothing")
}
