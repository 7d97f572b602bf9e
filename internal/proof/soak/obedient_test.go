package soak

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/obedient"
)

// bots are obedient bots, each in a market of its own.
type bots struct {
	pages     obedient.Pages
	decisions int // of each
}

// decision is one of a bot, with a size that no other has.
type decision struct {
	size decimal.Decimal
	end  obedient.End
}

// longestOut is how long the pages say that a bot is kept out, at the most, until a person is alerted.
const longestOut = 35 * time.Minute

// round lets each bot take its decisions, under the faults of a soak and in a world that is disturbed, and holds the
// ledger against what they have.
func (b *bots) round(t *testing.T, clients []*trading.Client, s *service, tally *tally) {
	var (
		group sync.WaitGroup
		sizes sizes
		mu    sync.Mutex
		made  []decision
		calm  = s.disturbed(newDice(*seed, 1000))
	)
	n := 0
	for _, account := range s.accounts {
		for _, symbol := range symbols {
			client, dice := clients[n%len(clients)], newDice(*seed, uint64(5000+n))
			n++
			group.Go(func() {
				list := b.trade(t.Context(), client, s, tally, &sizes, dice, account, symbol)
				mu.Lock()
				defer mu.Unlock()
				made = append(made, list...)
			})
		}
	}
	group.Wait()
	calm()
	b.check(s, tally, made)
}

// trade is a bot that turns its position with each decision.
func (b *bots) trade(ctx context.Context, client *trading.Client, s *service, tally *tally, sizes *sizes, dice *dice, account trading.AccountID, symbol string) (list []decision) {
	bot := &obedient.Bot{Pages: b.pages, Client: client, Account: client.Live.Account(account), Symbol: symbol}
	person := obedient.Person(client, s.sim)
	bot.Alert = func(ctx context.Context, err error) {
		tally.count("a person was alerted")
		person(ctx, err)
	}
	for i := range b.decisions {
		time.Sleep(time.Duration(dice.intN(120)) * time.Second)
		bot.Patience = []time.Duration{0, 0, 2 * time.Second, 20 * time.Second}[dice.intN(4)]
		if bot.ID = ""; dice.intN(3) == 0 {
			bot.ID = fmt.Sprint(account, " ", symbol, " ", i)
		}
		now := s.sim.Position(string(account), symbol)
		size := sizes.next(dice, symbol)
		want := now.Add(size)
		if now.IsPositive() {
			want = now.Sub(size)
		}
		bounded, cancel := context.WithTimeout(ctx, 6*time.Hour)
		end := bot.Pursue(bounded, want)
		cancel()
		tally.count("decisions " + end.String())
		if end == obedient.Stopped {
			tally.problem("%s %s: a decision has not ended in six hours", account, symbol)
		}
		list = append(list, decision{size, end})
		if end == obedient.Held && !s.sim.Position(string(account), symbol).Equal(want) {
			tally.problem("%s %s: it says that it holds %s, and holds %s", account, symbol, want, s.sim.Position(string(account), symbol))
		}
	}
	if bot.Longest > longestOut {
		tally.problem("%s %s: it took %s to find out, and no person was alerted", account, symbol, bot.Longest)
	}
	return list
}

// check holds the ledger against the decisions.
func (b *bots) check(s *service, tally *tally, made []decision) {
	all := executions(s.sim.Ledger())
	for _, d := range made {
		ran := all[sizeID(string(trading.OpOrder), d.size)]
		tally.Once(fmt.Sprintf("a decision of %s", d.size), len(ran), s.whyTwice(ran))
		if d.end == obedient.Dropped {
			tally.Said(fmt.Sprintf("a decision of %s was dropped", d.size), trading.NotApplied, len(ran), nil)
		}
	}
}

// TestSoakOfObedientBots is a soak of bots that do what the pages say: without an accident, and under each.
func TestSoakOfObedientBots(t *testing.T) {
	pages, err := obedient.Read()
	require.NoError(t, err)
	decisions := 10
	if *full {
		decisions = 200
	}
	for _, a := range append([]accident{{name: "none"}}, accidents...) {
		if *oneTrial != "" && a.name != *oneTrial {
			continue
		}
		v := variant{name: a.name, mix: mix{failsAfterWork: true}, accidents: []accident{a}, bots: &bots{pages, decisions}}
		v.opts = []trading.Option{trading.WithResolveTimeout(10 * time.Second)}
		t.Run(strings.ReplaceAll(a.name, "/", "-"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { v.trial(t) })
		})
	}
}
