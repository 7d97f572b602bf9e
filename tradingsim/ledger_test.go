package tradingsim

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

// TestLiveMoneyIsConserved looks inside an account while orders, resting
// limits, Pro runs, triggers, the terminal and funding move it: opening balance
// plus gross results less fees is the balance, to the last digit.
func TestLiveMoneyIsConserved(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			sim := New(
				WithFeed("BTC", RandomWalk(seed, "64000", 20)), WithFeed("ETH", RandomWalk(seed+100, "3200.07", 30)),
				WithManualClock(time.Unix(1_700_000_000, 0)), WithProLimits(ProLimits{MaxRuns: 100}),
				WithAccount(Account{ID: "a", DailyLossFloor: "-1e9", GlobalLossFloor: "-1e9", ProfitTarget: "1e9"}))
			dice := rand.New(rand.NewPCG(seed, 2))
			for range 150 {
				liveStep(sim, dice)
				sim.Advance(time.Duration(dice.IntN(40)) * time.Second)
				requireConserved(t, sim)
			}
			traded := map[string]int{}
			for _, e := range sim.Ledger() {
				traded[e.Actor]++
			}
			require.Greater(t, traded["api"], 30)
			require.Greater(t, traded["service"], 30)
		})
	}
}

func liveStep(sim *Sim, dice *rand.Rand) {
	symbol := []string{"BTC", "ETH"}[dice.IntN(2)]
	mark, _ := sim.markets[symbol].feed.At(sim.Now())
	near := func() string { return mark.Mul(decimal.New(int64(9900+dice.IntN(200)), -4)).StringFixed(3) }
	order := fmt.Sprintf(`{"accountId":"a","symbol":%q,"side":%q,"size":0.%03d,"leverage":%d`,
		symbol, []string{long, short}[dice.IntN(2)], 1+dice.IntN(999), 1+dice.IntN(5))
	path, body := "/orders", order+`}`
	switch dice.IntN(9) {
	case 0:
		path, body = "/orders/limit", order+`,"limitPrice":`+near()+`}`
	case 1:
		path, body = "/orders/ladder", order+fmt.Sprintf(`,"startPrice":%s,"endPrice":%s,"totalOrders":%d}`, near(), near(), 2+dice.IntN(5))
	case 2:
		path, body = "/orders/twap", order+`,"durationMs":90000}`
	case 3:
		path, body = "/orders/conditional", order+`,"triggerPrice":`+near()+`,"execKind":"stop-limit","limitPrice":`+near()+`}`
	case 4:
		path, body = "/positions/close", fmt.Sprintf(`{"accountId":"a","symbol":%q,"closePercent":%d.%d}`, symbol, 1+dice.IntN(99), dice.IntN(100))
	case 5:
		path, body = "/positions/tpsl", fmt.Sprintf(`{"accountId":"a","symbol":%q,"stopLossPrice":%s}`, symbol, near())
	case 6:
		sim.Trade("a", long, fmt.Sprintf("0.%03d", 1+dice.IntN(500)), symbol)
		return
	case 7:
		sim.PayFunding("a", symbol, fmt.Sprintf("-0.%05d", dice.IntN(100_000)))
		return
	}
	r, err := http.NewRequest("POST", sim.URL()+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-API-Key", sim.LiveKey())
	if _, err := sim.Transport().RoundTrip(r); err != nil {
		panic(err)
	}
}

func requireConserved(t *testing.T, sim *Sim) {
	t.Helper()
	a := sim.accounts["a"]
	want := a.terms.opening
	for _, row := range a.trades {
		want = want.Add(row.gross).Sub(row.fee())
	}
	for _, p := range a.positions {
		want = want.Sub(p.openFees)
		require.True(t, p.size.IsPositive())
	}
	for _, p := range a.funding {
		want = want.Add(p.Amount)
	}
	require.Equal(t, want.String(), a.balance.String())

	held := map[string]decimal.Decimal{}
	for _, e := range sim.Ledger() {
		if e.Filled {
			held[e.Symbol] = held[e.Symbol].Add(e.Size.Mul(direction(e.Side)))
		}
	}
	for symbol, size := range held {
		require.Equal(t, size.String(), sim.Position("a", symbol).String(), symbol)
	}
}

func TestAnExecutionOnOneLine(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC)
	for want, e := range map[string]Execution{
		"7 10:15:00.000 a POST /orders: long 0.5 BTC at 64000": {ID: 7, At: at, Account: "a", Operation: "POST /orders", Filled: true, Side: "long", Size: decimal.New(5, -1), Symbol: "BTC", Price: decimal.New(64000, 0)},
		"8 10:15:00.000 sandbox POST /positions/tpsl ETH {}":   {ID: 8, At: at, Operation: "POST /positions/tpsl", Symbol: "ETH", Body: []byte("{}")},
		"9 10:15:00.000 sandbox POST /sandbox/reset":           {ID: 9, At: at, Operation: "POST /sandbox/reset"},
	} {
		require.Equal(t, want, e.String())
	}
}
